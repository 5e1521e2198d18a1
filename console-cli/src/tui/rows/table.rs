//! The rows of one kind: those received from the process, the visible ones, and the selected one.

mod rows;

use std::collections::BTreeSet;

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

/// A table in the background asks for no more rows than this, so that opening it shows something.
pub(crate) const BACKGROUND_ROWS: u32 = 200;

/// A table of rows of one kind.
#[derive(Debug)]
pub(crate) struct Table<R> {
    /// As it came from the process.
    page: Page<R>,
    /// The worst alert that each row of `page` is part of.
    severities: Vec<Option<Severity>>,
    /// How much longer each row of `page` is muted, if any of them is.
    muted: Vec<Option<u64>>,
    /// The lines of the table, in order.
    visible: Vec<At>,
    /// Groups as the process has added them up, of rows that it did not send all.
    sums: Vec<Sum<R>>,
    /// What rows have in common, if they are grouped.
    groups: Vec<Group<R>>,
    /// How many rows of `page` match the filter and are not hidden.
    kept: usize,
    /// How many rows of `page` match the filter and are hidden.
    hidden: usize,
    shape: Shape,
    order: Order,
    filter: String,
    /// The filter has changed since `page` came.
    refiltered: bool,
    /// The selected row; `None` follows whatever row is first.
    cursor: Option<RowId>,
    /// Line of the table on which the selected row stands.
    line: usize,
    /// The selected row is not part of the last snapshot: it is the last of `page`.
    absent: Option<Absent>,
}

/// What one has made of the table: columns, groups, hidden rows.
#[derive(Debug, Default)]
struct Shape {
    /// Columns that are scrolled away.
    skip: usize,
    /// Those that were chosen.
    picked: Option<Vec<&'static str>>,
    /// By which of its groupings.
    grouping: Option<usize>,
    unfolded: BTreeSet<String>,
    hidden: Hidden,
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
    /// The rows at hand as they came, and how many there are in the process.
    pub(crate) fn page(&self) -> &Page<R> {
        &self.page
    }

    /// All rows at hand, in no order.
    pub(crate) fn rows(&self) -> &[R] {
        &self.page.rows
    }

    /// A row, or a group as one.
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

    /// The row there, or all of the group.
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

    /// Applies filter, order and groups to the rows at hand. A filter that means nothing keeps
    /// every row: the process has the last word, and says so.
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
        let sorted = arrangement.sort(kept);
        self.kept = sorted.len();
        self.hidden = hidden.len();
        self.groups = match self.grouped() {
            Some((grouping, (_, key))) => {
                let hidden: BTreeSet<String> = hidden.iter().map(|&at| key(&rows[at])).collect();
                // They are of the filter that was asked for, and of hidden rows too.
                let is_told = |sum: &&Sum<R>| {
                    let is_hidden = hidden.contains(&sum.key)
                        || self.shape.hidden.has_group(grouping, &sum.key);
                    !self.refiltered && !is_hidden
                };
                let sums: Vec<&Sum<R>> = self.sums.iter().filter(is_told).collect();
                let mut groups = arrangement.group(&sorted, *key, &sums);
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
        self.visible = match self.shape.grouping {
            None => sorted.into_iter().map(At::Row).collect(),
            Some(_) => lines(&self.groups, &self.shape.unfolded),
        };
    }

    /// Words of a group are those that all of its rows have there; its name and its numbers are its
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
            // What the others have there is not known.
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

    /// By what rows are grouped: its number, and what a row has there.
    fn grouped(&self) -> Option<(usize, &'static Grouping<R>)> {
        let at = self.shape.grouping?;
        Some((at, R::GROUPINGS.get(at)?))
    }

    /// Whether the rows at hand are all that there are.
    pub(crate) fn is_all(&self) -> bool {
        let is_open = self.filter.is_empty() && !self.refiltered;
        is_open && self.sent() as u64 >= self.page.matched
    }

    /// How many rows came from the process.
    fn sent(&self) -> usize {
        self.page.rows.len() - usize::from(self.absent.is_some())
    }

    /// Puts the selected row back if the new rows lack it.
    fn keep_selected(&mut self, old: Page<R>) {
        self.absent = None;
        let Some(cursor) = &self.cursor else { return };
        let there = self.page.rows.iter().any(|row| row.is(cursor));
        // A group is there as long as one of its rows is.
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

/// The groups, and the rows of those that are unfolded; a group of one is its row.
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
