//! A limit that every row of a table must keep: of each row the worst look counts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use turbowish_model::diagnose::alert::Alert;
use turbowish_model::query::{Condition, Filter, QueryError, Verdict};
use turbowish_model::snapshot::column::{Context, Row, Style, Unit};
use turbowish_model::snapshot::{AwaitRow, CounterRow, ProcRow, ResourceRow, Snapshot, TaskRow};

use crate::failure::Failure;
use crate::saved::{Kept, Saved, TABLES};

/// A table that a limit can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tabled {
    Procs,
    Tasks,
    Resources,
    Awaits,
    Alerts,
    Counters,
}

impl Tabled {
    /// Its rows are sums of the window; others are of now.
    pub(super) const fn is_of_a_window(self) -> bool {
        matches!(self, Self::Procs | Self::Awaits | Self::Counters)
    }
}

/// A limit on a column of some table.
pub(super) trait Limit {
    /// Which table.
    fn table(&self) -> Tabled;

    /// The column by which rows that break it come first, and whether its order is turned round.
    fn worst_first(&self) -> (String, bool);

    /// Whether a file says enough to tell.
    fn is_in(&self, saved: &Saved) -> Result<(), Failure>;

    /// Looks at all rows.
    fn look(&mut self, snapshot: &Snapshot);

    /// Begins anew.
    fn forget(&mut self);

    /// What came out of it.
    fn outcome(&self) -> Outcome;
}

/// What came out of a limit.
pub(super) struct Outcome {
    /// The limit as it was written.
    pub(super) text: String,
    /// `procs`
    pub(super) table: &'static str,
    /// The unit of values.
    pub(super) unit: Unit,
    /// The limit in that unit.
    pub(super) limit: u64,
    /// Rows that break it, the worst first.
    pub(super) broken: Vec<Broken>,
    /// Rows that keep it.
    pub(super) within: u64,
    /// Rows of which nothing was measured.
    pub(super) no_sample: u64,
    /// Rows of which it cannot be known.
    pub(super) unknown: u64,
    /// Rows that the process did not send.
    pub(super) left_out: u64,
    /// Without a single proc the limit says nothing of the program.
    pub(super) vacuous: bool,
}

impl Outcome {
    pub(super) fn holds(&self) -> bool {
        self.broken.is_empty() && !self.vacuous
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> u64 {
        self.broken.len() as u64 + self.within + self.no_sample + self.unknown
    }
}

/// A row that breaks a limit.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    /// What it is called.
    pub(super) row: String,
    /// Where it stands.
    pub(super) place: Option<String>,
    /// The value, in the column's unit.
    pub(super) value: i128,
    /// The value as people read it.
    pub(super) shown: String,
    /// If the column is about polls: the rows whose polls contain those of this one.
    pub(super) polled_by: Vec<String>,
    beyond: u128,
    /// The table's own order tells rows of one value apart: of two that hold the same polls, the one that runs.
    order: (u8, Reverse<u64>),
}

/// What was seen of a row, the worse the later.
enum Seen {
    NoSample,
    Unknown,
    Within,
    Broken(Broken),
}

impl Seen {
    const fn rank(&self) -> (u8, u128) {
        match self {
            Self::NoSample => (0, 0),
            Self::Unknown => (1, 0),
            Self::Within => (2, 0),
            Self::Broken(broken) => (3, broken.beyond),
        }
    }
}

struct RowLimit<R: 'static> {
    text: String,
    table: Tabled,
    condition: Condition<R>,
    filter: Filter<R>,
    // Names alone may be equal.
    seen: BTreeMap<(String, u64), Seen>,
    left_out: u64,
}

/// Reads `procs.hold_p99 < 10ms`.
pub(super) fn parse(text: &str, filter: &str) -> Result<Box<dyn Limit>, Failure> {
    let text = text.trim();
    let shape = || {
        Failure::usage(format!(
            "{text:?} is not a limit; write TABLE.COLUMN OP VALUE, \
             such as procs.hold_p99 < 10ms; tables: {}",
            TABLES.join(", ")
        ))
    };
    let (table, rest) = text.split_once('.').ok_or_else(shape)?;
    match table {
        ProcRow::TABLE => typed::<ProcRow>(text, Tabled::Procs, rest, filter),
        TaskRow::TABLE => typed::<TaskRow>(text, Tabled::Tasks, rest, filter),
        ResourceRow::TABLE => typed::<ResourceRow>(text, Tabled::Resources, rest, filter),
        AwaitRow::TABLE => typed::<AwaitRow>(text, Tabled::Awaits, rest, filter),
        Alert::TABLE => typed::<Alert>(text, Tabled::Alerts, rest, filter),
        CounterRow::TABLE => typed::<CounterRow>(text, Tabled::Counters, rest, filter),
        _ => Err(shape()),
    }
}

fn typed<R: Kept>(
    text: &str,
    table: Tabled,
    rest: &str,
    filter: &str,
) -> Result<Box<dyn Limit>, Failure> {
    let condition = Condition::parse(rest).map_err(|error| match error {
        QueryError::Filter { reason, .. } => Failure::usage(format!("limit {text}: {reason}")),
        other => other.into(),
    })?;
    Ok(Box::new(RowLimit::<R> {
        text: text.to_owned(),
        table,
        condition,
        filter: Filter::parse(filter)?,
        seen: BTreeMap::new(),
        left_out: 0,
    }))
}

/// Makes sure that a file has a table.
pub(super) fn has<R: Row>(saved: &Saved) -> Result<(), Failure> {
    if saved.has::<R>() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} has no {}, it has {}",
        saved.name,
        R::TABLE,
        saved.tables().join(", ")
    )))
}

/// What a poll lasts is what the polls around it last too.
fn of_polls(key: &str) -> bool {
    key == "longest" || key.starts_with("hold_")
}

impl<R: Kept> RowLimit<R> {
    fn seen(&self, row: &R, context: &Context) -> Seen {
        let column = self.condition.column();
        match self.condition.judge(row, context) {
            Verdict::Holds => Seen::Within,
            Verdict::NoSample => Seen::NoSample,
            Verdict::Unknown => Seen::Unknown,
            Verdict::Fails => {
                let value = column.value(row, context);
                Seen::Broken(Broken {
                    row: row.label(),
                    place: row.place(),
                    value: value.integer().unwrap_or_default(),
                    shown: value.print(Style::default()),
                    polled_by: if of_polls(&column.key) {
                        row.polled_by()
                    } else {
                        Vec::new()
                    },
                    beyond: self.condition.beyond(&value),
                    order: {
                        let (class, number) = row.worst();
                        (class, Reverse(number))
                    },
                })
            }
        }
    }
}

impl<R: Kept> Limit for RowLimit<R> {
    fn table(&self) -> Tabled {
        self.table
    }

    fn worst_first(&self) -> (String, bool) {
        let key = self.condition.column().key.clone().into_owned();
        (key, !self.condition.bounds_above())
    }

    fn is_in(&self, saved: &Saved) -> Result<(), Failure> {
        has::<R>(saved)?;
        saved.must_tell(self.condition.column())
    }

    fn look(&mut self, snapshot: &Snapshot) {
        let context = Context::of(snapshot);
        let page = R::page(snapshot);
        for row in &page.rows {
            if !self.filter.keeps(row, &context) {
                continue;
            }
            let now = self.seen(row, &context);
            let key = (row.label(), row.name().1);
            let before = self.seen.entry(key).or_insert(Seen::NoSample);
            if now.rank() >= before.rank() {
                *before = now;
            }
        }
        self.left_out = self.left_out.max(page.left_out());
    }

    fn forget(&mut self) {
        self.seen.clear();
        self.left_out = 0;
    }

    fn outcome(&self) -> Outcome {
        let count = |rank: u8| {
            self.seen
                .values()
                .filter(|seen| seen.rank().0 == rank)
                .count() as u64
        };
        let mut broken: Vec<Broken> = self
            .seen
            .values()
            .filter_map(|seen| match seen {
                Seen::Broken(broken) => Some(broken.clone()),
                _ => None,
            })
            .collect();
        // Stable: what is equal stays by name.
        broken.sort_by_key(|broken| (Reverse(broken.beyond), broken.order));
        let (no_sample, unknown, within) = (count(0), count(1), count(2));
        Outcome {
            text: self.text.clone(),
            table: R::TABLE,
            unit: self.condition.column().unit,
            limit: self.condition.limit().number().unwrap_or_default(),
            vacuous: self.table == Tabled::Procs && within == 0 && broken.is_empty(),
            broken,
            within,
            no_sample,
            unknown,
            left_out: self.left_out,
        }
    }
}
