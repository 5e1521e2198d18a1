//! Aggregates: sums of many threads' counters, raw (mergeable) or closed at an instant.

mod proc_stats;

use alloc::vec::Vec;

pub use self::proc_stats::{EdgeStats, LongestPoll, LongestWait, ProcStats, SiteStats};
use crate::account::delays::{DelayStats, Delays};
use crate::account::metrics::{MetricKey, MetricStats};
use crate::ordered::Map;

/// Reason why an event was not applied as reported: counted, never fatal (rules R1 to R5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anomaly {
    /// A poll registered a call whose creation was not seen (R1).
    LateAttach,
    /// The end of a poll whose start was not seen was ignored (R2).
    OrphanEnd,
    /// A frame was closed because a frame below it ended (R3).
    ForcedPop,
    /// A thread's clock went back; the last reading was used instead (R5).
    ClockBackwards,
}

/// Number of kinds of anomalies.
pub const ANOMALIES: usize = Anomaly::ClockBackwards as usize + 1;

/// Totals of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aggregate {
    /// Indexed by proc id.
    pub procs: Vec<ProcStats>,
    /// Number of anomalies of each kind, indexed by [`Anomaly`].
    pub anomalies: [u64; ANOMALIES],
    /// Counters and gauges of the program, by site and proc.
    pub metrics: Map<MetricKey, MetricStats>,
    /// Who delayed tasks that were ready.
    pub delays: Delays,
}

/// Growth of an aggregate: what has changed, and by how much.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    /// By proc id.
    pub procs: Vec<(u32, ProcStats)>,
    /// By site and proc.
    pub metrics: Map<MetricKey, MetricStats>,
    /// Who delayed tasks that were ready.
    pub delays: Delays,
}

/// Adds the values of `other`, key by key.
fn merge_each<K: Ord + Copy, V: Default>(
    own: &mut Map<K, V>,
    other: &Map<K, V>,
    merge: fn(&mut V, &V),
) {
    for (key, more) in other {
        merge(own.entry(*key).or_default(), more);
    }
}

impl Growth {
    /// Adds the growth of another stretch of time.
    pub fn append(&mut self, other: &Self) {
        for (id, proc) in &other.procs {
            let known = self.procs.iter().position(|(seen, _)| seen == id);
            let at = known.unwrap_or_else(|| {
                self.procs.push((*id, ProcStats::default()));
                self.procs.len() - 1
            });
            self.procs[at].1.merge(proc);
        }
        merge_each(&mut self.metrics, &other.metrics, MetricStats::merge);
        merge_each(&mut self.delays, &other.delays, DelayStats::merge);
    }
}

impl Aggregate {
    /// Returns one proc's stats; inserts empty ones if there are none.
    pub fn proc(&mut self, id: u32) -> &mut ProcStats {
        let at = id as usize;
        if self.procs.len() <= at {
            self.procs.resize_with(at + 1, ProcStats::default);
        }
        &mut self.procs[at]
    }

    /// Whether there is nothing in it, not even a proc.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.procs.is_empty()
            && self.anomalies == [0; ANOMALIES]
            && self.metrics.is_empty()
            && self.delays.is_empty()
    }

    /// Sets all to nothing, and keeps the memory: the same procs are read again and again.
    pub fn clear(&mut self) {
        let Self {
            procs,
            anomalies,
            metrics,
            delays,
        } = self;
        procs.iter_mut().for_each(ProcStats::clear);
        *anomalies = [0; ANOMALIES];
        metrics.clear();
        delays.clear();
    }

    /// A copy, made by merging: `clone` would be code of its own for each type in here.
    #[must_use]
    pub fn copied(&self) -> Self {
        let mut copy = Self::default();
        copy.merge(self);
        copy
    }

    /// Adds another aggregate. Both must be raw, or both closed.
    pub fn merge(&mut self, other: &Self) {
        for (id, proc) in other.procs.iter().enumerate() {
            self.proc(id as u32).merge(proc);
        }
        for (count, more) in self.anomalies.iter_mut().zip(&other.anomalies) {
            *count += more;
        }
        merge_each(&mut self.metrics, &other.metrics, MetricStats::merge);
        merge_each(&mut self.delays, &other.delays, DelayStats::merge);
    }

    /// Turns moments into times: live calls and open waits count up to `now`.
    pub fn close_open_at(&mut self, now: u64) {
        for proc in &mut self.procs {
            proc.close_open_at(now);
        }
    }

    /// Call this after [`Aggregate::close_open_at`] if threads kept running while others were read.
    /// An end that was seen without its start on another thread adds the start, so that no count
    /// and no time is negative.
    pub fn reconcile(&mut self) {
        self.procs.iter_mut().for_each(ProcStats::reconcile);
    }

    /// After [`Aggregate::close_open_at`] at the instant of disarming: no call is live any more.
    pub fn abandon(&mut self) {
        for proc in &mut self.procs {
            proc.abandon();
        }
    }

    /// Forgets what is called recent: this aggregate has outlived the ticks it covered.
    pub fn forget_recent(&mut self) {
        self.procs.iter_mut().for_each(ProcStats::forget_recent);
    }

    /// Growth since an earlier closed state of the same counters: of each proc, metric and delay
    /// that has changed. Most have not, within a tick.
    #[must_use]
    pub fn grown_since(&self, earlier: &Self) -> Growth {
        let nothing = ProcStats::default();
        let procs = (0..).zip(&self.procs).filter_map(|(id, proc)| {
            let before = earlier.procs.get(id as usize).unwrap_or(&nothing);
            (!proc.is_still_since(before)).then(|| (id, proc.since(before)))
        });
        let none = MetricStats::default();
        let metrics = self.metrics.iter().filter_map(|(key, metric)| {
            let before = earlier.metrics.get(key).unwrap_or(&none);
            (metric.updates > before.updates).then(|| (*key, metric.since(before)))
        });
        let unseen = DelayStats::default();
        let delays = self.delays.iter().filter_map(|(key, delay)| {
            let before = earlier.delays.get(key).unwrap_or(&unseen);
            (delay.polls > before.polls).then(|| (*key, delay.since(before)))
        });
        Growth {
            procs: procs.collect(),
            metrics: metrics.collect(),
            delays: delays.collect(),
        }
    }
}
