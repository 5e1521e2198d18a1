//! A recording as a source of snapshots: it answers the queries that a process answers, for any of
//! its states. What it cannot answer is an error or a remark, never another answer.

mod tape;

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek};
use std::mem::take;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use turbowish_model::query::{Budget, Query, RECORDED_WINDOW_NS, Rows, Selection};
use turbowish_model::snapshot::alert::Severity;
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Snapshot, Table, TableVisitor, json::Record};
use turbowish_recording::{Damage, FILE_MAGIC, Reader, RecordingError, StateEntry};

pub(crate) use self::tape::Tape;
use crate::failure::{Failure, note};
use crate::plain_text::{local, utc_offset_s};

/// How the names of recordings end.
const SUFFIX: &str = ".tw";

/// The most marks that are read, the last ones.
const MARKS: usize = 10_000;

/// What a mark of an alert begins with.
pub(crate) const ALERT_MARK: &str = "alert: ";

/// A mark that an alert of any severity was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RaisedMark {
    /// The number of the first state that shows the alert.
    pub(crate) nth: usize,
    /// When it was raised, in nanoseconds since 1970.
    pub(crate) at_unix_ns: u64,
    pub(crate) severity: Severity,
    /// Kind of the alert; `None` if this version does not know it.
    pub(crate) pitfall: Option<Pitfall>,
}

#[cfg(test)]
impl RaisedMark {
    /// Marks of alerts of an unknown kind, at these states.
    pub(crate) fn alerts<const N: usize>(states: [usize; N]) -> Vec<Self> {
        let mark = |nth| Self {
            nth,
            at_unix_ns: 0,
            severity: Severity::Alert,
            pitfall: None,
        };
        states.map(mark).to_vec()
    }
}

/// The severity and the kind of the alert that a mark tells of: `alert: deadlock of 2 tasks`.
/// `None` if the mark tells of something else.
fn raised(mark: &str) -> Option<(Severity, Option<Pitfall>)> {
    let (word, title) = mark.split_once(": ")?;
    let mut severities = [Severity::Alert, Severity::Warning, Severity::Note].into_iter();
    let severity = severities.find(|severity| severity.word() == word)?;
    let mut pitfalls = Pitfall::ALL.iter().copied();
    Some((
        severity,
        pitfalls.find(|pitfall| title.starts_with(pitfall.title())),
    ))
}

/// Whether the user means a recording, not a process.
pub(crate) fn is_recording(text: &str) -> bool {
    let is_file = || text.contains('/') && Path::new(text).is_file();
    text.ends_with(SUFFIX) || is_file()
}

/// Whether a file has the name of a recording, or begins as one.
pub(crate) fn begins_as_recording(name: &str) -> bool {
    let mut begin = [0; FILE_MAGIC.len()];
    let read = File::open(name).and_then(|mut file| file.read_exact(&mut begin));
    name.ends_with(SUFFIX) || read.is_ok() && begin == FILE_MAGIC
}

/// Creates the file of a recording, readable by its user only: names in it are source paths and
/// expressions.
///
/// # Errors
/// It cannot be created, or it exists and is not to be overwritten.
pub(crate) fn create(path: &Path, overwrite: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    match overwrite {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    options.open(path)
}

/// `x.tw: 60 states of kv 4242, 2026-11-24 03:55:47 .. 2026-11-24 03:56:46, 0 lost`
pub(crate) fn summary(
    file: &Path,
    states: usize,
    of: &str,
    (from, to): (u64, u64),
    lost: u64,
) -> String {
    format!(
        "{}: {states} states of {of}, {} .. {}, {lost} lost",
        file.display(),
        local(from),
        local(to),
    )
}

/// An instant of a recording, as it was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// So many nanoseconds before the end.
    BeforeEnd(u64),
    /// So many nanoseconds after the beginning.
    AfterBegin(u64),
    /// A local time, the last one before the end.
    OfDay(Time),
    /// Nanoseconds since 1970.
    Unix(u64),
}

impl Moment {
    /// The last state.
    pub(crate) const END: Self = Self::BeforeEnd(0);

    /// Reads `-10s`, `+3s`, `14:03:22` or RFC 3339.
    ///
    /// # Errors
    /// It is none of these; the text says what it should be.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let span = |text: &str| match text {
            "0" => Some(0),
            text => units::parse_duration(text),
        };
        let known = if let Some(text) = text.strip_prefix('-') {
            span(text).map(Self::BeforeEnd)
        } else if let Some(text) = text.strip_prefix('+') {
            span(text).map(Self::AfterBegin)
        } else if let Ok(time) = text.parse::<Timestamp>() {
            u64::try_from(time.as_nanosecond()).ok().map(Self::Unix)
        } else {
            text.parse().ok().map(Self::OfDay)
        };
        known.ok_or_else(|| {
            "-10s (before the end), +3s (after the beginning), 14:03:22 or 2026-11-24T14:03:22Z"
                .to_owned()
        })
    }

    /// In nanoseconds since 1970, of a recording from `begin` to `end`.
    pub(crate) fn unix_ns(self, begin: u64, end: u64) -> Option<u64> {
        match self {
            Self::BeforeEnd(ns) => end.checked_sub(ns),
            Self::AfterBegin(ns) => begin.checked_add(ns),
            Self::Unix(ns) => Some(ns),
            Self::OfDay(time) => {
                let end = Timestamp::from_nanosecond(end.into()).ok()?;
                let end = end.to_zoned(TimeZone::system());
                let on = |day: &Zoned| day.date().to_datetime(time).to_zoned(TimeZone::system());
                let same = on(&end).ok()?;
                // The end has fractions of a second, the text usually none.
                let found = if same > end {
                    on(&end.yesterday().ok()?).ok()?
                } else {
                    same
                };
                let whole = i128::from(time.subsec_nanosecond() == 0) * 999_999_999;
                u64::try_from(found.timestamp().as_nanosecond() + whole).ok()
            }
        }
    }
}

/// Where the bytes of a recording are: in a file, or in memory.
pub(crate) trait Bytes: Read + Seek + Send + std::fmt::Debug {}

impl<B: Read + Seek + Send + std::fmt::Debug> Bytes for B {}

/// An open recording.
#[derive(Debug)]
pub(crate) struct Recording {
    /// Its name, as it was typed.
    pub(crate) name: String,
    reader: Reader<Box<dyn Bytes>>,
}

/// A state, reduced to the rows that a query asks for.
#[derive(Debug)]
pub(crate) struct RecordedAnswer {
    pub(crate) snapshot: Snapshot,
    /// What the recording does not have of what was asked for.
    pub(crate) remarks: Vec<String>,
}

impl Recording {
    /// Opens a file, and says what of it is damaged.
    ///
    /// # Errors
    /// It cannot be read (target), is not a recording, or has no state (usage).
    pub(crate) fn open(name: &str) -> Result<Self, Failure> {
        Ok(Self::read(name)?.with_states()?.told())
    }

    /// The same; it may have no state.
    ///
    /// # Errors
    /// It cannot be read (target), or is not a recording (usage).
    pub(crate) fn open_any(name: &str) -> Result<Self, Failure> {
        Ok(Self::read(name)?.told())
    }

    fn read(name: &str) -> Result<Self, Failure> {
        let cannot = |cause: io::Error| Failure::target(format!("cannot read {name}: {cause}"));
        let file = File::open(name).map_err(cannot)?;
        if file.metadata().is_ok_and(|about| about.is_dir()) {
            return Err(cannot(ErrorKind::IsADirectory.into()));
        }
        let reader = Reader::open(Box::new(file) as Box<dyn Bytes>);
        let reader = reader.map_err(|fault| failed(name, fault))?;
        Ok(Self {
            name: name.to_owned(),
            reader,
        })
    }

    /// Says what of it is damaged.
    fn told(self) -> Self {
        if let Some(told) = self.damage() {
            note(&told);
        }
        self
    }

    /// A recording that was read from anywhere; it may have no state.
    pub(crate) fn of(name: String, reader: Reader<Box<dyn Bytes>>) -> Self {
        Self { name, reader }
    }

    /// The same, if it has a state.
    ///
    /// # Errors
    /// It has none (usage).
    pub(crate) fn with_states(self) -> Result<Self, Failure> {
        if self.reader.states().is_empty() {
            let what = self.damage().unwrap_or_default();
            let name = &self.name;
            return Err(Failure::usage(match what.is_empty() {
                true => format!("{name} has no state: it ended before the first one"),
                false => format!("{what}; no state is left"),
            }));
        }
        Ok(self)
    }

    /// What reads it.
    pub(crate) fn into_reader(self) -> Reader<Box<dyn Bytes>> {
        self.reader
    }

    /// The same, without giving it away.
    pub(crate) fn reader(&mut self) -> Reader<&mut Box<dyn Bytes>> {
        self.reader.by_ref()
    }

    /// What of it cannot be read, if anything.
    pub(crate) fn damage(&self) -> Option<String> {
        let Damage {
            chunks,
            states,
            bytes,
            unlisted,
        } = self.reader.damage();
        if self.reader.damage().is_none() {
            return None;
        }
        let mut told = format!("{} is damaged: ", self.name);
        if chunks > 0 {
            let places = counted(chunks, "chunk");
            let (bytes, states) = (units::bytes(bytes), counted(states, "known state"));
            told += &format!("{places} of {bytes} skipped, {states} lost");
        }
        if unlisted > 0 {
            told += &format!("; {unlisted} later chunks are too many to be listed");
        }
        Some(told)
    }

    /// When its states were, in nanoseconds since 1970.
    pub(crate) fn times(&self) -> impl ExactSizeIterator<Item = u64> {
        self.reader.states().iter().map(|state| state.at_unix_ns)
    }

    /// When its first and its last state were, in nanoseconds since 1970.
    pub(crate) fn span(&self) -> (u64, u64) {
        // It has at least one.
        let at = |state: Option<&StateEntry>| state.map_or(0, |state| state.at_unix_ns);
        let states = self.reader.states();
        (at(states.first()), at(states.last()))
    }

    /// Number of states that were due before each state and were not recorded.
    pub(crate) fn lost(&self) -> impl Iterator<Item = u32> {
        self.reader.states().iter().map(|state| state.lost)
    }

    /// The marks that alerts were raised, by state.
    pub(crate) fn raised(&mut self) -> Vec<RaisedMark> {
        let count = self.reader.marks().len();
        let marks = count.saturating_sub(MARKS)..count;
        let known: Vec<_> = marks
            .filter_map(|nth| Some((nth, raised(&self.reader.mark(nth).ok()?)?)))
            .collect();
        let (marks, states) = (self.reader.marks(), self.reader.states());
        let raised = known.into_iter().map(|(nth, (severity, pitfall))| {
            let mark = marks[nth];
            let next = states.partition_point(|state| state.offset < mark.offset);
            // The mark may have been written after the state.
            let before = next.checked_sub(1);
            let shows = |nth: &usize| states[*nth].at_unix_ns >= mark.at_unix_ns;
            RaisedMark {
                nth: before.filter(shows).unwrap_or(next.min(states.len() - 1)),
                at_unix_ns: mark.at_unix_ns,
                severity,
                pitfall,
            }
        });
        let mut raised: Vec<RaisedMark> = raised.collect();
        raised.sort_by_key(|raised| raised.nth);
        raised
    }

    /// The number of the state that shows an instant.
    ///
    /// # Errors
    /// It is before the first state.
    pub(crate) fn nth(&self, at: Moment) -> Result<usize, Failure> {
        if at == Moment::END {
            return Ok(self.times().len() - 1);
        }
        let (first, last) = self.span();
        let asked = at.unix_ns(first, last);
        let nth = asked.and_then(|asked| self.reader.at(asked));
        let name = &self.name;
        match (asked, nth) {
            (Some(asked), Some(nth)) => {
                if asked.saturating_sub(last) > units::SECOND {
                    note(&format!("{name} ends at {}: its last state", local(last)));
                }
                Ok(nth)
            }
            _ => Err(Failure::usage(format!(
                "{name} has no state so early: it begins at {} and ends at {}",
                local(first),
                local(last)
            ))),
        }
    }

    /// `x.tw at 14:03:22, -12.3 s: state 48 of 60`
    pub(crate) fn place(&self, nth: usize) -> String {
        let states = self.reader.states();
        let (at, (_, end)) = (states[nth].at_unix_ns, self.span());
        format!(
            "{} at {}, {}: state {} of {}",
            self.name,
            units::time_of_day(at, utc_offset_s()),
            before_end(end.saturating_sub(at), Micro::Unicode),
            nth + 1,
            states.len()
        )
    }

    /// Whether it has the sums that a query asks for.
    ///
    /// # Errors
    /// They are those of another window.
    pub(crate) fn has_window(&self, query: &Query) -> Result<(), Failure> {
        let asks = |table: &&Table| query.rows(**table).is_some();
        let mut tables = Table::ALL.iter().filter(asks);
        let sums = tables.any(|table| is_of_a_window(*table));
        if sums && query.window_ns != Some(RECORDED_WINDOW_NS) {
            let window = units::window(RECORDED_WINDOW_NS, Micro::Unicode);
            return Err(Failure::usage(format!(
                "{} has the sums of {window} before each instant, and of no other window; leave out --window",
                self.name
            )));
        }
        Ok(())
    }

    /// Answers a query as the process would have at that state.
    ///
    /// # Errors
    /// The query is wrong or asks for another window; or the state cannot be read.
    pub(crate) fn answer(&mut self, nth: usize, query: &Query) -> Result<RecordedAnswer, Failure> {
        let selection = Selection::parse(query)?;
        self.has_window(query)?;
        let state = self.reader.snapshot(nth);
        let mut snapshot = state.map_err(|fault| failed(&self.name, fault))?;
        let asked = Table::ALL
            .iter()
            .filter_map(|table| Some((*table, query.rows(*table)?)));
        let remarks = asked.filter_map(|(table, rows)| {
            table.visit(LeftOut {
                snapshot: &snapshot,
                rows,
                name: &self.name,
            })
        });
        let remarks = remarks.collect();
        // The selection derives both from the rows, and some may not have been recorded.
        let ready_latency = snapshot.ready_latency.clone();
        let groups = take(&mut snapshot.task_groups);
        selection.apply(&mut snapshot, &Budget::unlimited())?;
        snapshot.ready_latency = ready_latency;
        if !groups.is_empty() && query.tasks.as_ref().is_some_and(asks_for_recorded_groups) {
            snapshot.task_groups = groups;
        }
        Ok(RecordedAnswer { snapshot, remarks })
    }
}

/// Whether the groups of all tasks are requested, as they were recorded.
fn asks_for_recorded_groups(rows: &Rows) -> bool {
    let recorded = Query::recorded().tasks.unwrap_or_default();
    rows.group == recorded.group && rows.filter.is_empty()
}

/// Whether a table has sums of the window.
pub(crate) const fn is_of_a_window(table: Table) -> bool {
    matches!(
        table,
        Table::Procs | Table::Awaits | Table::Counters | Table::Delays | Table::Slowest
    )
}

/// What to say if rows of a table were not recorded, and could belong to the answer.
struct LeftOut<'a> {
    snapshot: &'a Snapshot,
    rows: &'a Rows,
    name: &'a str,
}

impl TableVisitor for LeftOut<'_> {
    type Output = Option<String>;

    fn visit<R: Record>(self) -> Option<String> {
        let Self {
            snapshot,
            rows,
            name,
        } = self;
        let page = R::page(snapshot);
        let (held, all) = (page.rows.len() as u64, page.matched);
        let in_order = rows.filter.is_empty() && rows.sort.is_empty() && !rows.invert;
        let enough = rows.limit > 0 && u64::from(rows.limit) <= held;
        (held < all && !(in_order && enough)).then(|| {
            format!(
                "{name} has the worst {} of {} {} at that instant: filter and order apply to these",
                units::count(held),
                units::count(all),
                R::TABLE
            )
        })
    }
}

/// `-12.3 s`
pub(crate) fn before_end(ns: u64, micro: Micro) -> String {
    match ns {
        0 => "-0 s".to_owned(),
        ns => format!("-{}", units::duration(ns, micro)),
    }
}

/// `1 chunk`, `2 chunks`
pub(crate) fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{} {what}s", units::count(count)),
    }
}

/// The failure to read a recording of that name.
pub(crate) fn failed(name: &str, fault: RecordingError) -> Failure {
    match fault {
        RecordingError::Io(cause) => Failure::target(format!("cannot read {name}: {cause}")),
        fault => Failure::usage(format!("{name}: {fault}")),
    }
}

#[cfg(test)]
mod tests;
