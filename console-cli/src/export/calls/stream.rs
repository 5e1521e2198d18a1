//! The events of all threads, in the order of their times.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, Read, Seek};
use std::vec;

use turbowish_model::event::call_ring::CallRecord;
use turbowish_recording::{Reader, RecordingError};

use super::super::{ExportError, ExportRange};
use super::open::{OpenPolls, StandingCalls};
use super::{CallEdge, CallEdgeKind, CallTotals};

/// An event may be this much before the last one of its thread: each chunk has a reading of the
/// clock of its own. What is earlier than that is of another recording, or of another clock.
const SLACK_NS: u64 = 1_000_000;

/// A chunk of events of calls.
#[derive(Clone, Copy, Debug)]
struct CallChunk {
    nth: usize,
    /// Chunks before it that cannot be read: any thread may have been theirs.
    faults: u64,
}

/// Passes the edges of a range to `take`. Polls that reach into it are whole, but for polls in them
/// that end before it.
pub(crate) fn each_edge<R: Read + Seek>(
    reader: &mut Reader<R>,
    range: ExportRange,
    mut take: impl FnMut(CallEdge) -> Result<(), ExportError>,
) -> Result<CallTotals, ExportError> {
    let mut totals = CallTotals::default();
    let threads = survey(reader, range, &mut totals)?;
    let mut standing = StandingCalls::default();
    let mut nesting = Nesting::default();
    let mut told = Vec::new();
    let mut heads = BinaryHeap::new();
    let mut cursors = Vec::new();
    for (thread, chunks) in threads {
        let mut cursor = CallCursor::new(thread, chunks, range);
        cursor.load(reader, &mut standing, &mut totals, &mut told)?;
        heads.extend(cursor.head(cursors.len()));
        cursors.push(cursor);
    }
    while let Some(Reverse((_, nth))) = heads.pop() {
        let cursor: &mut CallCursor = &mut cursors[nth];
        cursor.step(&mut standing, &mut totals, &mut told);
        cursor.load(reader, &mut standing, &mut totals, &mut told)?;
        heads.extend(cursor.head(nth));
        for edge in told.drain(..) {
            nesting.check(&edge)?;
            totals.polls += u64::from(matches!(edge.kind, CallEdgeKind::Begin { .. }));
            take(edge)?;
        }
    }
    Ok(totals)
}

/// The chunks of each thread that may reach into a range.
fn survey<R: Read + Seek>(
    reader: &mut Reader<R>,
    range: ExportRange,
    totals: &mut CallTotals,
) -> Result<BTreeMap<u32, Vec<CallChunk>>, RecordingError> {
    let mut threads: BTreeMap<u32, Vec<CallChunk>> = BTreeMap::new();
    let times = reader.calls().iter().map(|chunk| chunk.at_unix_ns);
    for nth in range.chunks(times) {
        match reader.call_batch(nth) {
            Ok(batch) => threads.entry(batch.thread).or_default().push(CallChunk {
                nth,
                faults: totals.faults,
            }),
            Err(RecordingError::Body { .. }) => totals.faults += 1,
            Err(other) => return Err(other),
        }
    }
    Ok(threads)
}

/// How far a thread is.
struct CallCursor {
    open: OpenPolls,
    thread: u32,
    range: ExportRange,
    chunks: vec::IntoIter<CallChunk>,
    events: vec::IntoIter<CallRecord>,
    next: Option<CallRecord>,
    faults: u64,
}

impl CallCursor {
    fn new(thread: u32, chunks: Vec<CallChunk>, range: ExportRange) -> Self {
        Self {
            open: OpenPolls::new(thread, 0),
            thread,
            range,
            faults: chunks.first().map_or(0, |chunk| chunk.faults),
            chunks: chunks.into_iter(),
            events: Vec::new().into_iter(),
            next: None,
        }
    }

    fn head(&self, nth: usize) -> Option<Reverse<(u64, usize)>> {
        Some(Reverse((self.next.as_ref()?.at, nth)))
    }

    /// Finds the next event. At the end, what is open is told to end.
    fn load<R: Read + Seek>(
        &mut self,
        reader: &mut Reader<R>,
        standing: &mut StandingCalls,
        totals: &mut CallTotals,
        told: &mut Vec<CallEdge>,
    ) -> Result<(), RecordingError> {
        if self.open.until > self.range.to && self.open.is_empty() {
            self.next = None;
            return Ok(());
        }
        loop {
            self.next = self.events.next();
            if self.next.is_some() {
                return Ok(());
            }
            let Some(chunk) = self.chunks.next() else {
                self.open.close(told);
                return Ok(());
            };
            // It could be read before: otherwise the file has changed.
            let batch = reader.call_batch(chunk.nth)?;
            if chunk.faults > self.faults {
                self.faults = chunk.faults;
                self.open.break_off(standing, told);
            }
            let first = batch.events.first().map(|event| event.at);
            if let (1.., Some(to)) = (batch.lost, first) {
                self.lose(batch.lost, to, standing, totals, told);
            }
            self.events = batch.events.into_iter();
        }
    }

    /// Events are lost before the next one.
    fn lose(
        &mut self,
        events: u64,
        to: u64,
        standing: &mut StandingCalls,
        totals: &mut CallTotals,
        told: &mut Vec<CallEdge>,
    ) {
        self.open.break_off(standing, told);
        // Before its first event, nothing is known of a thread.
        let from = match self.open.until {
            0 => self.range.from.min(to),
            until => until,
        };
        let to = to.max(from);
        if !self.range.meets(from, to) {
            return;
        }
        self.open.until = to;
        totals.lost = totals.lost.saturating_add(events);
        told.push(CallEdge {
            thread: self.thread,
            at: from,
            kind: CallEdgeKind::Lost { events, to },
        });
    }

    /// Takes the next event.
    fn step(
        &mut self,
        standing: &mut StandingCalls,
        totals: &mut CallTotals,
        told: &mut Vec<CallEdge>,
    ) {
        let Some(event) = self.next.take() else {
            return;
        };
        if event.at.saturating_add(SLACK_NS) < self.open.until {
            totals.overlaps += 1;
            self.open.break_off(standing, told);
            return;
        }
        if event.at > self.range.to && self.open.is_empty() {
            self.open.until = event.at;
            return;
        }
        self.open.event(&event, standing, self.range, told);
    }
}

/// What was told of each thread. A viewer of a slice that does not nest shows others without a
/// word, so none is told.
#[derive(Debug, Default)]
struct Nesting(BTreeMap<u32, ToldThread>);

#[derive(Debug, Default)]
struct ToldThread {
    open: usize,
    until: u64,
}

impl Nesting {
    fn check(&mut self, edge: &CallEdge) -> Result<(), ExportError> {
        let thread = self.0.entry(edge.thread).or_default();
        let (open, until) = match edge.kind {
            CallEdgeKind::Begin { .. } => (Some(thread.open + 1), edge.at),
            CallEdgeKind::End(_) => (thread.open.checked_sub(1), edge.at),
            CallEdgeKind::Lost { to, .. } => ((thread.open == 0).then_some(0), to),
        };
        match open {
            Some(open) if thread.until <= edge.at && edge.at <= until => {
                *thread = ToldThread { open, until };
                Ok(())
            }
            _ => Err(ExportError::Write(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("polls of calls on thread {} do not nest", edge.thread),
            ))),
        }
    }
}
