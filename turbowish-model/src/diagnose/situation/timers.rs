//! Timers in a situation: how late those were that calls waited for.

use alloc::string::String;

use crate::snapshot::Place;

/// Waits for timers at one await point that are over. Not counted are timers that were dropped, or
/// at whose await point the call did not stand from its poll before to the end of the wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimerWaits {
    /// Path of the proc that waited.
    pub proc: String,
    /// The await point.
    pub place: Option<Place>,
    /// Number of waits that are over.
    pub completed: u64,
    /// Those that ended later after the deadline than the limit `late_timers.late`; part of
    /// `completed`.
    pub late: u64,
    /// The time from deadline to end of those that were late, in all.
    pub late_ns: u64,
    /// The longest of these times since the previous situation; 0 if none was late.
    pub worst_ns: u64,
    /// Part of `worst_ns` in which the task was in the poll that then came to the timer.
    pub polling_ns: u64,
}
