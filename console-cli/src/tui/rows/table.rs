//! The rows of one kind: those received from the process, the visible ones, and the selected one.

mod rows;

use std::collections::{BTreeMap, BTreeSet};

use turbowish_model::query::{Filter, Grouping};
use turbowish_model::snapshot::Page;
use turbowish_model::snapshot::alert::Severity;
use turbowish_model::snapshot::column::{Column, Context, Value};

use super::arrange::{Arrangement, At, Group};
use super::hidden::Hidden;
use super::{Absent, Entry, Order, RowId, Sum};

/// Maximal number of rows that an open table requests. It exceeds what anybody reads, and a filter
/// or another order reaches the rest.
pub(crate) const OPEN_ROWS: u32 = 5_000;

/// Maximal number of rows that a table in the background requests, so that opening it shows
/// something.
pub(crate) const BACKGROUND_ROWS: u32 = 200;

/// A table of rows of one kind.
#[derive(Debug)]
pub(crate) struct Table<R> {
    /// The rows as received from the process.
    page: Page<R>,
    /// For each row of `page`, the highest severity of the alerts that involve it.
    severities: Vec<Option<Severity>>,
    /// For each row of `page`, the remaining time of its mute; empty if none is muted.
    muted: Vec<Option<u64>>,
    /// The lines of the table, in order.
    visible: Vec<At>,
    /// Groups as summed by the process, if it did not send all rows.
    sums: Vec<Sum<R>>,
    /// The groups, if rows are grouped.
    groups: Vec<Group<R>>,
    /// Number of rows of `page` that match the filter and are not hidden.
    kept: usize,
    /// Number of rows of `page` that match the filter and are hidden.
    hidden: usize,
    shape: Shape,
    order: Order,
    filter: String,
    /// The filter has changed since `page` came.
    refiltered: bool,
    /// The selected row; `None` follows the first row.
    cursor: Option<RowId>,
    /// The line of the selected row.
    line: usize,
    /// The selected row is not part of the last snapshot: it is the last of `page`.
    absent: Option<Absent>,
}

/// The user's changes to the table: columns, groups, hidden rows.
#[derive(Debug, Default)]
struct Shape {
    /// Number of columns scrolled out of sight.
    skip: usize,
    /// The chosen columns.
    picked: Option<Vec<&'static str>>,
    /// Index of the current grouping.
    grouping: Option<usize>,
    unfolded: BTreeSet<String>,
    hidden: Hidden,
    /// Positions that lines keep while the user moves among them; empty otherwise.
    steady: BTreeMap<RowId, usize>,
}

impl<R: Entry> Default for Table<R> {
    fn default() -> Self {
        Self {
            page: Page::default(),
            severities: Vec::new(),
            sums: Vec::new(),
            muted: Vec::new(),
            visible: Vec::new(),
            groups: Vec::new(),
            kept: 0,
            hidden: 0,
            shape: Shape::default(),
            order: Order {
                key: R::OWN_ORDER.to_owned(),
                invert: false,
            },
            filter: String::new(),
            refiltered: false,
            cursor: None,
            line: 0,
            absent: None,
        }
    }
}

impl<R: Entry> Table<R> {
    /// The available rows as received, and their total number in the process.
    pub(crate) fn page(&self) -> &Page<R> {
        &self.page
    }

    /// All available rows, in no order.
    pub(crate) fn rows(&self) -> &[R] {
        &self.page.rows
    }

    /// A row, or the merged row of a group.
    fn row(&self, at: usize) -> Option<&R> {
        match *self.visible.get(at)? {
            At::Row(at) => self.page.rows.get(at),
            At::Group(at) => self.groups.get(at).map(|group| &group.row),
        }
    }

    fn group(&self, at: usize) -> Option<&Group<R>> {
        match *self.visible.get(at)? {
            At::Row(_) => None,
            At::Group(at) => self.groups.get(at),
        }
    }

    /// The row at that position, or all rows of the group.
    fn rows_at(&self, at: usize) -> Vec<R> {
        match (self.group(at), self.row(at)) {
            (Some(group), _) => {
                let members = group.members.iter();
                members.map(|&at| self.page.rows[at].clone()).collect()
            }
            (None, row) => row.cloned().into_iter().collect(),
        }
    }

    fn position(&self, id: &RowId) -> Option<usize> {
        self.visible.iter().position(|at| match *at {
            At::Row(at) => self.page.rows[at].is(id),
            At::Group(at) => *id == RowId::Group(self.groups[at].key.clone()),
        })
    }

    /// Applies filter, order and groups to the available rows. An invalid filter keeps every row:
    /// the process validates it, and reports the error.
    fn arrange(&mut self, context: &Context) {
        let filter = Filter::<R>::parse(&self.filter).ok();
        let rows = &self.page.rows;
        let keeps = |at: &usize| {
            let words: &[&str] = match self.muted.get(*at) {
                Some(Some(_)) => &["muted"],
                _ => &[],
            };
            filter
                .as_ref()
                .is_none_or(|filter| filter.keeps_with(&rows[*at], context, words))
        };
        let (hidden, kept): (Vec<usize>, Vec<usize>) = (0..rows.len())
            .filter(keeps)
            .partition(|&at| self.shape.hidden.has(&rows[at]));
        let arrangement = Arrangement {
            rows,
            severities: &self.severities,
            order: &self.order,
            context,
        };
        let sorted = self.steadied(arrangement.sort(kept));
        self.kept = sorted.len();
        self.hidden = hidden.len();
        self.groups = match self.grouped() {
            Some((at, grouping)) => {
                let key = grouping.key;
                let hidden: BTreeSet<String> = hidden.iter().map(|&at| key(&rows[at])).collect();
                // The sums belong to the requested filter, and include hidden rows.
                let is_told = |sum: &&Sum<R>| {
                    let is_hidden =
                        hidden.contains(&sum.key) || self.shape.hidden.has_group(at, &sum.key);
                    !self.refiltered && !is_hidden
                };
                let sums: Vec<&Sum<R>> = self.sums.iter().filter(is_told).collect();
                let mut groups = arrangement.group(&sorted, key, &sums);
                let told: BTreeSet<&str> = sums.iter().map(|sum| &*sum.key).collect();
                let is_cut = (self.sent() as u64) < self.page.matched;
                for group in &mut groups {
                    let is_whole = !is_cut || told.contains(&*group.key);
                    group.partial = !is_whole || hidden.contains(&group.key);
                }
                groups
            }
            None => Vec::new(),
        };
        self.steady_groups();
        self.visible = match self.shape.grouping {
            None => sorted.into_iter().map(At::Row).collect(),
            Some(_) => lines(&self.groups, &self.shape.unfolded),
        };
    }

    /// The present positions of the rows.
    fn places(&self) -> BTreeMap<RowId, usize> {
        let rows = self.visible.iter().enumerate();
        let places = rows.filter_map(|(place, at)| match *at {
            At::Row(at) => Some((self.page.rows.get(at)?.id(), place)),
            At::Group(at) => Some((group_id(&self.page.rows, self.groups.get(at)?), place)),
        });
        places.collect()
    }

    fn place(&self, id: &RowId) -> usize {
        self.shape.steady.get(id).copied().unwrap_or(usize::MAX)
    }

    /// Sorted rows in the order that they keep; new ones come last.
    fn steadied(&self, mut sorted: Vec<usize>) -> Vec<usize> {
        if !self.shape.steady.is_empty() {
            sorted.sort_by_cached_key(|&at| self.place(&self.page.rows[at].id()));
        }
        sorted
    }

    /// The same for groups.
    fn steady_groups(&mut self) {
        if !self.shape.steady.is_empty() {
            let mut groups = std::mem::take(&mut self.groups);
            let rows = &self.page.rows;
            groups.sort_by_cached_key(|group| self.place(&group_id(rows, group)));
            self.groups = groups;
        }
    }

    /// The texts of a group are those that all of its rows share; its name and its numbers are its
    /// own.
    fn shared<'a>(
        &'a self,
        group: &'a Group<R>,
        column: &Column<R>,
        context: &Context,
    ) -> Value<'a> {
        let own = column.value(&group.row, context);
        let is_name = R::columns()
            .first()
            .is_some_and(|first| first.key == column.key);
        if is_name || column.unit.is_number() {
            return own;
        }
        if group.count > group.members.len() as u64 {
            // The values of the other rows are unknown.
            return Value::Text("..".into());
        }
        let mut values = group.members.iter();
        let first = values
            .next()
            .map(|&at| column.value(&self.page.rows[at], context));
        let Some(first) = first else { return own };
        match values.all(|&at| column.value(&self.page.rows[at], context) == first) {
            true => first,
            false => Value::Text("..".into()),
        }
    }

    /// The current grouping: its index, and the function for a row's value.
    fn grouped(&self) -> Option<(usize, &'static Grouping<R>)> {
        let at = self.shape.grouping?;
        Some((at, R::GROUPINGS.get(at)?))
    }

    /// Whether the available rows are all rows of the process.
    pub(crate) fn is_all(&self) -> bool {
        let is_open = self.filter.is_empty() && !self.refiltered;
        is_open && self.sent() as u64 >= self.page.matched
    }

    /// Number of rows received from the process.
    fn sent(&self) -> usize {
        self.page.rows.len() - usize::from(self.absent.is_some())
    }

    /// Keeps the selected row if the new rows lack it.
    fn keep_selected(&mut self, old: Page<R>) {
        self.absent = None;
        let Some(cursor) = &self.cursor else { return };
        let there = self.page.rows.iter().any(|row| row.is(cursor));
        // A group exists as long as one of its rows does.
        if there || matches!(cursor, RowId::Group(_)) {
            return;
        }
        match old.rows.into_iter().find(|row| row.is(cursor)) {
            Some(row) => {
                self.absent = Some(Absent::from_all(self.is_all()));
                self.page.rows.push(row);
            }
            None => {
                self.cursor = None;
                self.line = 0;
            }
        }
    }

    fn drop_absent(&mut self) {
        if self.absent.take().is_some() {
            self.page.rows.pop();
            let rows = self.page.rows.len();
            self.severities.truncate(rows);
            self.muted.truncate(rows);
            self.visible
                .retain(|at| !matches!(*at, At::Row(at) if at >= rows));
        }
    }
}

/// The identity of a group's line; a group of one is shown as its row.
fn group_id<R: Entry>(rows: &[R], group: &Group<R>) -> RowId {
    match group.members[..] {
        [only] if group.count == 1 => rows[only].id(),
        _ => RowId::Group(group.key.clone()),
    }
}

/// The groups, and the rows of unfolded ones; a group of one is shown as its row.
fn lines<R>(groups: &[Group<R>], unfolded: &BTreeSet<String>) -> Vec<At> {
    let mut lines = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        match group.members[..] {
            [only] if group.count == 1 => lines.push(At::Row(only)),
            _ => lines.push(At::Group(at)),
        }
        if group.count > 1 && unfolded.contains(&group.key) {
            lines.extend(group.members.iter().copied().map(At::Row));
        }
    }
    lines
}
