//! Polls: what the workers did, poll by poll. A chunk has the polls of one thread, in their order.

mod before;

use turbowish_model::account::counters::PROC_LIMIT;
use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_model::account::task::TaskMeta;

use self::before::OlderBase;
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

/// Is added to the number of the thread, with which a body begins. A body without it is older: see
/// [`before`].
const FORMAT: u64 = 1 << u32::BITS;

const OUTCOME: u8 = 7;
const WOKEN: u8 = 1 << 3;
/// The task follows that of the last poll of this outcome by as much as that one did.
const NEXT_TASK: u8 = 1 << 4;
const SAME_PATH: u8 = 1 << 5;
const SAME_CHAIN: u8 = 1 << 6;
/// The task was woken by what had woken the last one that was.
const SAME_WAKER: u8 = 1 << 7;

/// Mask of the bits that say what woke a task: one of the following.
const BY: u64 = 3;
const BY_UNKNOWN: u64 = 0;
const BY_THREAD: u64 = 1;
const BY_TASK: u64 = 2;
const BY_ITSELF: u64 = 3;

/// What the polls before had, from which the next one is delta-encoded.
#[derive(Clone, Copy, Debug)]
struct DeltaBase {
    /// The last poll of each outcome, by the bits of [`OUTCOME`]: the tasks of a server have polls
    /// of the same outcomes in turn.
    by_outcome: [LastOfOutcome; OUTCOME as usize + 1],
    /// Chain of the last poll after which a task waited.
    waited: u32,
    /// When a task was woken last, in nanoseconds since 1970, and by what.
    woken_unix_ns: u64,
    waker: Waker,
}

#[derive(Clone, Copy, Debug, Default)]
struct LastOfOutcome {
    task: u64,
    /// Difference to the task before: tasks take their turns in the order of their IDs.
    stride: u64,
    path: u32,
    chain: u32,
}

impl LastOfOutcome {
    const fn next_task(&self) -> u64 {
        self.task.wrapping_add(self.stride)
    }
}

/// What woke a task, as seen from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Waker {
    /// One of `BY_*`, and above it the number of the thread, or the path of the call.
    number: u64,
    /// ID of the task of [`BY_TASK`].
    id: u64,
}

impl Waker {
    fn of(by: WokenBy, task: u64) -> Self {
        let (number, kind, id) = match by {
            WokenBy::Unknown => (0, BY_UNKNOWN, 0),
            WokenBy::Thread(thread) => (thread, BY_THREAD, 0),
            WokenBy::Task { id, path } if id == task => (path, BY_ITSELF, 0),
            WokenBy::Task { id, path } => (path, BY_TASK, id),
        };
        let number = u64::from(number) << 2 | kind;
        Self { number, id }
    }

    fn put(self, body: &mut Vec<u8>, task: u64) {
        put(body, self.number);
        if self.number & BY == BY_TASK {
            put(body, fold(self.id.wrapping_sub(task).cast_signed()));
        }
    }

    fn read(bytes: &mut Bytes<'_>, task: u64) -> Option<Self> {
        let number = bytes.number()?;
        let id = match number & BY {
            BY_TASK => task.wrapping_add_signed(unfold(bytes.number()?)),
            _ => 0,
        };
        Some(Self { number, id })
    }

    /// What woke this task, if it is that of one.
    fn of_task(self, task: u64) -> Option<WokenBy> {
        let number = u32::try_from(self.number >> 2).ok()?;
        Some(match self.number & BY {
            BY_THREAD => WokenBy::Thread(number),
            BY_TASK => WokenBy::Task {
                id: self.id,
                path: number,
            },
            BY_ITSELF => WokenBy::Task {
                id: task,
                path: number,
            },
            _ => WokenBy::Unknown,
        })
    }
}

impl DeltaBase {
    /// That of the first poll of a chunk of this time.
    fn new(at_unix_ns: u64) -> Self {
        Self {
            by_outcome: Default::default(),
            waited: 0,
            woken_unix_ns: at_unix_ns,
            waker: Waker::default(),
        }
    }

    /// Of the outcome in these flags. Those of later versions, which are read as unknown, have
    /// their own.
    fn last(&self, flags: u8) -> &LastOfOutcome {
        &self.by_outcome[usize::from(flags & OUTCOME)]
    }

    /// Goes on to the poll after this one, whose task was woken then and by that.
    fn pass(&mut self, flags: u8, poll: &PollEvent, wakeup: Option<(u64, Waker)>) {
        let last = &mut self.by_outcome[usize::from(flags & OUTCOME)];
        *last = LastOfOutcome {
            task: poll.task,
            stride: poll.task.wrapping_sub(last.task),
            path: poll.path,
            chain: poll.chain,
        };
        if poll.chain != 0 {
            self.waited = poll.chain;
        }
        if let Some((woken_unix_ns, waker)) = wakeup {
            (self.woken_unix_ns, self.waker) = (woken_unix_ns, waker);
        }
    }

    /// Reads a poll after the one that ended at `clock`, and goes on to the next one.
    fn poll(&mut self, bytes: &mut Bytes<'_>, clock: u64) -> Option<PollEvent> {
        let flags = bytes.byte()?;
        let (start_unix_ns, hold_ns) = span(bytes, clock)?;
        let last = self.last(flags);
        let task = match flags & NEXT_TASK {
            0 => task_after(last.task, bytes)?,
            _ => last.next_task(),
        };
        let path = match flags & SAME_PATH {
            0 => apply(last.path, bytes.number()?)?,
            _ => last.path,
        };
        let chain = match flags & SAME_CHAIN {
            0 => chain_after(self.waited, bytes)?,
            _ => last.chain,
        };
        let mut poll = PollEvent {
            start_unix_ns,
            hold_ns,
            task,
            path,
            chain,
            outcome: PollOutcome::of(flags & OUTCOME),
            wakeup: None,
        };
        let mut wakeup = None;
        if flags & WOKEN != 0 {
            let latency_ns = latency(bytes, start_unix_ns, self.woken_unix_ns)?;
            let waker = match flags & SAME_WAKER {
                0 => Waker::read(bytes, task)?,
                _ => self.waker,
            };
            let by = waker.of_task(task)?;
            poll.wakeup = Some(WakeupEvent { latency_ns, by });
            wakeup = Some((start_unix_ns.wrapping_sub(latency_ns), waker));
        }
        self.pass(flags, &poll, wakeup);
        Some(poll)
    }
}

/// The delta of a task's ordinal, doubled. It is odd if the root differs, which follows then.
fn task_delta(before: u64, task: u64) -> (u64, Option<u32>) {
    let (now, before) = (TaskMeta::of(task), TaskMeta::of(before));
    let difference = now.ordinal().wrapping_sub(before.ordinal());
    let other = (now.root() != before.root()).then(|| now.root());
    let number = fold(difference.cast_signed()) << 1 | u64::from(other.is_some());
    (number, other)
}

/// Reads what [`task_delta`] has returned.
fn task_after(before: u64, bytes: &mut Bytes<'_>) -> Option<u64> {
    let (number, before) = (bytes.number()?, TaskMeta::of(before));
    let root = match number & 1 {
        0 => before.root(),
        _ => bytes.small().filter(|root| *root < PROC_LIMIT)?,
    };
    let ordinal = before.ordinal().wrapping_add_signed(unfold(number >> 1));
    Some(TaskMeta::new(root, ordinal, 0, 0).id)
}

/// The delta of a chain plus one; 0 if there is no chain.
fn chain_delta(waited: u32, chain: u32) -> u64 {
    match chain {
        0 => 0,
        _ => delta(waited, chain) + 1,
    }
}

/// Reads what [`chain_delta`] has returned.
fn chain_after(waited: u32, bytes: &mut Bytes<'_>) -> Option<u32> {
    match bytes.number()?.checked_sub(1) {
        None => Some(0),
        Some(delta) => apply(waited, delta),
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
        put(&mut body, FORMAT | u64::from(thread));
        put(&mut body, first);
        put(&mut body, lost);
        Self {
            body,
            clock: at_unix_ns,
            before: DeltaBase::new(at_unix_ns),
            count: 0,
        }
    }

    /// Adds a poll. One that begins before the end of the poll before is taken to begin there.
    pub fn push(&mut self, poll: &PollEvent) {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let before = &self.before;
        let last = before.last(poll.outcome.code());
        let waker = poll.wakeup.map(|wakeup| Waker::of(wakeup.by, poll.task));
        let flags = poll.outcome.code()
            | flag(poll.wakeup.is_some(), WOKEN)
            | flag(poll.task == last.next_task(), NEXT_TASK)
            | flag(poll.path == last.path, SAME_PATH)
            | flag(poll.chain == last.chain, SAME_CHAIN)
            | flag(waker == Some(before.waker), SAME_WAKER);
        let body = &mut self.body;
        body.push(flags);
        let start = poll.start_unix_ns.max(self.clock);
        let end = poll.end_unix_ns().max(start);
        put(body, start - self.clock);
        put(body, end - start);
        if flags & NEXT_TASK == 0 {
            let (number, root) = task_delta(last.task, poll.task);
            put(body, number);
            if let Some(root) = root {
                put(body, root.into());
            }
        }
        if flags & SAME_PATH == 0 {
            put(body, delta(last.path, poll.path));
        }
        if flags & SAME_CHAIN == 0 {
            put(body, chain_delta(before.waited, poll.chain));
        }
        let mut wakeup = None;
        if let (Some(of), Some(waker)) = (poll.wakeup, waker) {
            put_latency(body, of.latency_ns, start, before.woken_unix_ns);
            if flags & SAME_WAKER == 0 {
                waker.put(body, poll.task);
            }
            wakeup = Some((start.wrapping_sub(of.latency_ns), waker));
        }
        self.clock = end;
        self.before.pass(flags, poll, wakeup);
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

/// Appends how long before `start` a task was woken, or how long after the last one that was,
/// whichever is shorter: tasks that wait for the same are woken one after another. The lowest bit
/// says which.
fn put_latency(body: &mut Vec<u8>, latency: u64, start: u64, last_woken: u64) {
    let after = start.wrapping_sub(latency).wrapping_sub(last_woken);
    let (number, is_after) = match after < latency {
        true => (after, 1),
        false => (latency, 0),
    };
    let low = (number as u8 & 0x3f) << 1 | is_after;
    match number >> 6 {
        0 => body.push(low),
        // It may have 65 bits.
        rest => {
            body.push(low | 0x80);
            put(body, rest);
        }
    }
}

/// Reads what [`put_latency`] has written.
fn latency(bytes: &mut Bytes<'_>, start: u64, last_woken: u64) -> Option<u64> {
    let low = bytes.byte()?;
    let rest = match low & 0x80 {
        0 => 0,
        _ => bytes.number().filter(|rest| rest >> 58 == 0)?,
    };
    let number = rest << 6 | u64::from(low >> 1 & 0x3f);
    Some(match low & 1 {
        0 => number,
        _ => start.wrapping_sub(last_woken.wrapping_add(number)),
    })
}

impl PollBatch {
    /// Reads the body of a chunk of this time. `None` if it is no such body.
    #[must_use]
    pub fn read(at_unix_ns: u64, body: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(body);
        let number = bytes.number()?;
        let thread = u32::try_from(number & !FORMAT).ok()?;
        let (first, lost) = (bytes.number()?, bytes.number()?);
        let polls = match number & FORMAT {
            0 => {
                let mut before = OlderBase::default();
                polls(bytes, at_unix_ns, |bytes, clock| before.poll(bytes, clock))?
            }
            _ => {
                let mut before = DeltaBase::new(at_unix_ns);
                polls(bytes, at_unix_ns, |bytes, clock| before.poll(bytes, clock))?
            }
        };
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

/// The polls of a body. `next` reads the one after that which ended at a time.
fn polls(
    mut bytes: Bytes<'_>,
    mut clock: u64,
    mut next: impl FnMut(&mut Bytes<'_>, u64) -> Option<PollEvent>,
) -> Option<Vec<PollEvent>> {
    let mut polls = Vec::new();
    while !bytes.is_empty() {
        let poll = next(&mut bytes, clock)?;
        clock = poll.end_unix_ns();
        polls.push(poll);
    }
    Some(polls)
}

/// Beginning and duration of a poll after the one that ended at `clock`.
fn span(bytes: &mut Bytes<'_>, clock: u64) -> Option<(u64, u64)> {
    let start = clock.checked_add(bytes.number()?)?;
    let hold = bytes.number()?;
    start.checked_add(hold).map(|_| (start, hold))
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
        fn any_bytes_are_read_or_refused(
            at in any::<u64>(), head in 0..3, polls in any::<Vec<u8>>(),
        ) {
            let mut body = match head {
                0 => Vec::new(),
                1 => vec![7, 3, 2],
                _ => PollEncoder::begin(at, 7, 3, 2).end(),
            };
            body.extend(polls);
            if let Some(batch) = PollBatch::read(at, &body) {
                let ends = batch.polls.iter().map(PollEvent::end_unix_ns);
                let starts = batch.polls.iter().skip(1).map(|poll| poll.start_unix_ns);
                prop_assert!(ends.zip(starts).all(|(end, next)| end <= next));
                prop_assert_eq!(PollBatch::read(at, &written(at, &batch)), Some(batch));
            }
        }
    }

    fn written(at: u64, batch: &PollBatch) -> Vec<u8> {
        let mut encoder = PollEncoder::begin(at, batch.thread, batch.first, batch.lost);
        batch.polls.iter().for_each(|poll| encoder.push(poll));
        encoder.end()
    }

    /// Each field in each of its forms: what was written once reads back in later versions.
    #[test]
    fn a_body_has_these_bytes() {
        let task = |root, ordinal| TaskMeta::new(root, ordinal, 0, 0).id;
        let by = |id| WokenBy::Task { id, path: 5 };
        let woken = |latency_ns, by| Some(WakeupEvent { latency_ns, by });
        let poll = |start_unix_ns, hold_ns, code, task, place: [u32; 2], wakeup| PollEvent {
            start_unix_ns,
            hold_ns,
            task,
            path: place[0],
            chain: place[1],
            outcome: PollOutcome::of(code),
            wakeup,
        };
        let (two, four, five, six) = (task(9, 2), task(9, 4), task(9, 5), task(9, 6));
        let long = woken(1 << 63, WokenBy::Thread(6));
        let polls = vec![
            poll(105, 10, 1, four, [300, 9], woken(3, by(two))),
            poll(116, 2, 2, task(8, 1), [299, 0], None),
            poll(120, 200, 1, five, [300, 8], woken(15, by(two))),
            poll(330, 1, 1, six, [300, 8], woken(40, by(six))),
            poll(331, 0, 3, 0, [0, 0], long),
        ];
        let body = [
            &[135, 128, 128, 128, 16, 3, 2][..],
            &[9, 5, 10, 17, 9, 216, 4, 19, 5, 22, 255, 255, 3],
            &[66, 1, 2, 5, 8, 214, 4],
            &[169, 2, 200, 1, 4, 2, 7],
            &[121, 10, 1, 80, 23],
            &[
                123, 0, 0, 128, 128, 128, 128, 128, 128, 128, 128, 128, 2, 25,
            ],
        ];
        let batch = PollBatch {
            thread: 7,
            first: 3,
            lost: 2,
            polls,
        };
        assert_eq!(written(100, &batch), body.concat());
        assert_eq!(PollBatch::read(100, &body.concat()), Some(batch));
    }

    /// A poll of an outcome that this version does not know is no base for those that are unknown.
    #[test]
    fn outcomes_of_later_versions_are_unknown() {
        let head = PollEncoder::begin(0, 0, 0, 0).end();
        // All of the last of its outcome, but for the path of the first one.
        let [first, unknown, next] = [&[0x55, 0, 0, 6][..], &[0x70, 0, 0], &[0x75, 0, 0]];
        let body = [&head[..], first, unknown, next].concat();
        let polls = PollBatch::read(0, &body).expect("a body").polls;
        let read = polls.iter().map(|poll| (poll.outcome, poll.path));
        let expected = [3, 0, 3].map(|path| (PollOutcome::Unknown, path));
        assert_eq!(read.collect::<Vec<_>>(), expected);
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
                outcome: match is_first {
                    true => PollOutcome::Pending,
                    false => PollOutcome::Ready,
                },
                wakeup: is_first.then_some(WakeupEvent {
                    latency_ns: 10_000,
                    by: spawned,
                }),
            });
        }
        let polls = encoder.count();
        assert!(encoder.end().len() < 6 * polls + 50);
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
