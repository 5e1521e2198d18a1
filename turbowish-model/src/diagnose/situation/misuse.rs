//! Misuse in a situation: what the contract of futures forbids, and polls that tokio had to end.

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

/// Root polls of tasks whose root is a call of one proc, in which the task used up the budget that
/// tokio gives it: tokio made it yield although it could go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForcedYields {
    /// Number of these polls.
    pub times: u64,
    /// Path of the proc in whose calls this happened most often.
    pub proc: String,
    /// The await point at which it did.
    pub place: Option<Place>,
}
