//! Selection among very many tasks: a process may have a million, and a console shows fifty. Each
//! task is read as far as the filter and the order need it, and only the result becomes whole rows.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::{Order, Plan, Rank, within};
use crate::query::group::{self, Grouping};
use crate::query::{Budget, QueryError};
use crate::snapshot::column::{Context, Involved, Row};
use crate::snapshot::natural::Natural;
use crate::snapshot::{JUDGED, SEARCHED};
use crate::snapshot::{TaskGroup, TaskParts, TaskRow};
use crate::sorting;

/// Live tasks by index, whose rows are built on demand.
pub trait TaskSource {
    /// Returns the number of indices.
    fn count(&self) -> usize;

    /// Builds the row at an index, with at least these parts; `None` if there is nothing to show of
    /// the task. Every call returns the same row.
    fn row(&self, at: usize, parts: TaskParts) -> Option<TaskRow>;
}

/// Tasks selected by a query.
pub(super) struct Picked {
    pub(super) rows: Vec<TaskRow>,
    /// Number of rows that the filter keeps.
    pub(super) matched: u64,
    /// Groups; only if there are more matches than rows.
    pub(super) groups: Vec<TaskGroup>,
}

/// The parts that order rows of equal rank.
const NAME: TaskParts = TaskParts {
    name: true,
    ..TaskParts::NONE
};

impl Plan<TaskRow> {
    /// The parts that filter and order read.
    fn parts(&self) -> TaskParts {
        let mut parts = TaskParts::NONE;
        let mut add = |field: &str| parts.add(field);
        self.terms.filter.fields(&SEARCHED, &mut add);
        match self.terms.order {
            Order::Own { .. } => JUDGED.into_iter().for_each(add),
            Order::By { column, .. } => self.columns[column]
                .fields
                .iter()
                .for_each(|field| add(field)),
        }
        parts
    }

    pub(super) fn pick(
        &self,
        grouping: Option<&'static Grouping<TaskRow>>,
        tasks: &dyn TaskSource,
        context: &Context,
        involved: &Involved<'_>,
        budget: &Budget<'_>,
    ) -> Result<Picked, QueryError> {
        let (parts, keeps_all) = (self.parts(), self.terms.filter.keeps_all());
        let mut ranks: Vec<(Rank, usize)> = Vec::new();
        for at in 0..tasks.count() {
            budget.row();
            within::<TaskRow>(budget, at, tasks.count())?;
            let Some(row) = tasks.row(at, parts) else {
                continue;
            };
            if keeps_all || self.keeps(&row, context, budget) {
                ranks.push((self.rank(&row, context, involved), at));
            }
        }
        within::<TaskRow>(budget, tasks.count(), tasks.count())?;
        let all = ranks.len();
        let limit = if self.terms.limit == 0 {
            all
        } else {
            self.terms.limit
        };
        let grouping = grouping.filter(|_| limit < all);
        // The first task of a group represents it, so all rows must be in order.
        let wanted = if grouping.is_some() { all } else { limit };
        let order = first(ranks, wanted, |at| {
            let row = tasks.row(at, NAME).unwrap_or_default();
            let (_, number) = row.name();
            (Natural(row.name), number)
        });
        let whole = |at: usize| tasks.row(at, TaskParts::ALL);
        let groups = grouping.map_or_else(Vec::new, |grouping| {
            let mut parts = TaskParts::NONE;
            group::fields(grouping, &mut |field| parts.add(field));
            let rows = order.iter().filter_map(|&at| {
                let row = tasks.row(at, parts)?;
                Some((at, Cow::Owned(row)))
            });
            group::groups(rows, |at| whole(at).map(Cow::Owned), grouping, limit)
        });
        Ok(Picked {
            rows: order.into_iter().take(limit).filter_map(whole).collect(),
            matched: all as u64,
            groups,
        })
    }
}

/// Indices of the first `limit` rows, in order. Rows of equal rank are ordered by name, which is
/// built only for those that may be among the first.
fn first(
    mut ranks: Vec<(Rank, usize)>,
    limit: usize,
    name: impl Fn(usize) -> (Natural, u64),
) -> Vec<usize> {
    let by_rank = |a: usize, b: usize| ranks[a].0.cmp(&ranks[b].0);
    if let Some(last) = limit.checked_sub(1).filter(|_| limit < ranks.len()) {
        let last = sorting::nth(ranks.len(), last, &by_rank);
        let last = ranks[last].0.clone();
        ranks.retain(|(rank, _)| *rank <= last);
    }
    let names: Vec<(Natural, u64)> = ranks.iter().map(|&(_, at)| name(at)).collect();
    let by_name = |a: usize, b: usize| {
        let by_rank = ranks[a].0.cmp(&ranks[b].0);
        by_rank.then_with(|| names[a].cmp(&names[b]))
    };
    let order = sorting::first(ranks.len(), limit, &by_name);
    order.into_iter().map(|nth| ranks[nth].1).collect()
}

#[cfg(test)]
mod tests;
