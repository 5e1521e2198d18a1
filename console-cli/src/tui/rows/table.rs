//! The rows of one kind: what came from the process, what of it is visible, and which row is selected.

use std::cmp::{Ordering, Reverse};

use turbowish_model::column::{Column, Context, Row, SortKey, Style, Unit, Value, find};
use turbowish_model::query::{self, Filter};
use turbowish_model::snapshot::{Page, Snapshot};

use super::{Counts, Entry, Face, Order, RowId, Rows};

/// A table in the background asks for no more rows than this, so that opening it shows something.
const BACKGROUND_ROWS: u32 = 200;

/// A table of rows of one kind.
#[derive(Debug)]
pub(crate) struct Table<R> {
    /// As it came from the process.
    page: Page<R>,
    /// Positions in `page` of the rows that match the filter, in order.
    visible: Vec<usize>,
    order: Order,
    filter: String,
    /// The filter has changed since `page` came.
    refiltered: bool,
    /// The selected row; `None` follows whatever row is first.
    cursor: Option<RowId>,
    /// Line of the table on which the selected row stands.
    line: usize,
    /// The selected row is not part of the last snapshot: it is the last of `page`.
    ended: bool,
    skip: usize,
}

impl<R: Entry> Default for Table<R> {
    fn default() -> Self {
        Self {
            page: Page::default(),
            visible: Vec::new(),
            order: Order {
                key: R::OWN_ORDER.to_owned(),
                invert: false,
            },
            filter: String::new(),
            refiltered: false,
            cursor: None,
            line: 0,
            ended: false,
            skip: 0,
        }
    }
}

impl<R: Entry> Table<R> {
    fn row(&self, at: usize) -> Option<&R> {
        self.page.rows.get(*self.visible.get(at)?)
    }

    fn position(&self, id: &RowId) -> Option<usize> {
        self.visible
            .iter()
            .position(|&at| self.page.rows[at].is(id))
    }

    /// Applies filter and order to the rows at hand. A filter that means nothing keeps every row:
    /// the process has the last word, and says so.
    fn arrange(&mut self, context: &Context) {
        let filter = Filter::<R>::parse(&self.filter).ok();
        let column = find::<R>(&self.order.key);
        let (rows, invert) = (&self.page.rows, self.order.invert);
        let keeps = |row: &R| {
            filter
                .as_ref()
                .is_none_or(|filter| filter.keeps(row, context))
        };
        self.visible = (0..rows.len()).filter(|&at| keeps(&rows[at])).collect();
        self.visible.sort_by(|&a, &b| {
            let (a, b) = (&rows[a], &rows[b]);
            let by_value = match &column {
                Some(column) => compare(column, a, b, invert, context),
                None if invert => worst(b).cmp(&worst(a)),
                None => worst(a).cmp(&worst(b)),
            };
            by_value.then_with(|| a.name().cmp(&b.name()))
        });
    }

    /// Puts the selected row back if the new rows lack it.
    fn keep_ended(&mut self, old: Page<R>) {
        let Some(cursor) = &self.cursor else { return };
        self.ended = false;
        if self.page.rows.iter().any(|row| row.is(cursor)) {
            return;
        }
        match old.rows.into_iter().find(|row| row.is(cursor)) {
            Some(row) => {
                self.page.rows.push(row);
                self.ended = true;
            }
            None => {
                self.cursor = None;
                self.line = 0;
            }
        }
    }

    fn drop_ended(&mut self) {
        if std::mem::take(&mut self.ended) {
            self.page.rows.pop();
            let rows = self.page.rows.len();
            self.visible.retain(|&at| at < rows);
        }
    }
}

fn worst<R: Row>(row: &R) -> (u8, Reverse<u64>) {
    let (class, number) = row.worst();
    (class, Reverse(number))
}

/// Numbers down first, words up; what has no value stays last in either direction.
fn compare<R>(column: &Column<R>, a: &R, b: &R, invert: bool, context: &Context) -> Ordering {
    let (a, b) = (
        column.value(a, context).sort_key(),
        column.value(b, context).sort_key(),
    );
    match (&a, &b) {
        (SortKey::Missing, SortKey::Missing) => Ordering::Equal,
        (SortKey::Missing, _) => Ordering::Greater,
        (_, SortKey::Missing) => Ordering::Less,
        _ if column.unit.is_number() != invert => b.cmp(&a),
        _ => a.cmp(&b),
    }
}

impl<R: Entry> Rows for Table<R> {
    fn faces(&self) -> Vec<Face> {
        let face = |column: &'static Column<R>| Face {
            key: &column.key,
            title: &column.title,
            meaning: column.meaning,
            unit: column.unit,
            width: column.width,
            rank: column.rank,
            bar: R::BAR.is_some_and(|key| key == column.key),
        };
        R::columns().iter().map(face).collect()
    }

    fn own_order(&self) -> Option<Face> {
        find::<R>(R::OWN_ORDER).is_none().then_some(Face {
            key: R::OWN_ORDER,
            title: R::OWN_ORDER,
            meaning: "what most needs a look comes first",
            unit: Unit::Count,
            width: 0,
            rank: 0,
            bar: false,
        })
    }

    fn counts(&self) -> Counts {
        let held = self.visible.len();
        let matched = if self.refiltered {
            held as u64
        } else {
            self.page.matched
        };
        Counts {
            held,
            total: self.page.total,
            matched,
        }
    }

    fn order(&self) -> &Order {
        &self.order
    }

    fn filter(&self) -> &str {
        &self.filter
    }

    fn columns_skipped(&self) -> usize {
        self.skip
    }

    fn skip_columns(&mut self, skip: usize) {
        self.skip = skip;
    }

    fn value(&self, row: usize, column: usize, context: &Context) -> Value<'_> {
        match (self.row(row), R::columns().get(column)) {
            (Some(row), Some(column)) => column.value(row, context),
            _ => Value::Blank,
        }
    }

    fn detail(&self, row: usize, style: Style) -> String {
        self.row(row)
            .map(|row| row.detail(style))
            .unwrap_or_default()
    }

    fn ended(&self, row: usize) -> bool {
        self.ended
            && self
                .visible
                .get(row)
                .is_some_and(|&at| at + 1 == self.page.rows.len())
    }

    fn selected(&self) -> Option<usize> {
        if self.visible.is_empty() {
            return None;
        }
        Some(
            self.cursor
                .as_ref()
                .and_then(|id| self.position(id))
                .unwrap_or(0),
        )
    }

    fn first_shown(&self, height: usize) -> usize {
        let Some(selected) = self.selected().filter(|_| self.cursor.is_some()) else {
            return 0;
        };
        let line = self.line.min(height.saturating_sub(1));
        selected
            .saturating_sub(line)
            .min(self.visible.len().saturating_sub(height))
    }

    fn select(&mut self, row: usize, height: usize) {
        let mut first = self.first_shown(height);
        let Some(id) = self.row(row).map(Entry::id) else {
            return;
        };
        if self.cursor.as_ref() != Some(&id) {
            let ended = (0..self.visible.len()).find(|&at| self.ended(at));
            self.drop_ended();
            // The rows below the one that left move up by one line.
            first -= usize::from(ended.is_some_and(|at| at < first));
        }
        let row = self.position(&id).unwrap_or(row);
        self.line = row.saturating_sub(first).min(height.saturating_sub(1));
        self.cursor = Some(id);
    }

    fn follow_first(&mut self) {
        self.drop_ended();
        self.cursor = None;
        self.line = 0;
    }

    fn sort(&mut self, order: Order, context: &Context) {
        self.order = order;
        self.arrange(context);
    }

    fn set_filter(&mut self, filter: String, context: &Context) {
        if self.filter != filter {
            self.filter = filter;
            self.refiltered = true;
            self.follow_first();
            self.arrange(context);
        }
    }

    fn rows_wanted(&self, open: bool) -> query::Rows {
        query::Rows {
            filter: self.filter.clone(),
            sort: self.order.key.clone(),
            invert: self.order.invert,
            limit: if open { 0 } else { BACKGROUND_ROWS },
        }
    }

    fn check_filter(&self, filter: &str) -> Result<(), String> {
        Filter::<R>::parse(filter)
            .map(|_| ())
            .map_err(|fault| fault.to_string())
    }

    fn take(&mut self, snapshot: &mut Snapshot) {
        let context = Context::of(snapshot);
        let page = std::mem::take(R::page_mut(snapshot));
        let old = std::mem::replace(&mut self.page, page);
        self.refiltered = false;
        self.keep_ended(old);
        self.arrange(&context);
    }

    fn clear(&mut self) {
        self.ended = false;
        self.cursor = None;
        self.line = 0;
        self.page = Page::default();
        self.visible.clear();
    }
}
