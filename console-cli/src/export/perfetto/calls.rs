//! Tracks of calls: below each thread, the polls of its calls, each inside of its caller's.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Read, Seek};

use super::super::calls::{CallEdge, CallEdgeKind, CallPollEnd, CallTotals};
use super::super::{ExportError, Labels, Timeline};
use super::packets::PacketWriter;
use super::sequence::{AnnotationValue, PacketSequence, TrackEvent, TrackEventKind};
use super::{FIRST_CALLS, FIRST_THREAD, child};

/// The number of the first sequence. Each thread has one: its edges are in order.
const FIRST_SEQUENCE: u32 = 1 << 16;

/// Writes all of them.
pub(super) fn write<R: Read + Seek>(
    timeline: &mut Timeline<R>,
    labels: &Labels,
    out: &mut PacketWriter<'_>,
) -> Result<CallTotals, ExportError> {
    let mut sequences = BTreeMap::new();
    timeline.each_call(|edge| {
        let sequence = match sequences.entry(edge.thread) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(begin(&edge, labels, out)?),
        };
        Ok(edge_of(sequence, labels, edge, out)?)
    })
}

const fn track(thread: u32) -> u64 {
    FIRST_CALLS + thread as u64
}

/// Describes the track of a thread.
fn begin(
    first: &CallEdge,
    labels: &Labels,
    out: &mut PacketWriter<'_>,
) -> io::Result<PacketSequence> {
    let thread = first.thread;
    let id = FIRST_SEQUENCE.saturating_add(thread);
    let sequence = PacketSequence::ordered(out, id, first.at)?;
    let parent = FIRST_THREAD + u64::from(thread);
    let name = format!("{}: calls", labels.thread(thread));
    sequence.track(out, child(track(thread), parent, name))?;
    Ok(sequence)
}

fn edge_of(
    sequence: &mut PacketSequence,
    labels: &Labels,
    edge: CallEdge,
    out: &mut PacketWriter<'_>,
) -> io::Result<()> {
    let event = |kind| TrackEvent {
        kind,
        track: track(edge.thread),
        ..TrackEvent::default()
    };
    match edge.kind {
        CallEdgeKind::Begin { proc } => {
            let begin = TrackEvent {
                category: Some("call"),
                name: Some(labels.proc(proc)),
                ..event(TrackEventKind::Begin)
            };
            sequence.event(out, edge.at, begin)
        }
        CallEdgeKind::End(end) => {
            let end = TrackEvent {
                annotations: about_end(labels, end),
                ..event(TrackEventKind::End)
            };
            sequence.event(out, edge.at, end)
        }
        CallEdgeKind::Lost { events, to } => {
            let begin = TrackEvent {
                category: Some("lost calls"),
                name: Some(format!("lost {events} events of calls")),
                ..event(TrackEventKind::Begin)
            };
            sequence.event(out, edge.at, begin)?;
            sequence.event(out, to, event(TrackEventKind::End))
        }
    }
}

fn about_end(labels: &Labels, end: CallPollEnd) -> Vec<(String, AnnotationValue)> {
    let text = |key: &str, text: String| (key.to_owned(), AnnotationValue::Text(text));
    let mut about = vec![text("outcome", end.word().to_owned())];
    let place = end.stands.and_then(|stands| labels.place(stands));
    about.extend(place.map(|place| text("waits_at", place)));
    if end.deeper > 0 {
        let deeper = AnnotationValue::Unsigned(end.deeper);
        about.push(("deeper_polls_left_out".to_owned(), deeper));
    }
    about
}
