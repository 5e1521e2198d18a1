//! What a reader asks for: which rows, over which window, filtered, sorted and limited.

mod budget;
mod condition;
mod error;
mod filter;
mod group;
mod parse;
mod pattern;
#[cfg_attr(not(feature = "regex"), path = "query/no_regex.rs")]
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

/// The longest window that can be asked for: so much of the past is kept.
pub const LONGEST_WINDOW_NS: u64 = 60 * SECOND;

/// A request for one snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Length of the window, at most [`LONGEST_WINDOW_NS`]; `None` is since the start of accounting.
    pub window_ns: Option<u64>,
    /// Rows of procs, if wanted.
    pub procs: Option<Rows>,
    /// Rows of tasks, if wanted.
    pub tasks: Option<Rows>,
    /// Rows of await points, if wanted.
    pub awaits: Option<Rows>,
    /// Rows of resources, if wanted.
    pub resources: Option<Rows>,
    /// Alerts, if only some are wanted, or in another order.
    pub alerts: Option<Rows>,
    /// Rows of counters and gauges, if wanted.
    pub counters: Option<Rows>,
}

impl Query {
    /// Length of all filter texts together, in bytes: a bound on what each row costs.
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

/// Which rows of a table, in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Filter text; empty keeps every row.
    pub filter: String,
    /// Column key to sort by; empty is the table's own order.
    pub sort: String,
    /// Turn the column's natural direction round.
    pub invert: bool,
    /// At most so many rows; 0 is the server's limit.
    pub limit: u32,
    /// Of tasks beyond the limit also the sums of each group: a word of [`TASK_GROUPINGS`]; empty for none.
    pub group: String,
}
