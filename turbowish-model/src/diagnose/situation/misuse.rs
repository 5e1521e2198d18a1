//! Misuse in a situation: what the contract of futures forbids.

use alloc::string::String;

use crate::snapshot::Place;

/// Polls of calls that had returned, or panicked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollsAfterEnd {
    /// Path of the proc of the calls.
    pub proc: String,
    /// Path of the proc that polled them; `None` if it is not instrumented.
    pub by: Option<String>,
    /// The await point at which it did.
    pub place: Option<Place>,
    /// Number of these polls.
    pub times: u64,
    /// Name of the task in which this happened last.
    pub task: Option<String>,
}
