//! The measurements behind a column, and what they say about its growth.

use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::column::{self, Column, Context, Unit};
use turbowish_model::snapshot::json::Record;

use super::chance::{Chance, Growth, Values};
use crate::report_file::Saved;

/// How a column's number comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FigureKind {
    /// A percentile of a population.
    Percentile,
    /// A mean, without the population.
    Mean,
    /// Failures in the window.
    Failures,
    /// Measured without noise: bytes, and panics, of which one is enough.
    Exact,
    /// A single event or moment: the longest poll, the tasks that wait now.
    Single,
    /// The number of tasks or waiters now, of which only a large growth is a change.
    Level,
}

impl FigureKind {
    fn of<R>(column: &Column<R>) -> Self {
        match (&*column.key, column.unit) {
            _ if column.is_percentile() => Self::Percentile,
            ("panicked", _) | (_, Unit::Bytes) => Self::Exact,
            ("mean" | "wall" | "unstarted", _) => Self::Mean,
            ("cancelled", _) | (_, Unit::Rate) => Self::Failures,
            _ => Self::Single,
        }
    }
}

/// One column in two files.
pub(super) struct Evidence<'a, R: 'static> {
    pub(super) column: &'a Column<R>,
    pub(super) kind: FigureKind,
    /// The window before, and after.
    pub(super) before: Context,
    pub(super) after: Context,
    /// Calls or waits of a row, if the table counts them.
    events: Option<Column<R>>,
    /// Whether both files have all buckets.
    exact: bool,
    /// Before and after: the share of all calls that may have waited behind the longest poll.
    behind: [f64; 2],
    chance: Chance,
}

impl<'a, R: Record> Evidence<'a, R> {
    /// `behind` is the share of the calls of each file that [`behind`] tells.
    pub(super) fn of(
        column: &'a Column<R>,
        (before, after): (&Saved, &Saved),
        behind: [f64; 2],
        chance: Chance,
    ) -> Self {
        let told = |events: &Column<R>| before.tells(events) && after.tells(events);
        Self {
            column,
            kind: FigureKind::of(column),
            before: Context::of(&before.snapshot),
            after: Context::of(&after.snapshot),
            events: ["calls", "waits"]
                .iter()
                .find_map(|key| column::find(key))
                .filter(told),
            exact: before.has_buckets(column) && after.has_buckets(column),
            behind,
            chance,
        }
    }

    /// The growth from one row to the other.
    pub(super) fn growth(&self, was: &R, is: &R) -> Growth {
        let sides = [(was, &self.before), (is, &self.after)];
        let [old, new] = sides.map(|(row, context)| self.column.value(row, context).integer());
        let (Some(old), Some(new)) = (old, new) else {
            return Growth::UNKNOWN;
        };
        let [old, new] = [old as f64, new as f64];
        match self.kind {
            FigureKind::Percentile => self.percentile(was, is),
            FigureKind::Mean => {
                let [n_old, n_new] = sides.map(|(row, at)| self.events(row, at).unwrap_or(0));
                self.chance.mean((old, n_old), (new, n_new))
            }
            FigureKind::Failures => {
                let [before, after] = self.among(sides);
                self.chance.rate(
                    (self.failures(was, &self.before), before),
                    (self.failures(is, &self.after), after),
                )
            }
            FigureKind::Exact => Growth::exact(old, new),
            FigureKind::Single | FigureKind::Level => Growth::UNKNOWN,
        }
    }

    fn percentile(&self, was: &R, is: &R) -> Growth {
        let values = |of, behind| Values {
            of,
            exact: self.exact,
            behind: self.column.includes_waits().then_some(behind),
        };
        let [before, after] = self.behind;
        match (self.column.population(was), self.column.population(is)) {
            (Some((was, p)), Some((is, _))) => {
                self.chance
                    .percentile(values(was, before), values(is, after), p)
            }
            _ => Growth::UNKNOWN,
        }
    }

    /// Number of values behind the column's number; `None` for a single one.
    pub(super) fn count(&self, row: &R, context: &Context) -> Option<u64> {
        match self.kind {
            FigureKind::Percentile => Some(self.column.population(row)?.0.n),
            FigureKind::Mean | FigureKind::Failures => self.events(row, context),
            FigureKind::Exact | FigureKind::Single | FigureKind::Level => None,
        }
    }

    fn events(&self, row: &R, context: &Context) -> Option<u64> {
        let events = self.events.as_ref()?;
        number(events, row, context).map(|n| n.round() as u64)
    }

    fn failures(&self, row: &R, context: &Context) -> f64 {
        number(self.column, row, context).unwrap_or(0.0)
    }

    /// Among how many calls there were failures; if those are not counted, in how much time.
    fn among(&self, sides: [(&R, &Context); 2]) -> [f64; 2] {
        let calls = sides.map(|(row, context)| self.events(row, context).unwrap_or(0));
        if calls.contains(&0) {
            return sides.map(|(_, context)| context.window_ns as f64);
        }
        calls.map(|calls| calls as f64)
    }
}

/// At most this share of the calls is put down to one event: what grows in most calls is told.
const MOST_BEHIND: f64 = 0.5;

/// The share of all calls of a window that may have waited behind its longest poll: those of the
/// same time, and of as much time again, until the queue is empty. 0 where functions are not in the
/// file.
pub(super) fn behind(snapshot: &Snapshot) -> f64 {
    let polls = snapshot.procs.rows.iter().map(|row| row.poll_hold.max_ns);
    let longest = polls.max().unwrap_or(0);
    let share = 2.0 * longest as f64 / snapshot.window_ns.max(1) as f64;
    share.min(MOST_BEHIND)
}

/// A number of events in the window, also if the column shows them per second.
fn number<R>(column: &Column<R>, row: &R, context: &Context) -> Option<f64> {
    let shown = column.value(row, context).integer()? as f64;
    Some(match column.unit {
        // Millionths per second.
        Unit::Rate => shown * context.window_ns as f64 / 1e15,
        _ => shown,
    })
}
