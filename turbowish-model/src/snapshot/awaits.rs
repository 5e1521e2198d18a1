//! The table of await points, its row and its columns: where calls wait, and for how long.

use alloc::borrow::Cow;
use alloc::string::String;

use super::Place;
use super::column::Unit::{self, Count, Duration, Share, Text};
use super::column::{Column, Family, Heading, Row, Value, cell};
use super::json::{Spelled as _, put};
use super::quantile::Distribution;
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
        /// What the root of a task waits for here in a loop: `timer` or `recv`; or `event`, if no
        /// wait for a notification ended here in the window. Empty: something else, or it is not
        /// known.
        idle: String [first];
        /// Polls that ended pending here.
        waits: u64 [sum];
        /// Calls that wait here now.
        now: u64 [sum];
        /// Time waited here, open waits included.
        waited_ns: u64 [sum];
        /// Longest single wait that ended since the start of accounting.
        max_wait_ns: u64 [max];
        /// Time since that wait ended; `None` if there was none, or its poll is still in progress.
        max_wait_ago_ns: Option<u64> [first];
        /// Name of its task, which may have ended since; `None` if it is not known.
        max_wait_task: Option<String> [first];
        /// `waited_ns` as a share of the proc's `yielded_ns`, in millionths.
        share_ppm: u64 [sum];
        /// Calls dropped while suspended here.
        cancelled: u64 [sum];
        /// Duration of each wait that ended here, in the window.
        await_wait: Distribution [samples];
        /// Length of the longest of these waits; `None` if there was none, or it is not known which
        /// one it was.
        wait_max_ns: Option<u64> [max];
        /// Time since that wait ended.
        wait_max_ago_ns: Option<u64> [first];
        /// Name of its task, as `max_wait_task`.
        wait_max_task: Option<String> [first];
    }
    merged also by |into, other| {
        if other.max_wait_ns > into.max_wait_ns {
            into.max_wait_ago_ns = other.max_wait_ago_ns;
            into.max_wait_task.clone_from(&other.max_wait_task);
        }
        if other.wait_max_ns > into.wait_max_ns {
            into.wait_max_ago_ns = other.wait_max_ago_ns;
            into.wait_max_task.clone_from(&other.wait_max_task);
        }
    };
}

/// The other times of the table have no prefix, either.
const WAIT: Family<AwaitRow> = Family {
    prefix: "wait",
    title: "",
    meaning: "percentile of the duration of the waits that ended here, in the window",
    fields: &["await_wait"],
    of: |row| Some(&row.await_wait),
};

static FAMILIES: [Family<AwaitRow>; 1] = [WAIT];

static COLUMNS: [Column<AwaitRow>; 14] = [
    Heading::new("at", "AT", Unit::Place)
        .width(14)
        .rank(0)
        .meaning("await point, file:line")
        .fields(&["file", "line", "column", "end_line", "end_column"])
        .read(|row, _| Value::Place {
            file: &row.place.file,
            line: row.place.line,
        }),
    Heading::new("expr", "EXPRESSION", Text)
        .width(23)
        .rank(0)
        .meaning("awaited expression, without .await")
        .fields(&["expr"])
        .read(|row, _| expression(&row.place)),
    Heading::new("proc", "PROC", Text)
        .width(20)
        .rank(1)
        .meaning("path of the proc")
        .fields(&["proc"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.proc))),
    Heading::new("idle", "IDLE", Text)
        .width(5)
        .rank(2)
        .meaning("timer or recv: the root of a task waits for it here in a loop; event: for a notification that never came in the window")
        .fields(&["idle"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.idle))),
    Heading::new("waits", "WAITS", Count)
        .width(5)
        .rank(0)
        .meaning("polls that returned Pending here, in the window")
        .fields(&["waits"])
        .read(|row, _| Value::Count(row.waits)),
    Heading::new("now", "NOW", Count)
        .width(5)
        .rank(0)
        .meaning("calls that wait here now")
        .fields(&["now"])
        .read(|row, _| Value::Count(row.now)),
    Heading::new("mean", "MEAN", Duration)
        .width(6)
        .rank(2)
        .meaning("time waited / waits")
        .fields(&["waited_ns", "waits"])
        .read(|row, _| Value::mean(row.waited_ns, row.waits)),
    Column::percentile("wait_p50", "p50", &WAIT, 50, 1),
    Column::percentile("wait_p99", "p99", &WAIT, 99, 0),
    Heading::new("wait_max", "max", Duration)
        .width(6)
        .rank(0)
        .meaning("longest wait that ended here, in the window")
        .fields(&["await_wait"])
        .read(|row, _| match row.await_wait.n {
            0 => Value::NoSample,
            _ => Value::Duration(row.await_wait.max_ns),
        }),
    Heading::new("longest", "MAXEVER", Duration)
        .width(7)
        .rank(3)
        .meaning("longest wait that ended, since the start of accounting")
        .fields(&["max_wait_ns"])
        .read(|row, _| {
            if row.max_wait_ns == 0 {
                Value::NoSample
            } else {
                Value::Duration(row.max_wait_ns)
            }
        }),
    Heading::new("total", "TOTAL", Duration)
        .width(6)
        .rank(0)
        .meaning("time waited in the window by all calls together, current waits included")
        .fields(&["waited_ns"])
        .read(|row, _| Value::Duration(row.waited_ns)),
    Heading::new("share", "%", Share)
        .width(5)
        .rank(0)
        .meaning("time waited / all yielded time of the proc")
        .fields(&["share_ppm"])
        .read(|row, _| Value::Share(row.share_ppm.saturating_mul(1_000))),
    Heading::new("cancelled", "CANC", Count)
        .width(5)
        .rank(0)
        .meaning("calls dropped while they waited here, in the window")
        .fields(&["cancelled"])
        .read(|row, _| Value::Count(row.cancelled)),
];

impl Row for AwaitRow {
    const OWN_ORDER: &'static str = "worst";
    const PRINTED: &'static [&'static str] = &[
        "at",
        "expr",
        "idle",
        "waits",
        "now",
        "mean",
        "wait",
        "wait_max",
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
        &FAMILIES
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

    /// Idle waits come last.
    fn worst(&self) -> (u8, u64) {
        (u8::from(!self.idle.is_empty()), self.waited_ns)
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        found(&self.proc)
            || found(&self.place.expr)
            || found(&alloc::format!("{}:{}", self.place.file, self.place.line))
    }
}
