//! Records discarded because a table was full: counted, because alerts may be missing.

use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;

static DETAILS: AtomicU64 = AtomicU64::new(0);

/// Counts a discarded record of what a call did, intended or left behind.
#[cold]
pub(crate) fn detail() {
    DETAILS.fetch_add(1, Ordering::Relaxed);
}

/// Adds to the value of `key` by `add`. A key that is new to a table of `limit` keys is discarded.
#[cold]
pub(crate) fn add_within<K: Eq + Hash, V: Default>(
    table: &DashMap<K, V>,
    limit: usize,
    key: K,
    add: impl FnOnce(&mut V),
) {
    if let Some(mut value) = table.get_mut(&key) {
        return add(&mut value);
    }
    // Threads that are here at once may add one each.
    if table.len() < limit {
        add(&mut table.entry(key).or_default());
    } else {
        detail();
    }
}

/// Number of discarded records.
pub(crate) fn details() -> u64 {
    DETAILS.load(Ordering::Relaxed)
}
