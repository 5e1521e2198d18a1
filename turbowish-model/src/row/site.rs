//! One await point's waits on one thread.

use core::sync::atomic::Ordering::Relaxed;

use crate::histogram::{add, raise};
use crate::sync::AtomicU64;
use crate::tally::SiteTally;

/// Waits at one await point.
#[derive(Default)]
pub(crate) struct SiteRow {
    waits: AtomicU64,
    left: AtomicU64,
    /// Ends of waits minus their beginnings.
    waited: AtomicU64,
    longest: AtomicU64,
    cancelled: AtomicU64,
}

impl SiteRow {
    /// Nothing has happened here on this thread. A wait may begin on one thread and end on another.
    pub(super) fn is_untouched(&self) -> bool {
        [&self.waits, &self.left, &self.cancelled]
            .iter()
            .all(|count| count.load(Relaxed) == 0)
    }

    /// A poll ended pending here.
    #[inline]
    pub(super) fn suspend(&self, t: u64) {
        add(&self.waits, 1);
        add(&self.waited, t.wrapping_neg());
    }

    /// The wait that began at `since` is over.
    #[inline]
    pub(super) fn resume(&self, since: u64, t: u64) {
        add(&self.left, 1);
        add(&self.waited, t);
        raise(&self.longest, t.saturating_sub(since));
    }

    /// A call was dropped while it stood here.
    pub(super) fn cancel(&self) {
        add(&self.cancelled, 1);
    }

    pub(super) fn collect(&self, into: &mut SiteTally) {
        into.waits = into.waits.wrapping_add(self.waits.load(Relaxed));
        into.left = into.left.wrapping_add(self.left.load(Relaxed));
        into.waited = into.waited.wrapping_add(self.waited.load(Relaxed));
        into.longest = into.longest.max(self.longest.load(Relaxed));
        into.cancelled = into.cancelled.wrapping_add(self.cancelled.load(Relaxed));
    }
}
