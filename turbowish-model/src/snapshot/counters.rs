//! The table of counters and gauges, its row and its columns, and TurboWish's overhead.

use alloc::borrow::Cow;
use alloc::string::String;

use super::Spot;
use super::alert::PartyKind;
use super::column::Unit::{Count, Place, Rate, Text};
use super::column::{Column, Heading, Row, Value};
use super::row::row;

/// Kind of a metric of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricKind {
    /// A count that only grows.
    #[default]
    Counter,
    /// A value that is set.
    Gauge,
}

impl MetricKind {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

row! {
    $ counter_row

    /// A counter or gauge in one proc: all sites with that name, on all threads.
    CounterRow {
        /// Name given by the program.
        name: String [first];
        /// Counter or gauge.
        kind: MetricKind [first];
        /// Path of the innermost proc; `None` outside of any proc.
        proc: Option<String> [first];
        /// Source location of one of its sites.
        at: Spot [first];
        /// Number of updates in the window.
        updates: u64 [sum];
        /// Growth of a counter in the window; `None` for a gauge.
        added: Option<u64> [sum];
        /// Growth of a counter since the start of accounting; `None` for a gauge.
        total: Option<u64> [sum];
        /// Last value of a gauge.
        value: Option<i64> [first];
        /// Lowest value of a gauge since the start of accounting.
        min: Option<i64> [min];
        /// Highest value of a gauge since the start of accounting.
        max: Option<i64> [max];
    }
}

/// Estimated overhead of accounting: the cost of each kind of event times the number of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// On the application's threads, over the window, in millionths of one core.
    pub ppm: u64,
    /// On the monitor's thread, which also serves consoles, over the window, as measured by the
    /// operating system, in millionths of one core; `None` where it is not measured.
    pub monitor_ppm: Option<u64>,
    /// Cost of a poll's start and end, in picoseconds.
    pub poll_ps: u64,
    /// Cost of a wake, in picoseconds.
    pub wake_ps: u64,
    /// Cost of a counter update, in picoseconds.
    pub counter_ps: u64,
    /// Cost of a use of a resource, in picoseconds.
    pub resource_ps: u64,
}

static COLUMNS: [Column<CounterRow>; 9] = [
    Heading::new("counter", "COUNTER", Text)
        .width(20)
        .rank(0)
        .meaning("name, as the program gives it")
        .fields(&["name"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.name))),
    Heading::new("kind", "KIND", Text)
        .width(7)
        .rank(0)
        .meaning("counter or gauge")
        .fields(&["kind"])
        .read(|row, _| Value::Text(Cow::Borrowed(row.kind.word()))),
    Heading::new("rate", "RATE/s", Rate)
        .width(6)
        .rank(0)
        .meaning("increase of a counter in the window, per second")
        .fields(&["added"])
        .read(|row, context| {
            row.added
                .map_or(Value::Blank, |n| Value::rate(n, context.window_ns))
        }),
    Heading::new("value", "VALUE", Count)
        .width(6)
        .rank(0)
        .meaning("total of a counter since the start of accounting; last value of a gauge")
        .fields(&["total", "value"])
        .read(|row, _| match row.total {
            Some(total) => Value::Count(total),
            None => signed(row.value),
        }),
    Heading::new("min", "MIN", Count)
        .width(6)
        .rank(0)
        .meaning("lowest value of a gauge since the start of accounting")
        .fields(&["min"])
        .read(|row, _| signed(row.min)),
    Heading::new("max", "MAX", Count)
        .width(6)
        .rank(0)
        .meaning("highest value of a gauge since the start of accounting")
        .fields(&["max"])
        .read(|row, _| signed(row.max)),
    Heading::new("updates", "USES/s", Rate)
        .width(6)
        .rank(1)
        .meaning("how often it was counted or set in the window, per second")
        .fields(&["updates"])
        .read(|row, context| Value::rate(row.updates, context.window_ns)),
    Heading::new("proc", "PROC", Text)
        .width(20)
        .rank(0)
        .meaning("path of the innermost proc; blank outside any proc")
        .fields(&["proc"])
        .read(|row, _| {
            let proc = row.proc.as_deref();
            proc.map_or(Value::Blank, |path| Value::Text(Cow::Borrowed(path)))
        }),
    Heading::new("at", "AT", Place)
        .width(14)
        .rank(2)
        .meaning("its call site, file:line; one of them if there are several")
        .fields(&["at"])
        .read(|row, _| Value::Place {
            file: &row.at.file,
            line: row.at.line,
        }),
];

/// Value of a gauge; blank for a counter.
fn signed(value: Option<i64>) -> Value<'static> {
    value.map_or(Value::Blank, Value::Signed)
}

impl Row for CounterRow {
    const OWN_ORDER: &'static str = "updates";
    const PRINTED: &'static [&'static str] = &[
        "counter", "kind", "rate", "value", "min", "max", "proc", "at",
    ];
    const NEEDED: &'static [&'static str] = &["name", "kind", "proc"];
    const PLACE: &'static str = "at";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    /// `orders in kv::db::set`
    fn label(&self) -> String {
        match &self.proc {
            Some(proc) => alloc::format!("{} in {proc}", self.name),
            None => self.name.clone(),
        }
    }

    fn name(&self) -> (&str, u64) {
        (&self.name, u64::from(self.at.line))
    }

    fn worst(&self) -> (u8, u64) {
        (0, self.updates)
    }

    fn party(&self) -> Option<(PartyKind, u64, &str)> {
        Some((PartyKind::Proc, 0, self.proc.as_deref()?))
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        found(&self.name)
            || self.proc.as_deref().is_some_and(&mut *found)
            || found(&alloc::format!("{}:{}", self.at.file, self.at.line))
    }
}
