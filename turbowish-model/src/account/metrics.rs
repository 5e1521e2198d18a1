//! Metrics of one thread: the program's own counters and gauges. They are kept apart from the
//! ledger, so that updates do not affect the time of a poll.
//!
//! One thread writes, any thread may read at any time. Each place in the source that updates a
//! metric has a number, its *site*. An update is attributed to the proc that was innermost on the
//! thread, or to none.

use core::sync::atomic::Ordering::Relaxed;

use crate::account::append_vec::AppendVec;
use crate::account::histogram::add;
use crate::account::seqlock::SeqLock;
use crate::account::sync::{AtomicU32, AtomicU64, in_place};
use crate::ordered::Map;

/// Number of sites that are counted; updates at further sites are rejected.
pub const SITE_LIMIT: u32 = 1024;

/// Maximum number of procs with their own cell at one site on one thread.
pub const PROC_LIMIT: usize = 64;

/// What is counted apart: the updates at one site in one proc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MetricKey {
    /// The place in the source.
    pub site: u32,
    /// As in [`crate::account::resource::CurrentCall::proc`]: 0 stands for no proc.
    pub proc: u32,
}

/// One thread's counters and gauges.
#[derive(Default)]
pub struct Metrics {
    sequence: SeqLock,
    sites: AppendVec<MetricSite, { in_place(2) }>,
}

#[derive(Default)]
struct MetricSite {
    cells: AppendVec<Cell, 1>,
}

/// One site in one proc.
#[repr(align(64))]
struct Cell {
    /// The proc of the key, plus one; 0 is a free cell.
    owner: AtomicU32,
    updates: AtomicU64,
    /// Sum of a counter; bits of a gauge's last value.
    value: AtomicU64,
    /// When the gauge was last set, in ticks, at least 1; always 0 for a counter.
    at: AtomicU64,
    least: AtomicU64,
    most: AtomicU64,
}

impl Default for Cell {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            owner: AtomicU32::new(0),
            updates: zero(),
            value: zero(),
            at: zero(),
            least: zero(),
            most: zero(),
        }
    }
}

impl Metrics {
    /// Adds `by` to a counter; saturates. Returns `false` if there is no room for it.
    #[inline]
    pub fn count(&self, key: MetricKey, by: u64) -> bool {
        let Some(cell) = self.cell(key) else {
            return false;
        };
        let writing = self.sequence.write();
        cell.owner.store(key.proc.wrapping_add(1), Relaxed);
        add(&cell.updates, 1);
        let sum = cell.value.load(Relaxed).saturating_add(by);
        cell.value.store(sum, Relaxed);
        drop(writing);
        true
    }

    /// Sets a gauge to `value` at `t`. Returns `false` if there is no room for it.
    #[inline]
    pub fn set(&self, key: MetricKey, value: i64, t: u64) -> bool {
        let Some(cell) = self.cell(key) else {
            return false;
        };
        let writing = self.sequence.write();
        cell.owner.store(key.proc.wrapping_add(1), Relaxed);
        let first = cell.updates.load(Relaxed) == 0;
        add(&cell.updates, 1);
        let bits = value.cast_unsigned();
        cell.value.store(bits, Relaxed);
        cell.at.store(t.max(1), Relaxed);
        if first || value < cell.least.load(Relaxed).cast_signed() {
            cell.least.store(bits, Relaxed);
        }
        if first || value > cell.most.load(Relaxed).cast_signed() {
            cell.most.store(bits, Relaxed);
        }
        drop(writing);
        true
    }

    /// Returns the cell of a site in a proc, or a free one.
    #[inline]
    fn cell(&self, key: MetricKey) -> Option<&Cell> {
        if key.site >= SITE_LIMIT {
            return None;
        }
        let cells = &self.sites.at(key.site as usize).cells;
        let owner = key.proc.wrapping_add(1);
        (0..PROC_LIMIT).map(|at| cells.at(at)).find(|cell| {
            let known = cell.owner.load(Relaxed);
            known == owner || known == 0
        })
    }

    /// Adds this thread's metrics to `into`. `relax` lets other threads run while a write is in
    /// progress.
    pub fn read(&self, into: &mut Map<MetricKey, MetricStats>, relax: &mut dyn FnMut()) {
        for (site, cells) in self.sites.iter() {
            for (_, cell) in cells.cells.iter() {
                let read = self.sequence.read(relax, || cell.read());
                if let Some((owner, stats)) = read {
                    let key = MetricKey {
                        site: site as u32,
                        proc: owner.wrapping_sub(1),
                    };
                    into.entry(key).or_default().merge(&stats);
                }
            }
        }
    }
}

impl Cell {
    fn read(&self) -> Option<(u32, MetricStats)> {
        let owner = self.owner.load(Relaxed);
        let (value, at) = (self.value.load(Relaxed), self.at.load(Relaxed));
        let gauge = (at != 0).then(|| GaugeStats {
            last: value.cast_signed(),
            at,
            least: self.least.load(Relaxed).cast_signed(),
            most: self.most.load(Relaxed).cast_signed(),
        });
        let stats = MetricStats {
            updates: self.updates.load(Relaxed),
            total: if gauge.is_some() { 0 } else { value },
            gauge,
        };
        (owner != 0).then_some((owner, stats))
    }
}

/// One site in one proc, over all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetricStats {
    /// Times that the counter was increased or the gauge was set.
    pub updates: u64,
    /// Total of a counter; saturates.
    pub total: u64,
    /// State of a gauge; `None` for a counter.
    pub gauge: Option<GaugeStats>,
}

/// State of a gauge that was set at least once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaugeStats {
    /// Value of the last update on any thread.
    pub last: i64,
    /// When it was last set, in ticks.
    pub at: u64,
    /// Lowest value it was set to.
    pub least: i64,
    /// Highest value it was set to.
    pub most: i64,
}

impl MetricStats {
    /// Adds the stats of another thread; of two gauges the later value wins.
    pub fn merge(&mut self, other: &Self) {
        self.updates = self.updates.saturating_add(other.updates);
        self.total = self.total.saturating_add(other.total);
        self.gauge = match (self.gauge, other.gauge) {
            (Some(one), Some(two)) => Some(one.with(two)),
            (one, two) => one.or(two),
        };
    }

    /// Difference to an earlier state. A gauge keeps its present state.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            updates: self.updates.saturating_sub(earlier.updates),
            total: self.total.saturating_sub(earlier.total),
            gauge: self.gauge,
        }
    }
}

impl GaugeStats {
    fn with(self, other: Self) -> Self {
        let later = if other.at > self.at { other } else { self };
        Self {
            last: later.last,
            at: later.at,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
