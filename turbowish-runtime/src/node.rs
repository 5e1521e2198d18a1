//! What stands between an executor's waker and the wakers that leaf futures keep: it passes wakes on, and knows of each.
//!
//! A node has the executor's waker only while somebody could wake it: during a poll, and as long as there are clones. When the last
//! clone goes, the executor's waker goes too, so that an executor that frees what nobody can wake any more still does.
//!
//! The lock is held for the clone of a waker, never while something is woken, and by no monitor.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use turbowish_model::task::{Readied, WakerReading};

use crate::{clock, here, switch};

/// A waker's account.
#[derive(Debug, Default)]
pub(crate) struct Node {
    inner: Mutex<Option<Waker>>,
    /// Wakers that are clones of this node's, and one more during a poll.
    live: AtomicU32,
    clones: AtomicU64,
    wakes: AtomicU64,
    own_wakes: AtomicU64,
    /// The first wake since the last poll began, in ticks; 0 if there was none.
    woken: AtomicU64,
    /// Whose wake was the last to make it ready, as [`here::who`] tells.
    by: AtomicU64,
}

thread_local! {
    /// A node of ours clones a waker: no clone of the program's.
    static OURS: Cell<bool> = const { Cell::new(false) };
}

/// Until this is dropped, clones of wakers are not counted.
struct Uncounted(bool);

impl Uncounted {
    fn begin() -> Self {
        Self(OURS.replace(true))
    }
}

impl Drop for Uncounted {
    fn drop(&mut self) {
        OURS.set(self.0);
    }
}

/// tokio makes a task yield that has done much in one poll: it wakes itself, but does not spin.
#[cfg(feature = "tokio")]
fn is_forced() -> bool {
    !tokio::task::coop::has_budget_remaining()
}

#[cfg(not(feature = "tokio"))]
const fn is_forced() -> bool {
    false
}

/// Drops an executor's waker at the edge of a poll, through which nothing may unwind: with the waker may go whatever the executor
/// kept for its sake, and what panics then is told by the panic hook alone.
pub(crate) fn let_go<T>(waker: Option<T>) {
    if let Some(waker) = waker
        && let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(waker)))
    {
        // Its own drop may panic, too.
        std::mem::forget(payload);
    }
}

impl Node {
    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A poll with the executor's `waker` begins. Returns when the node was woken first since the last one began, and by whom.
    pub(crate) fn begin(&self, waker: &Waker) -> Option<Readied> {
        self.live.fetch_add(1, Ordering::Relaxed);
        let mut inner = self.lock();
        let before = match &*inner {
            Some(known) if known.will_wake(waker) => None,
            _ => inner.replace(waker.clone()),
        };
        drop(inner);
        // What an executor does when its waker is dropped is its own affair, and not to be done under a lock.
        let_go(before);
        self.take_wake()
    }

    /// The same for a branch or a wait: its hold on the waker around it is none of the clones that the program makes.
    pub(crate) fn begin_inside(&self, waker: &Waker) -> Option<Readied> {
        let _uncounted = Uncounted::begin();
        self.begin(waker)
    }

    /// That poll is over.
    pub(crate) fn end(&self) {
        let_go(self.leave());
    }

    fn take_wake(&self) -> Option<Readied> {
        let since = self.wake_since_poll()?;
        // Before anybody else can be the first again.
        let by = self.readied_by();
        self.woken.store(0, Ordering::Release);
        Some(Readied { since, by })
    }

    /// When the node was woken first since its last poll began, in ticks.
    pub(crate) fn wake_since_poll(&self) -> Option<u64> {
        let at = self.woken.load(Ordering::Acquire);
        (at != 0).then_some(at)
    }

    /// It could not be polled before: if it was woken, then at `t`.
    #[cfg(feature = "server")]
    pub(crate) fn wake_again(&self, t: u64) {
        let at = self.woken.load(Ordering::Relaxed);
        if at != 0 {
            // A poll that has begun since has taken it, and is not to find another one.
            let (now, relaxed) = (t.max(1), Ordering::Relaxed);
            let _ = self
                .woken
                .compare_exchange(at, now, Ordering::Release, relaxed);
        }
    }

    /// There is one waker more.
    pub(crate) fn cloned(&self) {
        self.live.fetch_add(1, Ordering::Relaxed);
        if !OURS.get() {
            self.clones.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// There is one waker less.
    pub(crate) fn dropped(&self) {
        drop(self.leave());
    }

    /// One less could wake it. Returns the executor's waker if that was the last.
    fn leave(&self) -> Option<Waker> {
        if self.live.fetch_sub(1, Ordering::AcqRel) != 1 {
            return None;
        }
        let mut inner = self.lock();
        // A poll may have begun: it counts itself before it comes to the lock.
        if self.live.load(Ordering::Acquire) == 0 {
            inner.take()
        } else {
            None
        }
    }

    /// Passes a wake on; `own` is the task that this node belongs to.
    pub(crate) fn wake(&self, own: u64) {
        if switch::is_armed() {
            self.note(own);
        }
        // The waker around a branch or a wait is one of ours as well.
        let uncounted = Uncounted::begin();
        let inner = self.lock().clone();
        drop(uncounted);
        if let Some(waker) = inner {
            waker.wake();
        }
    }

    fn note(&self, own: u64) {
        let by = here::who();
        self.note_by(by, by != 0 && by == own);
    }

    /// Notes a wake by whom [`here::who`] tells, which may be the node's own task, that is passed on otherwise.
    pub(crate) fn note_by(&self, by: u64, is_own: bool) {
        self.wakes.fetch_add(1, Ordering::Relaxed);
        if is_own && !is_forced() {
            self.own_wakes.fetch_add(1, Ordering::Relaxed);
        }
        // What is ready is not made so by another wake.
        if self.woken.load(Ordering::Relaxed) == 0 {
            self.by.store(by, Ordering::Relaxed);
            // Whoever reads it reads by whom as well.
            self.woken.store(clock::ticks().max(1), Ordering::Release);
        }
    }

    /// Whose wake was the last to make it ready.
    fn readied_by(&self) -> u64 {
        self.by.load(Ordering::Relaxed)
    }

    /// Whether somebody could wake it.
    #[cfg(feature = "tokio")]
    pub(crate) fn is_held(&self) -> bool {
        self.live.load(Ordering::Relaxed) > 0
    }

    /// What is known of it.
    pub(crate) fn read(&self) -> WakerReading {
        WakerReading {
            woken: self.wake_since_poll(),
            by: self.readied_by(),
            wakes: self.wakes.load(Ordering::Relaxed),
            own_wakes: self.own_wakes.load(Ordering::Relaxed),
            clones: self.clones.load(Ordering::Relaxed),
            live: self.live.load(Ordering::Relaxed),
        }
    }
}
