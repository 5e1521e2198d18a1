//! An open poll: what its thread notes at the start and needs at the end.

use core::sync::atomic::Ordering::Relaxed;

use crate::sync::{AtomicU32, AtomicU64};

/// An open poll. One line of the cache.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct Frame {
    pub(crate) key: AtomicU64,
    pub(crate) start: AtomicU64,
    pub(crate) nested: AtomicU64,
    pub(crate) foreign: AtomicU64,
    /// When the call's last poll had ended, if the place says that it had ended pending.
    pub(crate) suspended: AtomicU64,
    pub(crate) proc: AtomicU32,
    /// Proc that created the call, plus one; 0 if none.
    pub(crate) creator: AtomicU32,
    /// See [`crate::call::SITE`] and the flags below.
    pub(crate) place: AtomicU32,
    /// What `Row::outer_at` held before this frame, if it is the proc's first one on the stack.
    pub(crate) previous_outer: AtomicU32,
    /// Where the task segment below began, if this frame is a root.
    pub(crate) previous_base: AtomicU32,
    /// Length of the trail when this frame was opened.
    pub(crate) trail_mark: AtomicU32,
}

/// The frame is the top of a task.
pub(crate) const ROOT: u32 = 1 << 17;
/// The proc was not yet on its task's stack.
pub(crate) const OUTER: u32 = 1 << 18;
/// The await point was reached in this poll.
pub(crate) const ARRIVED: u32 = 1 << 19;

/// The call stands where it stood when the task was last shown, at an instrumented call, and so do all above it up to the root: no
/// other branch can be polled before it has ended pending.
pub(crate) const STRAIGHT: u32 = 1 << 20;

/// It is the call's first poll.
pub(crate) const FIRST: u32 = 1 << 21;

impl Frame {
    #[inline]
    pub(crate) fn has(&self, flag: u32) -> bool {
        self.place.load(Relaxed) & flag != 0
    }

    /// What the call stands at may have changed.
    pub(crate) fn bend(&self) {
        let place = self.place.load(Relaxed);
        self.place.store(place & !STRAIGHT, Relaxed);
    }

    /// The call stands at a place it has come to in this poll. Returns where it stood.
    #[inline]
    pub(crate) fn arrive(&self, place: u32) -> u32 {
        let before = self.place.load(Relaxed);
        let kept = before & (ROOT | OUTER | FIRST);
        self.place.store(kept | ARRIVED | place, Relaxed);
        before
    }
}

/// No user code can have run since the last reading of the clock: going down the chain of awaits
/// (after the start of a poll), or back up (after one that ended pending).
pub(crate) const STILL_NO: u32 = 0;
pub(crate) const STILL_DOWN: u32 = 1;
pub(crate) const STILL_UP: u32 = 2;
/// Going down, and all above is [`STRAIGHT`].
pub(crate) const STILL_STRAIGHT: u32 = 3;

/// How a poll begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// The poll is marked as the root of a task, also inside another poll.
    pub root: bool,
    /// Nobody will ask for the chains of pending calls below it ([`Ledger::take_trail`](crate::ledger::Ledger::take_trail)), if it is the bottom of the stack.
    pub quiet: bool,
    /// Names the call in [`Ledger::poll_end_of`](crate::ledger::Ledger::poll_end_of); the live process needs none.
    pub key: u64,
}

/// What one closed frame was charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// Duration.
    pub hold: u64,
    /// Exclusive time.
    pub running: u64,
    /// Duration without foreign time.
    pub inclusive: u64,
}

impl Charge {
    /// Adds another poll's charge.
    pub(crate) const fn add(&mut self, other: &Self) {
        self.hold = self.hold.wrapping_add(other.hold);
        self.running = self.running.wrapping_add(other.running);
        self.inclusive = self.inclusive.wrapping_add(other.inclusive);
    }
}
