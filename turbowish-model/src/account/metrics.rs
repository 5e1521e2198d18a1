//! Counters and gauges of one thread: the program's own numbers, kept apart from the ledger, so that nothing said here moves a poll's time.
//!
//! One thread writes, any thread may read at any time. A place in the source that counts or sets has a number, its *site*; what is said there
//! belongs to the proc that was innermost on the thread, or to none.

use alloc::collections::BTreeMap;
use core::sync::atomic::Ordering::Relaxed;

use crate::account::append_vec::AppendVec;
use crate::account::histogram::add;
use crate::account::seqlock::SeqLock;
use crate::account::sync::{AtomicU32, AtomicU64, in_place};

/// Sites that are counted.
pub const SITE_LIMIT: u32 = 1024;

/// Procs that have a cell of their own at one site, on one thread.
pub const PROC_LIMIT: usize = 64;

/// A site and a proc: [`crate::account::resource::CurrentCall::proc`], so 0 is none.
pub type MetricKey = (u32, u32);

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
    /// The proc, plus one; 0 is a free cell.
    owner: AtomicU32,
    updates: AtomicU64,
    /// The sum of a counter; the last value of a gauge, as bits.
    value: AtomicU64,
    /// When a gauge was set last, and never 0; of a counter always 0.
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
    /// A counter went up. `false`: there is no room for it.
    #[inline]
    pub fn count(&self, (site, proc): MetricKey, by: u64) -> bool {
        let Some(cell) = self.cell(site, proc) else {
            return false;
        };
        let writing = self.sequence.write();
        cell.owner.store(proc.wrapping_add(1), Relaxed);
        add(&cell.updates, 1);
        let sum = cell.value.load(Relaxed).saturating_add(by);
        cell.value.store(sum, Relaxed);
        drop(writing);
        true
    }

    /// A gauge was set, at `t`. `false`: there is no room for it.
    #[inline]
    pub fn set(&self, (site, proc): MetricKey, value: i64, t: u64) -> bool {
        let Some(cell) = self.cell(site, proc) else {
            return false;
        };
        let writing = self.sequence.write();
        cell.owner.store(proc.wrapping_add(1), Relaxed);
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

    /// The cell of a site in a proc, or a free one.
    #[inline]
    fn cell(&self, site: u32, proc: u32) -> Option<&Cell> {
        if site >= SITE_LIMIT {
            return None;
        }
        let cells = &self.sites.at(site as usize).cells;
        let owner = proc.wrapping_add(1);
        (0..PROC_LIMIT).map(|at| cells.at(at)).find(|cell| {
            let known = cell.owner.load(Relaxed);
            known == owner || known == 0
        })
    }

    /// Adds this thread's to a tally. `relax` lets the writer go on, which may be in the middle of a write.
    pub fn read(&self, into: &mut BTreeMap<MetricKey, MetricStats>, relax: &mut dyn FnMut()) {
        for (site, cells) in self.sites.iter() {
            for (_, cell) in cells.cells.iter() {
                let read = self.sequence.read(relax, || cell.read());
                if let Some((owner, tally)) = read {
                    let key = (site as u32, owner.wrapping_sub(1));
                    into.entry(key).or_default().merge(&tally);
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
        let tally = MetricStats {
            updates: self.updates.load(Relaxed),
            total: if gauge.is_some() { 0 } else { value },
            gauge,
        };
        (owner != 0).then_some((owner, tally))
    }
}

/// One site in one proc, over all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetricStats {
    /// How often it was counted or set.
    pub updates: u64,
    /// What was counted; at the largest number it stays.
    pub total: u64,
    /// Of a gauge that was set.
    pub gauge: Option<GaugeStats>,
}

/// A gauge that was set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaugeStats {
    /// To what, last.
    pub last: i64,
    /// When, in ticks.
    pub at: u64,
    /// The least that it was set to.
    pub least: i64,
    /// The most.
    pub most: i64,
}

impl MetricStats {
    /// Adds another one's.
    pub fn merge(&mut self, other: &Self) {
        self.updates = self.updates.saturating_add(other.updates);
        self.total = self.total.saturating_add(other.total);
        self.gauge = match (self.gauge, other.gauge) {
            (Some(one), Some(two)) => Some(one.with(two)),
            (one, two) => one.or(two),
        };
    }

    /// What came since an earlier state of the same; a gauge stands as it stands now.
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
