//! What alerts might have used, and found no room: counted, so that a missing alert is no surprise.

use std::sync::atomic::{AtomicU64, Ordering};

static DETAILS: AtomicU64 = AtomicU64::new(0);

/// Something that a call did, meant or left is beyond what is kept of its kind.
#[cold]
pub(crate) fn detail() {
    DETAILS.fetch_add(1, Ordering::Relaxed);
}

/// How much was.
pub(crate) fn details() -> u64 {
    DETAILS.load(Ordering::Relaxed)
}
