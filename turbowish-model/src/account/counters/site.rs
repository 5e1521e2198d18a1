//! One await point's waits on one thread.

use core::sync::atomic::Ordering::Relaxed;

use crate::account::aggregate::SiteStats;
use crate::account::histogram::{add, raise};
use crate::account::sync::AtomicU64;

/// Waits at one await point. One line of the cache.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct SiteCounters {
    waits: AtomicU64,
    left: AtomicU64,
    /// Waits that were over and began anew in one poll; in neither of the two.
    again: AtomicU64,
    /// Ends of waits minus their beginnings.
    waited: AtomicU64,
    longest: AtomicU64,
    cancelled: AtomicU64,
    spurious: AtomicU64,
    /// Bytes of the largest operand; those of small ones are not noted.
    operand: AtomicU64,
}

impl SiteCounters {
    /// Nothing has happened here on this thread. A wait may begin on one thread and end on another.
    pub(super) fn is_untouched(&self) -> bool {
        let counts = [&self.waits, &self.left, &self.again, &self.cancelled];
        let mut all = counts.into_iter().chain([&self.spurious, &self.operand]);
        all.all(|count| count.load(Relaxed) == 0)
    }

    /// A poll ended pending here.
    #[inline]
    pub(crate) fn suspend(&self, t: u64) {
        add(&self.waits, 1);
        add(&self.waited, t.wrapping_neg());
    }

    /// The wait that began at `since` is over.
    #[inline]
    pub(crate) fn resume(&self, since: u64, t: u64) {
        add(&self.left, 1);
        add(&self.waited, t);
        raise(&self.longest, t.saturating_sub(since));
    }

    /// The wait that began at `since` was over at `start`, and one begins at `t`.
    #[inline]
    pub(crate) fn again(&self, since: u64, start: u64, t: u64) {
        add(&self.again, 1);
        add(&self.waited, start.wrapping_sub(t));
        raise(&self.longest, start.saturating_sub(since));
    }

    /// A call was dropped while it stood here.
    pub(crate) fn cancel(&self) {
        add(&self.cancelled, 1);
    }

    /// A poll changed nothing of what is awaited here.
    pub(crate) fn spurious(&self) {
        add(&self.spurious, 1);
    }

    /// What is awaited here has so many bytes.
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
