//! State between an executor's waker and the wakers that leaf futures keep: passes wakes on, and
//! counts clones and wakes.
//!
//! A waker state has the executor's waker only while it has clones: it clones the executor's waker
//! when its own is cloned, and drops it with its last clone. So an executor that frees tasks that
//! nothing can wake still frees them, and a panic in the executor's waker surfaces where it would
//! without TurboWish.
//!
//! None of the executor's code runs while a thread waits for it. The executor's waker is woken
//! under the read half of a lock for which no thread waits: a writer tries for the write half a few
//! times, and does without if it fails.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{
    Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
};
use std::task::Waker;

use turbowish_model::account::task::{WakeCause, WakerReading};
use turbowish_unsafe::waker::{BorrowedWaker, LazyTarget, WakeTarget};

use crate::features;
use crate::hot::{clock, current, switch};
use crate::runtimes;

/// Clones and wakes of a task's or a branch's waker.
#[derive(Debug, Default)]
pub(crate) struct WakerState {
    /// The executor's waker. Present while `live` is not 0, if the lock could be taken.
    inner: RwLock<Option<Waker>>,
    /// Number of clones of this state's waker, plus one during a poll that is given it.
    live: AtomicU32,
    /// A clone of the executor's own waker was given away in the last poll.
    passed: AtomicBool,
    /// The lower half of `wakes` at the monitor's last look.
    told: AtomicU32,
    clones: AtomicU64,
    wakes: AtomicU64,
    own_wakes: AtomicU64,
    /// Time of the first wake since the last poll began, in ticks; 0 if there was none.
    woken: AtomicU64,
    /// Source of the wake that last made it ready, as in
    /// [`current::who`](crate::hot::current::who).
    by: AtomicU64,
}

thread_local! {
    /// Set while a waker state clones a waker: that is not a clone by the program.
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

/// Drops an executor's waker at the edge of a poll, through which nothing may unwind: the waker may
/// own anything that the executor kept for it. A panic there is reported by the panic hook alone.
pub(crate) fn let_go<T>(waker: Option<T>) {
    if let Some(waker) = waker
        && let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(waker)))
    {
        // The payload's drop may panic, too.
        std::mem::forget(payload);
    }
}

/// Start of a poll.
#[derive(Debug)]
pub(crate) struct Begun {
    /// Time and source of the first wake since the last poll began.
    pub(crate) readied: Option<WakeCause>,
    /// Whether the poll may be given this state's waker, and is to be ended by [`WakerState::end`].
    /// Otherwise it is given a [`Late`] one.
    pub(crate) fits: bool,
}

/// Target of wakers with a waker state.
pub(crate) trait StatefulWaker: WakeTarget {
    /// The waker state of the target.
    fn waker_state(&self) -> &WakerState;
    /// ID of the task that it belongs to.
    fn task(&self) -> u64;
}

/// Waker of a poll whose waker state has no executor's waker, or another one.
#[derive(Debug)]
pub(crate) struct Late<'a, T> {
    pub(crate) target: Arc<T>,
    pub(crate) outer: &'a Waker,
    /// Whether the waker around it is a TurboWish waker.
    pub(crate) is_inside: bool,
}

impl<T: StatefulWaker> Late<'_, T> {
    /// The waker for the poll.
    #[inline]
    pub(crate) fn lent(&self) -> BorrowedWaker<'_> {
        BorrowedWaker::late(self)
    }
}

impl<T: StatefulWaker> LazyTarget for Late<'_, T> {
    fn waker(&self) -> Waker {
        kept(&self.target, self.outer, self.is_inside)
    }

    fn wake(&self) {
        self.target.waker_state().note_if_armed(self.target.task());
        self.outer.wake_by_ref();
    }
}

/// A waker of `target`, whose state wakes `outer` from now on; or a clone of `outer`, while an
/// earlier one is being woken. Unwinds if the executor's code does, and then leaves everything as
/// it was.
pub(crate) fn kept<T: StatefulWaker>(target: &Arc<T>, outer: &Waker, is_inside: bool) -> Waker {
    // Counted before the state has the executor's waker, which is dropped with the last clone.
    let clone = BorrowedWaker::new(target).waker().clone();
    let uncounted = is_inside.then(Uncounted::begin);
    let adopted = target.waker_state().adopt(outer);
    drop(uncounted);
    match adopted {
        Ok(()) => clone,
        Err(theirs) => {
            target.waker_state().passed.store(true, Ordering::Relaxed);
            theirs
        }
    }
}

/// Attempts for a lock that is held for a few instructions, or for the length of a wake.
const TRIES: u32 = 200;

/// `None` if the lock is held for longer, or by a thread that does not exist in this process.
fn attempt<T>(mut lock: impl FnMut() -> TryLockResult<T>) -> Option<T> {
    for turn in 0..TRIES {
        match lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if turn < TRIES / 2 => std::hint::spin_loop(),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

impl WakerState {
    /// A state that has `waker`, and one clone of its own.
    pub(crate) fn kept_by(waker: Waker) -> Self {
        Self {
            inner: RwLock::new(Some(waker)),
            live: AtomicU32::new(1),
            ..Self::default()
        }
    }

    /// `None` in a child of `fork`, if another thread was about to change it at the fork.
    #[inline]
    fn inner(&self) -> Option<RwLockReadGuard<'_, Option<Waker>>> {
        if switch::is_child() {
            return attempt(|| self.inner.try_read());
        }
        Some(self.inner.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// `None` while it is being woken.
    fn inner_mut(&self) -> Option<RwLockWriteGuard<'_, Option<Waker>>> {
        attempt(|| self.inner.try_write())
    }

    fn is_of(&self, waker: &Waker) -> bool {
        let inner = self.inner();
        let known = inner.as_deref().and_then(Option::as_ref);
        known.is_some_and(|known| known.will_wake(waker))
    }

    /// Begins a poll with the executor's `waker`.
    pub(crate) fn begin(&self, waker: &Waker) -> Begun {
        self.passed.store(false, Ordering::Relaxed);
        // Without a clone there can be none before this poll makes one.
        let fits = self.live.load(Ordering::Relaxed) != 0 && self.keep(waker);
        Begun {
            readied: self.take_wake(),
            fits,
        }
    }

    /// Keeps the executor's waker for a poll, if it is `waker`.
    fn keep(&self, waker: &Waker) -> bool {
        self.live.fetch_add(1, Ordering::Relaxed);
        let fits = self.is_of(waker);
        if !fits {
            self.end();
        }
        fits
    }

    /// Ends a poll that was given this state's waker.
    pub(crate) fn end(&self) {
        let_go(self.leave());
    }

    /// Replaces the executor's waker by `waker`.
    ///
    /// # Errors
    /// If it could not be stored: returns a clone of it.
    fn adopt(&self, waker: &Waker) -> Result<(), Waker> {
        if self.is_of(waker) {
            return Ok(());
        }
        let fresh = waker.clone();
        let Some(mut inner) = self.inner_mut() else {
            return Err(fresh);
        };
        let before = inner.replace(fresh);
        drop(inner);
        // Dropping an executor's waker runs code of the executor, which must not happen under a
        // lock.
        drop(before);
        Ok(())
    }

    fn take_wake(&self) -> Option<WakeCause> {
        let since = self.wake_since_poll()?;
        // Read before another wake can be the first one again.
        let by = self.readied_by();
        self.woken.store(0, Ordering::Release);
        Some(WakeCause { since, by })
    }

    /// Time of the first wake since the last poll began, in ticks.
    pub(crate) fn wake_since_poll(&self) -> Option<u64> {
        let at = self.woken.load(Ordering::Acquire);
        (at != 0).then_some(at)
    }

    /// If it was woken, moves the time of the wake to `t`: it could not be polled before.
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

    /// Counts a clone of the waker.
    pub(crate) fn cloned(&self) {
        self.live.fetch_add(1, Ordering::Relaxed);
        if !OURS.get() {
            self.clones.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts the drop of a waker.
    pub(crate) fn dropped(&self) {
        drop(self.leave());
    }

    /// Counts one waker less. Returns the executor's waker if that was the last.
    fn leave(&self) -> Option<Waker> {
        if self.live.fetch_sub(1, Ordering::AcqRel) != 1 {
            return None;
        }
        // A thread that has a waker now has counted itself, and comes here later.
        let mut inner = self.inner_mut()?;
        // A poll may have begun: it counts itself before it takes the lock.
        if self.live.load(Ordering::Acquire) == 0 {
            inner.take()
        } else {
            None
        }
    }

    /// Passes a wake on; `own` is the ID of the task that this state belongs to. Unwinds if the
    /// executor's code does.
    pub(crate) fn wake(&self, own: u64) {
        self.note_if_armed(own);
        if let Some(waker) = self.inner().as_deref().and_then(Option::as_ref) {
            waker.wake_by_ref();
        }
    }

    /// Records a wake that is passed on elsewhere.
    pub(crate) fn note_if_armed(&self, own: u64) {
        if switch::is_armed() {
            self.note(own);
        }
    }

    fn note(&self, own: u64) {
        let by = current::who();
        self.note_by(by, by != 0 && by == own);
    }

    /// Records a wake by `by`, as in [`current::who`](crate::hot::current::who), that is passed on
    /// elsewhere; `is_own` if the task woke itself.
    pub(crate) fn note_by(&self, by: u64, is_own: bool) {
        self.wakes.fetch_add(1, Ordering::Relaxed);
        if is_own && !(features::TOKIO && runtimes::is_forced_to_yield()) {
            self.own_wakes.fetch_add(1, Ordering::Relaxed);
        }
        // A task that is ready is not made ready by another wake.
        if self.woken.load(Ordering::Relaxed) == 0 {
            self.by.store(by, Ordering::Relaxed);
            // Release: a reader that sees the time also sees the source.
            self.woken.store(clock::ticks().max(1), Ordering::Release);
        }
    }

    /// Source of the wake that last made it ready.
    fn readied_by(&self) -> u64 {
        self.by.load(Ordering::Relaxed)
    }

    /// Whether something could wake it.
    pub(crate) fn is_held(&self) -> bool {
        self.live.load(Ordering::Relaxed) > 0 || self.passed.load(Ordering::Relaxed)
    }

    /// Number of wakes since the last call, which only the monitor's thread makes.
    pub(crate) fn wakes_since_told(&self) -> u32 {
        let wakes = self.wakes.load(Ordering::Relaxed) as u32;
        let before = self.told.load(Ordering::Relaxed);
        if wakes != before {
            self.told.store(wakes, Ordering::Relaxed);
        }
        wakes.wrapping_sub(before)
    }

    /// Whether it was not woken since its last poll, and can be.
    pub(crate) fn may_rest(&self) -> bool {
        self.wake_since_poll().is_none() && self.is_held()
    }

    /// All counters of the waker.
    pub(crate) fn read(&self) -> WakerReading {
        WakerReading {
            woken: self.wake_since_poll(),
            by: self.readied_by(),
            wakes: self.wakes.load(Ordering::Relaxed),
            own_wakes: self.own_wakes.load(Ordering::Relaxed),
            clones: self.clones.load(Ordering::Relaxed),
            live: self.live.load(Ordering::Relaxed)
                + u32::from(self.passed.load(Ordering::Relaxed)),
        }
    }
}
