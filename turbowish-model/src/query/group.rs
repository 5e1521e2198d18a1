//! Groups of tasks with a common property, as one row each: a reader that gets only some of the
//! rows cannot compute the sums.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::QueryError;
use crate::ordered::Map;
use crate::snapshot::column::{self, cell};
use crate::snapshot::json::Record as _;
use crate::snapshot::{PauseRow, TaskGroup, TaskRow};
use crate::sorting;

/// A grouping of rows.
#[derive(Debug)]
pub struct Grouping<R> {
    /// Its word on the command line and in queries.
    pub name: &'static str,
    /// Returns a row's group.
    pub key: fn(&R) -> String,
}

/// The groupings of tasks.
pub static TASK_GROUPINGS: [Grouping<TaskRow>; 3] = [
    Grouping {
        name: "root",
        key: |row| row.root.clone(),
    },
    Grouping {
        name: "await point",
        key: |row| cell(row, "at"),
    },
    Grouping {
        name: "spawn site",
        key: |row| cell(row, "site"),
    },
];

/// The columns that they read.
const COLUMNS: [&str; TASK_GROUPINGS.len()] = ["root", "at", "site"];

/// Passes each field of a row that a grouping reads to `see`.
pub(super) fn fields(grouping: &Grouping<TaskRow>, see: &mut dyn FnMut(&str)) {
    let known = TASK_GROUPINGS.iter().zip(COLUMNS);
    let columns = known.filter(|(known, _)| known.name == grouping.name);
    for column in columns.filter_map(|(_, key)| column::find::<TaskRow>(key)) {
        column.fields.iter().for_each(|field| see(field));
    }
}

/// Returns the grouping of tasks with this name; `None` for the empty word.
///
/// # Errors
///
/// If there is no grouping of that name.
pub(super) fn grouping(word: &str) -> Result<Option<&'static Grouping<TaskRow>>, QueryError> {
    if word.is_empty() {
        return Ok(None);
    }
    let found = TASK_GROUPINGS.iter().find(|known| known.name == word);
    let unknown = || QueryError::Group {
        word: word.to_string(),
    };
    found.map(Some).ok_or_else(unknown)
}

/// Groups of tasks whose rows come one after the other, in any order. `T` stands for a task.
pub(super) struct Groups<T> {
    grouping: &'static Grouping<TaskRow>,
    groups: Map<String, Group<T>>,
}

struct Group<T> {
    tasks: u64,
    /// Its first task in the order of the table, and the parts of its row that groupings read.
    first: (T, TaskRow),
    /// The rows of all its other tasks, merged.
    rest: Option<TaskRow>,
    /// The first of its tasks that has a waker.
    waker: Option<T>,
    /// The first of its tasks that is paused, and its pause.
    pause: Option<(T, PauseRow)>,
}

impl<T: Clone> Groups<T> {
    pub(super) const fn new(grouping: &'static Grouping<TaskRow>) -> Self {
        Self {
            grouping,
            groups: Map::new(),
        }
    }

    /// Adds a task with the parts of its row that groupings read. `is_before` tells whether a task
    /// comes before another one in the order of the table.
    pub(super) fn add(&mut self, task: &T, mut row: TaskRow, is_before: &dyn Fn(&T, &T) -> bool) {
        let key = (self.grouping.key)(&row);
        let pause = row.pause.take().map(|pause| (task.clone(), pause));
        let waker = row.waker.is_some().then(|| task.clone());
        let Some(group) = self.groups.get_mut(&key) else {
            let group = Group {
                tasks: 1,
                first: (task.clone(), row),
                rest: None,
                waker,
                pause,
            };
            self.groups.insert(key, group);
            return;
        };
        group.tasks += 1;
        let is_first = |known: Option<&T>| known.is_none_or(|known| is_before(task, known));
        if waker.is_some() && is_first(group.waker.as_ref()) {
            group.waker = waker;
        }
        if pause.is_some() && is_first(group.pause.as_ref().map(|(known, _)| known)) {
            group.pause = pause;
        }
        let other = match is_first(Some(&group.first.0)) {
            true => core::mem::replace(&mut group.first, (task.clone(), row)).1,
            false => row,
        };
        match &mut group.rest {
            Some(rest) => rest.merge(&other),
            None => group.rest = Some(other),
        }
    }

    /// The largest groups first, at most `limit` of them. `whole` builds the whole row of a task.
    pub(super) fn largest(
        self,
        limit: usize,
        whole: &dyn Fn(&T) -> Option<TaskRow>,
    ) -> Vec<TaskGroup> {
        let mut groups: Vec<(String, Group<T>)> = self.groups.into_iter().collect();
        sorting::by_key(&mut groups, |(_, group)| Reverse(group.tasks));
        groups.truncate(limit);
        let of = |(key, group): (String, Group<T>)| {
            let tasks = group.tasks;
            let row = group.row(whole);
            TaskGroup { key, tasks, row }
        };
        groups.into_iter().map(of).collect()
    }
}

impl<T> Group<T> {
    fn row(self, whole: &dyn Fn(&T) -> Option<TaskRow>) -> TaskRow {
        let (first, known) = self.first;
        let mut row = whole(&first).unwrap_or(known);
        if let Some(rest) = &self.rest {
            row.merge(rest);
        }
        row.pause = self.pause.map(|(_, pause)| pause);
        // The group shows whose waker it is.
        let waker = self.waker.and_then(|task| whole(&task)?.waker);
        if let (Some(into), Some(waker)) = (&mut row.waker, waker) {
            (into.woken_by, into.woken_in) = (waker.woken_by, waker.woken_in);
        }
        row
    }
}
