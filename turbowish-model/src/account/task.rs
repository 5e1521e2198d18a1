//! Task cell: the published state of one live task. The polling thread writes it under a seqlock,
//! the monitor reads it.

mod branch;
mod chain_cache;
mod extra;
mod glance;
mod poller;
mod stack;
mod wake_source;
mod words;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

pub use self::chain_cache::ChainCache;
pub use self::extra::{Alone, CellOwner, Extra};
pub use self::glance::Glance;
pub use self::stack::Publication;
use self::stack::Stack;
pub use self::wake_source::{WAKER_CALLS, WakeSource};
use self::words::{Count, MUCH, PollSums};
use crate::account::await_stack::AwaitFrame;
use crate::account::branch::BranchReading;
use crate::account::counters::PROC_LIMIT;
use crate::account::ledger::TakenStack;
use crate::account::paths::Paths;
use crate::account::poll_ring::Wakeup;
use crate::account::seqlock::{SeqLock, SmallSeqLock, WriteGuard};
use crate::account::sync::{AtomicU32, AtomicU64, fence};

/// Maximum number of frames kept of one await stack; the rest is cut and [`TaskReading::truncated`]
/// is set.
pub const STACK_LIMIT: u32 = 512;

/// Frames kept of a branch's await stack.
pub const CHAIN: usize = 3;

/// The constant data of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskMeta {
    /// Unique within the process: [`TaskMeta::root`] and [`TaskMeta::ordinal`] in one word. 0
    /// stands for no task.
    pub id: u64,
    /// Start of the first poll, in the clock's ticks.
    pub created: u64,
    /// Size of the root future, in bytes.
    pub future_bytes: u32,
}

/// Bits of an id that contain the root's proc id.
const ROOT_BITS: u32 = PROC_LIMIT.ilog2();

impl TaskMeta {
    /// Creates the data of the `ordinal`th task (from 1) whose root is a call of the proc `root`.
    #[must_use]
    pub const fn new(root: u32, ordinal: u64, created: u64, future_bytes: u32) -> Self {
        const { assert!(PROC_LIMIT.is_power_of_two()) };
        Self {
            id: ordinal << ROOT_BITS | root as u64,
            created,
            future_bytes,
        }
    }

    /// What the ID of a task says: its root and its ordinal. The rest is 0.
    #[must_use]
    pub const fn of(id: u64) -> Self {
        Self {
            id,
            created: 0,
            future_bytes: 0,
        }
    }

    /// Proc id of the root.
    #[must_use]
    pub const fn root(&self) -> u32 {
        Self::root_of(self.id)
    }

    const fn root_of(id: u64) -> u32 {
        id as u32 % PROC_LIMIT
    }

    /// Number of the task among those with the same root proc, from 1.
    #[must_use]
    pub const fn ordinal(&self) -> u64 {
        self.id >> ROOT_BITS
    }
}

/// The task whose first poll is in progress on a thread. Most calls from uninstrumented code end
/// with that poll, so a task gets its own cell only when its first poll has ended pending.
#[derive(Debug, Default)]
pub struct FirstPollCell {
    sequence: SeqLock,
    /// 0 if there is no task.
    id: AtomicU64,
    created: AtomicU64,
    future_bytes: AtomicU32,
}

impl FirstPollCell {
    /// Publishes the task at the start of its first poll.
    #[inline]
    pub fn begin(&self, meta: &TaskMeta) {
        let writing = self.sequence.write();
        self.id.store(meta.id, Relaxed);
        self.created.store(meta.created, Relaxed);
        self.future_bytes.store(meta.future_bytes, Relaxed);
        drop(writing);
    }

    /// Clears the task: its first poll is over, or it has got its own cell.
    #[inline]
    pub fn end(&self) {
        let writing = self.sequence.write();
        self.id.store(0, Relaxed);
        drop(writing);
    }

    /// Returns the task; for the thread that writes it.
    #[must_use]
    pub fn own(&self) -> TaskMeta {
        TaskMeta {
            id: self.id.load(Relaxed),
            created: self.created.load(Relaxed),
            future_bytes: self.future_bytes.load(Relaxed),
        }
    }

    /// Returns the task, if there is one. `relax` lets other threads run while a write is in
    /// progress.
    pub fn read(&self, relax: &mut dyn FnMut()) -> Option<TaskMeta> {
        let meta = self.sequence.read(relax, || self.own());
        (meta.id != 0).then_some(meta)
    }
}

/// The published state of a live task. One poller at a time writes it. A cell may be used for one
/// task after another. `O` is what its owner keeps in it.
///
/// There are as many as tasks that wait, so it has no byte to spare.
#[derive(Debug)]
pub struct TaskCell<O = Alone> {
    sequence: SmallSeqLock,
    future_bytes: AtomicU32,
    id: AtomicU64,
    /// Start of the first poll. Another word of the owner's while the cell is none of a task.
    created: AtomicU64,
    /// The thread that polls the task or polled it last, and the epoch.
    poller: AtomicU32,
    /// Start of the poll in progress, or end of the last one, in ticks.
    since: AtomicU64,
    /// What woke the task before the last root poll: [`WakeSource::bits`].
    ready_by: AtomicU64,
    /// Ticks plus one for which it was ready before that poll; 0 if no wake was seen.
    latency: AtomicU32,
    /// Length of the last root poll, if that is over.
    span: AtomicU32,
    sums: PollSums,
    /// The await stack, and the first time of its frames.
    place: AtomicU32,
    time: AtomicU64,
    owner: O,
}

#[cfg(not(all(test, loom)))]
const _: () = assert!(size_of::<TaskCell<u32>>() == 80);

/// State of a task's waker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakerReading {
    /// First wake since the last poll began, in ticks.
    pub woken: Option<u64>,
    /// Source of the last wake.
    pub by: WakeSource,
    /// Times that the task was woken.
    pub wakes: u64,
    /// Number of wakes from within the task's own poll; part of `wakes`.
    pub own_wakes: u64,
    /// Number of clones made of its waker.
    pub clones: u64,
    /// Number of clones that exist now.
    pub live: u32,
}

/// A pause: a console keeps a task from being polled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    /// Name by which the console identifies itself.
    pub by: String,
    /// Start of the pause, in ticks.
    pub since: u64,
    /// Ticks until the pause ends automatically; `None` if it does not.
    pub left: Option<u64>,
    /// The executor has tried to poll the task since: it will be polled as soon as the pause ends.
    pub woken: bool,
    /// Memory address of the root future; 0 if unknown.
    pub address: u64,
}

/// What made a task ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeCause {
    /// When the task became ready, in ticks.
    pub since: u64,
    /// What woke it; for a task's first poll, what spawned it.
    pub by: WakeSource,
}

/// A task's last poll, which may still be in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastPoll {
    /// Number of the polling thread.
    pub thread: u32,
    /// What made the task ready for this poll, if that was seen.
    pub readied: Option<WakeCause>,
}

/// A task at one instant. Times are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskReading {
    /// State of the waker; `None` while it is not observed: during the first poll, or where wakers
    /// are not wrapped.
    pub waker: Option<WakerReading>,
    /// The pause of the task. Boxed, because few tasks are paused and readings stay small without
    /// it.
    pub pause: Option<Box<Pause>>,
    /// Number of the thread that polls the task now.
    pub thread: Option<u32>,
    /// The last poll; `None` if there may have been a poll that was not seen.
    pub last: Option<LastPoll>,
    /// The instant of this; 0 stands for that of the totals.
    pub read_at: u64,
    /// Epoch of the last accounted poll.
    pub epoch: u32,
    /// Start of the poll in progress, or end of the last one.
    pub since: u64,
    /// Start of the last root poll. Identifies that poll where a future records in which one it was
    /// polled.
    pub began: u64,
    /// Number of root polls started.
    pub polls: u64,
    /// Exclusive time of all the task's calls in finished polls.
    pub running: u64,
    /// Longest finished root poll.
    pub longest: u64,
    /// Number of root polls that ended pending and in which no call was first polled, ended or
    /// reached another await point.
    pub idle: u64,
    /// Await stack of the last poll that ended pending, outermost first.
    pub stack: Vec<AwaitFrame>,
    /// The await stack had more than [`STACK_LIMIT`] frames.
    pub truncated: bool,
    /// Live branches that were created in the task's polls.
    pub branches: Vec<BranchReading>,
}

impl TaskReading {
    /// Creates the reading of a task in its first poll.
    #[must_use]
    pub fn first(meta: &TaskMeta, epoch: u32, thread: u32, readied: Option<WakeCause>) -> Self {
        Self {
            thread: Some(thread),
            last: Some(LastPoll { thread, readied }),
            epoch,
            since: meta.created,
            began: meta.created,
            polls: 1,
            ..Self::default()
        }
    }

    /// Keeps only what remains true of a task whose polls were not seen for a while.
    pub fn forget_place(&mut self, root: u32) {
        self.thread = None;
        self.last = None;
        self.truncated = false;
        self.branches.clear();
        self.stack.clear();
        self.stack.push(AwaitFrame {
            proc: root,
            since: self.since,
            ..AwaitFrame::default()
        });
    }
}

/// A root poll that ended pending, before it is known where the task waits.
#[derive(Debug)]
#[must_use]
pub struct EndedPoll<'a, O = Alone> {
    cell: &'a TaskCell<O>,
    _writing: WriteGuard<'a, AtomicU32>,
}

impl<O: CellOwner> EndedPoll<'_, O> {
    /// The task waits where it waited before.
    #[inline]
    pub fn unmoved(self) {
        self.cell.count(Count::Idle);
    }

    /// Publishes the await stack. `each` passes it from the first frame that differs from the
    /// published one, outermost first. `table` has the chains of all cells.
    #[inline]
    pub(crate) fn publish(self, table: &Paths, each: impl FnOnce(&mut Publication<'_, O>)) {
        let mut stack = Publication::new(self.cell, table, STACK_LIMIT);
        each(&mut stack);
        stack.end();
    }

    /// Publishes the await stack that was taken, from the first frame on that differs from the
    /// published one. `table` has the chains of all cells. `cache` is this thread's, and was used
    /// with no other table.
    #[inline(always)]
    pub fn publish_taken(self, table: &Paths, cache: &ChainCache, taken: &TakenStack<'_>) {
        match taken.frames().and_then(|frames| cache.get(frames)) {
            Some((chain, since)) => self.cell.publish(&Stack::of_one_time(chain, since)),
            None => self.publish_uncached(table, cache, taken),
        }
    }

    #[inline(never)]
    fn publish_uncached(self, table: &Paths, cache: &ChainCache, taken: &TakenStack<'_>) {
        self.publish(table, |stack| {
            taken.each(|step| stack.push(step));
            if let (Some(frames), Some(chain)) = (taken.frames(), stack.chain_of_one_time()) {
                cache.insert(frames, chain);
            }
        });
    }
}

impl TaskCell {
    /// Creates the cell of a task that was not polled yet.
    #[must_use]
    pub fn new(meta: TaskMeta) -> Self {
        let cell = Self::default();
        cell.store_meta(&meta);
        cell
    }
}

impl Default for TaskCell {
    fn default() -> Self {
        Self::unused(Alone::default())
    }
}

impl<O: CellOwner> TaskCell<O> {
    /// Creates the cell of no task.
    #[must_use]
    pub fn unused(owner: O) -> Self {
        Self {
            sequence: SmallSeqLock::default(),
            future_bytes: AtomicU32::new(0),
            id: AtomicU64::new(0),
            created: AtomicU64::new(0),
            poller: AtomicU32::new(0),
            since: AtomicU64::new(0),
            ready_by: AtomicU64::new(0),
            latency: AtomicU32::new(0),
            span: AtomicU32::new(0),
            sums: PollSums::default(),
            place: AtomicU32::new(0),
            time: AtomicU64::new(0),
            owner,
        }
    }

    /// Starts over, for another task that was not polled yet.
    pub fn renew(&self, meta: &TaskMeta) {
        let writing = self.sequence.write();
        self.store_meta(meta);
        for word in [&self.since, &self.ready_by] {
            word.store(0, Relaxed);
        }
        for word in [&self.poller, &self.place, &self.latency, &self.span] {
            word.store(0, Relaxed);
        }
        self.sums.renew();
        if let Some(more) = self.known_more() {
            more.renew();
        }
        drop(writing);
        // A reader that sees what is written to other words from here on also sees the new id.
        fence(Release);
    }

    #[inline]
    fn store_meta(&self, meta: &TaskMeta) {
        self.id.store(meta.id, Relaxed);
        self.created.store(meta.created, Relaxed);
        self.future_bytes.store(meta.future_bytes, Relaxed);
    }

    /// Id of the task, or of the last one.
    #[inline]
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id.load(Relaxed)
    }

    /// Proc id of the root.
    #[inline]
    #[must_use]
    pub fn root(&self) -> u32 {
        TaskMeta::root_of(self.id())
    }

    /// A word of the owner's, while the cell is none of a task.
    #[inline]
    #[must_use]
    pub fn word(&self) -> u64 {
        self.created.load(Relaxed)
    }

    /// Sets that word.
    #[inline]
    pub fn set_word(&self, word: u64) {
        self.created.store(word, Relaxed);
    }

    /// Whether the cell is still that of the task `id`, after other words were read: if so, they
    /// were that task's.
    #[must_use]
    pub fn is_still(&self, id: u64) -> bool {
        fence(Acquire);
        self.id() == id
    }

    /// The constant data of the task; for the thread that polls it.
    #[must_use]
    pub fn meta(&self) -> TaskMeta {
        TaskMeta {
            id: self.id(),
            created: self.created.load(Relaxed),
            future_bytes: self.future_bytes.load(Relaxed),
        }
    }

    /// Starts a root poll on a thread. Returns the end of the previous poll if that belonged to the
    /// same epoch.
    #[inline(always)]
    pub fn begin(&self, epoch: u32, thread: u32, t: u64) -> Option<u64> {
        let before = self.since.load(Relaxed);
        let before = self.is_of_epoch(epoch).then_some(before);
        let writing = self.sequence.write();
        self.polled_by(epoch, thread);
        self.since.store(t, Relaxed);
        self.latency.store(0, Relaxed);
        self.count(Count::Polls);
        drop(writing);
        before
    }

    /// Records what made the task ready for the poll that has begun.
    #[inline]
    pub fn readied(&self, readied: WakeCause) {
        let latency = self.since.load(Relaxed).saturating_sub(readied.since);
        self.ready_by.store(readied.by.bits(), Relaxed);
        self.store(&self.latency, |long| &long.latency, latency + 1);
    }

    /// What had made the task ready for its last poll, which is in progress or has just ended. For
    /// the thread that polls it.
    #[inline(always)]
    pub fn cause(&self) -> Option<Wakeup> {
        let latency = match self.latency.load(Relaxed) {
            MUCH => self.ticks(&self.latency, |long| &long.latency),
            few => few.into(),
        };
        latency.checked_sub(1).map(|latency| Wakeup {
            latency,
            by: WakeSource::from_bits(self.ready_by.load(Relaxed)),
        })
    }

    /// Ends a root poll as pending.
    #[inline]
    pub fn end(&self, t: u64, hold: u64, running: u64) -> EndedPoll<'_, O> {
        let writing = self.sequence.write();
        self.no_longer_polled();
        let began = self.since.load(Relaxed);
        self.since.store(t, Relaxed);
        self.store(&self.span, |long| &long.span, t.saturating_sub(began));
        self.run(running);
        self.raise(hold);
        EndedPoll {
            cell: self,
            _writing: writing,
        }
    }

    /// Reads the task. `table` has the chains of all cells; `relax` lets other threads run while a
    /// write is in progress.
    #[must_use]
    pub fn read(&self, table: &Paths, relax: &mut dyn FnMut()) -> TaskReading {
        self.read_of(table, relax).1
    }

    /// Reads the task, and which one it is.
    #[must_use]
    pub fn read_of(&self, table: &Paths, relax: &mut dyn FnMut()) -> (TaskMeta, TaskReading) {
        self.sequence
            .read(relax, || (self.meta(), self.attempt(table)))
    }

    /// Reads which task it is.
    #[must_use]
    pub fn read_meta(&self, relax: &mut dyn FnMut()) -> TaskMeta {
        self.sequence.read(relax, || self.meta())
    }

    fn attempt(&self, table: &Paths) -> TaskReading {
        let (stack, truncated) = self.stack(table, 0);
        let poller = self.poller();
        let since = self.since.load(Relaxed);
        let began = match poller.is_polled {
            true => since,
            false => since.saturating_sub(self.ticks(&self.span, |long| &long.span)),
        };
        let latency = self.ticks(&self.latency, |long| &long.latency);
        let readied = latency.checked_sub(1).map(|latency| WakeCause {
            since: began.saturating_sub(latency),
            by: WakeSource::from_bits(self.ready_by.load(Relaxed)),
        });
        TaskReading {
            thread: poller.thread.filter(|_| poller.is_polled),
            last: poller.thread.map(|thread| LastPoll { thread, readied }),
            read_at: 0,
            epoch: poller.epoch,
            since,
            began,
            polls: self.counted(Count::Polls),
            running: self.ran(),
            longest: self.longest(),
            idle: self.counted(Count::Idle),
            stack: siblings_in_order(stack),
            truncated,
            waker: None,
            pause: None,
            branches: Vec::new(),
        }
    }
}

/// Puts branches of one parent in the order of their polls: the await stack is read backwards, so
/// they arrive in reverse.
fn siblings_in_order(steps: Vec<AwaitFrame>) -> Vec<AwaitFrame> {
    if steps.windows(2).all(|pair| pair[1].level > pair[0].level) {
        return steps;
    }
    let mut ordered = Vec::with_capacity(steps.len());
    branch(&steps, &mut ordered);
    ordered
}

fn branch(steps: &[AwaitFrame], out: &mut Vec<AwaitFrame>) {
    let Some(level) = steps.first().map(|step| step.level) else {
        return;
    };
    let starts = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.level <= level)
        .map(|(at, _)| at);
    let starts: Vec<usize> = starts.collect();
    for (nth, &at) in starts.iter().enumerate().rev() {
        let end = starts.get(nth + 1).copied().unwrap_or(steps.len());
        out.push(steps[at]);
        branch(&steps[at + 1..end], out);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::TaskCell;
    use crate::account::await_stack::AwaitFrame;
    use crate::account::paths::Paths;

    fn check(levels: &[(u32, u32)], expected: &[u32]) {
        let (cell, table) = (TaskCell::default(), Paths::default());
        cell.begin(1, 0, 10);
        cell.end(20, 10, 10).publish(&table, |stack| {
            for &(level, proc) in levels {
                stack.push(AwaitFrame {
                    level,
                    proc,
                    site: 1,
                    direct: true,
                    since: 5,
                });
            }
        });
        let procs: Vec<u32> = cell
            .read(&table, &mut || ())
            .stack
            .iter()
            .map(|step| step.proc)
            .collect();
        assert_eq!(procs, expected);
    }

    #[test]
    fn a_chain_stays_and_branches_come_in_the_order_they_were_polled() {
        check(&[], &[]);
        check(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], &[1, 2, 3, 4, 5]);
        check(
            &[(0, 1), (1, 3), (2, 30), (1, 2), (2, 20)],
            &[1, 2, 20, 3, 30],
        );
    }
}
