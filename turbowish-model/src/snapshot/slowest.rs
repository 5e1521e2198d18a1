//! The table of the slowest calls, its row and its columns: where their time went.

use alloc::borrow::Cow;
use alloc::string::String;

use super::Place;
use super::alert::PartyKind;
use super::column::Unit::{self, Count, Duration, Share, Text};
use super::column::{Column, Heading, Row, Value};
use super::json::{Spelled as _, put};
use super::row::row;
use super::tasks::expression;

/// `part` of an await point.
pub const AWAIT: &str = "await";
/// `part` of the time in polls of the function itself.
pub const RUNNING: &str = "running";
/// `part` of the time in polls of the functions that it calls.
pub const CALLED: &str = "in calls";
/// `part` of the ready time.
pub const READY: &str = "ready";
/// `part` of the time from creation to first poll.
pub const UNSTARTED: &str = "not started";
/// `part` of the await points for which there was no room.
pub const OTHER_AWAITS: &str = "other awaits";
/// `part` of the time of which nothing is known.
pub const NOT_RECORDED: &str = "not recorded";
/// Why nothing is known of it, usually: the calls were not slow yet.
pub const WHY_NOT_RECORDED: &str = "calls not followed then";

row! {
    $ slowest_row

    /// A part of the wall time of the slowest calls of one proc, 1 % or some more, that ended in
    /// the window.
    SlowestRow {
        /// Path of the proc.
        proc: String [first];
        /// [`AWAIT`], [`RUNNING`], [`CALLED`], [`READY`], [`UNSTARTED`], [`OTHER_AWAITS`] or
        /// [`NOT_RECORDED`].
        part: String [first];
        /// Source location of the await point, for [`AWAIT`].
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
        /// Wall time of the recorded ones that this part covers.
        time_ns: u64 [sum];
        /// `time_ns` as a share of the wall time of the recorded ones, in millionths.
        share_ppm: u64 [sum];
        /// Share of this part in the wall time of all calls of the proc, those in progress
        /// included, in millionths; `None` if it is not known.
        all_ppm: Option<u64> [sum];
        /// Wall time of the recorded ones.
        wall_ns: u64 [max];
        /// How many of the slowest calls were recorded.
        recorded: u64 [max];
        /// How many calls are the slowest ones.
        calls: u64 [max];
        /// Calls of the proc that ended in the window.
        ended: u64 [max];
        /// The slowest calls took this long or longer.
        from_ns: u64 [max];
    }
}

static COLUMNS: [Column<SlowestRow>; 11] = [
    Heading::new("proc", "PROC", Text)
        .width(24)
        .rank(0)
        .meaning("path of the proc")
        .fields(&["proc"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.proc))),
    Heading::new("part", "PART", Text)
        .width(12)
        .rank(0)
        .meaning("what the calls did then")
        .fields(&["part"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.part))),
    Heading::new("at", "AT", Unit::Place)
        .width(14)
        .rank(0)
        .meaning("await point at which they stood, file:line")
        .fields(&["file", "line", "column", "end_line", "end_column"])
        .read(|row, _| match row.place.file.is_empty() {
            true => Value::Blank,
            false => Value::Place {
                file: &row.place.file,
                line: row.place.line,
            },
        }),
    Heading::new("expr", "EXPRESSION", Text)
        .width(23)
        .rank(1)
        .meaning("awaited expression, without .await; why the time is not recorded")
        .fields(&["expr"])
        .read(|row, _| match row.place.file.is_empty() {
            true if row.part == NOT_RECORDED => Value::Text(Cow::Borrowed(row.why_not_recorded())),
            true => Value::Blank,
            false => expression(&row.place),
        }),
    Heading::new("share", "%", Share)
        .width(5)
        .rank(0)
        .meaning("share of the wall time of the slowest calls")
        .fields(&["share_ppm"])
        .read(|row, _| Value::Share(row.share_ppm.saturating_mul(1_000))),
    Heading::new("all", "ALL%", Share)
        .width(5)
        .rank(0)
        .meaning("share of the wall time of all calls, those in progress included")
        .fields(&["all_ppm"])
        .read(|row, _| match row.all_ppm {
            Some(ppm) => Value::Share(ppm.saturating_mul(1_000)),
            None => Value::Unknown,
        }),
    Heading::new("time", "TIME", Duration)
        .width(7)
        .rank(0)
        .meaning("time of the recorded calls that it covers")
        .fields(&["time_ns"])
        .read(|row, _| Value::Duration(row.time_ns)),
    Heading::new("from", "FROM", Duration)
        .width(7)
        .rank(1)
        .meaning("the slowest calls took this long or longer")
        .fields(&["from_ns"])
        .read(|row, _| Value::Duration(row.from_ns)),
    Heading::new("calls", "CALLS", Count)
        .width(5)
        .rank(1)
        .meaning("number of the slowest calls, in the window")
        .fields(&["calls"])
        .read(|row, _| Value::Count(row.calls)),
    Heading::new("recorded", "REC", Count)
        .width(5)
        .rank(2)
        .meaning("how many of them were recorded")
        .fields(&["recorded"])
        .read(|row, _| Value::Count(row.recorded)),
    Heading::new("ended", "ENDED", Count)
        .width(6)
        .rank(2)
        .meaning("all calls that ended in the window")
        .fields(&["ended"])
        .read(|row, _| Value::Count(row.ended)),
];

impl SlowestRow {
    /// Why nothing is known of the time of this row, which is [`NOT_RECORDED`].
    #[must_use]
    pub fn why_not_recorded(&self) -> &str {
        match self.place.expr.as_str() {
            "" => WHY_NOT_RECORDED,
            why => why,
        }
    }
}

impl Row for SlowestRow {
    const OWN_ORDER: &'static str = "time";
    const PRINTED: &'static [&'static str] = &[
        "proc", "part", "at", "expr", "share", "all", "time", "from", "calls", "ended",
    ];
    const NEEDED: &'static [&'static str] = &["proc", "part"];
    const PLACE: &'static str = "at";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    /// `kv::handle await self.db.lock()`: lines shift from one version to the next.
    fn label(&self) -> String {
        match self.part.as_str() {
            AWAIT => alloc::format!("{} {} {}", self.proc, self.part, self.place.expr),
            part => alloc::format!("{} {part}", self.proc),
        }
    }

    fn name(&self) -> (&str, u64) {
        (
            &self.proc,
            (u64::from(self.place.line) << 32) | u64::from(self.place.column),
        )
    }

    fn worst(&self) -> (u8, u64) {
        (0, self.time_ns)
    }

    fn party(&self) -> Option<(PartyKind, u64, &str)> {
        Some((PartyKind::Proc, 0, &self.proc))
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        found(&self.proc) || found(&self.part) || found(&self.place.expr)
    }
}
