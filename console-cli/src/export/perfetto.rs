//! Perfetto's own format, for <https://ui.perfetto.dev>: packets with events of tracks.
//!
//! Slices of one track must nest, or a viewer shows others without a word. Those of a thread are
//! its polls and losses, which follow one another; waits and holds have [lanes]; those of a task
//! are cut at the end of the one before. Polls of [calls] are on tracks of their own: each is
//! inside of its caller's.

mod calls;
mod lanes;
mod message;
mod packets;
mod sequence;
mod tasks;
#[cfg(test)]
pub(super) mod tests;

use std::io::{self, Read, Seek, Write};

use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_recording::{PollEvent, ResourceSpan, ThreadEvent, ThreadEventKind};

use self::lanes::{LaneRow, Lanes};
use self::message::{CounterMessage, MERGE_BY_KEY, ProcessMessage, ThreadMessage, TrackMessage};
use self::packets::PacketWriter;
use self::sequence::{AnnotationValue, PacketSequence, TrackEvent, TrackEventKind};
use self::tasks::TaskTracks;
use super::chrome::outcome;
use super::ordered::Ordered;
use super::recent::RecentPolls;
use super::timeline::{Step, Totals};
use super::{ExportError, Labels, Timeline};

/// Numbers of tracks.
const PROCESS: u64 = 1;
const TASK_COUNT: u64 = 2;
const RESOURCES: u64 = 3;
const TASKS: u64 = 4;
const FIRST_THREAD: u64 = 1 << 32;
const FIRST_LANE: u64 = 2 << 32;
const FIRST_TASK: u64 = 3 << 32;
const FIRST_CALLS: u64 = 4 << 32;

/// Numbers of sequences: all that is in order, and wakes, which are known only at the polls after
/// them.
const IN_ORDER: u32 = 1;
const WAKES: u32 = 2;

/// Writes a timeline.
///
/// # Errors
/// The recording cannot be read, or the output takes no bytes.
pub(crate) fn write<R: Read + Seek>(
    timeline: &mut Timeline<R>,
    labels: &Labels,
    out: &mut dyn Write,
) -> Result<Totals, ExportError> {
    let mut out = PacketWriter::new(out);
    let begin = timeline.begin();
    let sequence = PacketSequence::ordered(&mut out, IN_ORDER, begin)?;
    describe(timeline, labels, &sequence, &mut out)?;
    let mut events = TrackEvents {
        labels,
        sequence,
        wakes: PacketSequence::unordered(&mut out, WAKES, begin)?,
        tasks: TaskTracks::of(timeline, labels, &mut out)?,
        out,
        pending: Ordered::default(),
        recent: RecentPolls::default(),
        lanes: Lanes::default(),
        flows: 0,
    };
    for (at, tasks) in timeline.tasks() {
        let counter = TrackEvent {
            kind: TrackEventKind::Counter,
            track: TASK_COUNT,
            counter: Some(i64::try_from(*tasks).unwrap_or(i64::MAX)),
            ..TrackEvent::default()
        };
        events.pending.push(*at, counter);
    }
    let mut totals = timeline.each(|step| Ok(events.step(&step)?))?;
    let mut out = events.end()?;
    totals.calls = calls::write(timeline, labels, &mut out)?;
    out.flush()?;
    Ok(totals)
}

/// A track below another one.
fn child(uuid: u64, parent: u64, name: String) -> TrackMessage {
    TrackMessage {
        uuid,
        parent_uuid: parent,
        name: Some(name),
        ..TrackMessage::default()
    }
}

/// Describes the tracks that are known from the start.
fn describe<R: Read + Seek>(
    timeline: &Timeline<R>,
    labels: &Labels,
    sequence: &PacketSequence,
    out: &mut PacketWriter<'_>,
) -> io::Result<()> {
    let pid = i32::try_from(labels.pid().max(1)).unwrap_or(i32::MAX);
    let process = TrackMessage {
        uuid: PROCESS,
        process: Some(ProcessMessage {
            pid,
            process_name: labels.process().into_owned(),
        }),
        ..TrackMessage::default()
    };
    let threads = timeline.threads().map(|thread| TrackMessage {
        uuid: FIRST_THREAD + u64::from(thread),
        parent_uuid: PROCESS,
        thread: Some(ThreadMessage {
            pid,
            // 0 stands for an idle processor.
            tid: i64::from(thread) + 1,
            thread_name: labels.thread(thread),
        }),
        ..TrackMessage::default()
    });
    let counter = TrackMessage {
        counter: Some(CounterMessage {
            unit_name: "tasks".to_owned(),
        }),
        ..child(TASK_COUNT, PROCESS, "tasks".to_owned())
    };
    let groups = [
        child(RESOURCES, PROCESS, "waits and holds".to_owned()),
        child(
            TASKS,
            PROCESS,
            "tasks, most time running and ready".to_owned(),
        ),
    ];
    for track in std::iter::once(process)
        .chain(threads)
        .chain([counter])
        .chain(groups)
    {
        sequence.track(out, track)?;
    }
    Ok(())
}

struct TrackEvents<'a> {
    labels: &'a Labels,
    sequence: PacketSequence,
    wakes: PacketSequence,
    tasks: TaskTracks,
    out: PacketWriter<'a>,
    /// Events that are still to be written, by their times.
    pending: Ordered<TrackEvent>,
    recent: RecentPolls,
    lanes: Lanes,
    /// Number of arrows so far.
    flows: u64,
}

impl<'a> TrackEvents<'a> {
    fn step(&mut self, step: &Step) -> io::Result<()> {
        self.tasks.step(&mut self.out, self.labels, step)?;
        match step {
            Step::Poll { thread, poll } => self.poll(*thread, poll)?,
            Step::Lost {
                thread,
                polls,
                from,
                to,
            } => self.slice(
                (*from, *to),
                TrackEvent {
                    track: FIRST_THREAD + u64::from(*thread),
                    category: Some("lost"),
                    name: Some(format!("lost {polls} polls")),
                    ..TrackEvent::default()
                },
            ),
            Step::Event { thread, event } => self.event(*thread, event)?,
            Step::LostEvents {
                thread, events, to, ..
            } => self.pending.push(
                *to,
                TrackEvent {
                    track: FIRST_THREAD + u64::from(*thread),
                    category: Some("lost"),
                    name: Some(format!("lost {events} events")),
                    ..TrackEvent::default()
                },
            ),
            Step::Mark { at, text } => self.pending.push(
                *at,
                TrackEvent {
                    track: PROCESS,
                    category: Some("mark"),
                    name: Some(text.clone()),
                    ..TrackEvent::default()
                },
            ),
        }
        // Nothing that is still to come begins before this.
        self.write_before(step.begin())
    }

    /// A slice, with the event of its begin.
    fn slice(&mut self, (from, to): (u64, u64), begin: TrackEvent) {
        let end = TrackEvent {
            kind: TrackEventKind::End,
            track: begin.track,
            ..TrackEvent::default()
        };
        let begin = TrackEvent {
            kind: TrackEventKind::Begin,
            ..begin
        };
        self.pending.push(from, begin);
        self.pending.push(to, end);
    }

    fn poll(&mut self, thread: u32, poll: &PollEvent) -> io::Result<()> {
        self.recent.add(thread, poll);
        let flow_end = self.wake(poll)?;
        let labels = self.labels;
        let mut annotations = vec![(
            "task".to_owned(),
            AnnotationValue::Text(labels.task(poll.task)),
        )];
        if let Some(wakeup) = poll.wakeup {
            annotations.push((
                "ready_ns".to_owned(),
                AnnotationValue::Unsigned(wakeup.latency_ns),
            ));
        }
        annotations.push(match poll.outcome {
            PollOutcome::Pending => {
                let wait = labels.wait(poll.chain);
                ("waits_at".to_owned(), AnnotationValue::Text(wait))
            }
            known => {
                let word = outcome(known).to_owned();
                ("outcome".to_owned(), AnnotationValue::Text(word))
            }
        });
        let begin = TrackEvent {
            track: FIRST_THREAD + u64::from(thread),
            category: Some("poll"),
            name: Some(labels.poll(poll)),
            annotations,
            flow_end,
            ..TrackEvent::default()
        };
        self.slice((poll.start_unix_ns, poll.end_unix_ns()), begin);
        Ok(())
    }

    /// The begin of an arrow from the poll in which the task was woken, and the arrow's number.
    fn wake(&mut self, poll: &PollEvent) -> io::Result<Option<u64>> {
        let Some(wake) = self.recent.waker(poll) else {
            return Ok(None);
        };
        self.flows += 1;
        let event = TrackEvent {
            track: FIRST_THREAD + u64::from(wake.thread),
            category: Some("wake"),
            name: Some("wake".to_owned()),
            annotations: self.woken_in(poll),
            flow: Some(self.flows),
            ..TrackEvent::default()
        };
        self.wakes.event(&mut self.out, wake.at, event)?;
        Ok(Some(self.flows))
    }

    /// The calls of the task that woke the task of `poll`.
    fn woken_in(&self, poll: &PollEvent) -> Vec<(String, AnnotationValue)> {
        let calls = poll
            .wakeup
            .and_then(|wakeup| self.labels.woken_in(wakeup.by));
        let told = calls.map(|calls| ("woken_in".to_owned(), AnnotationValue::Text(calls)));
        told.into_iter().collect()
    }

    fn event(&mut self, thread: u32, event: &ThreadEvent) -> io::Result<()> {
        let (category, span) = match event.kind {
            ThreadEventKind::Waited(span) => ("wait", span),
            ThreadEventKind::GaveUp(span) => ("gave up", span),
            ThreadEventKind::Held(span) => ("hold", span),
            ThreadEventKind::User { site, values } => {
                let (name, numbers) = self.labels.event(site, &values);
                let numbers = numbers.into_iter();
                let numbers = numbers.map(|(key, number)| (key, AnnotationValue::Signed(number)));
                let task = AnnotationValue::Text(self.labels.task(event.task));
                let instant = TrackEvent {
                    track: FIRST_THREAD + u64::from(thread),
                    category: Some("event"),
                    name: Some(name),
                    annotations: numbers.chain([("task".to_owned(), task)]).collect(),
                    ..TrackEvent::default()
                };
                self.pending.push(event.at_unix_ns, instant);
                return Ok(());
            }
        };
        self.span(thread, event, category, span)
    }

    /// A slice of a lane of the resource, named by the task.
    fn span(
        &mut self,
        thread: u32,
        event: &ThreadEvent,
        category: &'static str,
        span: ResourceSpan,
    ) -> io::Result<()> {
        let row = LaneRow {
            resource: span.resource,
            is_hold: category == "hold",
        };
        let to = event.at_unix_ns;
        let from = to.saturating_sub(span.duration_ns);
        let task = self.labels.task(event.task);
        let resource = self.labels.resource(span.resource);
        let mut annotations = vec![
            (
                "role".to_owned(),
                AnnotationValue::Text(span.role.word().to_owned()),
            ),
            (
                "amount".to_owned(),
                AnnotationValue::Unsigned(span.amount.into()),
            ),
            (
                "thread".to_owned(),
                AnnotationValue::Text(self.labels.thread(thread)),
            ),
        ];
        let Some(track) = self.lane(row, &resource, (from, to))? else {
            // On its thread, when it ended.
            annotations.push(("task".to_owned(), AnnotationValue::Text(task)));
            let duration = AnnotationValue::Unsigned(span.duration_ns);
            annotations.push(("duration_ns".to_owned(), duration));
            let instant = TrackEvent {
                track: FIRST_THREAD + u64::from(thread),
                category: Some(category),
                name: Some(format!("{category} {resource}")),
                annotations,
                ..TrackEvent::default()
            };
            self.pending.push(to, instant);
            return Ok(());
        };
        let name = match category {
            "gave up" => format!("{task} gave up"),
            _ => task,
        };
        self.slice(
            (from, to),
            TrackEvent {
                track,
                category: Some(category),
                name: Some(name),
                annotations,
                ..TrackEvent::default()
            },
        );
        Ok(())
    }

    /// The track for a wait or a hold, which is described when it is new.
    fn lane(
        &mut self,
        row: LaneRow,
        resource: &str,
        (from, to): (u64, u64),
    ) -> io::Result<Option<u64>> {
        let Some(lane) = self.lanes.take(row, from, to) else {
            return Ok(None);
        };
        let track = FIRST_LANE + lane.number;
        if lane.is_new {
            let word = if row.is_hold { "hold" } else { "wait" };
            let described = TrackMessage {
                sibling_merge_behavior: MERGE_BY_KEY,
                sibling_merge_key_int: Some(lane.row),
                ..child(track, RESOURCES, format!("{word} {resource}"))
            };
            self.sequence.track(&mut self.out, described)?;
        }
        Ok(Some(track))
    }

    fn write_before(&mut self, end: u64) -> io::Result<()> {
        while let Some((at, event)) = self.pending.pop_before(end) {
            self.sequence.event(&mut self.out, at, event)?;
        }
        Ok(())
    }

    /// Writes the rest of the events.
    fn end(mut self) -> io::Result<PacketWriter<'a>> {
        while let Some((at, event)) = self.pending.pop() {
            self.sequence.event(&mut self.out, at, event)?;
        }
        Ok(self.out)
    }
}
