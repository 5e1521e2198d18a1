//! Columns of counters and gauges of the program.

use alloc::borrow::Cow;

use super::Unit::{Count, Place, Rate, Text};
use super::{Column, Family, Row, Value};
use crate::snapshot::alert::PartyKind;
use crate::snapshot::{CounterRow, Page, Snapshot};

static COLUMNS: [Column<CounterRow>; 9] = [
    Column::new(
        "counter",
        "COUNTER",
        "name, as the program gives it",
        (Text, 20, 0),
        &["name"],
        |row, _| Value::Text(Cow::Borrowed(&row.name)),
    ),
    Column::new(
        "kind",
        "KIND",
        "counter or gauge",
        (Text, 7, 0),
        &["kind"],
        |row, _| Value::Text(Cow::Borrowed(row.kind.word())),
    ),
    Column::new(
        "rate",
        "RATE/s",
        "increase of a counter in the window, per second",
        (Rate, 6, 0),
        &["added"],
        |row, context| {
            row.added
                .map_or(Value::Blank, |n| Value::rate(n, context.window_ns))
        },
    ),
    Column::new(
        "value",
        "VALUE",
        "total of a counter since the start of accounting; last value of a gauge",
        (Count, 6, 0),
        &["total", "value"],
        |row, _| match row.total {
            Some(total) => Value::Count(total),
            None => signed(row.value),
        },
    ),
    Column::new(
        "min",
        "MIN",
        "lowest value of a gauge since the start of accounting",
        (Count, 6, 0),
        &["min"],
        |row, _| signed(row.min),
    ),
    Column::new(
        "max",
        "MAX",
        "highest value of a gauge since the start of accounting",
        (Count, 6, 0),
        &["max"],
        |row, _| signed(row.max),
    ),
    Column::new(
        "updates",
        "USES/s",
        "how often it was counted or set in the window, per second",
        (Rate, 6, 1),
        &["updates"],
        |row, context| Value::rate(row.updates, context.window_ns),
    ),
    Column::new(
        "proc",
        "PROC",
        "path of the innermost proc; blank outside of every proc",
        (Text, 20, 0),
        &["proc"],
        |row, _| {
            let proc = row.proc.as_deref();
            proc.map_or(Value::Blank, |path| Value::Text(Cow::Borrowed(path)))
        },
    ),
    Column::new(
        "at",
        "AT",
        "its call site, file:line; one of several",
        (Place, 14, 2),
        &["at"],
        |row, _| Value::Place {
            file: &row.at.file,
            line: row.at.line,
        },
    ),
];

/// Value of a gauge; blank for a counter.
fn signed(value: Option<i64>) -> Value<'static> {
    value.map_or(Value::Blank, Value::Signed)
}

impl Row for CounterRow {
    const TABLE: &'static str = "counters";
    const OWN_ORDER: &'static str = "updates";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    fn families() -> &'static [Family<Self>] {
        &[]
    }

    fn page(snapshot: &Snapshot) -> &Page<Self> {
        &snapshot.counters
    }

    fn page_mut(snapshot: &mut Snapshot) -> &mut Page<Self> {
        &mut snapshot.counters
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
