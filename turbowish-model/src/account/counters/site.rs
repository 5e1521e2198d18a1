//! Counters of one await point on one thread.

use core::sync::atomic::Ordering::Relaxed;

use crate::account::aggregate::SiteStats;
use crate::account::histogram::{add, raise};
use crate::account::sync::AtomicU64;

/// Waits at one await point. One cache line.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct SiteCounters {
    waits: AtomicU64,
    left: AtomicU64,
    /// Waits that ended and began again within one poll. Counted in neither `waits` nor `left`.
    again: AtomicU64,
    /// Moment: ends of waits minus their starts.
    waited: AtomicU64,
    longest: AtomicU64,
    cancelled: AtomicU64,
    spurious: AtomicU64,
    /// Bytes of the largest awaited future; small ones are not recorded.
    operand: AtomicU64,
}

impl SiteCounters {
    /// Whether nothing was recorded here on this thread. `waited` alone does not tell: a wait may
    /// begin on one thread and end on another.
    pub(super) fn is_untouched(&self) -> bool {
        let counts = [&self.waits, &self.left, &self.again, &self.cancelled];
        let mut all = counts.into_iter().chain([&self.spurious, &self.operand]);
        all.all(|count| count.load(Relaxed) == 0)
    }

    /// A poll ended pending here at `t`.
    #[inline]
    pub(crate) fn suspend(&self, t: u64) {
        add(&self.waits, 1);
        add(&self.waited, t.wrapping_neg());
    }

    /// The wait that began at `since` ended at `t`.
    #[inline]
    pub(crate) fn resume(&self, since: u64, t: u64) {
        add(&self.left, 1);
        add(&self.waited, t);
        raise(&self.longest, t.saturating_sub(since));
    }

    /// The wait that began at `since` ended at `start`, and another one began at `t`.
    #[inline]
    pub(crate) fn again(&self, since: u64, start: u64, t: u64) {
        add(&self.again, 1);
        add(&self.waited, start.wrapping_sub(t));
        raise(&self.longest, start.saturating_sub(since));
    }

    /// A call was dropped while suspended here.
    pub(crate) fn cancel(&self) {
        add(&self.cancelled, 1);
    }

    /// A poll left the awaited resource unchanged.
    pub(crate) fn spurious(&self) {
        add(&self.spurious, 1);
    }

    /// Records the size of a future that is awaited here.
    pub(crate) fn operand(&self, bytes: u64) {
        raise(&self.operand, bytes);
    }

    pub(super) fn collect(&self, into: &mut SiteStats) {
        let again = self.again.load(Relaxed);
        let both = |count: &AtomicU64| count.load(Relaxed).wrapping_add(again);
        into.waits = into.waits.wrapping_add(both(&self.waits));
        into.left = into.left.wrapping_add(both(&self.left));
        into.waited = into.waited.wrapping_add(self.waited.load(Relaxed));
        into.longest = into.longest.max(self.longest.load(Relaxed));
        into.cancelled = into.cancelled.wrapping_add(self.cancelled.load(Relaxed));
        into.spurious = into.spurious.wrapping_add(self.spurious.load(Relaxed));
        into.operand = into.operand.max(self.operand.load(Relaxed));
    }
}
