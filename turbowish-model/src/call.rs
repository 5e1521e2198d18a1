//! The few words that live in a call itself: what a poll needs to know of the polls before it.

use crate::ledger::Charge;

/// A proc as the ledger knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcKey {
    /// Row number, below [`crate::row::PROC_LIMIT`].
    pub id: u32,
    /// Bytes of this call's future.
    pub future_bytes: u32,
    /// How many await points the proc has.
    pub sites: u16,
}

/// How a poll ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// One call's own account. It never overlaps itself, so plain fields do.
#[derive(Clone, Debug)]
pub struct Call {
    pub(crate) proc: ProcKey,
    pub(crate) epoch: u32,
    pub(crate) polls: u32,
    /// Proc that created it, plus one; 0 if none.
    pub(crate) creator: u32,
    /// Await point where it stands, plus one; 0 if unknown.
    pub(crate) site: u16,
    /// It stands at an await point whose operand is an instrumented call.
    pub(crate) direct: bool,
    ended: bool,
    pending: bool,
    pub(crate) running: u64,
    pub(crate) inclusive: u64,
    /// End of the last pending poll.
    pub(crate) suspended: u64,
    /// End of the poll in which it came to the await point where it stands.
    pub(crate) since: u64,
}

impl Call {
    /// A call that no ledger has seen.
    #[must_use]
    pub const fn new(proc: ProcKey) -> Self {
        Self {
            proc,
            epoch: UNREGISTERED,
            polls: 0,
            creator: 0,
            site: 0,
            direct: false,
            ended: false,
            pending: false,
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
        self.epoch == epoch && !self.ended
    }

    /// The call has ended; polls and drops that follow are not accounted.
    #[inline]
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.ended
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

    /// Its proc.
    #[must_use]
    pub const fn proc(&self) -> ProcKey {
        self.proc
    }

    /// Gives the call its proc, before it is registered.
    #[inline]
    pub const fn set_proc(&mut self, proc: ProcKey) {
        self.proc = proc;
    }

    #[inline]
    pub(crate) const fn register(&mut self, epoch: u32) {
        *self = Self {
            epoch,
            ..Self::new(self.proc)
        };
    }

    /// Its last accounted poll ended pending.
    #[inline]
    pub(crate) const fn is_suspended(&self) -> bool {
        self.pending
    }

    #[inline]
    pub(crate) const fn suspend(&mut self, t: u64) {
        self.pending = true;
        self.suspended = t;
    }

    #[inline]
    pub(crate) const fn leave(&mut self, site: u16, direct: bool) {
        self.site = site;
        self.direct = direct;
        self.pending = false;
    }

    #[inline]
    pub(crate) const fn charge(&mut self, charge: &Charge) {
        self.running += charge.running;
        self.inclusive += charge.inclusive;
    }

    #[inline]
    pub(crate) const fn end(&mut self) {
        self.ended = true;
    }
}
