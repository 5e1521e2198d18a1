//! Selection among very many tasks: a process may have a million, and a console shows fifty. Tasks
//! are read one after the other, each as far as the filter and the order need it. Only those that
//! may be among the result are kept, and only the result becomes whole rows.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::cmp::Ordering;

use super::{Order, Plan, Rank, within};
use crate::query::group::{self, Grouping, Groups};
use crate::query::{Budget, QueryError};
use crate::snapshot::column::{Context, Involved, Row};
use crate::snapshot::natural::Natural;
use crate::snapshot::{JUDGED, SEARCHED};
use crate::snapshot::{TaskGroup, TaskParts, TaskRow};
use crate::sorting;

/// Live tasks, which are read one after the other and whose rows are built on demand.
pub trait TaskSource {
    /// What was read of a task.
    type Task;

    /// Returns about the number of tasks.
    fn count(&self) -> usize;

    /// Reads each task and passes it to `see`.
    ///
    /// # Errors
    ///
    /// The first error of `see`, after which no task is read.
    fn each(
        &self,
        see: &mut dyn FnMut(Self::Task) -> Result<(), QueryError>,
    ) -> Result<(), QueryError>;

    /// Builds the row of a task, with at least these parts; `None` if there is nothing to show of
    /// it. Every call returns the same row.
    fn row(&self, task: &Self::Task, parts: TaskParts) -> Option<TaskRow>;
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

    pub(super) fn pick<S: TaskSource>(
        &self,
        grouping: Option<&'static Grouping<TaskRow>>,
        tasks: &S,
        context: &Context,
        involved: &Involved<'_>,
        budget: &Budget<'_>,
    ) -> Result<Picked, QueryError> {
        let (parts, keeps_all) = (self.parts(), self.terms.filter.keeps_all());
        let (mut looked, mut matched, limit) = (0, 0, self.terms.limit);
        let mut first = First::new(tasks, limit);
        let mut groups = grouping.map(|grouping| Grouped::new(grouping, tasks));
        tasks.each(&mut |task| {
            budget.row();
            within::<TaskRow>(budget, looked, tasks.count())?;
            looked += 1;
            let row = tasks.row(&task, parts);
            let kept = row.filter(|row| keeps_all || self.keeps(row, context, budget));
            let Some(row) = kept else { return Ok(()) };
            let rank = self.rank(&row, context, involved);
            let one = Candidate::new(task, rank);
            matched += 1;
            // As long as there is room for all, nobody asks for groups.
            if limit > 0
                && matched > limit
                && let Some(groups) = &mut groups
            {
                if matched == limit + 1 {
                    first.kept.iter().for_each(|one| groups.add(one));
                }
                groups.add(&one);
            }
            first.add(one);
            Ok(())
        })?;
        within::<TaskRow>(budget, looked, looked)?;
        let whole = |one: &Rc<Candidate<S::Task>>| tasks.row(&one.task, TaskParts::ALL);
        Ok(Picked {
            rows: first.in_order().iter().filter_map(whole).collect(),
            matched: matched as u64,
            groups: groups.map_or_else(Vec::new, |groups| groups.groups.largest(limit, &whole)),
        })
    }
}

/// A task that may be among the result.
struct Candidate<T> {
    task: T,
    rank: Rank,
    name: OnceCell<(Natural, u64)>,
}

impl<T> Candidate<T> {
    fn new(task: T, rank: Rank) -> Rc<Self> {
        Rc::new(Self {
            task,
            rank,
            name: OnceCell::new(),
        })
    }

    /// The order of two rows. Those of equal rank are ordered by name, which is built only for
    /// them.
    fn compare(&self, other: &Self, tasks: &impl TaskSource<Task = T>) -> Ordering {
        let by_rank = self.rank.cmp(&other.rank);
        by_rank.then_with(|| self.name(tasks).cmp(other.name(tasks)))
    }

    fn name(&self, tasks: &impl TaskSource<Task = T>) -> &(Natural, u64) {
        self.name.get_or_init(|| {
            let row = tasks.row(&self.task, NAME).unwrap_or_default();
            let (_, number) = row.name();
            (Natural(row.name), number)
        })
    }
}

/// The first tasks in the order of the table.
struct First<'s, S: TaskSource> {
    tasks: &'s S,
    /// Maximum number; 0 if there is none.
    limit: usize,
    /// They are among these.
    kept: Vec<Rc<Candidate<S::Task>>>,
    /// As many as the limit have at most this rank.
    last: Option<Rank>,
}

/// Number of tasks that are kept beyond the limit before some are let go.
const SPARE: usize = 256;

impl<'s, S: TaskSource> First<'s, S> {
    const fn new(tasks: &'s S, limit: usize) -> Self {
        Self {
            tasks,
            limit,
            kept: Vec::new(),
            last: None,
        }
    }

    fn add(&mut self, one: Rc<Candidate<S::Task>>) {
        if self.last.as_ref().is_some_and(|last| one.rank > *last) {
            return;
        }
        self.kept.push(one);
        if self.limit > 0 && self.kept.len() >= self.limit + (self.limit / 2).max(SPARE) {
            self.cut();
            self.last = self.kept.last().map(|last| last.rank.clone());
        }
    }

    /// Keeps the first ones alone, in order.
    fn cut(&mut self) {
        let limit = match self.limit {
            0 => self.kept.len(),
            limit => limit,
        };
        let compare = |a: usize, b: usize| self.kept[a].compare(&self.kept[b], self.tasks);
        let order = sorting::first(self.kept.len(), limit, &compare);
        self.kept = order.into_iter().map(|at| self.kept[at].clone()).collect();
    }

    fn in_order(mut self) -> Vec<Rc<Candidate<S::Task>>> {
        self.cut();
        self.kept
    }
}

/// Groups of tasks.
struct Grouped<'s, S: TaskSource> {
    tasks: &'s S,
    /// The parts of a row that the grouping reads.
    parts: TaskParts,
    groups: Groups<Rc<Candidate<S::Task>>>,
}

impl<'s, S: TaskSource> Grouped<'s, S> {
    fn new(grouping: &'static Grouping<TaskRow>, tasks: &'s S) -> Self {
        let mut parts = TaskParts::NONE;
        group::fields(grouping, &mut |field| parts.add(field));
        Self {
            tasks,
            parts,
            groups: Groups::new(grouping),
        }
    }

    fn add(&mut self, one: &Rc<Candidate<S::Task>>) {
        if let Some(row) = self.tasks.row(&one.task, self.parts) {
            let is_before = |a: &Rc<_>, b: &Rc<_>| Candidate::compare(a, b, self.tasks).is_lt();
            self.groups.add(one, row, &is_before);
        }
    }
}

#[cfg(test)]
mod tests;
