//! CTF 1.8, the Common Trace Format, for babeltrace2, Trace Compass and others: a folder with
//! `metadata`, a stream for each thread, and one for what belongs to no thread.

pub(crate) mod folder;
mod metadata;
mod names;
mod packets;
mod process;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Read, Seek};

use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_recording::{PollEvent, ThreadEvent, ThreadEventKind};

use self::folder::{METADATA, THREAD, TraceFolder};
use self::metadata::{GAVE_UP, HOLD, OF_THREAD, POLL_BEGIN, POLL_END, WAIT};
use self::names::NameNumbers;
use self::packets::{PacketStream, StreamId};
use self::process::ProcessStream;
use super::ordered::Ordered;
use super::timeline::{Step, Totals};
use super::{ExportError, Labels, Timeline};

/// What a trace has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TraceTotals {
    pub(crate) streams: usize,
    pub(crate) events: u64,
    /// Wakes and marks that were left out: too many later events were to be put in order.
    pub(crate) left_out: u64,
}

/// Writes a timeline.
///
/// # Errors
/// The recording cannot be read, or the folder takes no bytes.
pub(crate) fn write<R: Read + Seek>(
    timeline: &mut Timeline<R>,
    labels: &Labels,
    folder: &TraceFolder,
) -> Result<(Totals, TraceTotals), ExportError> {
    let trace = uuid(timeline.begin(), timeline.range().to, labels.pid());
    let mut streams = Streams {
        folder,
        labels,
        trace,
        names: NameNumbers::default(),
        threads: BTreeMap::new(),
        process: ProcessStream::new(trace),
        totals: TraceTotals::default(),
    };
    for (at, tasks) in timeline.tasks() {
        streams.process.tasks(*at, *tasks);
    }
    let totals = timeline.each(|step| Ok(streams.step(&step)?))?;
    let names = streams.end()?;
    folder.append(METADATA, names.of(labels, trace).text().as_bytes())?;
    Ok((totals, streams.totals))
}

/// The number of a trace: the same for the same range of a recording. Its version is 8, that of
/// numbers that are made in ways of one's own.
fn uuid(begin: u64, end: u64, pid: u32) -> [u8; 16] {
    let length = end.saturating_sub(begin).to_be_bytes();
    let mut uuid = [0; 16];
    uuid[..8].copy_from_slice(&begin.to_be_bytes());
    uuid[8..12].copy_from_slice(&length[4..]);
    uuid[12..].copy_from_slice(&pid.to_be_bytes());
    uuid[6] = uuid[6] & 0x0f | 0x80;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

/// What a thread's stream gets, at its instant.
#[derive(Debug)]
enum PendingEntry {
    Event { id: u32, fields: Vec<u8> },
    LossBegin,
    LossEnd { lost: u64 },
}

/// A thread's stream, and what ends later than it begins.
#[derive(Debug)]
struct ThreadStream {
    pending: Ordered<PendingEntry>,
    stream: PacketStream,
}

struct Streams<'a> {
    folder: &'a TraceFolder,
    labels: &'a Labels,
    trace: [u8; 16],
    names: NameNumbers,
    threads: BTreeMap<u32, ThreadStream>,
    process: ProcessStream,
    totals: TraceTotals,
}

impl Streams<'_> {
    fn step(&mut self, step: &Step) -> io::Result<()> {
        match step {
            Step::Poll { thread, poll } => self.poll(*thread, poll),
            Step::Event { thread, event } => self.event(*thread, event),
            Step::Lost {
                thread,
                polls: lost,
                from,
                to,
            }
            | Step::LostEvents {
                thread,
                events: lost,
                from,
                to,
            } => {
                self.push(*thread, *from, PendingEntry::LossBegin);
                self.push(*thread, *to, PendingEntry::LossEnd { lost: *lost });
                self.write_before(*thread, *from)
            }
            Step::Mark { at, text } => {
                self.process.mark(*at, text);
                Ok(())
            }
        }
    }

    fn poll(&mut self, thread: u32, poll: &PollEvent) -> io::Result<()> {
        self.process.poll(self.folder, self.labels, poll)?;
        let path = self.labels.path(poll);
        let ends = [path.first(), path.last()];
        let mut fields = poll.task.to_le_bytes().to_vec();
        for call in ends.into_iter().flatten() {
            let function = self.names.function(self.labels, call.proc);
            fields.extend(function.to_le_bytes());
        }
        let begin = PendingEntry::Event {
            id: POLL_BEGIN,
            fields,
        };
        let waits_at = match poll.outcome {
            PollOutcome::Pending => self.names.wait(self.labels, poll.chain),
            _ => NameNumbers::NOWHERE,
        };
        let mut fields = vec![poll.outcome.code()];
        fields.extend(waits_at.to_le_bytes());
        let end = PendingEntry::Event {
            id: POLL_END,
            fields,
        };
        self.push(thread, poll.start_unix_ns, begin);
        self.push(thread, poll.end_unix_ns(), end);
        self.write_before(thread, poll.start_unix_ns)
    }

    fn event(&mut self, thread: u32, event: &ThreadEvent) -> io::Result<()> {
        self.process
            .meets(self.labels, event.at_unix_ns, event.task);
        let mut fields = event.task.to_le_bytes().to_vec();
        let (id, span) = match event.kind {
            ThreadEventKind::Waited(span) => (WAIT, span),
            ThreadEventKind::GaveUp(span) => (GAVE_UP, span),
            ThreadEventKind::Held(span) => (HOLD, span),
            ThreadEventKind::User { site, values } => {
                let (id, numbers) = self.names.event(self.labels, site);
                for value in &values[..numbers.min(values.len())] {
                    fields.extend(value.to_le_bytes());
                }
                self.push(thread, event.at_unix_ns, PendingEntry::Event { id, fields });
                return Ok(());
            }
        };
        put_text(&mut fields, &self.labels.resource(span.resource));
        put_text(&mut fields, span.role.word());
        fields.extend(span.amount.to_le_bytes());
        fields.extend(span.duration_ns.to_le_bytes());
        self.push(thread, event.at_unix_ns, PendingEntry::Event { id, fields });
        Ok(())
    }

    fn push(&mut self, thread: u32, at: u64, pending: PendingEntry) {
        let (labels, trace) = (self.labels, self.trace);
        let stream = self.threads.entry(thread).or_insert_with(|| {
            let mut context = thread.to_le_bytes().to_vec();
            put_text(&mut context, &labels.thread(thread));
            ThreadStream {
                pending: Ordered::default(),
                stream: PacketStream::new(StreamId {
                    file: format!("{THREAD}{thread}"),
                    trace,
                    class: OF_THREAD,
                    instance: thread.into(),
                    context,
                }),
            }
        });
        stream.pending.push(at, pending);
    }

    /// Writes what is before an instant: nothing of the thread that is still to come begins before
    /// it.
    fn write_before(&mut self, thread: u32, end: u64) -> io::Result<()> {
        let Some(stream) = self.threads.get_mut(&thread) else {
            return Ok(());
        };
        while let Some((at, pending)) = stream.pending.pop_before(end) {
            stream.stream.write(self.folder, at, &pending)?;
        }
        Ok(())
    }

    /// Writes the rest.
    fn end(&mut self) -> io::Result<NameNumbers> {
        for stream in self.threads.values_mut() {
            while let Some((at, pending)) = stream.pending.pop() {
                stream.stream.write(self.folder, at, &pending)?;
            }
            stream.stream.end(self.folder, 0)?;
            self.totals.events += stream.stream.events();
        }
        let (events, left_out) = self.process.end(self.folder)?;
        self.totals.streams = self.threads.len() + usize::from(events > 0);
        self.totals.events += events;
        self.totals.left_out = left_out;
        Ok(std::mem::take(&mut self.names))
    }
}

impl PacketStream {
    fn write(&mut self, folder: &TraceFolder, at: u64, pending: &PendingEntry) -> io::Result<()> {
        match pending {
            PendingEntry::Event { id, fields } => self.event(folder, (at, *id), fields),
            PendingEntry::LossBegin => self.begin_loss(folder, at),
            PendingEntry::LossEnd { lost } => self.end_loss(folder, at, *lost),
        }
    }
}

/// Appends a text, which ends with a zero.
fn put_text(into: &mut Vec<u8>, text: &str) {
    into.extend(text.bytes().filter(|byte| *byte != 0));
    into.push(0);
}
