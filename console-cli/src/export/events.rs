//! Events of a recording: long waits and holds, and the program's own events.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use turbowish_recording::{Reader, RecordingError, ThreadEvent, ThreadEventKind};

use super::ExportRange;
use super::timeline::Step;

/// A chunk of events.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventChunk {
    /// Its number in the recording.
    nth: usize,
    thread: u32,
    /// Begin of the earliest event, and end of the last one.
    pub(super) span: (u64, u64),
}

/// When an event began: one has its duration when it ends.
pub(super) const fn begin(event: &ThreadEvent) -> u64 {
    match event.kind {
        ThreadEventKind::Waited(span)
        | ThreadEventKind::GaveUp(span)
        | ThreadEventKind::Held(span) => event.at_unix_ns.saturating_sub(span.duration_ns),
        ThreadEventKind::User { .. } => event.at_unix_ns,
    }
}

/// Looks through the chunks of events that may reach into a range. Those that cannot be read are
/// counted.
pub(super) fn survey<R: Read + Seek>(
    reader: &mut Reader<R>,
    scope: ExportRange,
    faults: &mut u64,
) -> Result<Vec<EventChunk>, RecordingError> {
    let mut chunks = Vec::new();
    let times = reader.events().iter().map(|chunk| chunk.at_unix_ns);
    for nth in scope.chunks(times) {
        match reader.event_batch(nth) {
            Ok(batch) => {
                let at = reader.events()[nth].at_unix_ns;
                let first = batch.events.iter().map(begin).min().unwrap_or(at);
                let last = batch.events.iter().map(|event| event.at_unix_ns).max();
                chunks.push(EventChunk {
                    nth,
                    thread: batch.thread,
                    span: (first, last.unwrap_or(at)),
                });
            }
            Err(RecordingError::Body { .. }) => *faults += 1,
            Err(other) => return Err(other),
        }
    }
    Ok(chunks)
}

/// The events of a range, and their losses. Events that reach into it are whole.
pub(super) fn steps<R: Read + Seek>(
    reader: &mut Reader<R>,
    chunks: &[EventChunk],
    range: ExportRange,
) -> Result<Vec<Step>, RecordingError> {
    let mut steps = Vec::new();
    let mut until: BTreeMap<u32, u64> = BTreeMap::new();
    for chunk in chunks {
        let (thread, (_, end)) = (chunk.thread, chunk.span);
        let before = until.insert(thread, end);
        if !range.meets(chunk.span.0, end) {
            continue;
        }
        let batch = reader.event_batch(chunk.nth)?;
        let at = batch.events.first().map_or(end, |event| event.at_unix_ns);
        if batch.lost > 0 {
            steps.push(Step::LostEvents {
                thread,
                events: batch.lost,
                from: before.unwrap_or(at).min(at),
                to: at,
            });
        }
        let events = batch.events.into_iter();
        let inside = events.filter(|event| range.meets(begin(event), event.at_unix_ns));
        steps.extend(inside.map(|event| Step::Event { thread, event }));
    }
    Ok(steps)
}
