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
pub use self::group::{Grouping, TASK_GROUPINGS};
pub use self::selection::{Plan, Selection, TaskSource};
use crate::snapshot::Table;
use crate::snapshot::units::SECOND;

/// The longest window that can be requested, in nanoseconds: the length of the kept history.
pub const LONGEST_WINDOW_NS: u64 = 60 * SECOND;

/// The window of a recorded state, in nanoseconds: that with which a console opens.
pub const RECORDED_WINDOW_NS: u64 = 10 * SECOND;

/// The most rows of a table in a recorded state, except for tasks.
pub const RECORDED_ROWS: u32 = 2_000;

/// The most tasks in a recorded state, the worst ones; all others are in groups by their root.
pub const RECORDED_TASKS: u32 = 500;

macro_rules! query {
    ($($(#[doc = $about:literal])+ $field:ident: $table:ident, $row:ty, $page:ident;)+) => {
        /// A request for one snapshot. A table that is `None` is not requested; alerts are sent in
        /// any case.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Query {
            /// Length of the window, at most [`LONGEST_WINDOW_NS`]; `None` requests the time since
            /// the start of accounting.
            pub window_ns: Option<u64>,
            $($(#[doc = $about])+ pub $field: Option<Rows>,)+
        }

        impl Query {
            /// Which rows of a table are requested.
            #[must_use]
            pub const fn rows(&self, table: Table) -> Option<&Rows> {
                match table {
                    $(Table::$table => self.$field.as_ref(),)+
                }
            }

            /// Which rows of a table are requested, to be set.
            pub const fn rows_mut(&mut self, table: Table) -> &mut Option<Rows> {
                match table {
                    $(Table::$table => &mut self.$field,)+
                }
            }
        }
    };
}

crate::tables!(query);

impl Query {
    /// What a recorded state has: every table, in its own order, so that the worst rows are in it.
    #[must_use]
    pub fn recorded() -> Self {
        let mut query = Self {
            window_ns: Some(RECORDED_WINDOW_NS),
            ..Self::default()
        };
        for table in Table::ALL {
            *query.rows_mut(*table) = Some(Rows {
                limit: RECORDED_ROWS,
                ..Rows::default()
            });
        }
        query.tasks = Some(Rows {
            limit: RECORDED_TASKS,
            group: String::from("root"),
            ..Rows::default()
        });
        query
    }

    /// Total length of all filter texts, in bytes: a bound on the cost per row.
    #[must_use]
    pub fn filter_len(&self) -> usize {
        let tables = Table::ALL.iter();
        tables
            .filter_map(|table| self.rows(*table))
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

#[cfg(test)]
mod tests {
    use super::{Query, Selection};
    use crate::snapshot::Table;

    #[test]
    fn the_recorded_query_asks_for_every_table_and_is_sound() {
        let query = Query::recorded();
        for table in Table::ALL {
            let rows = query.rows(*table).expect("every table is recorded");
            assert!(rows.limit > 0 && rows.filter.is_empty(), "{table:?}");
        }
        assert_eq!(query.tasks.as_ref().map(|rows| &*rows.group), Some("root"));
        Selection::parse(&query).expect("a sound query");
    }
}
