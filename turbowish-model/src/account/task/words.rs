//! Words of a task cell: 32 bits where nearly all tasks need no more, and the rest in a part that
//! few tasks have.

use alloc::boxed::Box;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::TaskCell;
use crate::account::append_vec::AppendVec;
use crate::account::await_stack::AwaitFrameCell;
use crate::account::sync::{AtomicU32, AtomicU64};

/// Stands for a number of ticks that is in `more`: a second or more.
const MUCH: u32 = u32::MAX;

/// Counts of a task cell.
#[derive(Clone, Copy)]
pub(super) enum Count {
    Polls,
    Idle,
    /// Ticks of running time.
    Running,
}

/// Number of counts.
pub(super) const COUNTS: usize = 3;

/// The part of a cell that few tasks need. It stays when the cell is used for another task.
#[derive(Debug, Default)]
pub(super) struct More {
    /// Upper halves of the counts.
    pub(super) counts: [AtomicU32; COUNTS],
    pub(super) latency: AtomicU64,
    pub(super) span: AtomicU64,
    pub(super) longest: AtomicU64,
    /// Frames beyond the first ones.
    pub(super) steps: AppendVec<AwaitFrameCell, MORE>,
}

/// Frames allocated together.
const MORE: usize = 4;

impl TaskCell {
    #[inline]
    pub(super) fn count(&self, count: Count) {
        let half = &self.counts[count as usize];
        let next = half.load(Relaxed).wrapping_add(1);
        half.store(next, Relaxed);
        if next == 0 {
            self.carry(count, 1);
        }
    }

    #[inline]
    pub(super) fn run(&self, ticks: u64) {
        let half = &self.counts[Count::Running as usize];
        let sum = u64::from(half.load(Relaxed)).wrapping_add(ticks);
        half.store(sum as u32, Relaxed);
        if sum >> 32 != 0 {
            self.carry(Count::Running, (sum >> 32) as u32);
        }
    }

    /// Raises the length of the longest poll.
    #[inline]
    pub(super) fn raise(&self, hold: u64) {
        let short = hold.min(MUCH.into()) as u32;
        if short > self.longest.load(Relaxed) || short == MUCH {
            self.raise_to(hold);
        }
    }

    #[cold]
    pub(super) fn raise_to(&self, hold: u64) {
        if hold > self.longest() {
            self.store(&self.longest, |more| &more.longest, hold);
        }
    }

    #[cold]
    pub(super) fn carry(&self, count: Count, more: u32) {
        let half = &self.more().counts[count as usize];
        half.store(half.load(Relaxed).wrapping_add(more), Relaxed);
    }

    /// Stores ticks in few bits, or many in `much`.
    #[inline]
    pub(super) fn store(&self, few: &AtomicU32, much: fn(&More) -> &AtomicU64, ticks: u64) {
        let short = ticks.min(MUCH.into()) as u32;
        if short == MUCH {
            much(self.more()).store(ticks, Relaxed);
        }
        // `Release`: a reader that sees this value also sees what was stored before.
        few.store(short, Release);
    }

    pub(super) fn ticks(&self, few: &AtomicU32, much: fn(&More) -> &AtomicU64) -> u64 {
        let short = few.load(Acquire);
        match self.more.get() {
            Some(more) if short == MUCH => much(more).load(Relaxed),
            _ => short.into(),
        }
    }

    pub(super) fn longest(&self) -> u64 {
        self.ticks(&self.longest, |more| &more.longest)
    }

    pub(super) fn counted(&self, count: Count) -> u64 {
        let more = self.more.get();
        let upper = more.map_or(0, |more| more.counts[count as usize].load(Relaxed));
        u64::from(upper) << 32 | u64::from(self.counts[count as usize].load(Relaxed))
    }

    #[cold]
    pub(super) fn more(&self) -> &More {
        self.more.get_or_init(Box::default)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::account::task::{TaskCell, TaskMeta, WakeCause};

    /// More than 32 bits.
    const LONG: u64 = 5 << 32;

    #[test]
    fn long_times_are_exact() {
        let cell = TaskCell::new(TaskMeta::new(1, 1, 0, 0));
        let poll = |began: u64, hold: u64, ready: u64| {
            cell.begin(1, 0, began);
            cell.readied(WakeCause {
                since: began - ready,
                by: 7,
            });
            cell.end(began + hold, hold, hold, |_| false);
            let seen = cell.read(&mut || ());
            let readied = seen.last.and_then(|last| last.readied);
            let since = readied.map(|readied| readied.since);
            assert_eq!((seen.since, seen.began), (began + hold, began));
            assert_eq!(since, Some(began - ready));
            (seen.running, seen.longest, seen.polls, seen.idle)
        };
        let most = u64::from(u32::MAX);
        assert_eq!(poll(LONG, 3, 0), (3, 3, 1, 1));
        assert_eq!(
            poll(2 * LONG, most - 1, most - 2),
            (most + 2, most - 1, 2, 2)
        );
        assert_eq!(poll(3 * LONG, most, most), (2 * most + 2, most, 3, 3));
        assert_eq!(
            poll(4 * LONG, LONG, LONG),
            (2 * most + 2 + LONG, LONG, 4, 4)
        );
        assert_eq!(poll(6 * LONG, 1, 1), (2 * most + 3 + LONG, LONG, 5, 5));
        cell.renew(&TaskMeta::new(1, 2, 0, 0));
        let seen = cell.read(&mut || ());
        assert_eq!((seen.running, seen.longest, seen.polls), (0, 0, 0));
    }
}
