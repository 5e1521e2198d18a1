//! The few words that live in a call itself: what a poll needs to know of the polls before it.

use crate::account::counters::PROC_LIMIT;
use crate::account::ledger::Charge;

/// A proc as the ledger knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcKey {
    /// Row number, below [`crate::account::counters::PROC_LIMIT`].
    pub id: u32,
    /// Bytes of this call's future.
    pub future_bytes: u64,
}

/// How a poll ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PollEnd {
    /// `Poll::Pending`.
    Pending,
    /// `Poll::Ready` with anything but an `Err`.
    Ready,
    /// `Poll::Ready(Err(_))`.
    Err,
    /// It unwound.
    Panic,
    /// Its frame was torn down without a result and without a panic.
    Torn,
}

impl PollEnd {
    pub(crate) const fn outcome(self) -> Outcome {
        match self {
            Self::Ready => Outcome::Ready,
            Self::Err => Outcome::Err,
            Self::Panic => Outcome::Panicked,
            Self::Pending | Self::Torn => Outcome::Cancelled,
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It returned.
    Ready,
    /// It returned an `Err`.
    Err,
    /// It was dropped before it returned.
    Cancelled,
    /// It panicked.
    Panicked,
}

/// No epoch has this number: the call is not registered.
const UNREGISTERED: u32 = 0;

/// Where a call stands is a part of one word, in the call and in its frame: the await point plus one (0 if unknown).
pub(crate) const SITE: u32 = (1 << 10) - 1;
/// It has taken or given something that is lost or left half-way if it is dropped.
pub(crate) const MARK: u32 = 1 << 10;
/// It polls several calls there, as far as is known.
pub(crate) const FORK: u32 = 1 << 11;
/// The operand is an instrumented call itself.
pub(crate) const DIRECT: u32 = 1 << 12;
/// In a call: its last accounted poll ended pending. In a frame: so had the poll before it, and it has not come anywhere since.
pub(crate) const PENDING: u32 = 1 << 13;
/// The call has ended.
const ENDED: u32 = 1 << 14;
/// A poll of it was accounted.
const POLLED: u32 = 1 << 15;
/// The task that it is the root of has no row.
const ROWLESS: u32 = 1 << 16;
/// What a call's word holds above these: the proc that created it, plus one; 0 if none. A frame has it apart.
const CREATOR_SHIFT: u32 = 17;
const CREATOR: u32 = u32::MAX << CREATOR_SHIFT;

const _: () = assert!(PROC_LIMIT <= CREATOR >> CREATOR_SHIFT);

/// Where a call comes from: the epoch that it is registered with, and the proc that created it. One word, so that it comes to
/// a new call in a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Origin(u64);

impl Origin {
    /// No ledger has seen the call.
    pub const UNSEEN: Self = Self(UNREGISTERED as u64);

    #[inline]
    pub(crate) const fn new(epoch: u32, creator: Option<u32>) -> Self {
        let creator = match creator {
            Some(creator) => (creator + 1) << CREATOR_SHIFT,
            None => 0,
        };
        Self((creator as u64) << u32::BITS | epoch as u64)
    }
}

/// One call's own account. It never overlaps itself, so plain fields do.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Call {
    epoch: u32,
    state: u32,
    pub(crate) running: u64,
    pub(crate) inclusive: u64,
    /// End of the last pending poll.
    pub(crate) suspended: u64,
    /// End of the poll in which it came to the await point where it stands.
    pub(crate) since: u64,
}

impl Call {
    /// A call as it is created.
    #[inline]
    #[must_use]
    pub const fn new(origin: Origin) -> Self {
        Self {
            epoch: origin.0 as u32,
            state: (origin.0 >> u32::BITS) as u32,
            running: 0,
            inclusive: 0,
            suspended: 0,
            since: 0,
        }
    }

    /// Whether a ledger of this epoch counts it as live.
    #[inline]
    #[must_use]
    pub const fn is_live(&self, epoch: u32) -> bool {
        self.epoch == epoch && self.state & ENDED == 0
    }

    /// The call has ended; polls and drops that follow are not accounted.
    #[inline]
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.state & ENDED != 0
    }

    /// A ledger counts it as live, be it of an epoch that is over.
    #[inline]
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.epoch != UNREGISTERED && self.state & ENDED == 0
    }

    /// The epoch it is registered with; 0 if none.
    #[inline]
    #[must_use]
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// A poll of it was accounted.
    #[inline]
    #[must_use]
    pub const fn is_polled(&self) -> bool {
        self.state & POLLED != 0
    }

    /// Notes that there was no room for the task that it is the root of.
    pub const fn set_rowless(&mut self) {
        self.state |= ROWLESS;
    }

    /// There was no room for the task that it is the root of.
    #[must_use]
    pub const fn is_rowless(&self) -> bool {
        self.state & ROWLESS != 0
    }

    /// It has taken or given something: see [`Ledger::mark`](crate::account::ledger::Ledger::mark).
    #[inline]
    #[must_use]
    pub const fn is_marked(&self) -> bool {
        self.state & MARK != 0
    }

    /// It has nothing any more of what it was marked for.
    pub const fn unmark(&mut self) {
        self.state &= !MARK;
    }

    /// Its last accounted poll ended pending.
    #[inline]
    pub(crate) const fn is_suspended(&self) -> bool {
        self.state & PENDING != 0
    }

    /// Await point where it stands, plus one; 0 if unknown.
    #[inline]
    #[must_use]
    pub const fn site(&self) -> u32 {
        self.state & SITE
    }

    /// The same, and whether it awaits an instrumented call there.
    #[inline]
    pub(crate) const fn place(&self) -> u32 {
        self.state & (SITE | DIRECT)
    }

    /// Proc that created it, plus one; 0 if none.
    #[inline]
    pub(crate) const fn creator(&self) -> u32 {
        self.state >> CREATOR_SHIFT
    }

    /// Proc that created it.
    #[must_use]
    pub const fn maker(&self) -> Option<u32> {
        self.creator().checked_sub(1)
    }

    /// Its poll begins. Returns where it stands, for the frame.
    #[inline]
    pub(crate) const fn enter(&mut self) -> u32 {
        let state = self.state;
        self.state = state & !PENDING | POLLED;
        state & (SITE | MARK | FORK | DIRECT | PENDING)
    }

    /// Its poll is closed; `place` is the frame's.
    #[inline]
    pub(crate) const fn leave(&mut self, place: u32) {
        const PLACE: u32 = SITE | MARK | FORK | DIRECT;
        self.state = self.state & !PLACE | place & PLACE;
    }

    /// The poll that was closed ended pending.
    #[inline]
    pub(crate) const fn suspend(&mut self, t: u64) {
        self.state |= PENDING;
        self.suspended = t;
    }

    #[inline]
    pub(crate) const fn charge(&mut self, charge: &Charge) {
        self.running = self.running.wrapping_add(charge.running);
        self.inclusive = self.inclusive.wrapping_add(charge.inclusive);
    }

    /// Its poll was closed without an end of its own (R3).
    pub(crate) const fn close(&mut self, charge: &Charge) {
        self.leave(0);
        self.charge(charge);
    }

    #[inline]
    pub(crate) const fn end(&mut self) {
        self.state |= ENDED;
    }
}
