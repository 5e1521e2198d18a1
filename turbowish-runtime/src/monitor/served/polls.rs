//! What the threads did, poll by poll and event by event, since the last time that the recorder
//! asked.

use turbowish_model::account::event_ring::{
    EventFact, EventRecord, RecordRing, ResourceUse, RingRecord,
};
use turbowish_model::account::paths::Paths;
use turbowish_model::account::time::Scale;
use turbowish_model::event::EventClass;
use turbowish_recording::{
    ChunkKind, ClockReading, EventEncoder, NameEncoder, ResourceSpan, ThreadEvent, ThreadEventKind,
};

use super::calls::CallsReader;
use super::poll_chunks::{PollChunks, PollPosition};
use crate::hot::thread::{self, ThreadPolls};
use crate::hot::{clock, proc, task};
use crate::metrics::{self, EventWords};
use crate::on_event::{self, Heard, HeardEvent, RecordedKind};
use crate::server::{NewPolls, ThreadChunk, ThreadPart};

/// How far the threads' polls and the tables of names were read.
#[derive(Debug, Default)]
pub(in crate::monitor) struct PollReader {
    threads: Vec<ThreadReader>,
    calls: CallsReader,
    /// Memory for the bodies of chunks of polls.
    buffer: Vec<u8>,
    /// Number of procs, paths, chains and places of events that were named.
    named: [usize; 4],
}

#[derive(Debug)]
struct ThreadReader {
    polls: ThreadPolls,
    /// How far they were read.
    read: PollPosition,
    /// How far its other events were read.
    events: RingPosition,
}

impl PollReader {
    /// Reads what is new. All of it gets its times by this one reading of the clock.
    pub(in crate::monitor) fn read(&mut self, clock: ClockReading) -> NewPolls {
        let mut names = NameEncoder::default();
        self.begin(&mut names);
        let mut new = NewPolls::default();
        let mut heard = on_event::is_heard().then(Vec::new);
        let buffer = &mut self.buffer;
        self.threads.retain_mut(|thread| {
            // Looked at first: what it wrote before is then all there is.
            let is_over = thread.polls.is_over();
            let fill = thread.read((clock, is_over), (&mut new.polls, buffer), heard.as_mut());
            new.fill_percent = new.fill_percent.max(fill);
            if is_over {
                thread.polls.give_back();
            }
            !is_over
        });
        if let Some(heard) = heard {
            on_event::pass(heard);
        }
        let fill = self.calls.read(clock, &mut new.polls);
        new.fill_percent = new.fill_percent.max(fill);
        new.clock = Some(clock);
        // After the polls: all their numbers are defined by now.
        self.name(&mut names);
        new.names = names.end();
        new
    }

    /// Names of what is new.
    pub(super) fn names(&mut self) -> Vec<u8> {
        let mut names = NameEncoder::default();
        self.begin(&mut names);
        self.name(&mut names);
        names.end()
    }

    /// Takes and names the threads that have begun.
    fn begin(&mut self, names: &mut NameEncoder) {
        for polls in thread::take_polls() {
            names.thread(polls.index, &polls.name);
            self.threads.push(ThreadReader::new(polls));
        }
    }

    /// Defines what was not named yet.
    fn name(&mut self, names: &mut NameEncoder) {
        let [procs, paths, chains, events] = &mut self.named;
        let known = match proc::count() {
            same if same == *procs => Vec::new(),
            _ => proc::all(),
        };
        for (number, proc) in known.iter().enumerate().skip(*procs) {
            let place =
                |site: &Option<proc::Site>| site.map(|site| (site.line, site.column, site.expr));
            let function = (&*proc.path, proc.file, proc.line);
            names.proc(number as u32, function, proc.sites.iter().map(place));
        }
        *procs = known.len().max(*procs);
        for (site, EventWords { name, place, keys }) in metrics::new_events(events) {
            names.event(site, (name, place.file(), place.line()), keys);
        }
        let count = |table: &Paths, known: &mut usize| {
            let added: Vec<_> = table.added(*known as u32).collect();
            *known += added.len();
            added.into_iter()
        };
        names.paths(thread::paths(), count(thread::paths(), paths));
        names.chains(task::chains(), count(task::chains(), chains));
    }
}

impl ThreadReader {
    const fn new(polls: ThreadPolls) -> Self {
        Self {
            read: PollPosition::start(polls.index),
            polls,
            events: RingPosition::START,
        }
    }

    /// Reads what is new of the thread. Returns how full the fuller one of its rings was, in
    /// percent.
    fn read(
        &mut self,
        (clock, is_over): (ClockReading, bool),
        (into, buffer): (&mut Vec<ThreadChunk>, &mut Vec<u8>),
        mut heard: Option<&mut Vec<HeardEvent>>,
    ) -> u64 {
        let polls = self.read_polls((clock, is_over), (into, buffer), heard.as_deref_mut());
        polls.max(self.read_events(clock, into, heard))
    }

    fn read_events(
        &mut self,
        clock: ClockReading,
        into: &mut Vec<ThreadChunk>,
        mut heard: Option<&mut Vec<HeardEvent>>,
    ) -> u64 {
        let (records, fill) = self.events.read(&self.polls.events);
        if let Some(first) = records.first() {
            let at_unix_ns = clock.unix_ns(first.at);
            let lost = std::mem::take(&mut self.events.lost);
            let mut encoder = EventEncoder::begin(at_unix_ns, self.polls.index, lost);
            tell_lost(self.polls.index, at_unix_ns, lost, heard.as_deref_mut());
            for record in &records {
                let event = thread_event(record, clock);
                encoder.push(&event);
                if let Some(heard) = &mut heard {
                    heard.push(heard_event(self.polls.index, &event));
                }
            }
            let has = ThreadPart {
                thread: self.polls.index,
                next: self.events.next,
                count: records.len() as u64 + lost,
            };
            let (kind, body) = (ChunkKind::Events, encoder.end());
            into.extend(ThreadChunk::new(kind, at_unix_ns, &body, Some(has)));
        }
        fill
    }

    fn read_polls(
        &mut self,
        (clock, is_over): (ClockReading, bool),
        (into, buffer): (&mut Vec<ThreadChunk>, &mut Vec<u8>),
        mut heard: Option<&mut Vec<HeardEvent>>,
    ) -> u64 {
        // Not a further reference, which would say that the thread goes on.
        let (ring, thread) = (&*self.polls.ring, self.polls.index);
        let (from, written) = (self.read.next, ring.written());
        if written == from {
            return 0;
        }
        if !thread::records(EventClass::Polls) {
            // They are not asked for, so they are not lost.
            self.read.next = written;
            *buffer = Vec::new();
            return 0;
        }
        let mut chunks = PollChunks::new(&mut self.read, into, buffer);
        let read = ring.read(from, is_over, |number, record| {
            let poll = clock.event(&record);
            let lost = chunks.add(number, &poll);
            if let Some(heard) = &mut heard {
                tell_lost(thread, poll.start_unix_ns, lost, Some(heard));
                heard.push(HeardEvent {
                    thread,
                    at_unix_ns: poll.start_unix_ns,
                    took_ns: poll.hold_ns,
                    task: poll.task,
                    what: Heard::Poll,
                });
            }
        });
        chunks.close();
        (read.next - from) * 100 / ring.capacity()
    }
}

/// How far a ring was read.
#[derive(Debug)]
pub(super) struct RingPosition {
    /// Number of the next record.
    pub(super) next: u64,
    /// Records that were lost since the last chunk.
    pub(super) lost: u64,
}

impl RingPosition {
    pub(super) const START: Self = Self { next: 0, lost: 0 };

    /// Reads what is new in the ring. Returns it, and how full the ring was, in percent.
    pub(super) fn read<R: RingRecord<N>, const N: usize>(
        &mut self,
        ring: &RecordRing<R, N>,
    ) -> (Vec<R>, u64) {
        let mut records = Vec::new();
        if ring.written() == self.next {
            return (records, 0);
        }
        let (next, lost) = ring.read(self.next, |record| records.push(record));
        let new = next - self.next;
        self.next = next;
        self.lost += lost;
        (records, new * 100 / ring.capacity().max(1))
    }
}

/// Tells callbacks of what they will not hear of.
fn tell_lost(thread: u32, at_unix_ns: u64, lost: u64, heard: Option<&mut Vec<HeardEvent>>) {
    if let (1.., Some(heard)) = (lost, heard) {
        heard.push(HeardEvent {
            thread,
            at_unix_ns,
            took_ns: 0,
            task: 0,
            what: Heard::Lost(lost),
        });
    }
}

fn heard_event(thread: u32, event: &ThreadEvent) -> HeardEvent {
    let (took_ns, what) = match event.kind {
        ThreadEventKind::Waited(of) => (of.duration_ns, Heard::Used(RecordedKind::Wait, of.role)),
        ThreadEventKind::GaveUp(of) => (of.duration_ns, Heard::Used(RecordedKind::GaveUp, of.role)),
        ThreadEventKind::Held(of) => (of.duration_ns, Heard::Used(RecordedKind::Hold, of.role)),
        ThreadEventKind::User { site, values } => (0, Heard::User { site, values }),
    };
    HeardEvent {
        thread,
        // The event has the time of its end.
        at_unix_ns: event.at_unix_ns.saturating_sub(took_ns),
        took_ns,
        task: event.task,
        what,
    }
}

fn thread_event(event: &EventRecord, clock: ClockReading) -> ThreadEvent {
    let span = |of: ResourceUse| ResourceSpan {
        resource: of.resource,
        duration_ns: clock.scale.ns(of.ticks),
        role: of.role,
        amount: of.amount,
    };
    ThreadEvent {
        at_unix_ns: clock.unix_ns(event.at),
        task: event.task,
        kind: match event.fact {
            EventFact::Waited { of, served: true } => ThreadEventKind::Waited(span(of)),
            EventFact::Waited { of, served: false } => ThreadEventKind::GaveUp(span(of)),
            EventFact::Held(of) => ThreadEventKind::Held(span(of)),
            EventFact::User { site, values } => ThreadEventKind::User { site, values },
        },
    }
}

/// What time it is.
pub(in crate::monitor) fn now(scale: Scale) -> ClockReading {
    let (ticks, unix_ns) = clock::both();
    ClockReading {
        scale,
        ticks,
        unix_ns,
    }
}
