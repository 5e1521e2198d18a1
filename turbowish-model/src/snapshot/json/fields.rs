//! JSON fields of each kind of row: name, meaning, and access to the value.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::snapshot::alert::{Alert, Party, Point};
use crate::snapshot::column::Row;
use crate::snapshot::quantile::Distribution;
use crate::snapshot::units;
use crate::snapshot::{
    Aim, AwaitRow, Caller, Claim, HolderRow, IntentRow, PauseRow, PollRow, ProcRow, Spot, TaskRow,
    WaiterRow, WakerRow,
};

/// One field of a row.
#[derive(Debug)]
pub struct Field<R: 'static> {
    /// Name of the field; times end in `_ns`, sizes in `_bytes`, millionths in `_ppm`.
    pub name: &'static str,
    /// Meaning of the field.
    pub meaning: &'static str,
    pub(super) read: for<'a> fn(&'a R) -> FieldValue<'a>,
}

/// Value of a field.
#[derive(Debug)]
pub enum FieldValue<'a> {
    /// A string.
    Text(&'a str),
    /// A string or `null`.
    OptionalText(Option<&'a str>),
    /// An integer.
    Number(u64),
    /// An integer or `null`.
    Optional(Option<u64>),
    /// A signed integer or `null`.
    Signed(Option<i64>),
    /// `true` or `false`.
    Flag(bool),
    /// An object with `n`, `sum_ns`, `max_ns` and percentiles.
    Population(&'a Distribution),
    /// The calls of a task, outermost first.
    Stack(&'a TaskRow),
    /// The callers of a proc.
    Callers(&'a [Caller]),
    /// A position in a source file; `null` if unknown.
    Spot(Option<&'a Spot>),
    /// The state of a task's waker.
    Waker(Option<&'a WakerRow>),
    /// The pause of a task, or `null`.
    Pause(Option<&'a PauseRow>),
    /// A task's last poll.
    LastPoll(Option<&'a PollRow>),
    /// Resources that a task holds or waits for.
    Claims(&'a [Claim]),
    /// Resources that the calls of a task intend to use.
    Aims(&'a [Aim]),
    /// Intents to use a resource.
    Intents(&'a [IntentRow]),
    /// Attributes of a task or a proc.
    Attributes(&'a [(String, String)]),
    /// Holders of a resource.
    Holders(&'a [HolderRow]),
    /// Waiters of a resource.
    Waiters(&'a [WaiterRow]),
    /// Users of the ends of a channel.
    Ends(&'a [Option<String>]),
    /// Integers in chronological order.
    Series(&'a [u64]),
    /// Names.
    Names(Vec<&'a str>),
    /// Sentences.
    Texts(&'a [String]),
    /// Parties of an alert, or tasks that wait because of it.
    Parties(&'a [Party]),
    /// An await point in a proc, or `null`.
    Point(Option<&'a Point>),
    /// The chain of waits of an alert.
    Steps(&'a Alert),
}

impl fmt::Display for FieldValue<'_> {
    /// Prints plain values as they are, and the names of some lists; prints nothing for missing
    /// values and for other lists and objects.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::OptionalText(Some(text)) => f.write_str(text),
            Self::Number(n) | Self::Optional(Some(n)) => write!(f, "{n}"),
            Self::Signed(Some(n)) => write!(f, "{n}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Claims(claims) => {
                names(f, claims.iter().map(|claim| Some(claim.resource.as_str())))
            }
            Self::Aims(aims) => names(f, aims.iter().map(|aim| Some(aim.resource.as_str()))),
            Self::Intents(rows) => names(f, rows.iter().map(|row| row.task.as_deref())),
            Self::Attributes(pairs) => {
                let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
                f.write_str(&pairs.collect::<Vec<_>>().join(", "))
            }
            Self::Holders(holders) => names(f, holders.iter().map(|row| row.task.as_deref())),
            Self::Waiters(waiters) => names(f, waiters.iter().map(|row| row.task.as_deref())),
            Self::Ends(users) => names(f, users.iter().map(Option::as_deref)),
            Self::Series(numbers) => f.write_str(&super::series(numbers)),
            Self::Names(names) => f.write_str(&names.join(", ")),
            Self::Texts(texts) => f.write_str(&texts.join("; ")),
            Self::Parties(parties) => {
                names(f, parties.iter().map(|party| Some(party.name.as_str())))
            }
            Self::OptionalText(None)
            | Self::Optional(None)
            | Self::Signed(None)
            | Self::Population(_)
            | Self::Stack(_)
            | Self::Callers(_)
            | Self::Spot(_)
            | Self::Waker(_)
            | Self::Pause(_)
            | Self::LastPoll(_)
            | Self::Point(_)
            | Self::Steps(_) => Ok(()),
        }
    }
}

/// Names in one cell; `?` stands for a task that is not instrumented.
fn names<'a>(
    f: &mut fmt::Formatter<'_>,
    names: impl Iterator<Item = Option<&'a str>>,
) -> fmt::Result {
    let names: Vec<&str> = names.map(|name| name.unwrap_or(units::UNKNOWN)).collect();
    f.write_str(&names.join(", "))
}

/// A row that can be printed as JSON.
pub trait Record: Row + Default {
    /// The fields, in the order in which they are printed.
    fn fields() -> &'static [Field<Self>];
}

impl<R> Field<R> {
    pub(super) const fn new(
        name: &'static str,
        meaning: &'static str,
        read: for<'a> fn(&'a R) -> FieldValue<'a>,
    ) -> Self {
        Self {
            name,
            meaning,
            read,
        }
    }
}

static PROCS: [Field<ProcRow>; 29] = [
    Field::new("proc", "path of the proc", |row| {
        FieldValue::Text(&row.proc)
    }),
    Field::new("file", "source file of the proc", |row| {
        FieldValue::Text(&row.file)
    }),
    Field::new("line", "line of the proc, from 1", |row| {
        FieldValue::Number(u64::from(row.line))
    }),
    Field::new("running_ns", "exclusive time inside polls", |row| {
        FieldValue::Number(row.running_ns)
    }),
    Field::new(
        "occupancy_ppm",
        "running / window of one core, in millionths",
        |row| FieldValue::Number(row.occupancy_ppm),
    ),
    Field::new(
        "trend_ppm",
        "running / time of one core in each 3 s of the last minute, in millionths, the oldest first",
        |row| FieldValue::Series(&row.trend_ppm),
    ),
    Field::new(
        "inclusive_ns",
        "time with the proc on a task's stack, recursion counted once",
        |row| FieldValue::Number(row.inclusive_ns),
    ),
    Field::new("hold_ns", "sum of the durations of its polls", |row| {
        FieldValue::Number(row.hold_ns)
    }),
    Field::new(
        "yielded_ns",
        "time between the polls of started calls",
        |row| FieldValue::Number(row.yielded_ns),
    ),
    Field::new(
        "unstarted_ns",
        "time between creation and first poll",
        |row| FieldValue::Number(row.unstarted_ns),
    ),
    Field::new("wall_ns", "time between creation and end", |row| {
        FieldValue::Number(row.wall_ns)
    }),
    Field::new(
        "max_poll_ns",
        "longest poll, one in progress included",
        |row| FieldValue::Number(row.max_poll_ns),
    ),
    Field::new(
        "max_poll_open",
        "whether that longest poll is still in progress",
        |row| FieldValue::Flag(row.max_poll_open),
    ),
    Field::new("calls", "calls created", |row| {
        FieldValue::Number(row.calls)
    }),
    Field::new("polls", "polls begun", |row| FieldValue::Number(row.polls)),
    Field::new("live", "calls alive now", |row| {
        FieldValue::Number(row.live)
    }),
    Field::new(
        "ready",
        "calls that returned, those with an Err too",
        |row| FieldValue::Number(row.ready),
    ),
    Field::new("err", "calls that returned an Err; part of ready", |row| {
        FieldValue::Number(row.err)
    }),
    Field::new("cancelled", "calls dropped before they returned", |row| {
        FieldValue::Number(row.cancelled)
    }),
    Field::new("panicked", "calls that panicked", |row| {
        FieldValue::Number(row.panicked)
    }),
    Field::new(
        "never_polled",
        "calls dropped before their first poll; part of cancelled",
        |row| FieldValue::Number(row.never_polled),
    ),
    Field::new("future_bytes", "size of one call's future", |row| {
        FieldValue::Number(row.future_bytes)
    }),
    Field::new("call_running", "exclusive time per ended call", |row| {
        FieldValue::Population(&row.call_running)
    }),
    Field::new("call_inclusive", "inclusive time per ended call", |row| {
        FieldValue::Population(&row.call_inclusive)
    }),
    Field::new("poll_hold", "duration per finished poll", |row| {
        FieldValue::Population(&row.poll_hold)
    }),
    Field::new("poll_running", "exclusive time per finished poll", |row| {
        FieldValue::Population(&row.poll_running)
    }),
    Field::new(
        "ready_latency",
        "time from wake-up to poll, of tasks of which it is the root",
        |row| FieldValue::Population(&row.ready_latency),
    ),
    Field::new(
        "callers",
        "procs whose polls contain its polls: proc, polls, hold_ns",
        |row| FieldValue::Callers(&row.callers),
    ),
    Field::new("attributes", "attributes written at it, by name", |row| {
        FieldValue::Attributes(&row.attributes)
    }),
];

static AWAITS: [Field<AwaitRow>; 13] = [
    Field::new("proc", "path of the proc", |row| {
        FieldValue::Text(&row.proc)
    }),
    Field::new("file", "source file", |row| {
        FieldValue::Text(&row.place.file)
    }),
    Field::new(
        "line",
        "first line of the awaited expression, from 1",
        |row| FieldValue::Number(u64::from(row.place.line)),
    ),
    Field::new("column", "first column, from 1", |row| {
        FieldValue::Number(u64::from(row.place.column))
    }),
    Field::new("end_line", "last line, that of await", |row| {
        FieldValue::Number(u64::from(row.place.end_line))
    }),
    Field::new(
        "end_column",
        "last column, from 1, inside the expression",
        |row| FieldValue::Number(u64::from(row.place.end_column)),
    ),
    Field::new("expr", "text of the expression without .await", |row| {
        FieldValue::Text(&row.place.expr)
    }),
    Field::new("waits", "polls that ended pending here", |row| {
        FieldValue::Number(row.waits)
    }),
    Field::new("now", "calls that wait here now", |row| {
        FieldValue::Number(row.now)
    }),
    Field::new(
        "waited_ns",
        "time waited here, open waits included",
        |row| FieldValue::Number(row.waited_ns),
    ),
    Field::new(
        "max_wait_ns",
        "longest wait that ended, since the start of accounting",
        |row| FieldValue::Number(row.max_wait_ns),
    ),
    Field::new(
        "share_ppm",
        "waited_ns / yielded_ns of the proc, in millionths",
        |row| FieldValue::Number(row.share_ppm),
    ),
    Field::new("cancelled", "calls dropped while they stood here", |row| {
        FieldValue::Number(row.cancelled)
    }),
];

impl Record for ProcRow {
    fn fields() -> &'static [Field<Self>] {
        &PROCS
    }
}

impl Record for AwaitRow {
    fn fields() -> &'static [Field<Self>] {
        &AWAITS
    }
}
