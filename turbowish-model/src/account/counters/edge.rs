//! Edge counters: which procs poll and create a proc's calls, on one thread.

use core::sync::atomic::Ordering::Relaxed;

use crate::account::aggregate::EdgeStats;
use crate::account::histogram::add;
use crate::account::sync::{AtomicU32, AtomicU64};

/// The edge to one proc that polls or creates calls of this proc. One cache line.
#[repr(align(64))]
pub(crate) struct EdgeCounters {
    /// Id of the other proc plus one; 0 is a free slot.
    pub(super) other: AtomicU32,
    polls: AtomicU64,
    /// Hold of polls whose call was also created by the other proc and which contained no foreign
    /// time. Part of both `hold` and `offspring`.
    both: AtomicU64,
    hold: AtomicU64,
    created: AtomicU64,
    offspring: AtomicU64,
}

impl Default for EdgeCounters {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            other: AtomicU32::new(0),
            polls: zero(),
            both: zero(),
            hold: zero(),
            created: zero(),
            offspring: zero(),
        }
    }
}

impl EdgeCounters {
    /// The other proc polled a call.
    #[inline]
    pub(crate) fn polled(&self, hold: u64) {
        add(&self.polls, 1);
        add(&self.hold, hold);
    }

    /// The other proc polled a call that it had created, and the poll contained no foreign time.
    #[inline]
    pub(crate) fn polled_own(&self, hold: u64) {
        add(&self.polls, 1);
        add(&self.both, hold);
    }

    #[inline]
    pub(crate) fn created(&self) {
        add(&self.created, 1);
    }

    #[inline]
    pub(crate) fn offspring(&self, inclusive: u64) {
        add(&self.offspring, inclusive);
    }

    pub(super) fn collect(&self, into: &mut EdgeStats) {
        into.polls += self.polls.load(Relaxed);
        let both = self.both.load(Relaxed);
        let with_both = |sum: &AtomicU64| sum.load(Relaxed).wrapping_add(both);
        into.hold = into.hold.wrapping_add(with_both(&self.hold));
        into.created += self.created.load(Relaxed);
        into.offspring = into.offspring.wrapping_add(with_both(&self.offspring));
    }
}
