//! The few words that live in a call itself: what a poll needs to know of the polls before it.

use crate::ledger::Charge;

/// A proc as the ledger knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcKey {
    /// Row number, below [`crate::row::PROC_LIMIT`].
    pub id: u32,
    /// Bytes of this call's future.
    pub future_bytes: u32,
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

/// A place is one word, in a call and in its frame: the await point plus one (0 if unknown), and what follows of its being there.
pub(crate) const SITE: u32 = (1 << SITE_BITS) - 1;
/// Await points of one proc beyond those that fit are "place unknown".
pub(crate) const SITE_BITS: u32 = 14;
/// The operand is an instrumented call itself.
pub(crate) const DIRECT: u32 = 1 << 16;
/// In a call: its last accounted poll ended pending. In a frame: so had the poll before it, and it has not come anywhere since.
pub(crate) const PENDING: u32 = 1 << 17;
/// The call has ended.
const ENDED: u32 = 1 << 18;

/// One call's own account. It never overlaps itself, so plain fields do.
///
/// All words are zero at first and none is narrower than 32 bits: a future moves a few times before
/// its first poll, and copies of just-written narrow fields would each wait for the store buffer.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Call {
    pub(crate) epoch: u32,
    pub(crate) polls: u32,
    /// Proc that created it, plus one; 0 if none.
    pub(crate) creator: u32,
    pub(crate) place: u32,
    pub(crate) running: u64,
    pub(crate) inclusive: u64,
    /// End of the last pending poll.
    pub(crate) suspended: u64,
    /// End of the poll in which it came to the await point where it stands.
    pub(crate) since: u64,
}

impl Default for Call {
    fn default() -> Self {
        Self::new()
    }
}

impl Call {
    /// A call that no ledger has seen.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            epoch: UNREGISTERED,
            polls: 0,
            creator: 0,
            place: 0,
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
        self.epoch == epoch && self.place & ENDED == 0
    }

    /// The call has ended; polls and drops that follow are not accounted.
    #[inline]
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.place & ENDED != 0
    }

    /// The epoch it is registered with; 0 if none.
    #[inline]
    #[must_use]
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// How many of its polls were accounted.
    #[must_use]
    pub const fn polls(&self) -> u32 {
        self.polls
    }

    #[inline]
    pub(crate) const fn register(&mut self, epoch: u32) {
        *self = Self {
            epoch,
            ..Self::new()
        };
    }

    /// Its last accounted poll ended pending.
    #[inline]
    pub(crate) const fn is_suspended(&self) -> bool {
        self.place & PENDING != 0
    }

    /// Await point where it stands, plus one; 0 if unknown.
    #[inline]
    pub(crate) const fn site(&self) -> u32 {
        self.place & SITE
    }

    /// Its poll begins. Returns where it stands, for the frame.
    #[inline]
    pub(crate) const fn enter(&mut self) -> u32 {
        let place = self.place;
        self.place = place & !PENDING;
        place
    }

    /// Its poll is closed; `place` is the frame's.
    #[inline]
    pub(crate) const fn leave(&mut self, place: u32) {
        self.place = place & (SITE | DIRECT);
    }

    /// The poll that was closed ended pending.
    #[inline]
    pub(crate) const fn suspend(&mut self, t: u64) {
        self.place |= PENDING;
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
        self.place |= ENDED;
    }
}
