//! Polls: what the workers did, poll by poll. A chunk has the polls of one thread, in their order.

use turbowish_model::account::counters::PROC_LIMIT;
use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_model::account::task::TaskMeta;

use crate::varint::{Bytes, fold, put, unfold};

/// A poll of a task by a worker. Times are in nanoseconds since 1970.
///
/// Polls within another poll are part of that one: those of calls that the task awaits, and those
/// of an executor that runs inside of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PollEvent {
    /// When it began.
    pub start_unix_ns: u64,
    /// Its duration in nanoseconds.
    pub hold_ns: u64,
    /// ID of the task; 0 if it is not known.
    pub task: u64,
    /// The path of the first call that had something to do in the poll, or of the await point at
    /// which that call waits: see [`Names::path`](crate::Names::path).
    pub path: u32,
    /// Where the task waits after the poll: see [`Names::chain`](crate::Names::chain). 0 if it does
    /// not, or if it waits at several places.
    pub chain: u32,
    /// How it ended.
    pub outcome: PollOutcome,
    /// What had made the task ready, if that was seen.
    pub wakeup: Option<WakeupEvent>,
}

impl PollEvent {
    /// When it ended.
    #[must_use]
    pub const fn end_unix_ns(&self) -> u64 {
        self.start_unix_ns.saturating_add(self.hold_ns)
    }
}

/// What had made a task ready for a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeupEvent {
    /// Nanoseconds from the wake, or the spawn of the task, to the start of the poll.
    pub latency_ns: u64,
    /// Who woke or spawned it.
    pub by: WokenBy,
}

/// Who woke or spawned a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WokenBy {
    /// Unknown: something that is not instrumented, such as a driver or a timer.
    #[default]
    Unknown,
    /// A task.
    Task {
        /// Its ID.
        id: u64,
        /// The path of its call that ran at that instant: see [`Names::path`](crate::Names::path).
        /// 0 if it is not known, as in older recordings.
        path: u32,
    },
    /// Code outside of tasks, on the thread with this number.
    Thread(u32),
}

/// The polls of one thread, in one chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollBatch {
    /// Number of the thread: see [`Names::thread`](crate::Names::thread).
    pub thread: u32,
    /// Number of the first one among all polls of the thread, from 0.
    pub first: u64,
    /// Number of polls of this thread that came before these, were not recorded before, and are
    /// lost: they were overwritten before they could be copied.
    pub lost: u64,
    /// The polls in their order. They do not overlap.
    pub polls: Vec<PollEvent>,
}

/// Writes the body of a chunk of polls.
#[derive(Debug)]
pub struct PollEncoder {
    body: Vec<u8>,
    /// The end of the poll before, or the time of the chunk.
    clock: u64,
    before: DeltaBase,
    count: usize,
}

/// What the polls before had, from which the next one is delta-encoded.
#[derive(Clone, Copy, Debug, Default)]
struct DeltaBase {
    /// Task, path and chain of the poll before.
    task: u64,
    path: u32,
    chain: u32,
    /// Chain of the last poll after which a task waited.
    waited: u32,
    /// The last task that woke one, and the path of its call.
    waker: (u64, u32),
}

const OUTCOME: u8 = 7;
const WOKEN: u8 = 1 << 3;
const SAME_TASK: u8 = 1 << 4;
const SAME_PATH: u8 = 1 << 5;
const SAME_CHAIN: u8 = 1 << 6;
/// Task, path and chain are delta-encoded. Without this flag, as until 2026-11-29, the whole ID of
/// the task is, and path and chain are not.
const DELTA: u8 = 1 << 7;

const BY_THREAD: u64 = 1;
const BY_TASK: u64 = 2;
const BY_SAME_TASK: u64 = 3;

impl DeltaBase {
    /// The delta of a task's ordinal, doubled. It is odd if the root differs, which follows then.
    fn task(&self, task: u64) -> (u64, Option<u32>) {
        let (now, before) = (TaskMeta::of(task), TaskMeta::of(self.task));
        let difference = now.ordinal().wrapping_sub(before.ordinal());
        let other = (now.root() != before.root()).then(|| now.root());
        let number = fold(difference.cast_signed()) << 1 | u64::from(other.is_some());
        (number, other)
    }

    /// The delta of a chain plus one; 0 if there is no chain.
    fn chain(&self, chain: u32) -> u64 {
        match chain {
            0 => 0,
            _ => delta(self.waited, chain) + 1,
        }
    }

    fn task_of(&self, number: u64, root: Option<u32>) -> u64 {
        let before = TaskMeta::of(self.task);
        let ordinal = before.ordinal().wrapping_add_signed(unfold(number >> 1));
        TaskMeta::new(root.unwrap_or(before.root()), ordinal, 0, 0).id
    }

    fn chain_of(&self, number: u64) -> Option<u32> {
        match number.checked_sub(1) {
            None => Some(0),
            Some(delta) => apply(self.waited, delta),
        }
    }

    /// Goes on to the poll after this one.
    const fn pass(&mut self, poll: &PollEvent) {
        (self.task, self.path, self.chain) = (poll.task, poll.path, poll.chain);
        if poll.chain != 0 {
            self.waited = poll.chain;
        }
        if let Some(WakeupEvent {
            by: WokenBy::Task { id, path },
            ..
        }) = poll.wakeup
        {
            self.waker = (id, path);
        }
    }
}

fn delta(from: u32, to: u32) -> u64 {
    fold(i64::from(to) - i64::from(from))
}

/// What such a delta leads to, if it is in range.
fn apply(from: u32, delta: u64) -> Option<u32> {
    i64::from(from).checked_add(unfold(delta))?.try_into().ok()
}

impl PollEncoder {
    /// Begins the body of a chunk of this time, which no poll precedes. Thread, number of the first
    /// poll, and number of lost ones are as in [`PollBatch`].
    #[must_use]
    pub fn begin(at_unix_ns: u64, thread: u32, first: u64, lost: u64) -> Self {
        Self::begin_in(Vec::new(), at_unix_ns, thread, first, lost)
    }

    /// Same as [`Self::begin`], in the memory of `body`, the content of which is discarded.
    #[must_use]
    pub fn begin_in(
        mut body: Vec<u8>,
        at_unix_ns: u64,
        thread: u32,
        first: u64,
        lost: u64,
    ) -> Self {
        body.clear();
        put(&mut body, thread.into());
        put(&mut body, first);
        put(&mut body, lost);
        Self {
            body,
            clock: at_unix_ns,
            before: DeltaBase::default(),
            count: 0,
        }
    }

    /// Adds a poll. One that begins before the end of the poll before is taken to begin there.
    pub fn push(&mut self, poll: &PollEvent) {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let before = &self.before;
        let flags = poll.outcome.code()
            | flag(poll.wakeup.is_some(), WOKEN)
            | flag(poll.task == before.task, SAME_TASK)
            | flag(poll.path == before.path, SAME_PATH)
            | flag(poll.chain == before.chain, SAME_CHAIN)
            | DELTA;
        let body = &mut self.body;
        body.push(flags);
        let start = poll.start_unix_ns.max(self.clock);
        let end = poll.end_unix_ns().max(start);
        put(body, start - self.clock);
        put(body, end - start);
        if flags & SAME_TASK == 0 {
            let (number, root) = before.task(poll.task);
            put(body, number);
            if let Some(root) = root {
                put(body, root.into());
            }
        }
        if flags & SAME_PATH == 0 {
            put(body, delta(before.path, poll.path));
        }
        if flags & SAME_CHAIN == 0 {
            put(body, before.chain(poll.chain));
        }
        if let Some(WakeupEvent { latency_ns, by }) = poll.wakeup {
            put(body, latency_ns);
            match by {
                WokenBy::Unknown => put(body, 0),
                WokenBy::Thread(thread) => put(body, u64::from(thread) << 2 | BY_THREAD),
                WokenBy::Task { id, path } if (id, path) == before.waker => put(body, BY_SAME_TASK),
                WokenBy::Task { id, path } => {
                    put(body, u64::from(path) << 2 | BY_TASK);
                    let difference = id.wrapping_sub(poll.task);
                    put(body, fold(difference.cast_signed()));
                }
            }
        }
        self.clock = end;
        self.before.pass(poll);
        self.count += 1;
    }

    /// Number of polls so far.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Bytes so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.body.len()
    }

    /// The body.
    #[must_use]
    pub fn end(self) -> Vec<u8> {
        self.body
    }
}

impl PollBatch {
    /// Reads the body of a chunk of this time. `None` if it is no such body.
    #[must_use]
    pub fn read(at_unix_ns: u64, body: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(body);
        let (thread, first, lost) = (bytes.small()?, bytes.number()?, bytes.number()?);
        let (mut polls, mut clock, mut before) = (Vec::new(), at_unix_ns, DeltaBase::default());
        while !bytes.is_empty() {
            let poll = poll(&mut bytes, clock, &before)?;
            clock = poll.end_unix_ns();
            before.pass(&poll);
            polls.push(poll);
        }
        Some(Self {
            thread,
            first,
            lost,
            polls,
        })
    }

    /// Number of the poll after the last one among all polls of the thread.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.first.saturating_add(self.polls.len() as u64)
    }
}

fn poll(bytes: &mut Bytes<'_>, clock: u64, before: &DeltaBase) -> Option<PollEvent> {
    let flags = bytes.byte()?;
    let is_delta = flags & DELTA != 0;
    let start_unix_ns = clock.checked_add(bytes.number()?)?;
    let hold_ns = bytes.number()?;
    start_unix_ns.checked_add(hold_ns)?;
    let task = match flags & SAME_TASK {
        0 if is_delta => {
            let number = bytes.number()?;
            let root = match number & 1 {
                0 => None,
                _ => Some(bytes.small().filter(|root| *root < PROC_LIMIT)?),
            };
            before.task_of(number, root)
        }
        0 => before.task.wrapping_add_signed(unfold(bytes.number()?)),
        _ => before.task,
    };
    let path = match flags & SAME_PATH {
        0 if is_delta => apply(before.path, bytes.number()?)?,
        0 => bytes.small()?,
        _ => before.path,
    };
    let chain = match flags & SAME_CHAIN {
        0 if is_delta => before.chain_of(bytes.number()?)?,
        0 => bytes.small()?,
        _ => before.chain,
    };
    let wakeup = match flags & WOKEN {
        0 => None,
        _ => Some(wakeup(bytes, task, before.waker)?),
    };
    Some(PollEvent {
        start_unix_ns,
        hold_ns,
        task,
        path,
        chain,
        outcome: PollOutcome::of(flags & OUTCOME),
        wakeup,
    })
}

fn wakeup(bytes: &mut Bytes<'_>, task: u64, waker: (u64, u32)) -> Option<WakeupEvent> {
    let latency_ns = bytes.number()?;
    let by = bytes.number()?;
    let by = match by & 3 {
        BY_THREAD => WokenBy::Thread((by >> 2).try_into().ok()?),
        BY_TASK => WokenBy::Task {
            id: task.wrapping_add_signed(unfold(bytes.number()?)),
            path: (by >> 2).try_into().ok()?,
        },
        BY_SAME_TASK => WokenBy::Task {
            id: waker.0,
            path: waker.1,
        },
        _ => WokenBy::Unknown,
    };
    Some(WakeupEvent { latency_ns, by })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use turbowish_model::account::poll_ring::PollOutcome;
    use turbowish_model::account::task::TaskMeta;

    use super::{PollBatch, PollEncoder, PollEvent, WakeupEvent, WokenBy};

    fn by() -> impl Strategy<Value = WokenBy> {
        prop_oneof![
            Just(WokenBy::Unknown),
            any::<u32>().prop_map(WokenBy::Thread),
            any::<(u64, u32)>().prop_map(|(id, path)| WokenBy::Task { id, path }),
            (0..2_u64, 0..2_u32).prop_map(|(id, path)| WokenBy::Task { id, path }),
        ]
    }

    prop_compose! {
        /// A poll that begins a while after the one before, and what it is about.
        fn event()(
            gap in prop_oneof![Just(0), 0..5_000_u64, 0..1_u64 << 40],
            hold_ns in prop_oneof![0..5_000_u64, 0..1_u64 << 40],
            task in prop_oneof![
                0..4_u64,
                (0..3_u32, 0..4_u64).prop_map(|(root, nth)| TaskMeta::new(root, nth, 0, 0).id),
                any::<u64>(),
            ],
            path in prop_oneof![0..4_u32, any::<u32>()],
            chain in prop_oneof![0..4_u32, any::<u32>()],
            code in 0..5_u8,
            wakeup in proptest::option::of((any::<u64>(), by())),
        ) -> PollEvent {
            let wakeup = wakeup.map(|(latency_ns, by)| WakeupEvent { latency_ns, by });
            let outcome = PollOutcome::of(code);
            PollEvent { start_unix_ns: gap, hold_ns, task, path, chain, outcome, wakeup }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            at in 0..1_u64 << 62, thread in any::<u32>(), (first, lost) in any::<(u64, u64)>(),
            mut polls in proptest::collection::vec(event(), 0..50), cut in any::<prop::sample::Index>(),
        ) {
            let mut encoder = PollEncoder::begin(at, thread, first, lost);
            let mut clock = at;
            for poll in &mut polls {
                poll.start_unix_ns += clock;
                clock = poll.end_unix_ns();
                encoder.push(poll);
            }
            prop_assert_eq!(encoder.count(), polls.len());
            let body = encoder.end();
            let batch = PollBatch { thread, first, lost, polls };
            prop_assert_eq!(PollBatch::read(at, &body), Some(batch.clone()));
            // A part of it is nothing, or the first polls.
            if let Some(part) = PollBatch::read(at, &body[..cut.index(body.len())]) {
                prop_assert!(batch.polls.starts_with(&part.polls));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(at in any::<u64>(), body in any::<Vec<u8>>()) {
            if let Some(batch) = PollBatch::read(at, &body) {
                let ends = batch.polls.iter().map(PollEvent::end_unix_ns);
                let starts = batch.polls.iter().skip(1).map(|poll| poll.start_unix_ns);
                prop_assert!(ends.zip(starts).all(|(end, next)| end <= next));
            }
        }
    }

    /// The task of the first poll is 40, and it was woken by 38 in a call of path 5.
    const BEFORE: [u8; 15] = [
        7,
        0,
        0,
        0b0000_1001,
        5,
        10,
        80,
        0xac,
        2,
        9,
        3,
        22,
        3,
        0b0111_0010,
        1,
    ];

    #[test]
    fn bodies_of_before_are_read() {
        let body = [&BEFORE[..], &[2]].concat();
        let batch = PollBatch::read(100, &body).expect("a body");
        let first = PollEvent {
            start_unix_ns: 105,
            hold_ns: 10,
            task: 40,
            path: 300,
            chain: 9,
            outcome: PollOutcome::Pending,
            wakeup: Some(WakeupEvent {
                latency_ns: 3,
                by: WokenBy::Task { id: 38, path: 5 },
            }),
        };
        let second = PollEvent {
            start_unix_ns: 116,
            hold_ns: 2,
            outcome: PollOutcome::Ready,
            wakeup: None,
            ..first
        };
        assert_eq!((batch.thread, batch.polls), (7, vec![first, second]));
    }

    /// A server: few procs, and tasks that follow one another.
    #[test]
    fn a_usual_poll_is_short() {
        let mut encoder = PollEncoder::begin(0, 1, 0, 0);
        let spawned = WokenBy::Task {
            id: TaskMeta::new(9, 1, 0, 0).id,
            path: 50_000,
        };
        for nth in 0..1_000 {
            let is_first = nth % 2 == 0;
            encoder.push(&PollEvent {
                start_unix_ns: 4_000 * nth,
                hold_ns: 2_000,
                task: TaskMeta::new(7, nth, 0, 0).id,
                path: 50_000 + u32::from(is_first),
                chain: if is_first { 60_000 } else { 0 },
                outcome: PollOutcome::Pending,
                wakeup: is_first.then_some(WakeupEvent {
                    latency_ns: 10_000,
                    by: spawned,
                }),
            });
        }
        let polls = encoder.count();
        assert!(encoder.end().len() < 10 * polls);
    }

    #[test]
    fn polls_that_overlap_are_written_one_after_another() {
        let mut encoder = PollEncoder::begin(100, 0, 0, 0);
        for (start_unix_ns, hold_ns) in [(90, 30), (110, 30), (110, 5)] {
            encoder.push(&PollEvent {
                start_unix_ns,
                hold_ns,
                ..PollEvent::default()
            });
        }
        let batch = PollBatch::read(100, &encoder.end()).expect("a body");
        let times = batch
            .polls
            .iter()
            .map(|poll| (poll.start_unix_ns, poll.end_unix_ns()));
        assert_eq!(
            times.collect::<Vec<_>>(),
            [(100, 120), (120, 140), (140, 140)]
        );
    }
}
