//! Conversions between the protocol's messages and the model's types. No value is invented in
//! between.
//!
//! Conversion into a message cannot fail (`From`). In conversion from a message (`TryFrom`), a
//! missing message, an unknown enum value or an invalid histogram is [`Malformed`]. Each table has
//! a file of its own with both directions; a field that only one side has does not compile.

mod alerts;
mod awaits;
mod control;
mod counters;
mod process;
mod procs;
mod query;
mod resources;
mod snapshot;
mod tasks;
#[cfg(test)]
mod tests;

use std::fmt;

pub use control::{Action, PauseTask};
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::{AwaitRow, CounterRow, Page, ProcRow, ResourceRow, TaskRow};

use crate::proto;

/// Why a message has no meaning: the field at fault, as `message.field`, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    field: &'static str,
    fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    Missing,
    Unknown(i32),
    Name(String),
    Lengths { upper: usize, count: usize },
    Unordered,
    Long(usize),
}

impl Malformed {
    fn missing(field: &'static str) -> Self {
        Self {
            field,
            fault: Fault::Missing,
        }
    }

    fn unknown(field: &'static str, value: i32) -> Self {
        Self {
            field,
            fault: Fault::Unknown(value),
        }
    }

    fn name(field: &'static str, name: String) -> Self {
        Self {
            field,
            fault: Fault::Name(name),
        }
    }

    fn long(field: &'static str, limit: usize) -> Self {
        Self {
            field,
            fault: Fault::Long(limit),
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field;
        match &self.fault {
            Fault::Missing => write!(f, "`{field}` is missing"),
            Fault::Unknown(value) => write!(f, "`{field}` holds the unknown value {value}"),
            Fault::Name(name) => write!(f, "`{field}` holds the unknown name {name:?}"),
            Fault::Lengths { upper, count } => {
                write!(f, "`{field}` holds {upper} upper bounds and {count} counts")
            }
            Fault::Long(limit) => write!(f, "`{field}` has more than {limit} characters"),
            Fault::Unordered => write!(f, "`{field}` holds upper bounds that do not ascend"),
        }
    }
}

impl std::error::Error for Malformed {}

/// Converts a message field that must be present.
fn required<P, M>(value: Option<P>, field: &'static str) -> Result<M, Malformed>
where
    M: TryFrom<P, Error = Malformed>,
{
    M::try_from(value.ok_or(Malformed::missing(field))?)
}

/// Converts the pages of all tables, which have the same three parts.
macro_rules! pages {
    ($($page:ident of $row:path;)*) => {$(
        impl From<Page<$row>> for proto::$page {
            fn from(page: Page<$row>) -> Self {
                let Page {
                    rows,
                    total,
                    matched,
                } = page;
                Self {
                    rows: rows.into_iter().map(Into::into).collect(),
                    total,
                    matched,
                }
            }
        }

        impl TryFrom<proto::$page> for Page<$row> {
            type Error = Malformed;

            fn try_from(page: proto::$page) -> Result<Self, Malformed> {
                Ok(Self {
                    rows: rows(page.rows)?,
                    total: page.total,
                    matched: page.matched,
                })
            }
        }
    )*};
}

pages! {
    AlertPage of Alert;
    AwaitPage of AwaitRow;
    CounterPage of CounterRow;
    ProcPage of ProcRow;
    ResourcePage of ResourceRow;
    TaskPage of TaskRow;
}

/// Converts all rows; returns the first fault.
fn rows<P, M>(rows: Vec<P>) -> Result<Vec<M>, Malformed>
where
    M: TryFrom<P, Error = Malformed>,
{
    let mut rows: Vec<M> = rows
        .into_iter()
        .map(M::try_from)
        .collect::<Result<_, _>>()?;
    // The rows are collected in place, in a vector that has doubled as it grew.
    rows.shrink_to_fit();
    Ok(rows)
}
