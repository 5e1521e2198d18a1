//! What one live task shows: written by whoever polls it, read by the monitor, never locked.

mod branch;
mod glance;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

pub use self::glance::Glance;
use crate::account::append_vec::AppendVec;
use crate::account::await_stack::{AwaitFrame, AwaitFrameCell};
use crate::account::branch::BranchReading;
use crate::account::counters::PROC_LIMIT;
use crate::account::histogram::{add, raise};
use crate::account::seqlock::SeqLock;
use crate::account::sync::{AtomicU32, AtomicU64};

/// Steps kept of one chain; the rest is cut and marked so.
pub const STACK_LIMIT: u32 = 512;

/// Steps kept without another allocation.
const FIRST: usize = 4;

/// Steps kept of a branch's chain; the last place is its parent's.
pub const CHAIN: usize = FIRST - 1;

/// What never changes of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskMeta {
    /// Unique within the process: [`TaskMeta::root`] and [`TaskMeta::ordinal`] in one word. 0 is none.
    pub id: u64,
    /// First poll, in the clock's ticks.
    pub created: u64,
    /// Bytes of the root future.
    pub future_bytes: u32,
}

/// An id's bits for the proc of the root.
const ROOT_BITS: u32 = PROC_LIMIT.ilog2();

impl TaskMeta {
    /// The task whose root is the `ordinal`th of its proc's, from 1.
    #[must_use]
    pub const fn new(root: u32, ordinal: u64, created: u64, future_bytes: u32) -> Self {
        const { assert!(PROC_LIMIT.is_power_of_two()) };
        Self {
            id: ordinal << ROOT_BITS | root as u64,
            created,
            future_bytes,
        }
    }

    /// Proc id of the root.
    #[must_use]
    pub const fn root(&self) -> u32 {
        self.id as u32 % PROC_LIMIT
    }

    /// Its number among the tasks of that root proc, from 1.
    #[must_use]
    pub const fn ordinal(&self) -> u64 {
        self.id >> ROOT_BITS
    }
}

/// The task whose first poll is in progress on a thread. Most calls from outside end with that poll, so a task gets a row of its own
/// when it has ended pending.
#[derive(Debug, Default)]
pub struct FirstPollCell {
    sequence: SeqLock,
    /// 0 if there is none.
    id: AtomicU64,
    created: AtomicU64,
    future_bytes: AtomicU32,
}

impl FirstPollCell {
    /// The first poll of a task begins.
    #[inline]
    pub fn begin(&self, birth: &TaskMeta) {
        let writing = self.sequence.write();
        self.id.store(birth.id, Relaxed);
        self.created.store(birth.created, Relaxed);
        self.future_bytes.store(birth.future_bytes, Relaxed);
        drop(writing);
    }

    /// That poll is over, or the task has got a row.
    #[inline]
    pub fn end(&self) {
        let writing = self.sequence.write();
        self.id.store(0, Relaxed);
        drop(writing);
    }

    /// The task, as its thread sees it.
    #[must_use]
    pub fn own(&self) -> TaskMeta {
        TaskMeta {
            id: self.id.load(Relaxed),
            created: self.created.load(Relaxed),
            future_bytes: self.future_bytes.load(Relaxed),
        }
    }

    /// The task, if there is one; `relax` lets other threads run while one of them is in the middle of writing it.
    pub fn read(&self, relax: &mut dyn FnMut()) -> Option<TaskMeta> {
        let birth = self.sequence.read(relax, || self.own());
        (birth.id != 0).then_some(birth)
    }
}

/// A live task. One poller at a time writes it.
#[derive(Debug, Default)]
pub struct TaskCell {
    /// What never changes.
    pub birth: TaskMeta,
    sequence: SeqLock,
    /// Thread that polls it, or polled it last, plus one; [`POLLED`] while it does. 0 before its first poll.
    thread: AtomicU32,
    epoch: AtomicU32,
    since: AtomicU64,
    /// Begin of the last root poll.
    began: AtomicU64,
    /// Since when it was ready before that poll; 0 if nobody was seen to make it so.
    ready: AtomicU64,
    /// Who did.
    ready_by: AtomicU64,
    polls: AtomicU64,
    running: AtomicU64,
    longest: AtomicU64,
    idle: AtomicU64,
    len: AtomicU32,
    steps: AppendVec<AwaitFrameCell, FIRST>,
}

/// Beside a thread's number: it polls the task now.
const POLLED: u32 = 1 << 31;

/// What is known of a task's waker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakerReading {
    /// The first wake since the last poll began, in ticks.
    pub woken: Option<u64>,
    /// Who has made it ready last: the task, by id; if it was none of ours, a thread, as the runtime marks them; 0 if that is not known.
    pub by: u64,
    /// Times that it was woken.
    pub wakes: u64,
    /// Times out of its own poll; part of `wakes`.
    pub own_wakes: u64,
    /// Clones of its waker made so far.
    pub clones: u64,
    /// Clones that are out there now.
    pub live: u32,
}

/// A console keeps a task from being polled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    /// Who, as it calls itself.
    pub by: String,
    /// Since when, in ticks.
    pub since: u64,
    /// It ends by itself in so many ticks; `None`: it does not.
    pub left: Option<u64>,
    /// The executor wanted to poll the task since: it will be polled as soon as the pause ends.
    pub woken: bool,
    /// Where the root future lies in memory; 0 if that is not known.
    pub address: u64,
}

/// What made a task ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeCause {
    /// Since when it was ready, in ticks.
    pub since: u64,
    /// As in [`WakerReading::by`]; before a task's first poll, who has spawned it.
    pub by: u64,
}

/// A task's last poll, also while it is in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastPoll {
    /// Thread that did it.
    pub thread: u32,
    /// What it was polled for, if that was seen.
    pub readied: Option<WakeCause>,
}

/// A reading of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskReading {
    /// Of its waker; `None` while that is not seen: in its first poll, or where wakers are left alone.
    pub waker: Option<WakerReading>,
    /// It is kept from being polled, which few are: a reading is small without.
    pub pause: Option<Box<Pause>>,
    /// Thread that polls it now.
    pub thread: Option<u32>,
    /// Its last poll; `None` if there may have been one that was not seen.
    pub last: Option<LastPoll>,
    /// When this was read, in ticks; 0: at the instant of the totals.
    pub read_at: u64,
    /// Epoch of its last accounted poll.
    pub epoch: u32,
    /// Begin of the poll, or end of the last one.
    pub since: u64,
    /// Begin of the last root poll: its name, where a future says in which one it was polled.
    pub began: u64,
    /// Root polls begun.
    pub polls: u64,
    /// Running time of all its calls in finished polls.
    pub running: u64,
    /// Longest finished root poll.
    pub longest: u64,
    /// Root polls that ended pending, and in which no call was made, ended or came to another await point.
    pub idle: u64,
    /// Chain of the last poll that ended pending, outermost first.
    pub stack: Vec<AwaitFrame>,
    /// The chain was longer than [`STACK_LIMIT`].
    pub truncated: bool,
    /// Branches that were made in its polls and are alive.
    pub branches: Vec<BranchReading>,
}

impl TaskReading {
    /// A task in its first poll.
    #[must_use]
    pub fn first(birth: &TaskMeta, epoch: u32, thread: u32, readied: Option<WakeCause>) -> Self {
        Self {
            thread: Some(thread),
            last: Some(LastPoll { thread, readied }),
            epoch,
            since: birth.created,
            began: birth.created,
            polls: 1,
            ..Self::default()
        }
    }

    /// Keeps only what stays true of a task whose polls were not seen for a while.
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

impl TaskCell {
    /// A task that was not polled yet.
    #[must_use]
    pub fn new(birth: TaskMeta) -> Self {
        Self {
            birth,
            ..Self::default()
        }
    }

    /// A root poll begins on a thread. Returns when the last one has ended, if that was in the same epoch.
    #[inline]
    pub fn begin(&self, epoch: u32, thread: u32, t: u64) -> Option<u64> {
        let before = self.since.load(Relaxed);
        let before = (self.epoch.load(Relaxed) == epoch).then_some(before);
        let writing = self.sequence.write();
        self.thread.store(thread.wrapping_add(1) | POLLED, Relaxed);
        self.epoch.store(epoch, Relaxed);
        self.since.store(t, Relaxed);
        self.began.store(t, Relaxed);
        self.ready.store(0, Relaxed);
        add(&self.polls, 1);
        drop(writing);
        before
    }

    /// That poll was begun because of this.
    #[inline]
    pub fn readied(&self, readied: WakeCause) {
        self.ready_by.store(readied.by, Relaxed);
        // Whoever reads it reads by whom as well.
        self.ready.store(readied.since, Release);
    }

    /// It ended pending; `trail` hands out the chain from the first level that is not as it was published before, outermost first,
    /// or nothing and `false` if all of it is.
    #[inline]
    pub fn end(
        &self,
        t: u64,
        hold: u64,
        running: u64,
        trail: impl FnOnce(&mut dyn FnMut(AwaitFrame)) -> bool,
    ) {
        let writing = self.sequence.write();
        let thread = self.thread.load(Relaxed);
        self.thread.store(thread & !POLLED, Relaxed);
        self.since.store(t, Relaxed);
        add(&self.running, running);
        raise(&self.longest, hold);
        let mut first = None;
        let mut len = 0;
        let moved = trail(&mut |step| {
            // Above the first step there is one call a level.
            len = len.max(*first.get_or_insert(step.level));
            if len < STACK_LIMIT {
                self.steps.at(len as usize).store(step);
            }
            len += 1;
        });
        if moved {
            self.len.store(len, Relaxed);
        } else {
            add(&self.idle, 1);
        }
        drop(writing);
    }

    /// What the task shows now; `relax` lets other threads run while one of them is in the middle of
    /// writing it.
    #[must_use]
    pub fn read(&self, relax: &mut dyn FnMut()) -> TaskReading {
        self.sequence.read(relax, || self.attempt())
    }

    fn attempt(&self) -> TaskReading {
        let len = self.len.load(Relaxed);
        let kept = len.min(STACK_LIMIT) as usize;
        let thread = self.thread.load(Relaxed);
        let number = (thread & !POLLED).checked_sub(1);
        let since = self.ready.load(Acquire);
        let readied = (since != 0).then(|| WakeCause {
            since,
            by: self.ready_by.load(Relaxed),
        });
        TaskReading {
            thread: number.filter(|_| thread & POLLED != 0),
            last: number.map(|thread| LastPoll { thread, readied }),
            read_at: 0,
            epoch: self.epoch.load(Relaxed),
            since: self.since.load(Relaxed),
            began: self.began.load(Relaxed),
            polls: self.polls.load(Relaxed),
            running: self.running.load(Relaxed),
            longest: self.longest.load(Relaxed),
            idle: self.idle.load(Relaxed),
            stack: siblings_in_order((0..kept).map(|index| self.steps.at(index).load()).collect()),
            truncated: len > STACK_LIMIT,
            waker: None,
            pause: None,
            branches: Vec::new(),
        }
    }
}

/// The trail is read backwards, so branches of one parent come last polled first; turn them round.
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

    fn check(levels: &[(u32, u32)], expected: &[u32]) {
        let cell = TaskCell::default();
        cell.begin(1, 0, 10);
        cell.end(20, 10, 10, |each| {
            for &(level, proc) in levels {
                each(AwaitFrame {
                    level,
                    proc,
                    site: 1,
                    direct: true,
                    since: 5,
                });
            }
            true
        });
        let procs: Vec<u32> = cell
            .read(&mut || ())
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
