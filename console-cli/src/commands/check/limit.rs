//! A limit for every row of a table: the worst sample of each row counts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use turbowish_model::query::{Condition, Filter, QueryError, Verdict};
use turbowish_model::snapshot::column::{Context, Row, Style, Unit};
use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::{Snapshot, Table, TableVisitor};

use crate::failure::Failure;
use crate::report_file::Saved;

/// A limit on a column of some table.
pub(super) trait Limit {
    /// The table that the limit applies to.
    fn table(&self) -> Table;

    /// The sort column that puts violating rows first, and whether its order is reversed.
    fn worst_first(&self) -> (String, bool);

    /// Checks that a file has the required fields.
    fn is_in(&self, saved: &Saved) -> Result<(), Failure>;

    /// Checks all rows of a snapshot.
    fn look(&mut self, snapshot: &Snapshot);

    /// Discards what was seen so far.
    fn forget(&mut self);

    /// The result so far.
    fn outcome(&self) -> Outcome;
}

/// The result of a limit.
pub(super) struct Outcome {
    /// The limit as it was written.
    pub(super) text: String,
    /// `procs`
    pub(super) table: &'static str,
    /// The unit of values.
    pub(super) unit: Unit,
    /// The limit in that unit.
    pub(super) limit: u64,
    /// Rows that violate it, the worst first.
    pub(super) broken: Vec<Broken>,
    /// Number of rows that keep it.
    pub(super) within: u64,
    /// Number of rows without a measured value.
    pub(super) no_sample: u64,
    /// Number of rows whose value cannot be known.
    pub(super) unknown: u64,
    /// Number of rows that the process did not send.
    pub(super) left_out: u64,
    /// There is no proc, so the limit says nothing about the program.
    pub(super) vacuous: bool,
}

impl Outcome {
    pub(super) fn holds(&self) -> bool {
        self.broken.is_empty() && !self.vacuous
    }

    /// Total number of rows.
    pub(super) fn rows(&self) -> u64 {
        self.broken.len() as u64 + self.within + self.no_sample + self.unknown
    }
}

/// A row that violates a limit.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    /// The name of the row.
    pub(super) row: String,
    /// The source location of the row.
    pub(super) place: Option<String>,
    /// The value, in the column's unit.
    pub(super) value: i128,
    /// The value as text for people.
    pub(super) shown: String,
    /// If the column is about polls: the rows whose polls contain those of this one.
    pub(super) polled_by: Vec<String>,
    beyond: u128,
    /// Order of rows with the same value, from the table's own order: of two with the same polls,
    /// the one that runs comes first.
    order: (u8, Reverse<u64>),
}

/// The state of a row; later variants are worse.
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
    condition: Condition<R>,
    filter: Filter<R>,
    // Different rows may have the same name.
    seen: BTreeMap<(String, u64), Seen>,
    left_out: u64,
}

/// Parses `procs.hold_p99 < 10ms`.
pub(super) fn parse(text: &str, filter: &str) -> Result<Box<dyn Limit>, Failure> {
    let text = text.trim();
    let shape = || {
        Failure::usage(format!(
            "{text:?} is not a limit; write TABLE.COLUMN OP VALUE, \
             such as procs.hold_p99 < 10ms; tables: {}",
            Table::names().collect::<Vec<_>>().join(", ")
        ))
    };
    let (table, rest) = text.split_once('.').ok_or_else(shape)?;
    let table = Table::from_name(table).ok_or_else(shape)?;
    table.visit(Parse { text, rest, filter })
}

/// Parses the condition of a limit on a table.
struct Parse<'a> {
    text: &'a str,
    rest: &'a str,
    filter: &'a str,
}

impl TableVisitor for Parse<'_> {
    type Output = Result<Box<dyn Limit>, Failure>;

    fn visit<R: Record>(self) -> Self::Output {
        let Self { text, rest, filter } = self;
        let condition = Condition::parse(rest).map_err(|error| match error {
            QueryError::Filter { reason, .. } => Failure::usage(format!("limit {text}: {reason}")),
            other => other.into(),
        })?;
        Ok(Box::new(RowLimit::<R> {
            text: text.to_owned(),
            condition,
            filter: Filter::parse(filter)?,
            seen: BTreeMap::new(),
            left_out: 0,
        }))
    }
}

/// Checks that a file has a table.
pub(super) fn has<R: Row>(saved: &Saved) -> Result<(), Failure> {
    if saved.has::<R>() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} has no {}; it has {}",
        saved.name,
        R::TABLE,
        saved.tables().join(", ")
    )))
}

/// Whether the column is about polls: the duration of a poll is included in the polls that enclose
/// it.
fn of_polls(key: &str) -> bool {
    key == "longest" || key.starts_with("hold_")
}

impl<R: Record> RowLimit<R> {
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

impl<R: Record> Limit for RowLimit<R> {
    fn table(&self) -> Table {
        R::IN
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
        // The sort is stable: equal rows stay ordered by name.
        broken.sort_by_key(|broken| (Reverse(broken.beyond), broken.order));
        let (no_sample, unknown, within) = (count(0), count(1), count(2));
        Outcome {
            text: self.text.clone(),
            table: R::TABLE,
            unit: self.condition.column().unit,
            limit: self.condition.limit().number().unwrap_or_default(),
            vacuous: R::IN == Table::Procs && within == 0 && broken.is_empty(),
            broken,
            within,
            no_sample,
            unknown,
            left_out: self.left_out,
        }
    }
}
