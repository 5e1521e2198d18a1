//! Hidden rows: rows that the user removed from a table until asked for again.

use std::collections::BTreeSet;

use super::{Entry, RowId};

/// Hidden rows, and hidden groups with all their present and future rows.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    rows: Vec<RowId>,
    /// Keys of groups, by the index of their grouping.
    groups: Vec<BTreeSet<String>>,
}

impl Hidden {
    pub(super) fn row(&mut self, id: RowId) {
        self.rows.push(id);
    }

    pub(super) fn group(&mut self, grouping: usize, key: String) {
        if self.groups.len() <= grouping {
            self.groups.resize_with(grouping + 1, BTreeSet::new);
        }
        self.groups[grouping].insert(key);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.groups.iter().all(BTreeSet::is_empty)
    }

    pub(super) fn has<R: Entry>(&self, row: &R) -> bool {
        let groupings = self.groups.iter().zip(R::GROUPINGS);
        let mut groups = groupings.filter(|(keys, _)| !keys.is_empty());
        groups.any(|(keys, grouping)| keys.contains(&(grouping.key)(row)))
            || self.rows.iter().any(|id| row.is(id))
    }

    pub(super) fn has_group(&self, grouping: usize, key: &str) -> bool {
        self.groups
            .get(grouping)
            .is_some_and(|keys| keys.contains(key))
    }
}
