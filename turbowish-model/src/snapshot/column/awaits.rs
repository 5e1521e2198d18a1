//! Columns of await points: where calls wait, and for how long.

use alloc::borrow::Cow;

use super::Unit::{Count, Duration, Place, Share, Text};
use super::tasks::expression;
use super::{Column, Family, Row, Value};
use crate::snapshot::{AwaitRow, Page, Snapshot};

static COLUMNS: [Column<AwaitRow>; 10] = [
    Column::new(
        "at",
        "AT",
        "await point, file:line",
        (Place, 14, 0),
        &["file", "line", "column", "end_line", "end_column"],
        |row, _| Value::Place {
            file: &row.place.file,
            line: row.place.line,
        },
    ),
    Column::new(
        "expr",
        "EXPRESSION",
        "awaited expression, without .await",
        (Text, 23, 0),
        &["expr"],
        |row, _| expression(&row.place),
    ),
    Column::new(
        "proc",
        "PROC",
        "path of the proc",
        (Text, 20, 1),
        &["proc"],
        |row, _| Value::Text(Cow::Borrowed(&row.proc)),
    ),
    Column::new(
        "waits",
        "WAITS",
        "polls that ended pending here in the window",
        (Count, 5, 0),
        &["waits"],
        |row, _| Value::Count(row.waits),
    ),
    Column::new(
        "now",
        "NOW",
        "calls that wait here now",
        (Count, 5, 0),
        &["now"],
        |row, _| Value::Count(row.now),
    ),
    Column::new(
        "mean",
        "MEAN",
        "time waited / waits",
        (Duration, 6, 0),
        &["waited_ns", "waits"],
        |row, _| Value::mean(row.waited_ns, row.waits),
    ),
    Column::new(
        "longest",
        "LONGEST",
        "longest wait that ended, since the start of accounting",
        (Duration, 7, 0),
        &["max_wait_ns"],
        |row, _| {
            if row.max_wait_ns == 0 {
                Value::NoSample
            } else {
                Value::Duration(row.max_wait_ns)
            }
        },
    ),
    Column::new(
        "total",
        "TOTAL",
        "time waited in the window, open waits included",
        (Duration, 6, 0),
        &["waited_ns"],
        |row, _| Value::Duration(row.waited_ns),
    ),
    Column::new(
        "share",
        "%",
        "time waited / all yielded time of the proc",
        (Share, 5, 0),
        &["share_ppm"],
        |row, _| Value::Share(row.share_ppm.saturating_mul(1_000)),
    ),
    Column::new(
        "cancelled",
        "CANC",
        "calls dropped while they waited here, in the window",
        (Count, 5, 0),
        &["cancelled"],
        |row, _| Value::Count(row.cancelled),
    ),
];

impl Row for AwaitRow {
    const TABLE: &'static str = "awaits";
    const OWN_ORDER: &'static str = "total";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    fn families() -> &'static [Family<Self>] {
        &[]
    }

    fn page(snapshot: &Snapshot) -> &Page<Self> {
        &snapshot.awaits
    }

    fn page_mut(snapshot: &mut Snapshot) -> &mut Page<Self> {
        &mut snapshot.awaits
    }

    fn name(&self) -> (&str, u64) {
        (
            &self.proc,
            (u64::from(self.place.line) << 32) | u64::from(self.place.column),
        )
    }

    fn worst(&self) -> (u8, u64) {
        (0, self.waited_ns)
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        found(&self.proc)
            || found(&self.place.expr)
            || found(&alloc::format!("{}:{}", self.place.file, self.place.line))
    }
}
