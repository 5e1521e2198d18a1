//! Tracks of tasks: when each of the worst ones ran, was ready, and waited, and where.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Seek};

use turbowish_recording::PollEvent;

use super::super::timeline::Step;
use super::super::waits::Waits;
use super::super::{ExportError, Labels, Timeline};
use super::message::{MERGE_NONE, TrackMessage};
use super::packets::PacketWriter;
use super::sequence::{AnnotationValue, PacketSequence, TrackEvent, TrackEventKind};
use super::{FIRST_TASK, TASKS, child};

/// Tasks with tracks of their own: a viewer becomes slow with very many tracks.
const WORST: usize = 50;

/// The number of the first sequence.
const FIRST_SEQUENCE: u32 = 3;

/// The tasks that ran and were ready for the longest time, the worst first.
fn worst<R: Read + Seek>(timeline: &mut Timeline<R>) -> Result<Vec<u64>, ExportError> {
    let mut times: HashMap<u64, u64> = HashMap::new();
    timeline.each(|step| {
        if let Step::Poll { poll, .. } = step
            && poll.task != 0
        {
            let ready = poll.wakeup.map_or(0, |wakeup| wakeup.latency_ns);
            let time = times.entry(poll.task).or_default();
            *time = time.saturating_add(poll.hold_ns.saturating_add(ready));
        }
        Ok(())
    })?;
    let mut tasks: Vec<(u64, u64)> = times.into_iter().collect();
    tasks.sort_unstable_by_key(|(task, ns)| (std::cmp::Reverse(*ns), *task));
    tasks.truncate(WORST);
    Ok(tasks.into_iter().map(|(task, _)| task).collect())
}

/// The tracks.
#[derive(Debug)]
pub(super) struct TaskTracks {
    tasks: BTreeMap<u64, TaskTrack>,
    waits: Waits,
}

/// The track of a task. It has a sequence of its own: what a poll says of the time before it is
/// then in order.
#[derive(Debug)]
struct TaskTrack {
    track: u64,
    sequence: PacketSequence,
    /// End of the last slice.
    until: u64,
}

impl TaskTracks {
    /// Describes the tracks of the worst tasks.
    pub(super) fn of<R: Read + Seek>(
        timeline: &mut Timeline<R>,
        labels: &Labels,
        out: &mut PacketWriter<'_>,
    ) -> Result<Self, ExportError> {
        let worst = worst(timeline)?;
        let begin = timeline.begin();
        let mut tasks = BTreeMap::new();
        for (nth, task) in worst.into_iter().enumerate() {
            let (id, rank) = (u32::try_from(nth), i32::try_from(nth));
            let (id, rank) = (id.unwrap_or(0), rank.unwrap_or(0));
            let sequence = PacketSequence::ordered(out, FIRST_SEQUENCE + id, begin)?;
            let track = FIRST_TASK + u64::from(id);
            let described = TrackMessage {
                sibling_order_rank: rank,
                sibling_merge_behavior: MERGE_NONE,
                ..child(track, TASKS, labels.task(task))
            };
            sequence.track(out, described)?;
            let track = TaskTrack {
                track,
                sequence,
                until: begin,
            };
            tasks.insert(task, track);
        }
        Ok(Self {
            tasks,
            waits: Waits::default(),
        })
    }

    /// Draws what a poll says. During a loss, nothing is known and nothing drawn.
    pub(super) fn step(
        &mut self,
        out: &mut PacketWriter<'_>,
        labels: &Labels,
        step: &Step,
    ) -> io::Result<()> {
        let wait = self.waits.step(step);
        let Step::Poll { poll, .. } = step else {
            return Ok(());
        };
        let Some(track) = self.tasks.get_mut(&poll.task) else {
            return Ok(());
        };
        let start = poll.start_unix_ns;
        let latency = poll.wakeup.map_or(0, |wakeup| wakeup.latency_ns);
        let mut ready_from = start.saturating_sub(latency);
        if let Some(wait) = wait {
            let name = format!("waiting in {}", labels.wait(wait.chain));
            track.slice(out, name, wait.from, wait.woken)?;
            ready_from = wait.woken;
        }
        if ready_from < start {
            track.slice(out, "ready".to_owned(), ready_from, start)?;
        }
        track.running(out, labels, poll)
    }
}

impl TaskTrack {
    fn running(
        &mut self,
        out: &mut PacketWriter<'_>,
        labels: &Labels,
        poll: &PollEvent,
    ) -> io::Result<()> {
        let annotations = vec![("call".to_owned(), AnnotationValue::Text(labels.poll(poll)))];
        let (from, to) = (poll.start_unix_ns, poll.end_unix_ns());
        self.drawn(out, ("running".to_owned(), annotations), from, to)
    }

    fn slice(
        &mut self,
        out: &mut PacketWriter<'_>,
        name: String,
        from: u64,
        to: u64,
    ) -> io::Result<()> {
        self.drawn(out, (name, Vec::new()), from, to)
    }

    /// Draws what of a slice is after the last one: clocks of threads differ a little.
    fn drawn(
        &mut self,
        out: &mut PacketWriter<'_>,
        (name, annotations): (String, Vec<(String, AnnotationValue)>),
        from: u64,
        to: u64,
    ) -> io::Result<()> {
        let from = from.max(self.until);
        if from > to || from == to && annotations.is_empty() {
            return Ok(());
        }
        self.until = to;
        let begin = TrackEvent {
            kind: TrackEventKind::Begin,
            track: self.track,
            category: Some("task"),
            name: Some(name),
            annotations,
            ..TrackEvent::default()
        };
        let end = TrackEvent {
            kind: TrackEventKind::End,
            track: self.track,
            ..TrackEvent::default()
        };
        self.sequence.event(out, from, begin)?;
        self.sequence.event(out, to, end)
    }
}
