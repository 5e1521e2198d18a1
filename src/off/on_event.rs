//! Compiled out: callbacks that are never called.

use std::time::{Duration, SystemTime};

/// Compiled out: what never happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordedKind {
    /// A poll of a task.
    Poll,
    /// A wait.
    Wait,
    /// A wait that the task gave up.
    GaveUp,
    /// A hold.
    Hold,
    /// An event of the program's own.
    User,
    /// Lost events.
    Lost,
}

/// Compiled out: never made.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RecordedEvent<'a> {
    /// What has happened.
    pub kind: RecordedKind,
    /// When it began.
    pub at: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// The root function, the kind of use, or its name.
    pub name: &'a str,
    /// ID of the task.
    pub task: u64,
    /// Number of the thread.
    pub thread: u32,
    /// Names and values of its numbers.
    pub values: &'a [(&'static str, i64)],
    /// Number of events that it stands for.
    pub count: u64,
}

/// Compiled out: calls nothing.
#[inline]
pub fn on_event(_callback: impl FnMut(&RecordedEvent<'_>) + Send + 'static) {}
