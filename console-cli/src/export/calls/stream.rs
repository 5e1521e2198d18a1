//! The events of all threads, in the order of their times.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek};

use turbowish_model::collect::call_events::CallItem;
use turbowish_model::event::CallEvent;
use turbowish_recording::Reader;

use super::super::{ExportError, ExportRange};
use super::open::{OpenPolls, StandingCalls};
use super::{CallEdge, CallEdgeKind, CallTotals};

/// An event may be this much before the last one of its thread: each chunk has a reading of the
/// clock of its own. What is earlier than that was recorded after the clock was set back.
const SLACK_NS: u64 = 1_000_000;

/// Passes the edges of a range to `take`. Polls that reach into it are whole, but for polls in them
/// that end before it.
pub(crate) fn each_edge<R: Read + Seek>(
    reader: &mut Reader<R>,
    range: ExportRange,
    mut take: impl FnMut(CallEdge) -> Result<(), ExportError>,
) -> Result<CallTotals, ExportError> {
    let (calls, faults) = reader.recorded_calls()?;
    let mut edges = EdgeStream {
        range,
        threads: BTreeMap::new(),
        standing: StandingCalls::default(),
        told: Vec::new(),
        totals: CallTotals {
            faults,
            ..CallTotals::default()
        },
    };
    let mut nesting = Nesting::default();
    let items = calls.into_iter().map(Some);
    // After the last item, what is open is told to end.
    for item in items.chain([None]) {
        match item {
            Some(item) => edges.item(&item),
            None => edges.close(),
        }
        for edge in edges.told.drain(..) {
            nesting.check(&edge)?;
            edges.totals.polls += u64::from(matches!(edge.kind, CallEdgeKind::Begin { .. }));
            take(edge)?;
        }
    }
    Ok(edges.totals)
}

/// What is known of all threads.
struct EdgeStream {
    range: ExportRange,
    threads: BTreeMap<u32, CallThread>,
    standing: StandingCalls,
    /// Edges that were not taken yet.
    told: Vec<CallEdge>,
    totals: CallTotals,
}

struct CallThread {
    number: u32,
    open: OpenPolls,
    /// Events that are missing before the next one.
    lost: u64,
}

/// The thread with this number, which may be new.
fn known(threads: &mut BTreeMap<u32, CallThread>, number: u64) -> Option<&mut CallThread> {
    let number = u32::try_from(number).ok()?;
    Some(threads.entry(number).or_insert_with(|| CallThread {
        number,
        open: OpenPolls::new(number, 0),
        lost: 0,
    }))
}

impl EdgeStream {
    fn item(&mut self, item: &CallItem) {
        match *item {
            CallItem::Event { event, at } => {
                if let Some((call, kind)) = event.call() {
                    self.event(event.thread, at, call, kind);
                }
            }
            CallItem::GapBegin { thread, .. } => self.gap(thread, 0),
            CallItem::GapEnd { thread, lost, .. } => self.gap(thread, lost),
            // The numbers of calls begin anew.
            CallItem::EpochEnd { .. } => self.close(),
        }
    }

    fn event(&mut self, thread: u64, at: u64, call: u64, kind: CallEvent) {
        let range = self.range;
        let Some(thread) = known(&mut self.threads, thread) else {
            return;
        };
        if let Some(lost) = thread.loss_until(at, range) {
            if let CallEdgeKind::Lost { events, .. } = lost.kind {
                self.totals.lost = self.totals.lost.saturating_add(events);
            }
            self.told.push(lost);
        }
        let open = &mut thread.open;
        if at.saturating_add(SLACK_NS) < open.until {
            self.totals.overlaps += 1;
            open.break_off(&mut self.standing, &mut self.told);
        } else if at > range.to && open.is_empty() {
            open.until = at;
        } else {
            open.event((at, call, kind), &mut self.standing, range, &mut self.told);
        }
    }

    /// Events of a thread are missing.
    fn gap(&mut self, thread: u64, lost: u64) {
        if let Some(thread) = known(&mut self.threads, thread) {
            thread.lost = thread.lost.saturating_add(lost);
            thread.open.break_off(&mut self.standing, &mut self.told);
        }
    }

    /// Ends all that is open.
    fn close(&mut self) {
        for thread in self.threads.values_mut() {
            thread.open.break_off(&mut self.standing, &mut self.told);
        }
    }
}

impl CallThread {
    /// Takes the events that are missing before `to`, if they are in the range.
    fn loss_until(&mut self, to: u64, range: ExportRange) -> Option<CallEdge> {
        let events = std::mem::take(&mut self.lost);
        // Before its first event, nothing is known of a thread.
        let from = match self.open.until {
            0 => range.from.min(to),
            until => until,
        };
        let to = to.max(from);
        if events == 0 || !range.meets(from, to) {
            return None;
        }
        self.open.until = to;
        Some(CallEdge {
            thread: self.number,
            at: from,
            kind: CallEdgeKind::Lost { events, to },
        })
    }
}

/// Checks that the edges of each thread nest: a viewer shows wrong slices for those that do not,
/// without a word.
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
