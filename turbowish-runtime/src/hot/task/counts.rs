//! Counts of what happened to a task's waker, and the part of a slot that few tasks need.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use turbowish_model::account::task::TaskCell;

use crate::hot::origin::TaskOrigin;
use crate::lock::lock;

/// Counts of a task's waker.
#[derive(Clone, Copy, Debug)]
pub(super) enum WakerCount {
    /// Wakes from within the task's own poll. Only the polling thread counts them.
    Own,
    /// All other wakes.
    Others,
    Clones,
}

/// Number of counts.
const COUNTS: usize = 3;

const HALF: u16 = 1 << 15;

/// Counts of a task's waker. Each has 16 bits here; for those above, [`Rare`] counts how often it
/// has reached a multiple of [`HALF`]. The highest bit here says whether that was counted yet.
#[derive(Debug, Default)]
pub(super) struct WakerCounts {
    lower: [AtomicU16; COUNTS],
    /// Number of wakes that the monitor knows, modulo 2³².
    told: AtomicU32,
}

/// What few tasks have. It stays when the slot is used for another task.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// Multiples of [`HALF`] that the counts have reached.
    halves: [AtomicU32; COUNTS],
    origin: Mutex<Option<Arc<TaskOrigin>>>,
}

impl Rare {
    pub(super) fn set_origin(&self, origin: Arc<TaskOrigin>) {
        *lock(&self.origin) = Some(origin);
    }

    pub(super) fn origin(&self) -> Option<Arc<TaskOrigin>> {
        lock(&self.origin).clone()
    }

    pub(super) fn take_origin(&self) -> Option<Arc<TaskOrigin>> {
        lock(&self.origin).take()
    }
}

/// A slot's cell, which keeps what few tasks have.
pub(crate) type SlotCell = TaskCell<Rare>;

impl WakerCounts {
    /// Starts over, for another task.
    pub(super) fn renew(&self, cell: &SlotCell) {
        for lower in &self.lower {
            lower.store(0, Ordering::Relaxed);
        }
        for half in cell.rare().into_iter().flat_map(|rare| &rare.halves) {
            half.store(0, Ordering::Relaxed);
        }
        self.told.store(0, Ordering::Relaxed);
    }

    #[cold]
    fn carry(cell: &SlotCell, count: WakerCount) {
        // Release: who sees it also sees that the count has got there.
        cell.make_rare().halves[count as usize].fetch_add(1, Ordering::Release);
    }

    /// Counts one of those that several threads count.
    #[inline]
    pub(super) fn add(&self, cell: &SlotCell, count: WakerCount) {
        if self.lower[count as usize].fetch_add(1, Ordering::Relaxed) % HALF == HALF - 1 {
            Self::carry(cell, count);
        }
    }

    /// Counts one of those that only the polling thread counts.
    #[inline]
    pub(super) fn add_own(&self, cell: &SlotCell, count: WakerCount) {
        let lower = &self.lower[count as usize];
        let next = lower.load(Ordering::Relaxed).wrapping_add(1);
        lower.store(next, Ordering::Relaxed);
        if next.is_multiple_of(HALF) {
            Self::carry(cell, count);
        }
    }

    pub(super) fn get(&self, cell: &SlotCell, count: WakerCount) -> u64 {
        let halves = || {
            let rare = cell.rare();
            rare.map_or(0, |rare| {
                rare.halves[count as usize].load(Ordering::Acquire)
            })
        };
        let mut before = halves();
        loop {
            let lower = self.lower[count as usize].load(Ordering::Acquire);
            let after = halves();
            if before == after {
                // It may have reached one that is not counted yet.
                let reached = before + u32::from(before % 2 != u32::from(lower / HALF));
                return u64::from(reached) * u64::from(HALF) + u64::from(lower % HALF);
            }
            before = after;
        }
    }

    /// Number of wakes.
    pub(super) fn wakes(&self, cell: &SlotCell) -> u64 {
        self.get(cell, WakerCount::Own) + self.get(cell, WakerCount::Others)
    }

    /// Of `wakes`, those since the last call; for one thread.
    pub(super) fn tell(&self, wakes: u64) -> u32 {
        let (before, now) = (self.told.load(Ordering::Relaxed), wakes as u32);
        if now != before {
            self.told.store(now, Ordering::Relaxed);
        }
        let more = now.wrapping_sub(before);
        // The slot may have become another task's in between, whose wakes are fewer.
        if more > u32::MAX / 2 { 0 } else { more }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{HALF, SlotCell, WakerCount, WakerCounts};

    const ALL: [WakerCount; 3] = [WakerCount::Own, WakerCount::Others, WakerCount::Clones];

    #[test]
    fn counts_are_as_long_as_it_takes() {
        const MANY: u64 = 5 << 15;
        let (counts, cell) = (WakerCounts::default(), SlotCell::unused());
        for nth in 1..=MANY {
            counts.add_own(&cell, WakerCount::Own);
            counts.add(&cell, WakerCount::Others);
            assert_eq!(counts.get(&cell, WakerCount::Own), nth);
            assert_eq!(counts.get(&cell, WakerCount::Others), nth);
        }
        assert_eq!(counts.wakes(&cell), 2 * MANY);
        let rare = cell.rare().expect("many");
        rare.halves[0].store(u32::MAX, Ordering::Relaxed);
        counts.lower[0].store(u16::MAX, Ordering::Relaxed);
        assert_eq!(counts.get(&cell, WakerCount::Own), (1 << 47) - 1);
        counts.renew(&cell);
        assert_eq!(ALL.map(|count| counts.get(&cell, count)), [0; 3]);
    }

    #[test]
    fn a_count_is_right_before_its_upper_part_is_counted() {
        let (counts, cell) = (WakerCounts::default(), SlotCell::unused());
        counts.lower[1].store(HALF, Ordering::Relaxed);
        assert_eq!(counts.get(&cell, WakerCount::Others), u64::from(HALF));
        cell.make_rare().halves[1].store(1, Ordering::Relaxed);
        assert_eq!(counts.get(&cell, WakerCount::Others), u64::from(HALF));
        counts.lower[1].store(3, Ordering::Relaxed);
        assert_eq!(
            counts.get(&cell, WakerCount::Others),
            2 * u64::from(HALF) + 3
        );
    }
}
