//! The table of procs, its row and its columns: how the time of the window was spent.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::Spot;
use super::alert::PartyKind;
use super::column::Unit::{Average, Bytes, Count, Duration, Place, Rate, Share, Text, Trend};
use super::column::{Column, Family, Heading, Row, Value, attribute, given};
use super::quantile::Distribution;
use super::row::row;

row! {
    $ proc_row

    /// Totals of one proc over the window; live calls and polls in progress are included.
    ProcRow {
        /// Path of the proc: `crate::module::Type::function`.
        proc: String [first];
        /// Source file, as the compiler names it.
        file: String [first];
        /// Line of the proc's signature, from 1.
        line: u32 [first];
        /// Exclusive time inside polls.
        running_ns: u64 [sum];
        /// `running / window` of one core, in millionths.
        occupancy_ppm: u64 [sum];
        /// Share of one core (`running`) over the last minute, independent of the window:
        /// millionths per 3 s, oldest first; the last value is in progress.
        trend_ppm: Vec<u64> [first];
        /// Time with the proc on a task's stack; recursion counts once.
        inclusive_ns: u64 [sum];
        /// Sum of poll durations.
        hold_ns: u64 [sum];
        /// Time between the polls of started calls.
        yielded_ns: u64 [sum];
        /// Time between creation and first poll.
        unstarted_ns: u64 [sum];
        /// Time between creation and end.
        wall_ns: u64 [sum];
        /// Longest poll, including one in progress.
        max_poll_ns: u64 [max];
        /// The longest poll is still in progress.
        max_poll_open: bool [first];
        /// Time since that poll ended; `None` if it is in progress, or not known which one it was.
        max_poll_ago_ns: Option<u64> [first];
        /// Where that poll was, as `max_ever_on`.
        max_poll_on: Option<String> [first];
        /// Name of its task, as `max_ever_task`.
        max_poll_task: Option<String> [first];
        /// The await point before it, as `max_ever_after`.
        max_poll_after: Option<Spot> [first];
        /// Longest finished poll since the start of accounting.
        max_ever_ns: u64 [max];
        /// Time since that poll ended.
        max_ever_ago_ns: Option<u64> [first];
        /// Where that poll was: `w1` for a worker, else the name of its thread; `None` if the
        /// thread has ended.
        max_ever_on: Option<String> [first];
        /// Name of the task, which may have ended since; `None` if it is not known.
        max_ever_task: Option<String> [first];
        /// The await point at which the call had waited before that poll; `None` in its first poll.
        max_ever_after: Option<Spot> [first];
        /// Calls created.
        calls: u64 [sum];
        /// Polls started.
        polls: u64 [sum];
        /// Calls alive now.
        live: u64 [sum];
        /// Calls that returned, `Err` included.
        ready: u64 [sum];
        /// Calls that returned an `Err`; part of `ready`.
        err: u64 [sum];
        /// Calls dropped before they returned, including those never polled.
        cancelled: u64 [sum];
        /// Calls that panicked.
        panicked: u64 [sum];
        /// Calls dropped before their first poll; part of `cancelled`.
        never_polled: u64 [sum];
        /// Calls that ended in their first poll: they never waited.
        immediate: u64 [sum];
        /// Calls whose time of creation is unknown, and taken to be their first poll: other things
        /// happened in between, for the first time of this function. Later ones have their time.
        unknown_births: u64 [sum];
        /// Size of one call's future in bytes, largest instance seen.
        future_bytes: u64 [max];
        /// Exclusive time per ended call.
        call_running: Distribution [samples];
        /// Inclusive time per ended call.
        call_inclusive: Distribution [samples];
        /// Wall time per ended call: from its creation to its end.
        call_wall: Distribution [samples];
        /// Duration per finished poll.
        poll_hold: Distribution [samples];
        /// Exclusive time per finished poll.
        poll_running: Distribution [samples];
        /// Time from wake to poll, of tasks whose root is this proc.
        ready_latency: Distribution [samples];
        /// The procs that poll this proc's calls, the longest sum of polls first.
        callers: Vec<Caller> [first];
        /// Attributes declared at the proc, by name.
        attributes: Vec<(String, String)> [first];
    }
    merged also by |into, other| {
        if other.max_poll_ns > into.max_poll_ns {
            into.max_poll_open = other.max_poll_open;
            into.max_poll_ago_ns = other.max_poll_ago_ns;
            into.max_poll_on.clone_from(&other.max_poll_on);
            into.max_poll_task.clone_from(&other.max_poll_task);
            into.max_poll_after.clone_from(&other.max_poll_after);
        }
        if other.max_ever_ns > into.max_ever_ns {
            into.max_ever_ago_ns = other.max_ever_ago_ns;
            into.max_ever_on.clone_from(&other.max_ever_on);
            into.max_ever_task.clone_from(&other.max_ever_task);
            into.max_ever_after.clone_from(&other.max_ever_after);
        }
    };
}

/// A proc whose polls contain polls of another proc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Path of the calling proc.
    pub proc: String,
    /// Polls directly nested in the caller's polls.
    pub polls: u64,
    /// Sum of the durations of those polls.
    pub hold_ns: u64,
}

const RUN: Family<ProcRow> = Family {
    prefix: "run",
    title: "RUN",
    meaning: "percentile of the exclusive running time per ended call",
    fields: &["call_running"],
    of: |row| Some(&row.call_running),
};
const HOLD: Family<ProcRow> = Family {
    prefix: "hold",
    title: "POL",
    meaning: "percentile of the length of finished polls",
    fields: &["poll_hold"],
    of: |row| Some(&row.poll_hold),
};
const INCLUSIVE: Family<ProcRow> = Family {
    prefix: "incl",
    title: "INC",
    meaning: "percentile of the inclusive time per ended call",
    fields: &["call_inclusive"],
    of: |row| Some(&row.call_inclusive),
};
const WALL: Family<ProcRow> = Family {
    prefix: "wall",
    title: "WAL",
    meaning: "percentile of wall time, creation to end, per ended call",
    fields: &["call_wall"],
    of: |row| Some(&row.call_wall),
};
const POLL: Family<ProcRow> = Family {
    prefix: "poll",
    title: "OWN",
    meaning: "percentile of a poll's own running time (exclusive)",
    fields: &["poll_running"],
    of: |row| Some(&row.poll_running),
};

const READY: Family<ProcRow> = Family {
    prefix: "ready",
    title: "READ",
    meaning: "percentile of the time from wake-up to poll, of tasks of which it is the root",
    fields: &["ready_latency"],
    of: |row| Some(&row.ready_latency),
};

static FAMILIES: [Family<ProcRow>; 6] = [RUN, HOLD, INCLUSIVE, WALL, POLL, READY];

static COLUMNS: [Column<ProcRow>; 32] = [
    Heading::new("proc", "PROC", Text)
        .width(27)
        .rank(0)
        .meaning("path of the function")
        .fields(&["proc"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.proc))),
    Heading::new("run", "RUN%", Share)
        .width(5)
        .rank(0)
        .meaning("time in polls, asleep (z) or not, in % of one core")
        .fields(&["running_ns", "occupancy_ppm"])
        .read(|row, context| Value::share(row.running_ns, context.window_ns)),
    Heading::new("incl", "INCL%", Share)
        .width(6)
        .rank(1)
        .meaning("inclusive time / window; recursion counts once")
        .fields(&["inclusive_ns"])
        .read(|row, context| Value::share(row.inclusive_ns, context.window_ns)),
    Heading::new("trend", "LAST 60 s", Trend)
        .width(20)
        .rank(2)
        .meaning("run per 3 s, scaled to the largest; sorts by the mean")
        .fields(&["trend_ppm"])
        .read(|row, _| match row.trend_ppm[..] {
            [] => Value::Blank,
            [..] => Value::Trend(&row.trend_ppm),
        }),
    Heading::new("live", "LIVE", Count)
        .width(5)
        .rank(3)
        .meaning("calls that have not ended")
        .fields(&["live"])
        .read(|row, _| Value::Count(row.live)),
    Heading::new("calls", "CALL/s", Rate)
        .width(6)
        .rank(0)
        .meaning("ended calls (ready, cancelled, panicked) per second")
        .fields(&["calls", "ready", "cancelled", "panicked"])
        .read(|row, context| {
            let ended = row.ready + row.cancelled + row.panicked;
            Value::rate(ended, context.window_ns)
        }),
    Heading::new("polls", "POLL/s", Rate)
        .width(6)
        .rank(4)
        .meaning("polls per second")
        .fields(&["polls"])
        .read(|row, context| Value::rate(row.polls, context.window_ns)),
    Column::percentile("wall_p50", "WALp50", &WALL, 50, 11),
    Column::percentile("wall_p99", "WALp99", &WALL, 99, 0),
    Heading::new("wall_max", "WALmax", Duration)
        .width(6)
        .rank(12)
        .meaning("longest wall time of an ended call")
        .fields(&["call_wall"])
        .read(|row, _| Value::longest(&row.call_wall)),
    Column::percentile("run_p50", "RUNp50", &RUN, 50, 1),
    Column::percentile("run_p90", "RUNp90", &RUN, 90, 5),
    Column::percentile("run_p99", "RUNp99", &RUN, 99, 0),
    Heading::new("run_max", "RUNmax", Duration)
        .width(6)
        .rank(14)
        .meaning("longest exclusive running time of an ended call")
        .fields(&["call_running"])
        .read(|row, _| Value::longest(&row.call_running)),
    Column::percentile("hold_p50", "POLp50", &HOLD, 50, 6),
    Column::percentile("hold_p90", "POLp90", &HOLD, 90, 15),
    Column::percentile("hold_p99", "POLp99", &HOLD, 99, 0),
    Heading::new("longest", "LONGEST", Duration)
        .width(7)
        .rank(0)
        .meaning("longest poll; + means still in progress")
        .fields(&["max_poll_ns", "max_poll_open"])
        .read(|row, _| match (row.polls, row.max_poll_ns) {
            (_, ns) if row.max_poll_open => Value::Open(ns),
            (0, 0) => Value::NoSample,
            (_, ns) => Value::Duration(ns),
        }),
    Heading::new("waiting", "WAITING", Average)
        .width(7)
        .rank(13)
        .meaning("calls that wait between two polls, on average over the window")
        .fields(&["yielded_ns"])
        .read(|row, context| Value::average(row.yielded_ns, context.window_ns)),
    Heading::new("yielded", "YIELD%", Share)
        .width(6)
        .meaning("waiting in %: 100 = one call that waits all the time")
        .fields(&["yielded_ns"])
        .read(|row, context| Value::share(row.yielded_ns, context.window_ns)),
    Heading::new("err", "ERR/s", Rate)
        .width(6)
        .rank(7)
        .meaning("calls that returned an Err, per second")
        .fields(&["err"])
        .read(|row, context| Value::rate(row.err, context.window_ns)),
    Heading::new("cancelled", "CANC/s", Rate)
        .width(6)
        .rank(8)
        .meaning("calls dropped after their first poll, per second")
        .fields(&["cancelled"])
        .read(|row, context| {
            let started = row.cancelled.saturating_sub(row.never_polled);
            Value::rate(started, context.window_ns)
        }),
    Heading::new("panicked", "PANIC", Rate)
        .width(6)
        .rank(9)
        .meaning("calls that panicked, per second")
        .fields(&["panicked"])
        .read(|row, context| Value::rate(row.panicked, context.window_ns)),
    Heading::new("never", "NEVER", Rate)
        .width(6)
        .rank(16)
        .meaning("calls dropped before their first poll, per second")
        .fields(&["never_polled"])
        .read(|row, context| Value::rate(row.never_polled, context.window_ns)),
    Column::percentile("poll_p99", "OWNp99", &POLL, 99, 17),
    Column::percentile("incl_p99", "INCp99", &INCLUSIVE, 99, 18),
    Heading::new("immediate", "IMM/s", Rate)
        .width(6)
        .meaning("calls that ended in their first poll, per second")
        .fields(&["immediate"])
        .read(|row, context| Value::rate(row.immediate, context.window_ns)),
    Heading::new("new", "NEW/s", Rate)
        .width(6)
        .rank(22)
        .meaning("calls created per second: for a root, tasks spawned")
        .fields(&["calls"])
        .read(|row, context| Value::rate(row.calls, context.window_ns)),
    Heading::new("unstarted", "UNST", Duration)
        .width(6)
        .rank(19)
        .meaning("time between creation and first poll, per call")
        .fields(&["unstarted_ns"])
        .read(|row, _| Value::mean(row.unstarted_ns, row.calls)),
    Heading::new("wall", "WALL", Duration)
        .width(6)
        .rank(20)
        .meaning("time between creation and end, per call")
        .fields(&["wall_ns"])
        .read(|row, _| Value::mean(row.wall_ns, row.calls)),
    Heading::new("size", "SIZE", Bytes)
        .width(6)
        .rank(21)
        .meaning("bytes of one call's future")
        .fields(&["future_bytes"])
        .read(|row, _| {
            if row.future_bytes == 0 {
                Value::Unknown
            } else {
                Value::Bytes(row.future_bytes)
            }
        }),
    Heading::new("where", "WHERE", Place)
        .width(24)
        .rank(10)
        .meaning("file:line of the function")
        .fields(&["file", "line"])
        .read(|row, _| Value::Place {
            file: &row.file,
            line: row.line,
        }),
];

impl Row for ProcRow {
    const OWN_ORDER: &'static str = "run";
    const PRINTED: &'static [&'static str] = &[
        "proc", "run", "incl", "calls", "wall_p", "run_p", "hold", "longest", "where",
    ];
    const NEEDED: &'static [&'static str] = &["proc", "calls", "polls", "never_polled"];
    const PLACE: &'static str = "where";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    fn families() -> &'static [Family<Self>] {
        &FAMILIES
    }

    fn named(key: &str) -> Option<Column<Self>> {
        attribute(key, |row, name| given(&row.attributes, name))
    }

    fn label(&self) -> String {
        self.proc.clone()
    }

    fn polled_by(&self) -> Vec<String> {
        let callers = self.callers.iter();
        callers.map(|caller| caller.proc.clone()).collect()
    }

    fn name(&self) -> (&str, u64) {
        (&self.proc, u64::from(self.line))
    }

    fn worst(&self) -> (u8, u64) {
        (0, self.running_ns)
    }

    fn party(&self) -> Option<(PartyKind, u64, &str)> {
        Some((PartyKind::Proc, 0, &self.proc))
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        found(&self.proc)
            || found(&alloc::format!("{}:{}", self.file, self.line))
            || self.attributes.iter().any(|(_, value)| found(value))
    }
}
