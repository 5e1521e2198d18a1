//! Counts of what happened to a task's waker, and the part of a slot that few tasks need.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use turbowish_model::account::task::{CellOwner, Extra, TaskCell};

use super::{FLAG_BITS, registry};
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
    /// Lower half of the number of wakes that the monitor knows, modulo 2³².
    told: AtomicU16,
}

/// What few tasks have. It stays when the slot is used for another task.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// Multiples of [`HALF`] that the counts have reached.
    halves: [AtomicU32; COUNTS],
    /// Upper half of the number of wakes that the monitor knows.
    told: AtomicU16,
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

/// The owner of a slot's cell: the slot's flags, and above them its index.
#[derive(Debug)]
pub(crate) struct SlotWord(pub(super) AtomicU32);

impl SlotWord {
    /// The word of the free slot at `index`.
    pub(super) const fn new(index: u32) -> Self {
        Self(AtomicU32::new(index << FLAG_BITS))
    }

    /// The slot's index.
    #[inline]
    pub(super) fn index(&self) -> u32 {
        self.0.load(Ordering::Relaxed) >> FLAG_BITS
    }
}

impl CellOwner for SlotWord {
    type Rare = Rare;

    fn extra(&self) -> Option<&Extra<Rare>> {
        registry::extra(self.index())
    }

    fn make_extra(&self) -> &Extra<Rare> {
        registry::make_extra(self.index())
    }
}

/// A slot's cell.
pub(crate) type SlotCell = TaskCell<SlotWord>;

impl WakerCounts {
    /// Starts over, for another task.
    pub(super) fn renew(&self, cell: &TaskCell<impl CellOwner<Rare = Rare>>) {
        for lower in &self.lower {
            lower.store(0, Ordering::Relaxed);
        }
        self.told.store(0, Ordering::Relaxed);
        if let Some(rare) = cell.rare() {
            for half in &rare.halves {
                half.store(0, Ordering::Relaxed);
            }
            rare.told.store(0, Ordering::Relaxed);
        }
    }

    #[cold]
    fn carry(cell: &TaskCell<impl CellOwner<Rare = Rare>>, count: WakerCount) {
        // Release: who sees it also sees that the count has got there.
        cell.make_rare().halves[count as usize].fetch_add(1, Ordering::Release);
    }

    /// Counts one of those that several threads count.
    #[inline]
    pub(super) fn add(&self, cell: &TaskCell<impl CellOwner<Rare = Rare>>, count: WakerCount) {
        if self.lower[count as usize].fetch_add(1, Ordering::Relaxed) % HALF == HALF - 1 {
            Self::carry(cell, count);
        }
    }

    /// Counts one of those that only the polling thread counts.
    #[inline]
    pub(super) fn add_own(&self, cell: &TaskCell<impl CellOwner<Rare = Rare>>, count: WakerCount) {
        let lower = &self.lower[count as usize];
        let next = lower.load(Ordering::Relaxed).wrapping_add(1);
        lower.store(next, Ordering::Relaxed);
        if next.is_multiple_of(HALF) {
            Self::carry(cell, count);
        }
    }

    pub(super) fn get(
        &self,
        cell: &TaskCell<impl CellOwner<Rare = Rare>>,
        count: WakerCount,
    ) -> u64 {
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
    pub(super) fn wakes(&self, cell: &TaskCell<impl CellOwner<Rare = Rare>>) -> u64 {
        self.get(cell, WakerCount::Own) + self.get(cell, WakerCount::Others)
    }

    /// Of `wakes`, those since the last call; for one thread.
    pub(super) fn tell(&self, cell: &TaskCell<impl CellOwner<Rare = Rare>>, wakes: u64) -> u32 {
        // A number of more than 16 bits is one that has an upper part there.
        let rare = cell.rare().map(|rare| &rare.told);
        let upper = rare.map_or(0, |told| told.load(Ordering::Relaxed));
        let lower = self.told.load(Ordering::Relaxed);
        let (before, now) = (u32::from(upper) << 16 | u32::from(lower), wakes as u32);
        if now != before {
            self.told.store(now as u16, Ordering::Relaxed);
            if let Some(told) = rare {
                told.store((now >> 16) as u16, Ordering::Relaxed);
            }
        }
        let more = now.wrapping_sub(before);
        // The slot may have become another task's in between, whose wakes are fewer.
        if more > u32::MAX / 2 { 0 } else { more }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use turbowish_model::account::task::{Alone, TaskCell};

    use super::{HALF, Rare, WakerCount, WakerCounts};

    fn fresh() -> (WakerCounts, TaskCell<Alone<Rare>>) {
        let cell = TaskCell::unused(Alone::default());
        (WakerCounts::default(), cell)
    }

    const ALL: [WakerCount; 3] = [WakerCount::Own, WakerCount::Others, WakerCount::Clones];

    #[test]
    fn counts_are_as_long_as_it_takes() {
        const MANY: u64 = 5 << 15;
        let (counts, cell) = fresh();
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
        let (counts, cell) = fresh();
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

    #[test]
    fn each_wake_is_told_once() {
        let (counts, cell) = fresh();
        for (more, told) in [
            (3, 3),
            (0, 0),
            (65_530, 65_530),
            (9, 9),
            (0, 0),
            (200_000, 200_000),
        ] {
            (0..more).for_each(|_| counts.add(&cell, WakerCount::Others));
            assert_eq!(counts.tell(&cell, counts.wakes(&cell)), told);
        }
        counts.renew(&cell);
        counts.add(&cell, WakerCount::Others);
        assert_eq!(counts.tell(&cell, counts.wakes(&cell)), 1);
        assert_eq!(counts.tell(&cell, 0), 0);
    }
}
