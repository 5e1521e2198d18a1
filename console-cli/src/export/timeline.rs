//! Timeline: the polls of all threads, their losses and the marks of a recording, in the order of
//! their beginnings. Of each thread, one chunk of polls is in memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::io::{Read, Seek};
use std::ops::Range;
use std::vec;

use turbowish_model::snapshot::units::SECOND;
use turbowish_recording::{MOST_RINGS, PollEvent, Reader, RecordingError, ThreadEvent};

use super::calls::{self, CallEdge, CallTotals};
use super::events::{self, EventChunk};
use super::{ExportError, Labels};

/// The most marks that are exported, the last ones.
const MARKS: usize = 10_000;

/// The instants that are exported, in nanoseconds since 1970; both are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExportRange {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// Chunks before the first one of a range that may have the end of a long poll: one of each thread.
const REACH: usize = MOST_RINGS as usize;

/// The most time between the first poll of a chunk and its end, as a rule.
const CHUNK_NS: u64 = SECOND;

impl ExportRange {
    /// Everything.
    pub(crate) const ALL: Self = Self {
        from: 0,
        to: u64::MAX,
    };

    /// The numbers of the chunks that may reach into it, of all with these times. A chunk has the
    /// time of its first poll and is recorded after its last one, so the order is that of the ends.
    pub(super) fn chunks(
        self,
        times: impl ExactSizeIterator<Item = u64> + DoubleEndedIterator + Clone,
    ) -> Range<usize> {
        let from = self.from.saturating_sub(CHUNK_NS);
        let all = times.len();
        let begin = times.clone().position(|at| at >= from).unwrap_or(all);
        let mut times = times;
        let end = times.rposition(|at| at <= self.to).map_or(0, |at| at + 1);
        begin.saturating_sub(REACH).min(end)..end
    }

    /// Whether a stretch of time has an instant of it.
    pub(super) const fn meets(self, from: u64, to: u64) -> bool {
        from <= self.to && self.from <= to
    }
}

/// Something on the timeline. Instants are in nanoseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A poll. Those of a thread follow one another.
    Poll { thread: u32, poll: PollEvent },
    /// So many polls of a thread were not recorded, between two that were.
    Lost {
        thread: u32,
        polls: u64,
        from: u64,
        to: u64,
    },
    /// A long wait, a long hold, or an event of the program's own.
    Event { thread: u32, event: ThreadEvent },
    /// So many events of a thread were not recorded, before one that was.
    LostEvents {
        thread: u32,
        events: u64,
        from: u64,
        to: u64,
    },
    /// A mark.
    Mark { at: u64, text: String },
}

impl Step {
    /// When it begins.
    pub(super) const fn begin(&self) -> u64 {
        match self {
            Self::Poll { poll, .. } => poll.start_unix_ns,
            Self::Lost { from, .. } | Self::LostEvents { from, .. } => *from,
            Self::Event { event, .. } => events::begin(event),
            Self::Mark { at, .. } => *at,
        }
    }
}

/// A chunk of polls.
#[derive(Clone, Copy, Debug)]
struct Batch {
    /// Its number in the recording.
    nth: usize,
    lost: u64,
    begin: u64,
    end: u64,
}

/// What a recording has, before a range of it is chosen.
#[derive(Debug)]
pub(crate) struct Survey<R> {
    reader: Reader<R>,
    threads: BTreeMap<u32, Vec<Batch>>,
    events: Vec<EventChunk>,
    /// Chunks of polls and events that cannot be read.
    faults: u64,
    /// What was looked through.
    scope: ExportRange,
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) polls: u64,
    pub(crate) lost: u64,
    /// The same of events.
    pub(crate) lost_events: u64,
    /// Polls that begin before the end of the thread's poll before them, and were left out:
    /// recordings were joined, or the clock was set back.
    pub(crate) overlaps: u64,
    /// Polls of calls.
    pub(crate) calls: CallTotals,
}

impl Totals {
    const fn count(&mut self, step: &Step) {
        // Any number may stand in a chunk as that of a loss.
        match step {
            Step::Poll { .. } => self.polls += 1,
            Step::Lost { polls, .. } => self.lost = self.lost.saturating_add(*polls),
            Step::LostEvents { events, .. } => {
                self.lost_events = self.lost_events.saturating_add(*events);
            }
            Step::Event { .. } | Step::Mark { .. } => {}
        }
    }
}

impl<R: Read + Seek> Survey<R> {
    /// Looks through the chunks of polls and events.
    pub(crate) fn of(reader: Reader<R>) -> Result<Self, RecordingError> {
        Self::within(reader, ExportRange::ALL)
    }

    /// Looks through the chunks of polls and events that may reach into a range.
    pub(crate) fn within(
        mut reader: Reader<R>,
        scope: ExportRange,
    ) -> Result<Self, RecordingError> {
        let mut threads: BTreeMap<u32, Vec<Batch>> = BTreeMap::new();
        let mut faults = 0;
        let times = reader.polls().iter().map(|chunk| chunk.at_unix_ns);
        for nth in scope.chunks(times) {
            let at = reader.polls()[nth].at_unix_ns;
            let batch = match reader.batch(nth) {
                Ok(batch) => batch,
                Err(RecordingError::Body { .. }) => {
                    faults += 1;
                    continue;
                }
                Err(other) => return Err(other),
            };
            let first = batch.polls.first().map_or(at, |poll| poll.start_unix_ns);
            let last = batch.polls.last().map_or(at, PollEvent::end_unix_ns);
            threads.entry(batch.thread).or_default().push(Batch {
                nth,
                lost: batch.lost,
                begin: first,
                end: last,
            });
        }
        let events = events::survey(&mut reader, scope, &mut faults)?;
        Ok(Self {
            reader,
            threads,
            events,
            faults,
            scope,
        })
    }

    /// When the first and the last thing in it was. `None` if it is empty.
    pub(crate) fn span(&self) -> Option<ExportRange> {
        let batches = self.threads.values().flatten();
        let polls = batches.flat_map(|batch| [batch.begin, batch.end]);
        let states = self.reader.states().iter().map(|state| state.at_unix_ns);
        let events = self
            .events
            .iter()
            .flat_map(|chunk| [chunk.span.0, chunk.span.1]);
        let marks = self.reader.marks().iter().map(|mark| mark.at_unix_ns);
        let mut all = polls.chain(states).chain(events).chain(marks);
        let first = all.next()?;
        Some(all.fold(
            ExportRange {
                from: first,
                to: first,
            },
            |ExportRange { from, to }, at| ExportRange {
                from: from.min(at),
                to: to.max(at),
            },
        ))
    }

    /// Whether it has any poll or event.
    pub(crate) fn has_steps(&self) -> bool {
        !self.threads.is_empty() || !self.events.is_empty()
    }

    /// Chunks of polls and events that cannot be read.
    pub(crate) const fn faults(&self) -> u64 {
        self.faults
    }

    /// The timeline of a range, and its names. Polls that reach into it are whole.
    pub(crate) fn timeline(
        mut self,
        range: ExportRange,
    ) -> Result<(Timeline<R>, Labels), RecordingError> {
        let (names, _) = self.reader.names()?;
        let mut labels = Labels::new(names);
        let mut tasks = Vec::new();
        // The state that shows the beginning may be before it.
        let first = self.reader.at(self.scope.from).unwrap_or(0);
        for nth in first..self.reader.states().len() {
            let at = self.reader.states()[nth].at_unix_ns;
            if at > self.scope.to {
                continue;
            }
            // A task keeps its name: those of all states are of use.
            match self.reader.snapshot(nth) {
                Ok(state) => {
                    labels.add(&state);
                    if range.meets(at, at) {
                        tasks.push((at, state.tasks.total));
                    }
                }
                Err(RecordingError::Body { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        let mut others = self.marks(range)?;
        others.extend(events::steps(&mut self.reader, &self.events, range)?);
        others.sort_by_key(Step::begin);
        let is_over = |batch: &Batch| !range.meets(batch.begin, batch.end);
        for batches in self.threads.values_mut() {
            // Before the first one, nothing is known to be lost in the range.
            batches.retain(|batch| !is_over(batch));
        }
        self.threads.retain(|_, batches| !batches.is_empty());
        let begins = self.threads.values().flatten().map(|batch| batch.begin);
        let begins = begins.chain(others.iter().map(Step::begin));
        let begin = begins.chain([range.from]).min().unwrap_or(range.from);
        let timeline = Timeline {
            reader: self.reader,
            threads: self.threads,
            range: ExportRange {
                from: begin,
                ..range
            },
            asked: range,
            others,
            tasks,
        };
        Ok((timeline, labels))
    }

    fn marks(&mut self, range: ExportRange) -> Result<Vec<Step>, RecordingError> {
        let all = self.reader.marks().len();
        let mut marks = Vec::new();
        for nth in (0..all).rev() {
            let at = self.reader.marks()[nth].at_unix_ns;
            if !range.meets(at, at) || marks.len() == MARKS {
                continue;
            }
            match self.reader.mark(nth) {
                Ok(text) => marks.push(Step::Mark { at, text }),
                Err(RecordingError::Body { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        // Those of one instant are in their order.
        marks.reverse();
        Ok(marks)
    }
}

/// A range of a recording.
#[derive(Debug)]
pub(crate) struct Timeline<R> {
    reader: Reader<R>,
    threads: BTreeMap<u32, Vec<Batch>>,
    /// From the first poll that reaches into the range on.
    range: ExportRange,
    asked: ExportRange,
    /// What is no poll, in the order of the beginnings.
    others: Vec<Step>,
    tasks: Vec<(u64, u64)>,
}

impl<R: Read + Seek> Timeline<R> {
    /// The instant from which exports count: nothing begins before it.
    pub(crate) const fn begin(&self) -> u64 {
        self.range.from
    }

    /// The instants that it has, from the first of its polls on.
    pub(crate) const fn range(&self) -> ExportRange {
        self.range
    }

    /// The numbers of the threads that have polls or events, ascending.
    pub(crate) fn threads(&self) -> impl ExactSizeIterator<Item = u32> + use<R> {
        let others = self.others.iter().filter_map(|step| match step {
            Step::Event { thread, .. } => Some(*thread),
            _ => None,
        });
        let all: BTreeSet<u32> = others.chain(self.threads.keys().copied()).collect();
        all.into_iter()
    }

    /// Number of tasks at the instants of the states.
    pub(crate) fn tasks(&self) -> &[(u64, u64)] {
        &self.tasks
    }

    /// Takes everything in the order of the beginnings; several times, if that is needed.
    pub(crate) fn each(
        &mut self,
        mut take: impl FnMut(Step) -> Result<(), ExportError>,
    ) -> Result<Totals, ExportError> {
        let mut totals = Totals::default();
        let mut others = self.others.iter().peekable();
        let mut cursors: Vec<Cursor> = Vec::new();
        for (thread, batches) in &self.threads {
            // Before its first poll, nothing is known of a thread.
            let first = batches.first().map_or(self.asked.from, |batch| batch.begin);
            let begin = first.min(self.asked.from);
            cursors.push(Cursor::new(*thread, batches.clone(), begin));
        }
        let mut heads = BinaryHeap::new();
        for (nth, cursor) in cursors.iter_mut().enumerate() {
            cursor.advance(&mut self.reader, self.asked, &mut totals)?;
            heads.extend(cursor.head(nth));
        }
        while let Some(Reverse((begin, nth))) = heads.pop() {
            while let Some(step) = others.next_if(|step| step.begin() < begin) {
                totals.count(step);
                take(step.clone())?;
            }
            let cursor = &mut cursors[nth];
            if let Some(step) = cursor.next.take() {
                totals.count(&step);
                take(step)?;
            }
            cursor.advance(&mut self.reader, self.asked, &mut totals)?;
            heads.extend(cursor.head(nth));
        }
        for step in others {
            totals.count(step);
            take(step.clone())?;
        }
        Ok(totals)
    }

    /// Takes the begins and ends of the polls of calls, if they were recorded, in the order of each
    /// thread.
    pub(super) fn each_call(
        &mut self,
        take: impl FnMut(CallEdge) -> Result<(), ExportError>,
    ) -> Result<CallTotals, ExportError> {
        calls::each_edge(&mut self.reader, self.asked, take)
    }
}

/// How far a thread is.
struct Cursor {
    thread: u32,
    batches: vec::IntoIter<Batch>,
    polls: vec::IntoIter<PollEvent>,
    next: Option<Step>,
    /// End of the last step.
    until: u64,
}

impl Cursor {
    fn new(thread: u32, batches: Vec<Batch>, begin: u64) -> Self {
        Self {
            thread,
            batches: batches.into_iter(),
            polls: Vec::new().into_iter(),
            next: None,
            until: begin,
        }
    }

    fn head(&self, nth: usize) -> Option<Reverse<(u64, usize)>> {
        Some(Reverse((self.next.as_ref()?.begin(), nth)))
    }

    /// Finds the next step.
    fn advance<R: Read + Seek>(
        &mut self,
        reader: &mut Reader<R>,
        range: ExportRange,
        totals: &mut Totals,
    ) -> Result<(), RecordingError> {
        loop {
            for poll in self.polls.by_ref() {
                if poll.start_unix_ns < self.until {
                    totals.overlaps += 1;
                    continue;
                }
                if range.meets(poll.start_unix_ns, poll.end_unix_ns()) {
                    self.until = poll.end_unix_ns();
                    self.next = Some(Step::Poll {
                        thread: self.thread,
                        poll,
                    });
                    return Ok(());
                }
            }
            let Some(batch) = self.batches.next() else {
                return Ok(());
            };
            self.polls = match reader.batch(batch.nth) {
                Ok(read) => read.polls.into_iter(),
                // It could be read before: the file has changed.
                Err(fault) => return Err(fault),
            };
            let (from, to) = (self.until, batch.begin.max(self.until));
            if batch.lost > 0 {
                self.until = to;
                self.next = Some(Step::Lost {
                    thread: self.thread,
                    polls: batch.lost,
                    from,
                    to,
                });
                return Ok(());
            }
        }
    }
}
