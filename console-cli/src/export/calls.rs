//! Polls of calls, one inside the other, from the events of the class `calls`.

mod open;
mod stream;

use turbowish_model::account::call::PollEnd;
use turbowish_recording::CallName;

pub(super) use self::stream::each_edge;

/// A begin or an end. Those of a thread nest, and none is inside of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallEdge {
    pub(crate) thread: u32,
    /// In nanoseconds since 1970; of one thread, no edge is before the last one.
    pub(crate) at: u64,
    pub(crate) kind: CallEdgeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallEdgeKind {
    /// A poll of a call of this function begins.
    Begin { proc: u32 },
    /// The innermost poll ends.
    End(CallPollEnd),
    /// So many events were not recorded, from this instant until `to`.
    Lost { events: u64, to: u64 },
}

/// How a poll of a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallPollEnd {
    /// `None` if the end was not recorded: then nothing is known from this instant on.
    pub(crate) end: Option<PollEnd>,
    /// The await point at which a pending call stands, if its arrival was recorded.
    pub(crate) stands: Option<CallName>,
    /// Polls inside of it that are too deep to be told.
    pub(crate) deeper: u64,
}

impl CallPollEnd {
    /// The word for the outcome.
    pub(super) const fn word(self) -> &'static str {
        match self.end {
            None => "not recorded",
            Some(PollEnd::Pending) => "pending",
            Some(PollEnd::Ready) => "ready",
            Some(PollEnd::Err) => "error",
            Some(PollEnd::Panic) => "panicked",
            Some(PollEnd::Torn) => "torn down",
        }
    }
}

/// What of calls was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallTotals {
    /// Polls of calls.
    pub(crate) polls: u64,
    /// Events of calls that were not recorded.
    pub(crate) lost: u64,
    /// Events before the last one of their thread: recordings were joined, or the clock was set
    /// back.
    pub(crate) overlaps: u64,
    /// Chunks that cannot be read.
    pub(crate) faults: u64,
}

#[cfg(test)]
mod tests;
