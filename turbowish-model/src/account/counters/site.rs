//! Rare counters of one await point on one thread.

use core::sync::atomic::Ordering::Relaxed;

use crate::account::aggregate::SiteStats;
use crate::account::histogram::{add, raise};
use crate::account::sync::AtomicU64;

/// What is rare at one await point.
#[derive(Default)]
pub(crate) struct SiteCounters {
    cancelled: AtomicU64,
    spurious: AtomicU64,
    /// Bytes of the largest awaited future; small ones are not recorded.
    operand: AtomicU64,
}

impl SiteCounters {
    pub(super) fn is_untouched(&self) -> bool {
        let all = [&self.cancelled, &self.spurious, &self.operand];
        all.into_iter().all(|count| count.load(Relaxed) == 0)
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
        into.cancelled = into.cancelled.wrapping_add(self.cancelled.load(Relaxed));
        into.spurious = into.spurious.wrapping_add(self.spurious.load(Relaxed));
        into.operand = into.operand.max(self.operand.load(Relaxed));
    }
}
