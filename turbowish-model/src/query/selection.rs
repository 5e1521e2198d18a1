//! Selection: a parsed query, with filter, order and limit of each table, applied to a snapshot.

mod pick;

use alloc::string::ToString;
use alloc::vec::Vec;
use core::cmp::Reverse;

pub use self::pick::TaskSource;

use super::filter::FilterNode;
use super::group::{self, Grouping, Groups};
use super::parse::{self, Columns, Found};
use super::{Budget, LONGEST_WINDOW_NS, Query, QueryError, Rows};
use crate::snapshot::column::{Column, Context, Involved, Row, SortKey};
use crate::snapshot::natural::Natural;
use crate::snapshot::quantile::Distribution;
use crate::snapshot::{Page, ProcRow, Snapshot, Table, TaskRow};
use crate::sorting;

macro_rules! selection {
    ($($(#[doc = $about:literal])+ $field:ident: $table:ident, $row:ty, $page:ident;)+) => {
        /// The rows to keep of a snapshot. Parsed once, applied at every tick.
        #[derive(Debug, Default)]
        pub struct Selection {
            $($field: Option<Plan<$row>>,)+
            group: Option<&'static Grouping<TaskRow>>,
        }

        impl Selection {
            fn of(query: &Query) -> Result<Self, QueryError> {
                // One after the other into a whole: there is only one place to drop on an error.
                let mut selection = Self::default();
                $(if let Some(rows) = &query.$field {
                    selection.$field = Some(Plan::parse(rows)?);
                })+
                let group = query.tasks.as_ref().map_or("", |rows| &rows.group);
                selection.group = group::grouping(group)?;
                Ok(selection)
            }

            /// All tables but those of tasks and alerts, whose rows are needed for the others.
            fn apply_plain(
                &self,
                snapshot: &mut Snapshot,
                involved: &Involved<'_>,
                budget: &Budget<'_>,
            ) -> Result<(), QueryError> {
                $(if !matches!(Table::$table, Table::Tasks | Table::Alerts) {
                    apply(self.$field.as_ref(), snapshot, involved, budget)?;
                })+
                Ok(())
            }
        }
    };
}

crate::tables!(selection);

impl Selection {
    /// Parses the filters and column names of a query.
    ///
    /// # Errors
    ///
    /// The first error, as text for the author of the query.
    pub fn parse(query: &Query) -> Result<Self, QueryError> {
        if let Some(asked_ns) = query.window_ns.filter(|&ns| ns > LONGEST_WINDOW_NS) {
            return Err(QueryError::Window { asked_ns });
        }
        Self::of(query)
    }

    /// Keeps the requested rows, in the requested order. Tables that are not requested lose their
    /// rows but not their `total`. Alerts are kept even if not requested, so that every reader sees
    /// them.
    ///
    /// # Errors
    ///
    /// If the filters exceed the budget.
    pub fn apply(&self, snapshot: &mut Snapshot, budget: &Budget<'_>) -> Result<(), QueryError> {
        self.apply_tasks(snapshot, budget)?;
        self.apply_others(snapshot, budget)
    }

    /// Returns tasks beyond the limit in groups, if requested.
    fn apply_tasks(&self, snapshot: &mut Snapshot, budget: &Budget<'_>) -> Result<(), QueryError> {
        let alerts = core::mem::take(&mut snapshot.alerts.rows);
        let involved = Involved::of(&alerts);
        match &self.tasks {
            None => apply::<TaskRow>(None, snapshot, &involved, budget)?,
            Some(plan) => {
                let context = Context::of(snapshot);
                plan.arrange(&mut snapshot.tasks, &context, &involved, budget)?;
                if let Some(grouping) = self.group.filter(|_| plan.cuts(&snapshot.tasks)) {
                    let rows = &snapshot.tasks.rows;
                    let mut groups = Groups::new(grouping);
                    for (at, row) in rows.iter().enumerate() {
                        groups.add(&at, row.clone(), &|a, b| a < b);
                    }
                    let whole = |at: &usize| rows.get(*at).cloned();
                    snapshot.task_groups = groups.largest(plan.terms.limit, &whole);
                }
                plan.cut(&mut snapshot.tasks);
            }
        }
        snapshot.alerts.rows = alerts;
        Ok(())
    }

    /// Fills in the requested tasks; the snapshot has only their `total`. For each task only the
    /// parts needed by the query are read; whole rows are built only for the result. The snapshot's
    /// alerts and window must be set before.
    ///
    /// # Errors
    ///
    /// If the filter exceeds the budget.
    pub fn pick_tasks(
        &self,
        snapshot: &mut Snapshot,
        tasks: &impl TaskSource,
        budget: &Budget<'_>,
    ) -> Result<(), QueryError> {
        let Some(plan) = &self.tasks else {
            return Ok(());
        };
        let involved = Involved::of(&snapshot.alerts.rows);
        let context = Context::of(snapshot);
        let picked = plan.pick(self.group, tasks, &context, &involved, budget)?;
        snapshot.task_groups = picked.groups;
        let page = &mut snapshot.tasks;
        // Tasks without any data yet count in `total`, but have no row.
        page.matched = picked.matched;
        page.rows = picked.rows;
        Ok(())
    }

    /// Same as [`Selection::apply`] for all tables except that of tasks.
    ///
    /// # Errors
    ///
    /// If the filters exceed the budget.
    pub fn apply_others(
        &self,
        snapshot: &mut Snapshot,
        budget: &Budget<'_>,
    ) -> Result<(), QueryError> {
        let alerts = core::mem::take(&mut snapshot.alerts.rows);
        let involved = Involved::of(&alerts);
        snapshot.ready_latency = ready_latency(&snapshot.procs.rows);
        self.apply_plain(snapshot, &involved, budget)?;
        snapshot.alerts.rows = alerts;
        if self.alerts.is_some() {
            apply(self.alerts.as_ref(), snapshot, &Involved::default(), budget)?;
        }
        Ok(())
    }
}

/// Ready latency of all procs together, whichever are requested.
fn ready_latency(procs: &[ProcRow]) -> Distribution {
    let mut all = Distribution::default();
    for latency in procs.iter().map(|row| &row.ready_latency) {
        all.n += latency.n;
        all.sum_ns = all.sum_ns.saturating_add(latency.sum_ns);
        all.max_ns = all.max_ns.max(latency.max_ns);
        all.buckets.extend_from_slice(&latency.buckets);
    }
    // Sorts the buckets and joins those with the same bound.
    all.merge(&Distribution::default());
    all
}

fn apply<R: Row>(
    plan: Option<&Plan<R>>,
    snapshot: &mut Snapshot,
    involved: &Involved<'_>,
    budget: &Budget<'_>,
) -> Result<(), QueryError> {
    let context = Context::of(snapshot);
    let page = R::page_mut(snapshot);
    match plan {
        Some(plan) => plan.apply(page, &context, involved, budget)?,
        None => {
            page.total = page.total.max(page.rows.len() as u64);
            page.matched = page.total;
            page.rows.clear();
        }
    }
    Ok(())
}

/// Filter, order and limit of one table.
#[derive(Debug)]
pub struct Plan<R: 'static> {
    terms: Terms,
    /// The columns that filter and order name.
    columns: Vec<Column<R>>,
}

/// A plan in terms of columns by number: it is parsed by code that is compiled once for all tables.
#[derive(Debug)]
struct Terms {
    filter: FilterNode,
    order: Order,
    limit: usize,
}

/// Order of rows. Equal rows are ordered by name, so that they never swap.
#[derive(Debug)]
enum Order {
    /// The table's own order: worst first; parties of an alert come before all other rows.
    Own {
        /// The order is reversed: best first.
        invert: bool,
    },
    /// Order by a column; rows without a value come last in both directions.
    By {
        /// The number of the column whose values are compared.
        column: usize,
        /// The largest value comes first.
        descending: bool,
    },
}

impl Terms {
    fn parse(rows: &Rows, columns: &mut dyn Columns) -> Result<Self, QueryError> {
        Ok(Self {
            filter: parse::filter_of(&rows.filter, columns)?,
            order: Order::parse(&rows.sort, rows.invert, columns)?,
            limit: rows.limit as usize,
        })
    }
}

impl Order {
    /// Parses the name of a column; empty or `worst` is the table's own order. Numbers sort
    /// descending and text ascending, unless inverted.
    fn parse(key: &str, invert: bool, columns: &mut dyn Columns) -> Result<Self, QueryError> {
        if matches!(key, "" | WORST) {
            return Ok(Self::Own { invert });
        }
        let column = columns.find(key);
        let column = column.ok_or_else(|| columns.unknown(key).of_column())?;
        Ok(Self::By {
            column: column.nth,
            descending: column.unit.is_number() != invert,
        })
    }
}

impl<R: Row> Plan<R> {
    /// Sort rank of a row.
    fn rank(&self, row: &R, context: &Context, involved: &Involved<'_>) -> Rank {
        match self.terms.order {
            Order::Own { invert } => {
                let (class, n) = row.worst();
                // Procs are ordered by their share, whether or not they are part of an alert.
                let part = involved.severity(row).filter(|_| R::OWN_ORDER == WORST);
                let severity = part.map_or(CALM, |severity| severity as u8);
                let class = severity * CLASSES + class;
                let n = SortKey::Number(n);
                if invert {
                    Rank(u8::MAX - class, Directed::Up(n))
                } else {
                    Rank(class, Directed::Down(Reverse(n)))
                }
            }
            Order::By { column, descending } => {
                let value = self.columns[column].value(row, context).sort_key();
                let class = u8::from(value == SortKey::Missing);
                if descending {
                    Rank(class, Directed::Down(Reverse(value)))
                } else {
                    Rank(class, Directed::Up(value))
                }
            }
        }
    }

    fn key(&self, row: &R, context: &Context, involved: &Involved<'_>) -> RowKey {
        let (name, number) = row.name();
        (
            self.rank(row, context, involved),
            Natural(name.to_string()),
            number,
        )
    }
}

/// Name of the table's own order.
const WORST: &str = "worst";
/// Maximum number of classes in a table's own order.
const CLASSES: u8 = 16;
/// Rank of rows that are part of no alert: after all that are, whatever the severity.
const CALM: u8 = 3;

/// Rank, name and number: no two rows are equal in all of them.
type RowKey = (Rank, Natural, u64);

/// The class, then the value within it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u8, Directed);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Directed {
    Up(SortKey),
    Down(Reverse<SortKey>),
}

impl<R: Row> Plan<R> {
    /// Parses one table's part of a query.
    ///
    /// # Errors
    ///
    /// The first error in the filter or the name of the column.
    pub fn parse(rows: &Rows) -> Result<Self, QueryError> {
        let mut columns = Found(Vec::new());
        let terms = Terms::parse(rows, &mut columns)?;
        Ok(Self {
            terms,
            columns: columns.0,
        })
    }

    /// Filters, sorts and limits one table, and sets its counts.
    ///
    /// # Errors
    ///
    /// If the filter exceeds the budget.
    pub fn apply(
        &self,
        page: &mut Page<R>,
        context: &Context,
        involved: &Involved<'_>,
        budget: &Budget<'_>,
    ) -> Result<(), QueryError> {
        self.arrange(page, context, involved, budget)?;
        self.cut(page);
        Ok(())
    }

    fn keeps(&self, row: &R, context: &Context, budget: &Budget<'_>) -> bool {
        let filter = &self.terms.filter;
        filter.keeps(&self.columns, row, context, budget)
    }

    /// Filters and sorts one table, and sets its counts.
    fn arrange(
        &self,
        page: &mut Page<R>,
        context: &Context,
        involved: &Involved<'_>,
        budget: &Budget<'_>,
    ) -> Result<(), QueryError> {
        page.total = page.total.max(page.rows.len() as u64);
        page.matched = page.total;
        if !self.terms.filter.keeps_all() {
            let (all, mut looked) = (page.rows.len(), 0);
            page.rows.retain(|row| {
                looked += usize::from(budget.overrun().is_none());
                self.keeps(row, context, budget)
            });
            within::<R>(budget, looked, all)?;
            page.matched = page.rows.len() as u64;
        }
        sorting::by_cached_key(&mut page.rows, |row| self.key(row, context, involved));
        Ok(())
    }

    /// Whether there are more rows than the limit.
    const fn cuts(&self, page: &Page<R>) -> bool {
        self.terms.limit > 0 && page.rows.len() > self.terms.limit
    }

    fn cut(&self, page: &mut Page<R>) {
        if self.cuts(page) {
            page.rows.truncate(self.terms.limit);
        }
    }
}

/// Returns an error if the budget was exhausted after `looked` of `all` rows.
fn within<R: Row>(budget: &Budget<'_>, looked: usize, all: usize) -> Result<(), QueryError> {
    match budget.overrun() {
        None => Ok(()),
        Some(overrun) => Err(QueryError::TooMuch {
            table: R::TABLE,
            looked: looked as u64,
            rows: all as u64,
            overrun,
        }),
    }
}

#[cfg(test)]
mod tests;
