//! Resources of this process: records by ID, waits for timers, lock orders, and effects of pending
//! calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use dashmap::DashMap;
use turbowish_model::event::ResourceEvent;

use super::cancel_safety::{EffectSource, Effects};
use super::order::LockOrders;
use super::record::Record;
use super::timer::{Timers, timers_beyond};
use crate::hot::current::CurrentCall;
use crate::hot::events;

/// All that this process keeps of its resources.
pub(super) struct Resources {
    records: Records,
    pub(super) timers: Timers,
    pub(super) locks: LockOrders,
    pub(super) effects: Effects,
}

pub(super) static RESOURCES: Resources = Resources {
    records: Records {
        by_id: LazyLock::new(|| DashMap::with_shard_amount(SHARDS)),
        next: AtomicU64::new(1),
        live: AtomicU64::new(0),
        lost: AtomicU64::new(0),
        beyond: AtomicU64::new(0),
    },
    timers: Timers::new(),
    locks: LockOrders::new(),
    effects: Effects::new(),
};

/// Records of the resources that were used and still exist.
struct Records {
    by_id: LazyLock<DashMap<u64, Arc<Record>>>,
    next: AtomicU64,
    live: AtomicU64,
    /// Number of resources without a record.
    lost: AtomicU64,
    /// The same, of those that still exist.
    beyond: AtomicU64,
}

/// As for tasks: the monitor holds each lock for a few microseconds only.
pub(super) const SHARDS: usize = 64;

/// Maximum number of resources with a record.
const LIMIT: u64 = 100_000;

/// Enters the record that `make` makes for an ID; `None` beyond the limit, counted.
pub(super) fn enter(make: impl FnOnce(u64) -> Record) -> Option<Arc<Record>> {
    let records = &RESOURCES.records;
    if records.live.fetch_add(1, Ordering::Relaxed) >= LIMIT {
        records.live.fetch_sub(1, Ordering::Relaxed);
        records.lost.fetch_add(1, Ordering::Relaxed);
        records.beyond.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    let id = records.next.fetch_add(1, Ordering::Relaxed);
    let record = Arc::new(make(id));
    records.by_id.insert(id, record.clone());
    Some(record)
}

/// Removes the record of a resource that is gone; `None` for one beyond the limit.
pub(super) fn remove(record: &Option<Arc<Record>>) {
    let records = &RESOURCES.records;
    match record {
        Some(record) => {
            records.live.fetch_sub(1, Ordering::Relaxed);
            records.by_id.remove(&record.id);
            events::resource(record.id, || ResourceEvent::Dropped);
        }
        None => {
            records.beyond.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Records of all resources that were used and still exist.
pub(crate) fn all() -> Vec<Arc<Record>> {
    let records = RESOURCES.records.by_id.iter();
    records.map(|entry| entry.value().clone()).collect()
}

/// Description of a resource, if it still exists.
pub(crate) fn source(id: u64) -> Option<EffectSource> {
    Some(RESOURCES.records.by_id.get(&id)?.source())
}

/// Like [`source`], if what `who` has acquired in `slot` is still held.
pub(crate) fn source_held(id: u64, slot: u32, who: CurrentCall) -> Option<EffectSource> {
    let record = RESOURCES.records.by_id.get(&id)?;
    (record.holder(slot) == Some(who)).then(|| record.source())
}

/// Whether there are waits for resources or timers beyond the limits, which are not shown.
pub(crate) fn hides_waits() -> bool {
    RESOURCES.records.beyond.load(Ordering::Relaxed) > 0 || timers_beyond() > 0
}

/// Number of resources without a record.
pub(crate) fn lost() -> u64 {
    RESOURCES.records.lost.load(Ordering::Relaxed)
}
