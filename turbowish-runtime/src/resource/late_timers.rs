//! Delays of timers: how long after its deadline a timer's wait was over, by await point.
//!
//! Counted is a timer that a call has waited for, and at whose await point that call has stood
//! since its poll before. If the task did something else meanwhile, it was not the runtime that
//! came late.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dashmap::DashMap;

use super::registry::{RESOURCES, SHARDS};
use crate::hot::current::CurrentCall;
use crate::hot::{clock, current};

/// Completed waits for timers, by proc, and await point plus one.
pub(super) struct TimerDelays {
    by_site: LazyLock<DashMap<(u32, u16), TimerDelay>>,
    /// Nanoseconds after its deadline from which a timer is late.
    limit: AtomicU64,
}

impl TimerDelays {
    pub(super) const fn new() -> Self {
        Self {
            by_site: LazyLock::new(|| DashMap::with_shard_amount(SHARDS)),
            limit: AtomicU64::new(10_000_000),
        }
    }

    /// Counts the end of a wait that began at `since`, in ticks, for a timer whose deadline passed
    /// before `passed`.
    pub(super) fn completed(&self, who: CurrentCall, since: u64, passed: Duration) {
        let Some(proc) = who.proc.checked_sub(1) else {
            return;
        };
        // A wait of no task, or of a call that has come to this await point just now.
        if who.task == 0 || current::ledger(|ledger| ledger.stands()) != Some(true) {
            return;
        }
        let passed = u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX);
        let late = match passed < self.limit.load(Ordering::Relaxed) {
            true => None,
            false => self.delay(who, since, passed),
        };
        let mut delay = self.by_site.entry((proc, who.site)).or_default();
        delay.completed += 1;
        if let Some((ns, polling_ns)) = late {
            delay.late += 1;
            delay.late_ns = delay.late_ns.saturating_add(ns);
            if ns > delay.worst_ns {
                (delay.worst_ns, delay.polling_ns) = (ns, polling_ns);
            }
        }
    }

    /// The delay of a timer, and the part of it within the present poll of its task; `None` if it
    /// is below the limit.
    #[cold]
    fn delay(&self, who: CurrentCall, since: u64, passed: u64) -> Option<(u64, u64)> {
        let (now, scale) = (clock::ticks(), clock::scale());
        // The deadline may have passed before anything waited for it.
        let ns = passed.min(scale.ns(now.saturating_sub(since)));
        let polling_ns = scale.ns(now.saturating_sub(who.poll)).min(ns);
        (ns >= self.limit.load(Ordering::Relaxed)).then_some((ns, polling_ns))
    }
}

/// Completed waits for timers at an await point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimerDelay {
    pub(crate) completed: u64,
    /// Those that were late, and the sum of their delays.
    pub(crate) late: u64,
    pub(crate) late_ns: u64,
    /// Largest delay since the last reading, and the part of it within the poll of the task that
    /// then came to the timer.
    pub(crate) worst_ns: u64,
    pub(crate) polling_ns: u64,
}

/// Sets from how many nanoseconds after its deadline on a timer is late.
pub(crate) fn late_from(ns: u64) {
    RESOURCES.timers.delays.limit.store(ns, Ordering::Relaxed);
}

/// Completed waits by proc, and await point plus one; the largest delays begin anew.
pub(crate) fn take_timer_delays() -> Vec<((u32, u16), TimerDelay)> {
    let mut all = Vec::new();
    for mut entry in RESOURCES.timers.delays.by_site.iter_mut() {
        all.push((*entry.key(), *entry.value()));
        (entry.worst_ns, entry.polling_ns) = (0, 0);
    }
    all
}
