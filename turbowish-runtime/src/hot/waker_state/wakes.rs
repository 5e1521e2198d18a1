//! Record of wakes: when the first one since the last poll came, and from where.

use std::sync::atomic::{AtomicU64, Ordering};

use turbowish_model::account::task::{WakeCause, WakeSource};

use crate::hot::{clock, current, switch};

/// Wakes of a task, a branch or a wait.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    /// Time of the first wake since the last poll began, in ticks; 0 if there was none.
    woken: AtomicU64,
    /// Source of the wake that last made it ready: [`WakeSource::bits`].
    by: AtomicU64,
}

impl Wakes {
    /// Starts over, for another task.
    pub(crate) fn renew(&self) {
        for word in [&self.woken, &self.by] {
            word.store(0, Ordering::Relaxed);
        }
    }

    /// Takes the first wake since the last poll began.
    #[inline]
    pub(crate) fn take(&self) -> Option<WakeCause> {
        let since = self.since_poll()?;
        // Read before another wake can be the first one again.
        let by = self.by();
        self.woken.store(0, Ordering::Release);
        Some(WakeCause { since, by })
    }

    /// Time of the first wake since the last poll began, in ticks.
    #[inline]
    pub(crate) fn since_poll(&self) -> Option<u64> {
        let at = self.woken.load(Ordering::Acquire);
        (at != 0).then_some(at)
    }

    /// If there was a wake, moves its time to `t`: the task could not be polled before.
    pub(crate) fn wake_again(&self, t: u64) {
        let at = self.woken.load(Ordering::Relaxed);
        if at != 0 {
            // A poll that has begun since has taken the wake, and must not find another one.
            let (now, relaxed) = (t.max(1), Ordering::Relaxed);
            let _ = self
                .woken
                .compare_exchange(at, now, Ordering::Release, relaxed);
        }
    }

    /// Records a wake, while accounting is armed.
    pub(crate) fn note_if_armed(&self) {
        if switch::is_armed() {
            self.note(|| (current::who(), clock::ticks()));
        }
    }

    /// Records a wake, by what and when `cause` tells.
    pub(crate) fn note(&self, cause: impl FnOnce() -> (WakeSource, u64)) {
        // A task that is ready is not made ready by another wake.
        if self.woken.load(Ordering::Relaxed) == 0 {
            let (by, t) = cause();
            // Release: a reader that sees the path also finds its entry.
            self.by.store(by.bits(), Ordering::Release);
            // Release: a reader that sees the time also sees the source.
            self.woken.store(t.max(1), Ordering::Release);
        }
    }

    /// Source of the wake that last made it ready.
    pub(crate) fn by(&self) -> WakeSource {
        WakeSource::from_bits(self.by.load(Ordering::Acquire))
    }
}
