//! Frame: an open poll on a thread's stack.

use core::sync::atomic::Ordering::Relaxed;

use crate::account::await_stack::LIMIT as AWAIT_LIMIT;
use crate::account::call::{DIRECT, FORK, MARK};
use crate::account::counters::PROC_LIMIT;
use crate::account::sync::{AtomicU32, AtomicU64};

/// An open poll. One cache line.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct Frame {
    /// Task id in the frame of a root, branch id in the frame of a branch, otherwise 0.
    pub(crate) key: AtomicU64,
    pub(crate) start: AtomicU64,
    pub(crate) nested: AtomicU64,
    pub(crate) foreign: AtomicU64,
    /// End of the call's last poll, if `unit` is not 0. In a call's first poll: number of the event
    /// with which it began.
    pub(crate) suspended: AtomicU64,
    /// Inclusive time of earlier polls in which the call had nothing to do and no frame.
    pub(crate) carry: AtomicU64,
    /// Who polls the call.
    pub(crate) path: AtomicU32,
    /// The await point at which the call has waited until this poll; 0 once that wait is counted.
    pub(crate) unit: AtomicU32,
    /// Await point ([`crate::account::call::SITE`]) and flags: those of `call` and those below.
    pub(crate) place: AtomicU32,
    /// Proc id in the upper half; in the lower one, the length of the await stack when this frame
    /// was opened.
    proc_and_mark: AtomicU32,
}

const _: () = assert!(PROC_LIMIT <= 1 << u16::BITS && AWAIT_LIMIT <= u16::MAX as u32);

/// The frame is the root of a task.
pub(crate) const ROOT: u32 = 1 << 18;
/// The call reached its await point in this poll.
pub(crate) const ARRIVED: u32 = 1 << 19;

/// The call has not moved since its task was last published and awaits an instrumented call
/// directly, and so do all its callers up to the root. No other branch can be polled before this
/// call has ended pending.
pub(crate) const UNCHANGED: u32 = 1 << 20;

/// This is the call's first poll.
pub(crate) const FIRST: u32 = 1 << 21;

/// A child has ended pending in this poll, at the present await point.
pub(crate) const BESIDE: u32 = 1 << 22;
/// The call is one of several that its caller polls at the same await point.
pub(crate) const BRANCH: u32 = 1 << 23;
/// This poll showed that the call polls several others at its await point.
pub(crate) const FOUND: u32 = 1 << 24;
/// The caller has a frame: that of the poll just below. A frame without this is the first of its
/// task: the root's, or that of the first call that has something to do.
pub(crate) const OVER: u32 = 1 << 25;
/// The call was polled by another one before.
pub(crate) const REPATHED: u32 = 1 << 26;
/// The call was counted before its first poll.
pub(crate) const COUNTED_BEFORE: u32 = 1 << 27;
/// What the call awaits ended pending in this poll, and its path goes on from the call's.
pub(crate) const LINKED: u32 = 1 << 28;
/// The call was marked in this poll.
pub(crate) const MARKED: u32 = 1 << 30;

/// Flags of a frame that stay when its call moves to another await point.
pub(crate) const KEPT: u32 =
    ROOT | OVER | FIRST | COUNTED_BEFORE | BRANCH | REPATHED | MARK | MARKED;

impl Frame {
    /// Sets the proc, and the length of the await stack when the frame is opened.
    #[inline(always)]
    pub(crate) fn set_proc(&self, proc: u32, stack_mark: u32) {
        self.proc_and_mark
            .store(proc << u16::BITS | stack_mark, Relaxed);
    }

    /// Proc id.
    #[inline(always)]
    pub(crate) fn proc(&self) -> u32 {
        self.proc_and_mark.load(Relaxed) >> u16::BITS
    }

    /// Length of the await stack when the frame was opened.
    #[inline(always)]
    pub(crate) fn stack_mark(&self) -> u32 {
        self.proc_and_mark.load(Relaxed) & u32::from(u16::MAX)
    }

    /// Copies what a reader needs of another frame.
    pub(crate) fn copy(&self, other: &Self) {
        let words = [
            (&self.key, &other.key),
            (&self.start, &other.start),
            (&self.nested, &other.nested),
            (&self.foreign, &other.foreign),
            (&self.suspended, &other.suspended),
        ];
        for (own, word) in words {
            own.store(word.load(Relaxed), Relaxed);
        }
        let numbers = [
            (&self.path, &other.path),
            (&self.unit, &other.unit),
            (&self.place, &other.place),
        ];
        for (own, number) in numbers {
            own.store(number.load(Relaxed), Relaxed);
        }
    }

    #[inline]
    pub(crate) fn has(&self, flag: u32) -> bool {
        self.place.load(Relaxed) & flag != 0
    }

    /// Clears the flags that claim the call has not moved.
    pub(crate) fn invalidate(&self) {
        let place = self.place.load(Relaxed);
        self.place.store(place & !(UNCHANGED | BESIDE), Relaxed);
    }

    /// Records that a child ended pending.
    #[inline]
    pub(crate) fn child_pending(&self) {
        let place = self.place.load(Relaxed);
        if place & (DIRECT | FORK) == 0 {
            self.place.store(place | BESIDE, Relaxed);
        }
    }

    /// Starts the poll of a child whose last poll ended pending at `suspended`. Returns [`BRANCH`]
    /// if the child is one of several, otherwise 0.
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
        // The call that ended pending in this very poll may be the one that was seen there.
        if suspended >= self.start.load(Relaxed) {
            return 0;
        }
        self.place.store(place | FORK | FOUND, Relaxed);
        BRANCH
    }

    /// Moves the call to an await point that it reached in this poll. Returns the previous place.
    #[inline]
    pub(crate) fn arrive(&self, place: u32) -> u32 {
        let before = self.place.load(Relaxed);
        let kept = before & KEPT;
        self.place.store(kept | ARRIVED | place, Relaxed);
        before
    }
}

/// Reuse of the last clock reading, if no user code can have run since: down the chain of awaits
/// (after the start of a poll), or back up (after a poll that ended pending).
pub(crate) const REUSE_NONE: u32 = 0;
pub(crate) const REUSE_DOWN: u32 = 1;
pub(crate) const REUSE_UP: u32 = 2;
/// Going down, and all callers are [`UNCHANGED`].
pub(crate) const REUSE_UNCHANGED: u32 = 3;

/// Options of a poll's start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// The poll is the root of a task, even inside another poll.
    pub root: bool,
    /// The call is the operand of an await, and its callers up to the root have nothing to do: see
    /// [`Ledger::begin_straight`](crate::account::ledger::Ledger::begin_straight).
    pub straight: bool,
    /// At the bottom of the stack: nobody will call
    /// [`Ledger::take_await_stack`](crate::account::ledger::Ledger::take_await_stack) for this
    /// poll, so no await stack is recorded.
    pub quiet: bool,
    /// Identifies the call in [`Ledger::poll_end_of`](crate::account::ledger::Ledger::poll_end_of).
    /// In a live process: id of the task whose root the call is.
    pub key: u64,
}

/// A poll that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Depth of the poll on the stack.
    pub depth: u32,
    /// The poll is the root of a task.
    pub is_root: bool,
    /// The call is one of several that its caller polls at the same await point.
    pub is_branch: bool,
    /// The call was created by [`Ledger::born`](crate::account::ledger::Ledger::born), and other
    /// events came between that and this first poll.
    pub unknown_birth: bool,
}

/// The times charged for one closed frame, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// Duration of the poll.
    pub hold: u64,
    /// Duration without the frames directly nested in it.
    pub running: u64,
    /// Duration without foreign time.
    pub inclusive: u64,
}

impl Charge {
    /// Adds the charge of another poll.
    pub const fn add(&mut self, other: &Self) {
        self.hold = self.hold.wrapping_add(other.hold);
        self.running = self.running.wrapping_add(other.running);
        self.inclusive = self.inclusive.wrapping_add(other.inclusive);
    }
}
