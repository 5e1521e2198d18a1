//! The interface by which the console uses a table of any kind.

use std::collections::BTreeMap;

use turbowish_model::query::{self, Filter, QueryError};
use turbowish_model::snapshot::alert::{Alert, Severity};
use turbowish_model::snapshot::column::{
    Column, Context, Involved, Style, Unit, Value, console_title, find, nearest,
};
use turbowish_model::snapshot::json;
use turbowish_model::snapshot::units;
use turbowish_model::snapshot::{Page, Snapshot, Spot};

use super::super::arrange::At;
use super::super::hidden::Hidden;
use super::super::{Absent, AnyTable, Counts, Entry, Face, Muted, Order, RowId};
use super::{BACKGROUND_ROWS, OPEN_ROWS, Table};
use crate::detail::rich_line::Link;
use crate::tui::mutes;

/// The column in which a muted row is marked, and the width of the mark: `muted 10m00s`.
const MUTED_IN: &str = "severity";
const MUTED_WIDTH: usize = 12;

impl<R: Entry> AnyTable for Table<R> {
    fn faces(&self) -> Vec<Face> {
        let face = |column: &'static Column<R>| Face {
            key: &column.key,
            title: console_title(column),
            meaning: column.meaning,
            unit: column.unit,
            // A muted row shows the remaining time.
            width: match column.key == MUTED_IN && self.muted.iter().any(Option::is_some) {
                true => column.width.max(MUTED_WIDTH),
                false => column.width,
            },
            rank: column.rank,
            bar: R::BAR
                .filter(|(key, _)| *key == column.key)
                .map_or(0, |(_, length)| length),
            grows: column.grows(),
        };
        R::columns().iter().map(face).collect()
    }

    fn own_order(&self) -> Option<Face> {
        find::<R>(R::OWN_ORDER).is_none().then_some(Face {
            key: R::OWN_ORDER,
            title: R::OWN_ORDER,
            meaning: "most urgent first",
            unit: Unit::Count,
            width: 0,
            rank: 0,
            bar: 0,
            grows: false,
        })
    }

    fn counts(&self) -> Counts {
        let whole = self.sent() as u64 >= self.page.total;
        let hidden = self.hidden;
        let matched = if self.refiltered || whole {
            self.kept as u64
        } else {
            self.page.matched.saturating_sub(hidden as u64)
        };
        Counts {
            held: self.visible.len(),
            kept: self.kept,
            hidden,
            total: self.page.total,
            matched,
        }
    }

    fn order(&self) -> &Order {
        &self.order
    }

    fn first_order(&self) -> Order {
        Order {
            key: R::OWN_ORDER.to_owned(),
            invert: false,
        }
    }

    fn filter(&self) -> &str {
        &self.filter
    }

    fn columns_skipped(&self) -> usize {
        self.shape.skip
    }

    fn skip_columns(&mut self, skip: usize) {
        self.shape.skip = skip;
    }

    fn value(&self, row: usize, column: usize, context: &Context) -> Value<'_> {
        let Some(column) = R::columns().get(column) else {
            return Value::Blank;
        };
        if let Some(left) = self.muted(row).filter(|_| column.key == MUTED_IN) {
            return Value::Text(mutes::word(left).into());
        }
        match (self.group(row), self.row(row)) {
            (Some(group), _) => self.shared(group, column, context),
            (None, Some(row)) => column.value(row, context),
            (None, None) => Value::Blank,
        }
    }

    fn detail(&self, row: usize, style: Style) -> String {
        if let Some(group) = self.group(row) {
            let (count, sent) = (units::count(group.count), group.members.len());
            let sent = match sent as u64 == group.count {
                _ if group.partial => ", without those hidden or not sent".to_owned(),
                true => String::new(),
                false => format!(", {sent} of them sent"),
            };
            return format!(
                "{count} {} of {}{sent}; l unfolds, h folds",
                R::TABLE,
                group.key
            );
        }
        self.row(row)
            .map(|row| row.detail(style))
            .unwrap_or_default()
    }

    fn warns(&self, row: usize) -> bool {
        match self.group(row) {
            Some(group) => group.members.iter().any(|&at| self.page.rows[at].warns()),
            None => self.row(row).is_some_and(Entry::warns),
        }
    }

    fn is_paused(&self, row: usize) -> bool {
        match self.group(row) {
            Some(group) => {
                let mut members = group.members.iter();
                // The merged row also covers rows that were not sent.
                group.row.is_paused() || members.any(|&at| self.page.rows[at].is_paused())
            }
            None => self.row(row).is_some_and(Entry::is_paused),
        }
    }

    fn is_over(&self, row: usize) -> bool {
        match self.group(row) {
            Some(group) => {
                let mut members = group.members.iter();
                members.all(|&at| self.page.rows[at].is_over())
            }
            None => self.row(row).is_some_and(Entry::is_over),
        }
    }

    fn severity(&self, row: usize) -> Option<Severity> {
        match *self.visible.get(row)? {
            At::Row(at) => self.severities.get(at).copied().flatten(),
            At::Group(at) => self.groups.get(at)?.severity,
        }
    }

    fn id(&self, row: usize) -> Option<RowId> {
        match self.group(row) {
            Some(group) => Some(RowId::Group(group.key.clone())),
            None => self.row(row).map(Entry::id),
        }
    }

    fn link(&self, row: usize) -> Option<Link> {
        match self.group(row) {
            Some(_) => None,
            None => self
                .row(row)
                .filter(|row| row.has_record())
                .map(Entry::link),
        }
    }

    fn absent(&self, row: usize) -> Option<Absent> {
        let at = self.visible.get(row)?;
        self.absent.filter(|_| *at == At::Row(self.sent()))
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
        let Some(id) = self.id(row) else {
            return;
        };
        if self.cursor.as_ref() != Some(&id) {
            let absent = (0..self.visible.len()).find(|&at| self.absent(at).is_some());
            self.drop_absent();
            // The rows below the removed one move up by one line.
            first -= usize::from(absent.is_some_and(|at| at < first));
        }
        let row = self.position(&id).unwrap_or(row);
        self.line = row.saturating_sub(first).min(height.saturating_sub(1));
        self.cursor = Some(id);
    }

    fn follow_first(&mut self) {
        self.drop_absent();
        self.cursor = None;
        self.line = 0;
    }

    fn sort(&mut self, order: Order, context: &Context) {
        self.order = order;
        self.shape.steady.clear();
        self.arrange(context);
    }

    fn set_filter(&mut self, filter: String, context: &Context) {
        if self.filter != filter {
            self.filter = filter;
            self.refiltered = true;
            self.shape.steady.clear();
            self.follow_first();
            self.arrange(context);
        }
    }

    fn rows_wanted(&self, open: bool) -> query::Rows {
        query::Rows {
            filter: self.filter.clone(),
            sort: self.order.key.clone(),
            invert: self.order.invert,
            limit: if open { OPEN_ROWS } else { BACKGROUND_ROWS },
            group: self
                .grouping()
                .filter(|_| open)
                .unwrap_or_default()
                .to_owned(),
        }
    }

    fn check_filter(&self, filter: &str) -> Result<(), String> {
        Filter::<R>::parse(filter)
            .map(|_| ())
            .map_err(|fault| fault.to_string())
    }

    fn picked(&self) -> Option<&[&'static str]> {
        self.shape.picked.as_deref()
    }

    fn pick(&mut self, keys: Option<Vec<&'static str>>) {
        self.shape.picked = keys;
        self.shape.skip = 0;
    }

    fn grouping(&self) -> Option<&'static str> {
        let grouping = R::GROUPINGS.get(self.shape.grouping?)?;
        Some(grouping.name)
    }

    fn group_next(&mut self, context: &Context) {
        let next = self.shape.grouping.map_or(0, |at| at + 1);
        self.shape.grouping = (next < R::GROUPINGS.len()).then_some(next);
        self.shape.unfolded.clear();
        self.follow_first();
        self.arrange(context);
    }

    fn fold(&mut self, row: usize, fold: bool, context: &Context) -> bool {
        let Some(key) = self.group(row).map(|group| group.key.clone()) else {
            return false;
        };
        let changed = match fold {
            true => self.shape.unfolded.remove(&key),
            false => self.shape.unfolded.insert(key),
        };
        self.arrange(context);
        changed
    }

    fn is_folded(&self, row: usize) -> Option<bool> {
        let group = self.group(row)?;
        Some(!self.shape.unfolded.contains(&group.key))
    }

    fn hide(&mut self, row: usize, context: &Context) {
        match (self.id(row), self.shape.grouping) {
            (Some(RowId::Group(key)), Some(grouping)) => self.shape.hidden.group(grouping, key),
            (Some(id), _) => self.shape.hidden.row(id),
            (None, _) => {}
        }
        self.drop_absent();
        self.arrange(context);
        // The row that takes its place is selected.
        let next = row.min(self.visible.len().saturating_sub(1));
        self.cursor = self.id(next).filter(|_| row > 0);
    }

    fn unhide(&mut self, context: &Context) -> bool {
        let any = !std::mem::take(&mut self.shape.hidden).is_empty();
        self.arrange(context);
        any
    }

    fn json(&self, row: usize, of: &Snapshot) -> String {
        let rows = self.rows_at(row);
        let mut one = Snapshot {
            alerts: Page::default(),
            ..of.clone()
        };
        let sent = rows.len() as u64;
        let count = self.group(row).map_or(sent, |group| group.count);
        *R::page_mut(&mut one) = Page {
            rows,
            total: count,
            matched: count,
        };
        json::document(&one, &[R::IN], &json::Options::default())
    }

    fn take(&mut self, snapshot: &mut Snapshot, steady: bool) {
        let context = Context::of(snapshot);
        self.shape.steady = if steady {
            self.places()
        } else {
            BTreeMap::new()
        };
        let page = std::mem::take(R::page_mut(snapshot));
        let old = std::mem::replace(&mut self.page, page);
        self.sums = R::sums(snapshot);
        self.refiltered = false;
        self.keep_selected(old);
        let involved = Involved::of(&snapshot.alerts.rows);
        let severity = |row: &R| row.severity().or_else(|| involved.severity(row));
        self.severities = self.page.rows.iter().map(severity).collect();
        self.muted.clear();
        self.arrange(&context);
    }

    fn mark(&mut self, alerts: &[Alert], muted: Muted<'_>, context: &Context) {
        let heard = alerts.iter().filter(|alert| muted(alert).is_none());
        let heard: Vec<Alert> = heard.cloned().collect();
        let involved = Involved::of(&heard);
        let rows = &self.page.rows;
        self.muted = rows.iter().map(|row| row.muted(muted)).collect();
        let severity = |(row, muted): (&R, &Option<u64>)| {
            let own = row.severity().filter(|_| muted.is_none());
            own.or_else(|| involved.severity(row))
        };
        self.severities = rows.iter().zip(&self.muted).map(severity).collect();
        self.arrange(context);
    }

    fn muted(&self, row: usize) -> Option<u64> {
        let left = |at: usize| self.muted.get(at).copied().flatten();
        match *self.visible.get(row)? {
            At::Row(at) => left(at),
            At::Group(at) => {
                let mut members = self.groups.get(at)?.members.iter();
                // A group is muted if all of its rows are.
                members.try_fold(u64::MAX, |least, &at| Some(least.min(left(at)?)))
            }
        }
    }

    fn spot(&self, row: usize) -> Option<Spot> {
        match self.group(row) {
            Some(_) => None,
            None => self.row(row)?.spot(),
        }
    }

    fn check_sort(&self, key: &str) -> Result<(), String> {
        if key == R::OWN_ORDER || find::<R>(key).is_some() {
            return Ok(());
        }
        let unknown = QueryError::UnknownField {
            table: R::TABLE,
            key: key.to_owned(),
            nearest: Some(nearest::<R>(key).unwrap_or_else(|| R::OWN_ORDER.to_owned())),
        };
        Err(unknown.to_string())
    }

    fn clear(&mut self) {
        self.absent = None;
        self.cursor = None;
        self.line = 0;
        self.page = Page::default();
        self.severities.clear();
        self.sums.clear();
        self.muted.clear();
        self.visible.clear();
        self.groups.clear();
        // IDs of rows mean nothing in another process.
        self.shape.hidden = Hidden::default();
        (self.kept, self.hidden) = (0, 0);
    }
}
