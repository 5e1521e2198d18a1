//! Waker slots: wakers of something that lives as long as the process. They refer to it by its
//! address, so a clone is one addition and no allocation.
//!
//! A slot *keeps* the executor's waker only while its own waker has clones, or is being woken. One
//! word has the whole state: the number of clones, the number of *guests* (threads that are waking
//! the kept waker by reference), four flags, and the number of the kept waker's vtable. The thread
//! that brings both counts to zero takes the kept waker out, under a flag that makes others wait
//! for these few instructions. None of the executor's code runs under that flag.
//!
//! A poll is lent the slot's waker only if the slot keeps the executor's waker of that poll
//! ([`Slot::fits`]), and then nothing is counted. Another thread may drop the last clone during the
//! poll. A clone made of the lent waker after that is an *orphan* until the end of the poll
//! ([`Slot::settle`]), which gives the slot the executor's waker again and makes up for wakes.

mod vtables;

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{RawWaker, RawWakerVTable, Waker};

use self::vtables::VTABLE_BITS;
pub use self::vtables::Vtables;
use super::BorrowedWaker;
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed};
use crate::sync::{AtomicPtr, AtomicU64, spin_loop, yield_now};

/// What the wakers of a slot refer to. It observes them.
pub trait SlotTarget: Sized + Sync + 'static {
    /// A waker was created by a clone.
    fn cloned(&self);
    /// A waker was dropped, or used up by a wake.
    fn dropped(&self);
    /// A waker was woken. The executor's waker is woken after this.
    fn woken(&self);
    /// Whether this thread is in a poll that was lent the slot's waker. The kept waker then stays
    /// until the end of the poll.
    fn is_polled_here(&self) -> bool;
    /// The slot may be used for something else: it is over, and has no wakers.
    fn free(&'static self);
    /// Whether a thread that holds a lock of this process lets it go. Not in a child of `fork`.
    fn may_wait() -> bool;
    /// The vtables of the slots' wakers and of kept ones; the same for all slots.
    fn vtables() -> &'static Vtables<Self>;
}

/// One clone.
const CLONE: u64 = 1;
/// One guest: a thread that wakes the kept waker by reference.
const GUEST: u64 = 1 << 32;
/// The slot has an executor's waker.
const KEPT: u64 = 1 << 48;
/// The kept waker is being stored or taken.
const LOCKED: u64 = 1 << 49;
/// The slot is over: its last user frees it.
const OVER: u64 = 1 << 50;
/// A wake found nothing kept: the end of the poll makes up for it.
const CALLED: u64 = 1 << 51;
/// The number of the kept waker's vtable is in the bits from here on. Changed under `LOCKED`.
const VTABLE_AT: u32 = 52;
const _: () = assert!(VTABLE_AT + VTABLE_BITS <= u64::BITS);
/// Clones, guests and flags.
const STATE: u64 = (1 << VTABLE_AT) - 1;
/// Both numbers.
const USERS: u64 = KEPT - 1;
/// Number of clones.
const CLONES: u64 = GUEST - 1;

/// Attempts for a flag that is held for a few instructions, or for the length of a wake.
const TRIES: u32 = 200;

/// A target and the state of its wakers.
#[derive(Debug)]
pub struct Slot<T> {
    state: AtomicU64,
    /// Data of the kept waker, or of the one before.
    kept_data: AtomicPtr<()>,
    target: T,
}

impl<T> Deref for Slot<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.target
    }
}

/// An executor's waker without its reference count. Not dropped.
type Kept = ManuallyDrop<Waker>;

impl<T> Slot<T> {
    /// A slot without wakers.
    pub fn new(target: T) -> Self {
        Self {
            state: AtomicU64::new(0),
            kept_data: AtomicPtr::new(std::ptr::null_mut()),
            target,
        }
    }

    /// Number of clones of the slot's waker.
    #[inline]
    #[must_use]
    pub fn live(&self) -> u32 {
        (self.state.load(Relaxed) & CLONES) as u32
    }

    /// Whether somebody has a waker of the slot, or is waking one.
    #[inline]
    #[must_use]
    pub fn has_users(&self) -> bool {
        self.state.load(Acquire) & USERS != 0
    }

    #[inline]
    fn exchange(&self, before: &mut u64, after: u64) -> bool {
        let exchanged = self.state.compare_exchange(*before, after, AcqRel, Acquire);
        exchanged.inspect_err(|now| *before = *now).is_ok()
    }
}

impl<T: SlotTarget> Slot<T> {
    /// Whether the slot keeps an executor's waker that is equal to `outer`.
    #[inline]
    #[must_use]
    pub fn fits(&self, outer: &Waker) -> bool {
        let state = self.state.load(Acquire);
        state & (KEPT | LOCKED) == KEPT
            && state & CLONES != 0
            && std::ptr::eq(self.kept_data.load(Relaxed), outer.data())
            && std::ptr::eq(Self::vtable(state), outer.vtable())
    }

    /// The vtable of the waker that is kept in this state.
    #[inline]
    fn vtable(state: u64) -> *const RawWakerVTable {
        T::vtables().at((state >> VTABLE_AT) as usize)
    }

    /// The kept waker, which still belongs to the slot.
    ///
    /// # Safety
    /// An executor's waker was stored and not taken since, and the caller holds `LOCKED`, or is a
    /// guest.
    #[inline]
    unsafe fn kept(&self) -> Kept {
        // SAFETY: by contract, `store` has stored both, and nothing changes them meanwhile. No
        // entry of the table is removed.
        let vtable: &'static RawWakerVTable = unsafe { &*Self::vtable(self.state.load(Relaxed)) };
        // SAFETY: data and vtable of a waker make the same waker. Its count stays the slot's: this
        // one is not dropped, unless the caller takes it out.
        ManuallyDrop::new(unsafe { Waker::new(self.kept_data.load(Relaxed), vtable) })
    }

    /// Stores an executor's waker, whose vtable has this number. The caller holds `LOCKED`, and
    /// `flags` are what it adds and `LOCKED` is what it subtracts with the same step.
    fn store(&self, waker: Waker, vtable: usize, flags: u64) {
        let waker = ManuallyDrop::new(waker);
        self.kept_data.store(waker.data().cast_mut(), Relaxed);
        let before = self.state.load(Relaxed) & !STATE;
        let vtable = ((vtable as u64) << VTABLE_AT).wrapping_sub(before);
        // One step, whatever is counted meanwhile.
        let step = vtable.wrapping_add(flags).wrapping_sub(LOCKED);
        self.state.fetch_add(step, AcqRel);
    }

    /// The slot's waker, for a poll that it [fits](Self::fits). Nothing is counted.
    #[inline]
    #[must_use]
    pub fn lent(&'static self) -> BorrowedWaker<'static> {
        let raw = RawWaker::new(std::ptr::from_ref(self).cast(), T::vtables().own());
        // SAFETY: the functions of `SlotWakers<T>` are thread-safe, since `Slot<T>` is `Sync`, and
        // are only given addresses of slots that live forever. This waker owns no count, and is
        // neither dropped nor handed out by value.
        BorrowedWaker::of(unsafe { Waker::from_raw(raw) })
    }

    /// Keeps `outer` instead of the present waker, if that is another one. The caller has a clone
    /// of the slot's waker. Unwinds if the executor's code does.
    ///
    /// # Errors
    /// If the present waker is being woken, or there are too many vtables: returns a clone of
    /// `outer`.
    pub fn adopt(&self, outer: &Waker) -> Result<(), Waker> {
        if self.fits(outer) {
            return Ok(());
        }
        let fresh = outer.clone();
        let Some(vtable) = T::vtables().number(fresh.vtable()) else {
            return Err(fresh);
        };
        let mut state = self.state.load(Acquire);
        for turn in 0..TRIES {
            let is_busy = state & LOCKED != 0 || state & USERS >= GUEST;
            let locked = state | LOCKED;
            // The clone of the caller keeps others from taking the waker.
            if !is_busy && state & CLONES != 0 && self.exchange(&mut state, locked) {
                // SAFETY: there is one, and this thread holds `LOCKED`: what is stored next
                // replaces it, so its count is this thread's.
                let before = (state & KEPT != 0).then(|| unsafe { self.kept() });
                let kept = if before.is_some() { 0 } else { KEPT };
                self.store(fresh, vtable, kept);
                // Foreign code, which must not run under the flag.
                drop(before.map(ManuallyDrop::into_inner));
                return Ok(());
            }
            if is_busy {
                pause(turn);
                state = self.state.load(Acquire);
            }
        }
        Err(fresh)
    }

    /// Ends a poll with the executor's waker `outer` that was lent the slot's. Nothing unwinds.
    #[inline]
    pub fn settle(&'static self, outer: &Waker) {
        let state = self.state.load(Acquire);
        let is_settled = state & KEPT != 0 && state & CLONES != 0;
        if state & CALLED != 0 || !(is_settled || state & (KEPT | USERS) == 0) {
            self.settle_now(outer);
        }
    }

    #[cold]
    fn settle_now(&'static self, outer: &Waker) {
        let state = self.state.load(Acquire);
        if state & KEPT == 0 && state & CLONES != 0 {
            self.state.fetch_add(CLONE, AcqRel);
            quietly(|| drop(self.adopt(outer)));
            // Without an executor's waker nothing could wake it: it is polled once more.
            if self.state.load(Acquire) & KEPT == 0 {
                self.state.fetch_or(CALLED, AcqRel);
            }
            let last = self.change(CLONE, 0);
            quietly(|| drop(last));
        } else {
            let last = self.change(0, 0);
            quietly(|| drop(last));
        }
        if self.state.load(Acquire) & CALLED != 0
            && self.state.fetch_and(!CALLED, AcqRel) & CALLED != 0
        {
            quietly(|| outer.wake_by_ref());
        }
    }

    /// Nothing polls with the slot any more. It is freed with its last waker.
    #[inline]
    pub fn over(&'static self) {
        // Without a user there is nobody who could become one.
        if self.state.load(Acquire) & (STATE & !CALLED) == 0 {
            self.state.store(0, Relaxed);
            self.target.free();
        } else {
            let last = self.change(0, OVER);
            quietly(|| drop(last));
        }
    }

    /// Subtracts a user and sets flags. If nobody is left, takes the kept waker out and returns it,
    /// and frees the slot if it is over.
    fn change(&'static self, user: u64, flags: u64) -> Option<Waker> {
        let mut state = self.state.load(Acquire);
        loop {
            let left = (state - user) | flags;
            let is_last = left & (USERS | LOCKED) == 0;
            let takes = is_last && left & KEPT != 0 && !self.target.is_polled_here();
            let frees = is_last && left & (KEPT | OVER) == OVER;
            let after = match (takes, frees) {
                (true, _) => left & !KEPT | LOCKED,
                (_, true) => 0,
                _ => left,
            };
            if after != state && !self.exchange(&mut state, after) {
                continue;
            }
            if frees {
                self.target.free();
            }
            return takes.then(|| self.take());
        }
    }

    /// Takes the kept waker out. The caller holds `LOCKED`, and has cleared `KEPT`.
    fn take(&'static self) -> Waker {
        // SAFETY: it was stored, and with `LOCKED` held and `KEPT` cleared nobody else gets at it:
        // its count is this thread's.
        let waker = ManuallyDrop::into_inner(unsafe { self.kept() });
        let mut state = self.state.load(Acquire);
        loop {
            let left = state & !LOCKED;
            let frees = left & (USERS | OVER) == OVER;
            if self.exchange(&mut state, if frees { 0 } else { left }) {
                if frees {
                    self.target.free();
                }
                return waker;
            }
        }
    }

    /// Becomes a guest, in place of a `user` that the caller is. `None` if nothing is kept.
    fn visit(&'static self, user: u64) -> Option<Access<T>> {
        let mut state = self.state.load(Acquire);
        let mut turn = 0;
        loop {
            if state & LOCKED != 0 && self.waits(&mut turn) {
                state = self.state.load(Acquire);
                continue;
            }
            let left = state - user;
            if state & (LOCKED | KEPT) != KEPT {
                drop(self.change(user, CALLED));
                return None;
            }
            let is_last = left & USERS == 0 && user != 0 && !self.target.is_polled_here();
            let after = if is_last {
                left & !KEPT | LOCKED
            } else {
                left + GUEST
            };
            if self.exchange(&mut state, after) {
                return Some(match is_last {
                    true => Access::Last(self.take()),
                    false => Access::Guest(Guest(self)),
                });
            }
        }
    }

    /// Waits for another thread; `false` if that may not exist in this process.
    fn waits(&self, turn: &mut u32) -> bool {
        pause(*turn);
        *turn = turn.saturating_add(1);
        *turn < TRIES || T::may_wait()
    }

    fn wake_by_ref(&'static self) {
        self.target.woken();
        if let Some(kept) = self.visit(0) {
            kept.wake();
        }
    }

    fn wake(&'static self) {
        // Reported also if waking unwinds.
        let _dropped = Dropped(&self.target);
        self.target.woken();
        if let Some(kept) = self.visit(CLONE) {
            kept.wake();
        }
    }
}

/// Access to the kept waker for a wake.
enum Access<T: SlotTarget> {
    /// With the last clone: the kept waker is used up.
    Last(Waker),
    Guest(Guest<T>),
}

impl<T: SlotTarget> Access<T> {
    fn wake(self) {
        match self {
            Self::Last(waker) => waker.wake(),
            // SAFETY: the guest keeps the waker from being taken or replaced.
            Self::Guest(guest) => unsafe { guest.0.kept() }.wake_by_ref(),
        }
    }
}

/// A guest of a slot. Leaves also if waking unwinds.
struct Guest<T: SlotTarget>(&'static Slot<T>);

impl<T: SlotTarget> Drop for Guest<T> {
    fn drop(&mut self) {
        drop(self.0.change(GUEST, 0));
    }
}

/// Reports the drop of a waker.
struct Dropped<T: SlotTarget>(&'static T);

impl<T: SlotTarget> Drop for Dropped<T> {
    fn drop(&mut self) {
        self.0.dropped();
    }
}

fn pause(turn: u32) {
    if turn < TRIES / 2 {
        spin_loop();
    } else {
        yield_now();
    }
}

/// Runs an executor's code at the edge of a poll, through which nothing may unwind. A panic there
/// is reported by the panic hook alone.
fn quietly(act: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(act)) {
        // The payload's drop may panic, too.
        std::mem::forget(payload);
    }
}

/// Vtable of wakers that refer to a slot.
struct SlotWakers<T>(PhantomData<T>);

impl<T: SlotTarget> SlotWakers<T> {
    const TABLE: RawWakerVTable =
        RawWakerVTable::new(Self::clone, Self::wake, Self::wake_by_ref, Self::drop);

    /// # Safety
    /// `data` is the address of a `Slot<T>` that lives forever.
    #[inline]
    unsafe fn slot(data: *const ()) -> &'static Slot<T> {
        // SAFETY: by contract.
        unsafe { &*data.cast() }
    }

    /// # Safety
    /// As for `slot`.
    unsafe fn clone(data: *const ()) -> RawWaker {
        // SAFETY: by the contract of this function.
        let slot = unsafe { Self::slot(data) };
        slot.target.cloned();
        slot.state.fetch_add(CLONE, AcqRel);
        RawWaker::new(data, T::vtables().own())
    }

    /// # Safety
    /// As for `slot`, and the caller owns one of the slot's clones.
    unsafe fn wake(data: *const ()) {
        // SAFETY: by the contract of this function.
        unsafe { Self::slot(data) }.wake();
    }

    /// # Safety
    /// As for `slot`.
    unsafe fn wake_by_ref(data: *const ()) {
        // SAFETY: by the contract of this function.
        unsafe { Self::slot(data) }.wake_by_ref();
    }

    /// # Safety
    /// As for `wake`.
    unsafe fn drop(data: *const ()) {
        // SAFETY: by the contract of this function.
        let slot = unsafe { Self::slot(data) };
        slot.target.dropped();
        drop(slot.change(CLONE, 0));
    }
}

#[cfg(test)]
mod tests;
