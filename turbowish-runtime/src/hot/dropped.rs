//! Records discarded because a table was full: counted, because alerts may be missing.

use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;

static DETAILS: AtomicU64 = AtomicU64::new(0);

/// Counts a discarded record of what a call did, intended or left behind.
#[cold]
pub(crate) fn detail() {
    DETAILS.fetch_add(1, Ordering::Relaxed);
}

/// How often something happened that is a mistake, by its kind. One type for all of them: such a
/// table is compiled anew for each, into 5 KB.
pub(crate) type MistakeTable = DashMap<MistakeKind, MistakeCount>;

/// The numbers of which a kind consists; those that it does not have are 0.
pub(crate) type MistakeKind = [u32; 4];

/// How often, and in which task last; 0 if in none, or if that is not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MistakeCount {
    pub(crate) times: u64,
    pub(crate) task: u64,
}

/// An empty table.
pub(crate) fn mistakes() -> MistakeTable {
    DashMap::with_shard_amount(SHARDS)
}

const SHARDS: usize = 64;

/// Counts one of this kind. A kind that is new to a table of `limit` kinds is discarded.
#[cold]
pub(crate) fn count_within(table: &MistakeTable, limit: usize, key: MistakeKind, task: u64) {
    if !table.contains_key(&key) && table.len() >= limit {
        return detail();
    }
    // Threads that are here at once may add one each.
    let mut count = table.entry(key).or_default();
    count.times += 1;
    count.task = task;
}

/// The count of each kind.
pub(crate) fn all(table: &MistakeTable) -> Vec<(MistakeKind, MistakeCount)> {
    let all = table.iter();
    all.map(|entry| (*entry.key(), *entry.value())).collect()
}

/// Number of discarded records.
pub(crate) fn details() -> u64 {
    DETAILS.load(Ordering::Relaxed)
}
