//! Counters of one proc on one thread: written by that thread alone, readable by any thread at any
//! time.

mod edge;
mod pages;
mod site;

use alloc::boxed::Box;
use core::sync::atomic::Ordering::Relaxed;

use once_cell::race::OnceBox;

use self::edge::EdgeCounters;
pub(crate) use self::pages::CounterPages;
pub use self::pages::PROC_LIMIT;
use self::site::SiteCounters;
use crate::account::aggregate::ProcStats;
use crate::account::append_vec::AppendVec;
use crate::account::call::SITE;
use crate::account::histogram::{Buckets, Histogram, add, raise};
use crate::account::ledger::Charge;
use crate::account::sync::{AtomicU32, AtomicU64};

/// A sum kept per proc. `Wall` and `Unstarted` are moments: ends minus starts. The share of live
/// calls is `count · now`, so no table of calls is needed (see
/// [`crate::account::aggregate::Aggregate::close_open_at`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// Number of polls started.
    Polls,
    /// Exclusive time, in ticks.
    Running,
    /// Duration of polls, in ticks.
    Hold,
    /// Time on a task's stack, in ticks; recursion counts once.
    Inclusive,
    /// Time under root frames of nested executors, in ticks.
    Foreign,
    /// Number of calls created.
    Calls,
    /// Number of calls that have left the state *unstarted*.
    Started,
    /// Number of calls that returned, including those that returned `Err`.
    Ready,
    /// Moment: ends minus creations.
    Wall,
    /// Moment: first polls minus creations.
    Unstarted,
    /// Exclusive time of calls that ended and were polled, in ticks.
    CallRunning,
    /// Inclusive time of calls that ended and were polled, in ticks.
    CallInclusive,
    /// Number of calls that returned `Err`.
    Err,
    /// Number of calls dropped before they returned.
    Cancelled,
    /// Number of calls that panicked.
    Panicked,
    /// Number of calls dropped before their first poll.
    NeverPolled,
    /// Number of calls that ended in their first poll.
    Immediate,
    /// Number of calls that were live when accounting was disarmed; their outcome is unknown.
    Abandoned,
    /// Ready latency of root polls, in ticks: the time from a task's wake, or from the end of the
    /// poll in which it was woken, to its next poll. Charged to the root proc.
    ReadyLatency,
    /// Part of `Hold` from polls in progress. Only readers fill it.
    OpenHold,
    /// Part of `Running` from polls in progress. Only readers fill it.
    OpenRunning,
}

/// Number of sums kept per proc.
pub const SUMS: usize = Sum::OpenRunning as usize + 1;

/// A distribution kept per proc, with its exact maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    /// Exclusive time per call that ended and was polled.
    CallRunning,
    /// Inclusive time per call that ended and was polled.
    CallInclusive,
    /// Duration per finished poll.
    PollHold,
    /// Exclusive time per finished poll.
    PollRunning,
    /// Ready latency per root poll that followed a wake.
    ReadyLatency,
}

/// Number of populations kept per proc.
pub const POPULATIONS: usize = Population::ReadyLatency as usize + 1;

/// A histogram of one proc. A value that belongs to several populations is recorded once, in the
/// histogram they share: most polls contain no other poll, and many calls take one poll.
#[derive(Clone, Copy)]
enum Shared {
    /// The only poll of an ended call, with nothing nested: all populations but
    /// [`Population::ReadyLatency`].
    Single,
    /// A poll with nothing nested: [`Population::PollHold`] and [`Population::PollRunning`].
    Leaf,
    PollHold,
    PollRunning,
    CallRunning,
    CallInclusive,
}

const HISTOGRAMS: usize = Shared::CallInclusive as usize + 1;

impl Shared {
    const ALL: [Self; HISTOGRAMS] = [
        Self::Single,
        Self::Leaf,
        Self::PollHold,
        Self::PollRunning,
        Self::CallRunning,
        Self::CallInclusive,
    ];

    const fn populations(self) -> &'static [Population] {
        use Population::{CallInclusive, CallRunning, PollHold, PollRunning};
        match self {
            Self::Single => &[CallRunning, CallInclusive, PollHold, PollRunning],
            Self::Leaf => &[PollHold, PollRunning],
            Self::PollHold => &[PollHold],
            Self::PollRunning => &[PollRunning],
            Self::CallRunning => &[CallRunning],
            Self::CallInclusive => &[CallInclusive],
        }
    }
}

/// The longest poll that ended in the reader's current tick, and the longest in the last earlier
/// tick that had a poll.
#[derive(Default)]
struct Recent {
    longest: AtomicU64,
    tick: AtomicU32,
    last_tick: AtomicU32,
    last_longest: AtomicU64,
}

impl Recent {
    #[cold]
    fn turn(&self, tick: u32) {
        self.last_tick.store(self.tick.load(Relaxed), Relaxed);
        self.last_longest.store(self.longest.load(Relaxed), Relaxed);
        self.tick.store(tick, Relaxed);
    }
}

/// Maximum number of edges kept per proc; the procs beyond it are counted together as [`OTHERS`].
const EDGE_LIMIT: usize = 64;
/// Proc id under which the edges beyond the limit of 64 per proc are counted.
pub const OTHERS: u32 = u32::MAX - 1;
/// The counters of one proc on one thread. The fields that every poll touches come first, next to
/// each other.
#[repr(C, align(64))]
pub(crate) struct ProcCounters {
    /// Depth plus one of the proc's outermost frame in the current task segment, if that is above
    /// the start of the segment. Used by the writer only.
    pub(crate) outer_at: AtomicU32,
    recent: Recent,
    /// Finished polls without exclusive time. They are frequent, and recorded in no histogram.
    idle: AtomicU64,
    /// Indexed by [`Sum`]. Three sums are stored as differences, which are zero for most polls:
    /// running and inclusive time relative to hold, inclusive time of calls relative to their
    /// running time.
    sums: [AtomicU64; SUMS],
    /// Indexed by [`Population`].
    peaks: [AtomicU64; POPULATIONS],
    /// Slot 0 is the unknown await point; slot `i + 1` is the proc's await point `i`.
    sites: AppendVec<SiteCounters, 4>,
    edges: AppendVec<EdgeCounters, 2>,
    histograms: [Histogram; HISTOGRAMS],
    /// Ready latencies; only procs that are roots of tasks have them.
    ready: OnceBox<Histogram>,
    future_bytes: AtomicU64,
}

impl Default for ProcCounters {
    fn default() -> Self {
        Self {
            outer_at: AtomicU32::new(0),
            recent: Recent::default(),
            idle: AtomicU64::new(0),
            sums: core::array::from_fn(|_| AtomicU64::new(0)),
            peaks: core::array::from_fn(|_| AtomicU64::new(0)),
            sites: AppendVec::default(),
            edges: AppendVec::default(),
            histograms: core::array::from_fn(|_| Histogram::default()),
            ready: OnceBox::new(),
            future_bytes: AtomicU64::new(0),
        }
    }
}

impl ProcCounters {
    #[inline]
    pub(crate) fn add(&self, sum: Sum, value: u64) {
        add(&self.sums[sum as usize], value);
    }

    /// Number of polls started.
    pub(crate) fn polls(&self) -> u64 {
        self.sums[Sum::Polls as usize].load(Relaxed)
    }

    #[inline]
    fn record(&self, shared: Shared, value: u64) {
        self.histograms[shared as usize].record(value);
    }

    #[inline]
    fn peak(&self, population: Population, value: u64) {
        raise(&self.peaks[population as usize], value);
    }

    /// Adds the difference `value - from` to a sum that is stored as a difference.
    #[inline]
    fn apart(&self, sum: Sum, value: u64, from: u64) {
        if value != from {
            self.add(sum, value.wrapping_sub(from));
        }
    }

    /// Charges a closed frame; `outer` states that it is the proc's outermost frame on its task's
    /// stack.
    #[inline]
    pub(crate) fn charge(&self, charge: &Charge, outer: bool) {
        let hold = charge.hold;
        self.add(Sum::Hold, hold);
        self.apart(Sum::Running, charge.running, hold);
        self.apart(
            Sum::Inclusive,
            if outer { charge.inclusive } else { 0 },
            hold,
        );
        self.apart(Sum::Foreign, hold, charge.inclusive);
    }

    /// Records a finished poll; `only` states that it was the single poll of a call that ended with
    /// it. Returns whether the call's populations were recorded as well.
    #[inline(always)]
    pub(crate) fn record_poll(&self, hold: u64, running: u64, only: bool) -> bool {
        if only {
            self.add(Sum::Immediate, 1);
        }
        if running != hold {
            if running == 0 {
                add(&self.idle, 1);
            } else {
                self.record(Shared::PollRunning, running);
                self.peak(Population::PollRunning, running);
            }
            self.record(Shared::PollHold, hold);
            return false;
        }
        self.peak(Population::PollRunning, running);
        self.record(if only { Shared::Single } else { Shared::Leaf }, hold);
        only
    }

    /// Charges an ended call that was polled; `recorded` is the result of
    /// [`ProcCounters::record_poll`].
    #[inline]
    pub(crate) fn charge_call(&self, running: u64, inclusive: u64, recorded: bool) {
        self.add(Sum::CallRunning, running);
        self.apart(Sum::CallInclusive, inclusive, running);
        self.peak(Population::CallRunning, running);
        self.peak(Population::CallInclusive, inclusive);
        if !recorded {
            self.record(Shared::CallRunning, running);
            self.record(Shared::CallInclusive, inclusive);
        }
    }

    /// Records a finished poll in the reader's current tick. A poll no longer than the tick's
    /// longest cannot raise the maximum since the start either.
    #[inline]
    pub(crate) fn recent(&self, tick: u32, hold: u64) {
        let recent = &self.recent;
        if recent.tick.load(Relaxed) != tick {
            recent.turn(tick);
        } else if hold <= recent.longest.load(Relaxed) {
            return;
        }
        recent.longest.store(hold, Relaxed);
        self.peak(Population::PollHold, hold);
    }

    /// Records the ready latency of a root poll of this proc, in ticks.
    pub(crate) fn ready(&self, latency: u64) {
        self.add(Sum::ReadyLatency, latency);
        self.peak(Population::ReadyLatency, latency);
        self.ready.get_or_init(Box::default).record(latency);
    }

    #[inline]
    pub(crate) fn future_bytes(&self, bytes: u64) {
        raise(&self.future_bytes, bytes);
    }

    /// Counters of an await point (its index plus one); 0 is the unknown one.
    #[inline]
    pub(crate) fn site(&self, site: u32) -> &SiteCounters {
        const { assert!((SITE as usize) < AppendVec::<SiteCounters, 4>::LIMIT) };
        self.sites.at((site & SITE) as usize)
    }

    /// Counters of the edge to another proc.
    #[inline]
    pub(crate) fn edge(&self, other: u32) -> &EdgeCounters {
        let key = other.wrapping_add(1);
        let first = self.edges.at(0);
        if first.other.load(Relaxed) == key {
            return first;
        }
        self.edge_beyond(key)
    }

    #[cold]
    fn edge_beyond(&self, key: u32) -> &EdgeCounters {
        for index in 0..EDGE_LIMIT {
            let edge = self.edges.at(index);
            let held = edge.other.load(Relaxed);
            if held == key {
                return edge;
            }
            if held == 0 {
                edge.other.store(key, Relaxed);
                return edge;
            }
        }
        let others = self.edges.at(EDGE_LIMIT);
        others.other.store(OTHERS + 1, Relaxed);
        others
    }

    /// Adds this proc's sums and moments to an aggregate. The caller reads them under the seqlock;
    /// `tick` is the reader's current tick.
    pub(crate) fn collect(&self, tick: u32, into: &mut ProcStats) {
        for (sum, counter) in into.sums.iter_mut().zip(&self.sums) {
            *sum = sum.wrapping_add(counter.load(Relaxed));
        }
        let held = |sum: Sum| self.sums[sum as usize].load(Relaxed);
        into.add(Sum::Running, held(Sum::Hold));
        into.add(Sum::Inclusive, held(Sum::Hold));
        into.add(Sum::CallInclusive, held(Sum::CallRunning));
        for (peak, counter) in into.peaks.iter_mut().zip(&self.peaks) {
            *peak = (*peak).max(counter.load(Relaxed));
        }
        let recent = &self.recent;
        for (at, longest) in [
            (&recent.tick, &recent.longest),
            (&recent.last_tick, &recent.last_longest),
        ] {
            if tick.wrapping_sub(at.load(Relaxed)) <= 1 {
                into.recent_longest = into.recent_longest.max(longest.load(Relaxed));
            }
        }
        into.future_bytes = into.future_bytes.max(self.future_bytes.load(Relaxed));
        for (index, row) in self.sites.iter().filter(|(_, row)| !row.is_untouched()) {
            row.collect(into.site(index));
        }
    }

    /// Adds what [`ProcCounters::collect`] omits. These are plain counts: a read between two stores
    /// of one event is off by that event and no more.
    pub(crate) fn collect_details(&self, into: &mut ProcStats) {
        for (shared, histogram) in Shared::ALL.into_iter().zip(&self.histograms) {
            let mut counts = Buckets::default();
            histogram.collect(&mut counts);
            for &population in shared.populations() {
                into.populations[population as usize].merge(&counts);
            }
        }
        if let Some(ready) = self.ready.get() {
            ready.collect(&mut into.populations[Population::ReadyLatency as usize]);
        }
        let idle = self.idle.load(Relaxed);
        if idle > 0 {
            into.populations[Population::PollRunning as usize].add(0, idle);
        }
        for (_, edge) in self.edges.iter() {
            let Some(other) = edge.other.load(Relaxed).checked_sub(1) else {
                break;
            };
            edge.collect(into.edges.entry(other).or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ProcCounters, Sum};
    use crate::account::aggregate::ProcStats;

    #[test]
    fn calls_that_end_in_their_first_poll_are_counted() {
        let row = ProcCounters::default();
        // Without and with nested polls, and with no time of its own; then a poll of several.
        for (hold, running, only) in [(5, 5, true), (5, 3, true), (5, 0, true), (5, 5, false)] {
            row.record_poll(hold, running, only);
        }
        let mut stats = ProcStats::default();
        row.collect(0, &mut stats);
        assert_eq!(stats.sum(Sum::Immediate), 3);
    }
}
