//! Query: which rows a reader requests, over which window, filtered, sorted and limited.

mod budget;
mod condition;
mod error;
mod filter;
mod group;
#[cfg(not(feature = "regex"))]
mod no_regex;
mod parse;
mod pattern;
#[cfg(feature = "regex")]
mod regex;
mod selection;
mod texts;
mod words;

use alloc::string::String;

pub use self::budget::{Budget, MAX_STEPS, Overrun};
pub use self::condition::{Condition, Verdict};
pub use self::error::QueryError;
pub use self::filter::Filter;
pub use self::group::{Grouping, TASK_GROUPINGS, absorb_task};
pub use self::selection::{Plan, Selection, Sorting, TaskSource};
use crate::snapshot::units::SECOND;

/// The longest window that can be requested, in nanoseconds: the length of the kept history.
pub const LONGEST_WINDOW_NS: u64 = 60 * SECOND;

/// A request for one snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Length of the window, at most [`LONGEST_WINDOW_NS`]; `None` requests the time since the
    /// start of accounting.
    pub window_ns: Option<u64>,
    /// Rows of procs; `None` requests none.
    pub procs: Option<Rows>,
    /// Rows of tasks; `None` requests none.
    pub tasks: Option<Rows>,
    /// Rows of await points; `None` requests none.
    pub awaits: Option<Rows>,
    /// Rows of resources; `None` requests none.
    pub resources: Option<Rows>,
    /// Filter and order of alerts; `None` requests all of them in their own order.
    pub alerts: Option<Rows>,
    /// Rows of counters and gauges; `None` requests none.
    pub counters: Option<Rows>,
}

impl Query {
    /// Total length of all filter texts, in bytes: a bound on the cost per row.
    #[must_use]
    pub fn filter_len(&self) -> usize {
        let Self {
            window_ns: _,
            procs,
            tasks,
            awaits,
            resources,
            alerts,
            counters,
        } = self;
        let tables = [procs, tasks, awaits, resources, alerts, counters];
        tables
            .into_iter()
            .flatten()
            .map(|rows| rows.filter.len())
            .sum()
    }
}

/// Selection and order of a table's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Filter text; empty keeps every row.
    pub filter: String,
    /// Column key to sort by; empty requests the table's own order.
    pub sort: String,
    /// Inverts the column's natural direction.
    pub invert: bool,
    /// Maximum number of rows; 0 requests the server's limit.
    pub limit: u32,
    /// Grouping of tasks, a word of [`TASK_GROUPINGS`]: if there are more tasks than the limit,
    /// each group's sums are returned too. Empty for no grouping.
    pub group: String,
}
