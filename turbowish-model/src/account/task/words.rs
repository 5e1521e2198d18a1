//! Words of a task cell: 16 or 32 bits where nearly all tasks need no more, and the rest in a part
//! that few tasks have.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use once_cell::race::OnceBox;

use super::TaskCell;
use super::extra::CellOwner;
use crate::account::append_vec::AppendVec;
use crate::account::await_stack::AwaitFrameCell;
use crate::account::sync::{AtomicU16, AtomicU32, AtomicU64};

/// Stands for a number of ticks that is in `more`: a second or more.
pub(super) const MUCH: u32 = u32::MAX;

/// Counts of a task cell.
#[derive(Clone, Copy)]
pub(super) enum Count {
    Polls,
    Idle,
}

/// Number of counts.
const COUNTS: usize = 2;

/// PollSums and a maximum of a task cell.
#[derive(Debug, Default)]
pub(super) struct PollSums {
    /// Length of the longest root poll.
    pub(super) longest: AtomicU32,
    /// Lower half of the running time, in ticks; the upper one is in `more`.
    pub(super) running: AtomicU32,
    /// Lower parts of the counts; the upper ones are in `more`.
    counts: [AtomicU16; COUNTS],
}

impl PollSums {
    /// Starts over, for another task.
    pub(super) fn renew(&self) {
        for word in [&self.longest, &self.running] {
            word.store(0, Relaxed);
        }
        for count in &self.counts {
            count.store(0, Relaxed);
        }
    }
}

/// The part of a cell that few tasks need. It stays when the cell is used for another task.
#[derive(Debug, Default)]
pub(super) struct More<R> {
    /// What the cell's owner keeps there.
    pub(super) rare: R,
    /// Upper parts of the counts.
    counts: [AtomicU32; COUNTS],
    /// Upper half of the running time.
    running: AtomicU32,
    /// Number plus one of the last poll's thread, and its epoch, if either needs many bits.
    pub(super) thread: AtomicU32,
    pub(super) epoch: AtomicU32,
    pub(super) long: OnceBox<Long>,
}

/// What still fewer tasks need.
#[derive(Debug, Default)]
pub(super) struct Long {
    pub(super) latency: AtomicU64,
    pub(super) span: AtomicU64,
    longest: AtomicU64,
    /// Frames of an await stack that is no chain, or has too many times.
    pub(super) steps: AppendVec<AwaitFrameCell, MORE>,
}

/// Frames allocated together.
const MORE: usize = 4;

impl<R> More<R> {
    /// Starts over, for another task.
    pub(super) fn renew(&self) {
        for upper in self.counts.iter().chain([&self.running]) {
            upper.store(0, Relaxed);
        }
    }
}

impl<O: CellOwner> TaskCell<O> {
    #[inline]
    pub(super) fn count(&self, count: Count) {
        let lower = &self.sums.counts[count as usize];
        let next = lower.load(Relaxed).wrapping_add(1);
        lower.store(next, Relaxed);
        if next == 0 {
            carry(&self.more().counts[count as usize], 1);
        }
    }

    #[inline]
    pub(super) fn run(&self, ticks: u64) {
        let sum = u64::from(self.sums.running.load(Relaxed)).wrapping_add(ticks);
        self.sums.running.store(sum as u32, Relaxed);
        if sum >> 32 != 0 {
            carry(&self.more().running, (sum >> 32) as u32);
        }
    }

    /// Raises the length of the longest poll.
    #[inline]
    pub(super) fn raise(&self, hold: u64) {
        let short = hold.min(MUCH.into()) as u32;
        if short > self.sums.longest.load(Relaxed) || short == MUCH {
            self.raise_to(hold);
        }
    }

    #[cold]
    pub(super) fn raise_to(&self, hold: u64) {
        if hold > self.longest() {
            self.store(&self.sums.longest, |long| &long.longest, hold);
        }
    }

    /// Stores ticks in few bits, or many in `much`.
    #[inline]
    pub(super) fn store(&self, few: &AtomicU32, much: fn(&Long) -> &AtomicU64, ticks: u64) {
        let short = ticks.min(MUCH.into()) as u32;
        if short == MUCH {
            much(self.long()).store(ticks, Relaxed);
        }
        // `Release`: a reader that sees this value also sees what was stored before.
        few.store(short, Release);
    }

    pub(super) fn ticks(&self, few: &AtomicU32, much: fn(&Long) -> &AtomicU64) -> u64 {
        let short = few.load(Acquire);
        match self.known_long() {
            Some(long) if short == MUCH => much(long).load(Relaxed),
            _ => short.into(),
        }
    }

    pub(super) fn longest(&self) -> u64 {
        self.ticks(&self.sums.longest, |long| &long.longest)
    }

    pub(super) fn counted(&self, count: Count) -> u64 {
        let more = self.known_more();
        let upper = more.map_or(0, |more| more.counts[count as usize].load(Relaxed));
        u64::from(upper) << u16::BITS | u64::from(self.sums.counts[count as usize].load(Relaxed))
    }

    pub(super) fn ran(&self) -> u64 {
        let more = self.known_more();
        let upper = more.map_or(0, |more| more.running.load(Relaxed));
        u64::from(upper) << u32::BITS | u64::from(self.sums.running.load(Relaxed))
    }
}

#[cold]
fn carry(upper: &AtomicU32, more: u32) {
    upper.store(upper.load(Relaxed).wrapping_add(more), Relaxed);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::account::paths::Paths;
    use crate::account::task::{TaskCell, TaskMeta, WakeCause, WakeSource};

    /// More than 32 bits.
    const LONG: u64 = 5 << 32;

    #[test]
    fn long_times_are_exact() {
        let (cell, table) = (TaskCell::new(TaskMeta::new(1, 1, 0, 0)), Paths::default());
        let poll = |began: u64, hold: u64, ready: u64| {
            cell.begin(1, 0, began);
            cell.readied(WakeCause {
                since: began - ready,
                by: WakeSource::of_task(7, 0),
            });
            cell.end(began + hold, hold, hold).unmoved();
            let seen = cell.read(&table, &mut || ());
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
        let seen = cell.read(&table, &mut || ());
        assert_eq!((seen.running, seen.longest, seen.polls), (0, 0, 0));
    }

    #[test]
    fn counts_are_as_long_as_it_takes() {
        let (cell, table) = (TaskCell::new(TaskMeta::new(1, 1, 0, 0)), Paths::default());
        const MANY: u64 = 3 << 16;
        for t in 0..MANY {
            cell.begin(1, 0, t);
            match t % 2 {
                0 => cell.end(t, 0, 0).publish(&table, |_| {}),
                _ => cell.end(t, 0, 0).unmoved(),
            }
        }
        let seen = cell.read(&table, &mut || ());
        assert_eq!((seen.polls, seen.idle), (MANY, MANY / 2));
        assert_eq!(cell.glance(&mut || ()).polls, MANY);
        cell.renew(&TaskMeta::new(1, 2, 0, 0));
        let seen = cell.read(&table, &mut || ());
        assert_eq!((seen.polls, seen.idle), (0, 0));
    }
}
