//! State between an executor's waker and the wakers that the primitive of a wait keeps: passes
//! wakes on, and records them. Tasks and branches have a slot instead (`task.rs`), which does the
//! same without a lock.
//!
//! A waker state has the executor's waker only while it has clones: it clones the executor's waker
//! when its own is cloned, and drops it with its last clone. So an executor that frees tasks that
//! nothing can wake still frees them, and a panic in the executor's waker surfaces where it would
//! without TurboWish.
//!
//! None of the executor's code runs while a thread waits for it. The executor's waker is woken
//! under the read half of a lock for which no thread waits: a writer tries for the write half a few
//! times, and does without if it fails.

mod wakes;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{
    Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
};
use std::task::Waker;

use turbowish_model::account::task::WakeCause;
use turbowish_unsafe::waker::{BorrowedWaker, LazyTarget, WakeTarget};

pub(crate) use self::wakes::Wakes;
use crate::discard::discard;
use crate::hot::switch;

/// The waker of a wait, and its wakes.
#[derive(Debug, Default)]
pub(crate) struct WakerState {
    /// The executor's waker. Present while `live` is not 0, if the lock could be taken.
    inner: RwLock<Option<Waker>>,
    /// Number of clones of this state's waker, plus one during a poll that is given it.
    live: AtomicU32,
    /// A clone of the executor's own waker was given away in the last poll.
    passed: AtomicBool,
    wakes: Wakes,
}

thread_local! {
    /// Set while a waker state clones a waker: that is not a clone by the program.
    static OURS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a clone that is made now is one by the program.
pub(crate) fn is_by_program() -> bool {
    !OURS.get()
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
    if let Some(waker) = waker {
        discard(waker);
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

/// What a [`Late`] waker's clones become wakers of.
pub(crate) trait LateTarget: Sync {
    /// A clone of its own waker.
    fn own(&self) -> Waker;
    /// Wakes `outer` from now on.
    ///
    /// # Errors
    /// If an earlier one is being woken: returns a clone of `outer`.
    fn adopt(&self, outer: &Waker) -> Result<(), Waker>;
    /// A clone of the executor's own waker was given away.
    fn passes(&self);
    /// Records a wake that is passed on elsewhere.
    fn note(&self);
}

/// Waker of a poll whose target has no executor's waker, or another one.
#[derive(Debug)]
pub(crate) struct Late<'a, T> {
    pub(crate) target: T,
    pub(crate) outer: &'a Waker,
    /// Whether the waker around it is a TurboWish waker.
    pub(crate) is_inside: bool,
}

impl<T: LateTarget> Late<'_, T> {
    /// The waker for the poll.
    #[inline]
    pub(crate) fn lent(&self) -> BorrowedWaker<'_> {
        BorrowedWaker::late(self)
    }
}

impl<T: LateTarget> LazyTarget for Late<'_, T> {
    fn waker(&self) -> Waker {
        kept(&self.target, self.outer, self.is_inside)
    }

    fn wake(&self) {
        self.target.note();
        self.outer.wake_by_ref();
    }
}

/// A waker of `target`, which wakes `outer` from now on; or a clone of `outer`, while an earlier
/// one is being woken. Unwinds if the executor's code does, and then leaves everything as it was.
pub(crate) fn kept<T: LateTarget>(target: &T, outer: &Waker, is_inside: bool) -> Waker {
    // Counted before the target has the executor's waker, which is dropped with the last clone.
    let clone = target.own();
    let uncounted = is_inside.then(Uncounted::begin);
    let adopted = target.adopt(outer);
    drop(uncounted);
    match adopted {
        Ok(()) => clone,
        Err(theirs) => {
            target.passes();
            theirs
        }
    }
}

/// Target of wakers with a waker state.
pub(crate) trait StatefulWaker: WakeTarget {
    /// The waker state of the target.
    fn waker_state(&self) -> &WakerState;
}

impl<T: StatefulWaker> LateTarget for Arc<T> {
    fn own(&self) -> Waker {
        BorrowedWaker::new(self).waker().clone()
    }
    fn adopt(&self, outer: &Waker) -> Result<(), Waker> {
        self.waker_state().adopt(outer)
    }
    fn passes(&self) {
        self.waker_state().passed.store(true, Ordering::Relaxed);
    }
    fn note(&self) {
        self.waker_state().wakes.note_if_armed();
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
            readied: self.wakes.take(),
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

    /// Counts a clone of the waker.
    pub(crate) fn cloned(&self) {
        self.live.fetch_add(1, Ordering::Relaxed);
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

    /// Passes a wake on. Unwinds if the executor's code does.
    pub(crate) fn wake(&self) {
        self.wakes.note_if_armed();
        if let Some(waker) = self.inner().as_deref().and_then(Option::as_ref) {
            waker.wake_by_ref();
        }
    }

    /// Whether something could wake it.
    pub(crate) fn is_held(&self) -> bool {
        self.live.load(Ordering::Relaxed) > 0 || self.passed.load(Ordering::Relaxed)
    }

    /// Its wakes.
    pub(crate) const fn wakes(&self) -> &Wakes {
        &self.wakes
    }
}
