//! What stands between an executor's waker and the wakers that leaf futures keep: it passes wakes on, and knows of each.
//!
//! A node has the executor's waker only while it has clones: it clones the executor's waker when
//! its own is cloned, and drops it with its last clone. So an executor that frees what nobody can
//! wake any more still does, and whoever would see a panic of the executor's waker sees it.
//!
//! None of the executor's code runs while anybody waits for it. It is woken under the read half of
//! a lock, which no one waits for: whoever wants the write half tries for it a few times, and does
//! without.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{
    Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
};
use std::task::Waker;

use turbowish_model::account::task::{WakeCause, WakerReading};
use turbowish_unsafe::waker::{BorrowedWaker, LazyTarget, Target};

use crate::hot::{clock, current, switch};

/// A waker's account.
#[derive(Debug, Default)]
pub(crate) struct WakerState {
    /// The executor's. It is there while `live` is not 0, if it could be had.
    inner: RwLock<Option<Waker>>,
    /// Wakers that are clones of this node's, and one more during a poll that is given one of them.
    live: AtomicU32,
    /// A clone of the executor's own waker was given away in the last poll.
    passed: AtomicBool,
    /// The lower half of `wakes` when the monitor looked last.
    #[cfg(feature = "server")]
    told: AtomicU32,
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

/// How a poll begins.
#[derive(Debug)]
pub(crate) struct Begun {
    /// When the node was woken first since the last poll began, and by whom.
    pub(crate) readied: Option<WakeCause>,
    /// The poll may be given the node's waker, and is to be ended by [`WakerState::end`]. Otherwise it is
    /// given a [`Late`] one.
    pub(crate) fits: bool,
}

/// What the wakers of a node refer to.
pub(crate) trait StatefulWaker: Target {
    /// The node.
    fn node(&self) -> &WakerState;
    /// The task that it belongs to.
    fn task(&self) -> u64;
}

/// The waker of a poll whose node does not have the executor's waker, or has another one.
#[derive(Debug)]
pub(crate) struct Late<'a, T> {
    pub(crate) target: Arc<T>,
    pub(crate) outer: &'a Waker,
    /// The waker around it is one of ours.
    pub(crate) is_inside: bool,
}

impl<T: StatefulWaker> Late<'_, T> {
    /// The waker.
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
        self.target.node().note_if_armed(self.target.task());
        self.outer.wake_by_ref();
    }
}

/// A waker of `target`, whose node wakes `outer` from now on; or a clone of `outer`, while an
/// earlier one is being woken. It unwinds if the executor's code does, and leaves everything as it
/// was.
pub(crate) fn kept<T: StatefulWaker>(target: &Arc<T>, outer: &Waker, is_inside: bool) -> Waker {
    // Counted before the node has the executor's waker, which goes with the last clone.
    let clone = BorrowedWaker::new(target).waker().clone();
    let uncounted = is_inside.then(Uncounted::begin);
    let adopted = target.node().adopt(outer);
    drop(uncounted);
    match adopted {
        Ok(()) => clone,
        Err(theirs) => {
            target.node().passed.store(true, Ordering::Relaxed);
            theirs
        }
    }
}

/// How often a lock is tried for that is held for a few instructions, or as long as a wake takes.
const TRIES: u32 = 200;

/// `None`: it is held for longer, or by a thread that is none of this process.
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
    /// One that has `waker`, and a clone of its own.
    pub(crate) fn kept_by(waker: Waker) -> Self {
        Self {
            inner: RwLock::new(Some(waker)),
            live: AtomicU32::new(1),
            ..Self::default()
        }
    }

    /// `None` in a child of `fork`, if another thread was about to change it then.
    #[inline]
    fn inner(&self) -> Option<RwLockReadGuard<'_, Option<Waker>>> {
        if switch::is_child() {
            return attempt(|| self.inner.try_read());
        }
        Some(self.inner.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// `None` while it is woken.
    fn inner_mut(&self) -> Option<RwLockWriteGuard<'_, Option<Waker>>> {
        attempt(|| self.inner.try_write())
    }

    fn is_of(&self, waker: &Waker) -> bool {
        let inner = self.inner();
        let known = inner.as_deref().and_then(Option::as_ref);
        known.is_some_and(|known| known.will_wake(waker))
    }

    /// A poll with the executor's `waker` begins.
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

    /// A poll that was given the node's waker is over.
    pub(crate) fn end(&self) {
        let_go(self.leave());
    }

    /// The executor's `waker` is woken from now on.
    ///
    /// # Errors
    /// It could not be kept: here is a clone of it.
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
        // What an executor does when its waker is dropped is its own affair, and not to be done
        // under a lock.
        drop(before);
        Ok(())
    }

    fn take_wake(&self) -> Option<WakeCause> {
        let since = self.wake_since_poll()?;
        // Before anybody else can be the first again.
        let by = self.readied_by();
        self.woken.store(0, Ordering::Release);
        Some(WakeCause { since, by })
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
        // Whoever has it now has counted itself, and comes here later.
        let mut inner = self.inner_mut()?;
        // A poll may have begun: it counts itself before it comes to the lock.
        if self.live.load(Ordering::Acquire) == 0 {
            inner.take()
        } else {
            None
        }
    }

    /// Passes a wake on; `own` is the task that this node belongs to. It unwinds if the executor's
    /// code does.
    pub(crate) fn wake(&self, own: u64) {
        self.note_if_armed(own);
        if let Some(waker) = self.inner().as_deref().and_then(Option::as_ref) {
            waker.wake_by_ref();
        }
    }

    /// Notes a wake that is passed on otherwise.
    pub(crate) fn note_if_armed(&self, own: u64) {
        if switch::is_armed() {
            self.note(own);
        }
    }

    fn note(&self, own: u64) {
        let by = current::who();
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
    #[cfg(any(feature = "tokio", feature = "server"))]
    pub(crate) fn is_held(&self) -> bool {
        self.live.load(Ordering::Relaxed) > 0 || self.passed.load(Ordering::Relaxed)
    }

    /// Wakes since this was asked last: by the one thread of the monitor.
    #[cfg(feature = "server")]
    pub(crate) fn wakes_since_told(&self) -> u32 {
        let wakes = self.wakes.load(Ordering::Relaxed) as u32;
        let before = self.told.load(Ordering::Relaxed);
        if wakes != before {
            self.told.store(wakes, Ordering::Relaxed);
        }
        wakes.wrapping_sub(before)
    }

    /// Whether it was not woken since its last poll, and can be.
    #[cfg(feature = "server")]
    pub(crate) fn may_rest(&self) -> bool {
        self.wake_since_poll().is_none() && self.is_held()
    }

    /// What is known of it.
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
