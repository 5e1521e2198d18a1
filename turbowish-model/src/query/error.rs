//! Query errors, with texts that name the column and the correct spelling.

use alloc::string::{String, ToString};
use core::fmt;

use super::{LONGEST_WINDOW_NS, Overrun, TASK_GROUPINGS};
use crate::snapshot::column::{self, Row};
use crate::snapshot::units;

/// An error in a filter or in the name of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryError {
    /// The table has no such column.
    UnknownField {
        /// The table: `procs`, `tasks`, `awaits`, `resources`, `alerts`.
        table: &'static str,
        /// The key as written.
        key: String,
        /// The most similar key, if there is one.
        nearest: Option<String>,
    },
    /// The table has no such column, and none that is similar.
    NoColumn {
        /// The table: `procs`, `tasks`, `awaits`, `resources`, `alerts`.
        table: &'static str,
        /// The name as written.
        name: String,
    },
    /// There is no such grouping of tasks.
    Group {
        /// The word as written.
        word: String,
    },
    /// The filter violates the grammar, or compares values that cannot be compared.
    Filter {
        /// The table: `procs`, `tasks`, `awaits`, `resources`, `alerts`.
        table: &'static str,
        /// The error, and what to write instead.
        reason: String,
    },
    /// The history is shorter than the requested window.
    Window {
        /// The requested length, in nanoseconds.
        asked_ns: u64,
    },
    /// The query exceeds its budget.
    TooMuch {
        /// Name of the table.
        table: &'static str,
        /// Number of rows examined before.
        looked: u64,
        /// Number of all rows of the table.
        rows: u64,
        /// The exhausted part of the budget.
        overrun: Overrun,
    },
}

impl QueryError {
    pub(crate) fn unknown_field<R: Row>(key: &str) -> Self {
        Self::UnknownField {
            table: R::TABLE,
            key: key.to_string(),
            nearest: column::nearest::<R>(key),
        }
    }

    /// The error where nothing but a column can stand, so that a text with a colon is not meant.
    pub(crate) fn of_column(self) -> Self {
        match self {
            Self::UnknownField {
                table,
                key: name,
                nearest: None,
            } => Self::NoColumn { table, name },
            other => other,
        }
    }

    pub(crate) fn filter<R: Row>(reason: impl Into<String>) -> Self {
        Self::Filter {
            table: R::TABLE,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownField {
                table,
                key,
                nearest,
            } => {
                write!(f, "no field {key} in {table}")?;
                match nearest {
                    Some(nearest) => write!(f, "; did you mean {nearest}?"),
                    None => write!(f, "; to search for a text with a colon, quote it"),
                }
            }
            Self::NoColumn { table, name } => {
                write!(
                    f,
                    "no field {name} in {table}; turbowish query {table} --columns lists them"
                )
            }
            Self::Group { word } => {
                let known = TASK_GROUPINGS.each_ref().map(|known| known.name).join(", ");
                write!(f, "tasks cannot be grouped by {word:?}, only by: {known}")
            }
            Self::Filter { table, reason } => write!(f, "filter of {table}: {reason}"),
            Self::Window { asked_ns } => {
                let window = |ns| units::window(ns, units::Micro::default());
                let (asked, longest) = (window(*asked_ns), window(LONGEST_WINDOW_NS));
                write!(
                    f,
                    "a window is at most {longest}, not {asked}; start reaches back to the start"
                )
            }
            Self::TooMuch {
                table,
                looked,
                rows,
                overrun,
            } => {
                let (looked, rows) = (units::count(*looked), units::count(*rows));
                write!(
                    f,
                    "filter of {table}: too much work: {overrun} were used up by {looked} of {rows} rows; use fewer words, or words of one column"
                )
            }
        }
    }
}

impl core::error::Error for QueryError {}
