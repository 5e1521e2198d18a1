//! Records discarded because a table was full: counted, because alerts may be missing.

use std::sync::atomic::{AtomicU64, Ordering};

static DETAILS: AtomicU64 = AtomicU64::new(0);

/// Counts a discarded record of what a call did, intended or left behind.
#[cold]
pub(crate) fn detail() {
    DETAILS.fetch_add(1, Ordering::Relaxed);
}

/// Number of discarded records.
pub(crate) fn details() -> u64 {
    DETAILS.load(Ordering::Relaxed)
}
