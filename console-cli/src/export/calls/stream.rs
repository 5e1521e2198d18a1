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
    open: OpenPolls,
    /// Events that are missing before the next one.
    lost: u64,
}

impl EdgeStream {
    fn thread(&mut self, number: u64) -> Option<(u32, &mut CallThread)> {
        let number = u32::try_from(number).ok()?;
        let thread = self.threads.entry(number).or_insert_with(|| CallThread {
            open: OpenPolls::new(number, 0),
            lost: 0,
        });
        Some((number, thread))
    }

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
        let Some((number, thread)) = self.thread(thread) else {
            return;
        };
        let lost = std::mem::take(&mut thread.lost);
        if lost > 0 {
            self.lose(number, lost, at);
        }
        let Some(CallThread { open, .. }) = self.threads.get_mut(&number) else {
            return;
        };
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
        if let Some((number, thread)) = self.thread(thread) {
            thread.lost = thread.lost.saturating_add(lost);
            if let Some(thread) = self.threads.get_mut(&number) {
                thread.open.break_off(&mut self.standing, &mut self.told);
            }
        }
    }

    /// Tells of events that are missing until `to`.
    fn lose(&mut self, number: u32, events: u64, to: u64) {
        let Some(CallThread { open, .. }) = self.threads.get_mut(&number) else {
            return;
        };
        // Before its first event, nothing is known of a thread.
        let from = match open.until {
            0 => self.range.from.min(to),
            until => until,
        };
        let to = to.max(from);
        if self.range.meets(from, to) {
            open.until = to;
            self.totals.lost = self.totals.lost.saturating_add(events);
            self.told.push(CallEdge {
                thread: number,
                at: from,
                kind: CallEdgeKind::Lost { events, to },
            });
        }
    }

    /// Ends all that is open.
    fn close(&mut self) {
        for thread in self.threads.values_mut() {
            thread.open.break_off(&mut self.standing, &mut self.told);
        }
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
