//! A query made ready: filter, order and limit of each table, applied to a snapshot.

use alloc::string::{String, ToString};
use core::cmp::Reverse;

use super::{Filter, Query, QueryError, Rows};
use crate::column::{self, Column, Context, Row, SortKey};
use crate::snapshot::{AwaitRow, Page, ProcRow, Snapshot, TaskRow};

/// What to keep of a snapshot. Parsed once, applied at every tick.
#[derive(Debug)]
pub struct Selection {
    procs: Option<Plan<ProcRow>>,
    tasks: Option<Plan<TaskRow>>,
    awaits: Option<Plan<AwaitRow>>,
}

impl Selection {
    /// Reads the filters and the names of columns.
    ///
    /// # Errors
    /// The first mistake, in words for the person who wrote the query.
    pub fn parse(query: &Query) -> Result<Self, QueryError> {
        Ok(Self {
            procs: query.procs.as_ref().map(Plan::parse).transpose()?,
            tasks: query.tasks.as_ref().map(Plan::parse).transpose()?,
            awaits: query.awaits.as_ref().map(Plan::parse).transpose()?,
        })
    }

    /// Keeps the rows asked for, in the order asked for; tables not asked for lose their rows but
    /// not their `total`.
    pub fn apply(&self, snapshot: &mut Snapshot) {
        apply(self.procs.as_ref(), snapshot);
        apply(self.tasks.as_ref(), snapshot);
        apply(self.awaits.as_ref(), snapshot);
    }
}

fn apply<R: Row>(plan: Option<&Plan<R>>, snapshot: &mut Snapshot) {
    let context = Context::of(snapshot);
    let page = R::page_mut(snapshot);
    match plan {
        Some(plan) => plan.apply(page, &context),
        None => {
            page.total = page.total.max(page.rows.len() as u64);
            page.matched = page.total;
            page.rows.clear();
        }
    }
}

/// Filter, order and limit of one table.
#[derive(Debug)]
pub struct Plan<R: 'static> {
    filter: Filter<R>,
    order: Order<R>,
    limit: usize,
}

/// The order of rows; equal ones stand by name, so that they never swap.
#[derive(Debug)]
pub enum Order<R: 'static> {
    /// The table's own: worst first.
    Own {
        /// Best first instead.
        invert: bool,
    },
    /// By a column; rows without a value come last either way.
    By {
        /// The column.
        column: Column<R>,
        /// Largest first.
        descending: bool,
    },
}

impl<R: Row> Order<R> {
    /// Reads the name of a column, empty or `worst` for the table's own order. Numbers go down
    /// and words up, unless inverted.
    ///
    /// # Errors
    /// Where the table has no such column.
    pub fn parse(key: &str, invert: bool) -> Result<Self, QueryError> {
        if matches!(key, "" | "worst") {
            return Ok(Self::Own { invert });
        }
        let column = column::find(key).ok_or_else(|| QueryError::unknown_field::<R>(key))?;
        let descending = column.unit.is_number() != invert;
        Ok(Self::By { column, descending })
    }

    fn key(&self, row: &R, context: &Context) -> RowKey {
        let (name, number) = row.name();
        let (class, value) = match self {
            Self::Own { invert } => {
                let (class, n) = row.worst();
                let n = SortKey::Number(n);
                if *invert {
                    (u8::MAX - class, Directed::Up(n))
                } else {
                    (class, Directed::Down(Reverse(n)))
                }
            }
            Self::By { column, descending } => {
                let value = column.value(row, context).sort_key();
                let class = u8::from(value == SortKey::Missing);
                (
                    class,
                    if *descending {
                        Directed::Down(Reverse(value))
                    } else {
                        Directed::Up(value)
                    },
                )
            }
        };
        RowKey {
            class,
            value,
            name: name.to_string(),
            number,
        }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    class: u8,
    value: Directed,
    name: String,
    number: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Directed {
    Up(SortKey),
    Down(Reverse<SortKey>),
}

impl<R: Row> Plan<R> {
    /// Reads one table's part of a query.
    ///
    /// # Errors
    /// The first mistake in the filter or the name of the column.
    pub fn parse(rows: &Rows) -> Result<Self, QueryError> {
        Ok(Self {
            filter: Filter::parse(&rows.filter)?,
            order: Order::parse(&rows.sort, rows.invert)?,
            limit: rows.limit as usize,
        })
    }

    /// Filters, sorts and limits one table, and sets its counts.
    pub fn apply(&self, page: &mut Page<R>, context: &Context) {
        page.total = page.total.max(page.rows.len() as u64);
        page.matched = page.total;
        if !self.filter.keeps_all() {
            page.rows.retain(|row| self.filter.keeps(row, context));
            page.matched = page.rows.len() as u64;
        }
        page.rows
            .sort_by_cached_key(|row| self.order.key(row, context));
        if self.limit > 0 {
            page.rows.truncate(self.limit);
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
