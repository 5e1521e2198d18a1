//! Counts of what happened to a task's waker, and the part of a slot that few tasks need.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use once_cell::race::OnceBox;

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

/// Counts, and what few tasks have.
#[derive(Debug, Default)]
pub(super) struct WakerCounts {
    /// Lower halves of the counts.
    lower: [AtomicU32; COUNTS],
    /// Number of wakes that the monitor knows, modulo 2³².
    told: AtomicU32,
    rare: OnceBox<Rare>,
}

/// It stays when the slot is used for another task.
#[derive(Debug, Default)]
struct Rare {
    /// Upper halves of the counts.
    upper: [AtomicU32; COUNTS],
    origin: Mutex<Option<Arc<TaskOrigin>>>,
}

impl WakerCounts {
    /// Starts over, for another task.
    pub(super) fn renew(&self) {
        let upper = self.rare.get().map(|rare| &rare.upper);
        for half in self.lower.iter().chain(upper.into_iter().flatten()) {
            half.store(0, Ordering::Relaxed);
        }
        self.told.store(0, Ordering::Relaxed);
    }

    #[cold]
    fn rare(&self) -> &Rare {
        self.rare.get_or_init(Box::default)
    }

    /// Counts one of those that several threads count.
    #[inline]
    pub(super) fn add(&self, count: WakerCount) {
        if self.lower[count as usize].fetch_add(1, Ordering::Relaxed) == u32::MAX {
            self.rare().upper[count as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts one of those that only the polling thread counts.
    #[inline]
    pub(super) fn add_own(&self, count: WakerCount) {
        let half = &self.lower[count as usize];
        let next = half.load(Ordering::Relaxed).wrapping_add(1);
        half.store(next, Ordering::Relaxed);
        if next == 0 {
            self.rare().upper[count as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self, count: WakerCount) -> u64 {
        let rare = self.rare.get();
        let upper = || rare.map_or(0, |rare| rare.upper[count as usize].load(Ordering::Acquire));
        let lower = || self.lower[count as usize].load(Ordering::Acquire);
        let mut before = upper();
        loop {
            let (lower, after) = (lower(), upper());
            if before == after {
                return u64::from(before) << 32 | u64::from(lower);
            }
            before = after;
        }
    }

    /// Number of wakes.
    pub(super) fn wakes(&self) -> u64 {
        self.get(WakerCount::Own) + self.get(WakerCount::Others)
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

    pub(super) fn set_origin(&self, origin: Arc<TaskOrigin>) {
        *lock(&self.rare().origin) = Some(origin);
    }

    pub(super) fn origin(&self) -> Option<Arc<TaskOrigin>> {
        lock(&self.rare.get()?.origin).clone()
    }

    pub(super) fn take_origin(&self) -> Option<Arc<TaskOrigin>> {
        lock(&self.rare.get()?.origin).take()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{WakerCount, WakerCounts};

    #[test]
    fn counts_are_as_long_as_it_takes() {
        let counts = WakerCounts::default();
        for count in [WakerCount::Own, WakerCount::Others, WakerCount::Clones] {
            counts.lower[count as usize].store(u32::MAX, Ordering::Relaxed);
        }
        counts.add_own(WakerCount::Own);
        counts.add(WakerCount::Others);
        counts.add(WakerCount::Others);
        let counted = [WakerCount::Own, WakerCount::Others, WakerCount::Clones]
            .map(|count| counts.get(count));
        assert_eq!(counted, [1 << 32, (1 << 32) + 1, u64::from(u32::MAX)]);
        counts.renew();
        assert_eq!((counts.wakes(), counts.get(WakerCount::Clones)), (0, 0));
    }
}
