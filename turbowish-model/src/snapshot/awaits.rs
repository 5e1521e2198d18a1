//! The table of await points, its row and its columns: where calls wait, and for how long.

use alloc::borrow::Cow;
use alloc::string::String;

use super::Place;
use super::column::Unit::{self, Count, Duration, Share, Text};
use super::column::{Column, Family, Row, Value, cell};
use super::json::{Spelled as _, put};
use super::row::row;
use super::tasks::expression;

row! {
    $ await_row

    /// Totals of one await point over the window.
    AwaitRow {
        /// Path of the proc.
        proc: String [first];
        /// Source location of the await point.
        place: Place [first] as file(
            |row| row.place.file.spell(),
            |row, value| put(&mut row.place.file, value)
        );
        + line(|row| row.place.line.spell(), |row, value| put(&mut row.place.line, value));
        + column(|row| row.place.column.spell(), |row, value| put(&mut row.place.column, value));
        + end_line(
            |row| row.place.end_line.spell(),
            |row, value| put(&mut row.place.end_line, value)
        );
        + end_column(
            |row| row.place.end_column.spell(),
            |row, value| put(&mut row.place.end_column, value)
        );
        + expr(|row| row.place.expr.spell(), |row, value| put(&mut row.place.expr, value));
        /// Polls that ended pending here.
        waits: u64 [sum];
        /// Calls that wait here now.
        now: u64 [sum];
        /// Time waited here, open waits included.
        waited_ns: u64 [sum];
        /// Longest single wait that ended since the start of accounting.
        max_wait_ns: u64 [max];
        /// `waited_ns` as a share of the proc's `yielded_ns`, in millionths.
        share_ppm: u64 [sum];
        /// Calls dropped while suspended here.
        cancelled: u64 [sum];
    }
}

static COLUMNS: [Column<AwaitRow>; 10] = [
    Column::new(
        "at",
        "AT",
        "await point, file:line",
        (Unit::Place, 14, 0),
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
        "polls that returned Pending here, in the window",
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
        "time waited in the window, current waits included",
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
    const OWN_ORDER: &'static str = "total";
    const PRINTED: &'static [&'static str] = &[
        "at",
        "expr",
        "waits",
        "now",
        "mean",
        "longest",
        "total",
        "share",
        "cancelled",
        "proc",
    ];
    const NEEDED: &'static [&'static str] = &["proc", "expr", "file", "line", "column"];
    const PLACE: &'static str = "at";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    fn families() -> &'static [Family<Self>] {
        &[]
    }

    /// `kv::db::get self.db.lock()`: lines shift from one version to the next.
    fn label(&self) -> String {
        alloc::format!("{} {}", self.proc, cell(self, "expr"))
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
