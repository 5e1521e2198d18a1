//! An open poll: what its thread notes at the start and needs at the end.

use core::sync::atomic::Ordering::Relaxed;

use crate::account::call::{DIRECT, FORK, MARK};
use crate::account::sync::{AtomicU32, AtomicU64};

/// An open poll. One line of the cache.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct Frame {
    /// The task, in its root's frame; in that of a branch the branch; else 0.
    pub(crate) key: AtomicU64,
    pub(crate) start: AtomicU64,
    pub(crate) nested: AtomicU64,
    pub(crate) foreign: AtomicU64,
    /// When the call's last poll had ended, if the place says that it had ended pending.
    pub(crate) suspended: AtomicU64,
    pub(crate) proc: AtomicU32,
    /// Proc that created the call, plus one; 0 if none.
    pub(crate) creator: AtomicU32,
    /// See [`crate::account::call::SITE`] and the flags below.
    pub(crate) place: AtomicU32,
    /// What `Row::outer_at` held before this frame, if it is the proc's first one on the stack.
    pub(crate) previous_outer: AtomicU32,
    /// Where the task segment below began, if this frame is a root.
    pub(crate) previous_base: AtomicU32,
    /// Length of the trail when this frame was opened.
    pub(crate) stack_mark: AtomicU32,
}

/// The frame is the top of a task.
pub(crate) const ROOT: u32 = 1 << 17;
/// The proc was not yet on its task's stack.
pub(crate) const OUTER: u32 = 1 << 18;
/// The await point was reached in this poll.
pub(crate) const ARRIVED: u32 = 1 << 19;

/// The call stands where it stood when the task was last shown, at an instrumented call, and so do all above it up to the root: no
/// other branch can be polled before it has ended pending.
pub(crate) const UNCHANGED: u32 = 1 << 20;

/// It is the call's first poll.
pub(crate) const FIRST: u32 = 1 << 21;

/// A call has ended pending below it, where it stands now, in this poll.
pub(crate) const BESIDE: u32 = 1 << 22;
/// The call is one of several that the call below it in the stack polls where it stands.
pub(crate) const BRANCH: u32 = 1 << 23;
/// It was found in this poll that it polls several there.
pub(crate) const FOUND: u32 = 1 << 24;
/// It was marked in this poll.
pub(crate) const MARKED: u32 = 1 << 30;

impl Frame {
    #[inline]
    pub(crate) fn has(&self, flag: u32) -> bool {
        self.place.load(Relaxed) & flag != 0
    }

    /// What the call stands at may have changed.
    pub(crate) fn invalidate(&self) {
        let place = self.place.load(Relaxed);
        self.place.store(place & !(UNCHANGED | BESIDE), Relaxed);
    }

    /// A call below it has ended pending.
    #[inline]
    pub(crate) fn child_pending(&self) {
        let place = self.place.load(Relaxed);
        if place & (DIRECT | FORK) == 0 {
            self.place.store(place | BESIDE, Relaxed);
        }
    }

    /// A call's poll begins below it, whose last poll ended pending at `suspended`. Returns [`BRANCH`] if it is one of several.
    #[inline]
    pub(crate) fn branch(&self, suspended: u64) -> u32 {
        let place = self.place.load(Relaxed);
        if place & (FORK | BESIDE) == 0 {
            return 0;
        }
        self.branch_beside(place, suspended)
    }

    #[cold]
    fn branch_beside(&self, place: u32, suspended: u64) -> u32 {
        if place & FORK != 0 {
            return BRANCH;
        }
        // What has ended pending in this very poll may be the one call that was seen there.
        if suspended >= self.start.load(Relaxed) {
            return 0;
        }
        self.place.store(place | FORK | FOUND, Relaxed);
        BRANCH
    }

    /// The call stands at a place it has come to in this poll. Returns where it stood.
    #[inline]
    pub(crate) fn arrive(&self, place: u32) -> u32 {
        let before = self.place.load(Relaxed);
        let kept = before & (ROOT | OUTER | FIRST | BRANCH | MARK | MARKED);
        self.place.store(kept | ARRIVED | place, Relaxed);
        before
    }
}

/// No user code can have run since the last reading of the clock: going down the chain of awaits
/// (after the start of a poll), or back up (after one that ended pending).
pub(crate) const REUSE_NONE: u32 = 0;
pub(crate) const REUSE_DOWN: u32 = 1;
pub(crate) const REUSE_UP: u32 = 2;
/// Going down, and all above is [`UNCHANGED`].
pub(crate) const REUSE_UNCHANGED: u32 = 3;

/// How a poll begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// The poll is marked as the root of a task, also inside another poll.
    pub root: bool,
    /// Nobody will ask for the chains of pending calls below it ([`Ledger::take_await_stack`](crate::account::ledger::Ledger::take_trail)), if it is the bottom of the stack.
    pub quiet: bool,
    /// Names the call in [`Ledger::poll_end_of`](crate::account::ledger::Ledger::poll_end_of); in the live process, the task of which it is the root.
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
