//! Groups of tasks with a common property, as one row each: a reader that gets only some of the
//! rows cannot compute the sums.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::QueryError;
use crate::ordered::Map;
use crate::snapshot::column::{self, cell};
use crate::snapshot::json::Record as _;
use crate::snapshot::{TaskGroup, TaskRow};
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

/// Groups sorted rows and returns the largest groups first, at most `limit` of them. Calls `whole`
/// for the first row of each group.
pub(super) fn groups<'r>(
    rows: impl Iterator<Item = (usize, Cow<'r, TaskRow>)>,
    whole: impl Fn(usize) -> Option<Cow<'r, TaskRow>>,
    grouping: &Grouping<TaskRow>,
    limit: usize,
) -> Vec<TaskGroup> {
    let mut groups: Map<String, TaskGroup> = Map::new();
    for (at, row) in rows {
        let key = (grouping.key)(&row);
        match groups.get_mut(&key) {
            Some(group) => {
                group.tasks += 1;
                // The group shows whose waker it is.
                let more = match (&group.row.waker, &row.waker) {
                    (None, Some(_)) => whole(at).unwrap_or(row),
                    _ => row,
                };
                group.row.merge(&more);
            }
            None => {
                let row = whole(at).unwrap_or(row).into_owned();
                let tasks = 1;
                groups.insert(key.clone(), TaskGroup { key, tasks, row });
            }
        }
    }
    let mut groups: Vec<TaskGroup> = groups.into_values().collect();
    sorting::by_key(&mut groups, |group| Reverse(group.tasks));
    groups.truncate(limit);
    groups
}
