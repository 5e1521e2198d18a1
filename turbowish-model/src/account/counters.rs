//! Counters of one thread: written by that thread alone, readable by any thread at any time.
//!
//! What every poll writes is kept by path, what is rare by proc.

mod pages;
mod path;
mod quick;
mod site;

use core::sync::atomic::Ordering::Relaxed;

use once_cell::race::OnceBox;

pub(crate) use self::pages::{Pages, chunks};
pub(crate) use self::path::{ALONE, LongestWords, PathCounters, PathReading, SPANS, Shared, Word};
pub(crate) use self::quick::PollBuckets;
use self::site::SiteCounters;
use crate::account::aggregate::ProcStats;
use crate::account::append_vec::AppendVec;
use crate::account::call::SITE;
use crate::account::histogram::{Histogram, add, raise};
use crate::account::slow::SlowClasses;
use crate::account::sync::AtomicU64;

/// Number of procs that can be accounted; a proc with this id or a higher one cannot.
pub const PROC_LIMIT: u32 = 1 << 14;

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
    /// Wall time of calls that ended and were polled, in ticks.
    CallWall,
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
    /// Number of calls whose time of creation is unknown, and taken to be their first poll: other
    /// things happened in between, for the first time of this proc.
    UnknownBirths,
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
    /// Wall time per call that ended and was polled: from its creation to its end.
    CallWall,
    /// Duration per finished poll.
    PollHold,
    /// Exclusive time per finished poll.
    PollRunning,
    /// Ready latency per root poll that followed a wake.
    ReadyLatency,
}

/// Number of populations kept per proc.
pub const POPULATIONS: usize = Population::ReadyLatency as usize + 1;

/// Proc id that stands for the unknown callers of calls whose path has no entry.
pub const OTHERS: u32 = u32::MAX - 1;

/// Rare counters of one proc on one thread.
#[derive(Default)]
pub(crate) struct ProcCounters {
    /// Slot 0 is the unknown await point; slot `i + 1` is the proc's await point `i`.
    sites: AppendVec<SiteCounters, 2>,
    ready_latency: AtomicU64,
    longest_ready: AtomicU64,
    /// Ready latencies; only procs that are roots of tasks have them.
    ready: OnceBox<Histogram>,
    future_bytes: AtomicU64,
    slow: OnceBox<SlowClasses>,
}

impl ProcCounters {
    /// Records the ready latency of a root poll of this proc, in ticks.
    pub(crate) fn ready(&self, latency: u64) {
        add(&self.ready_latency, latency);
        raise(&self.longest_ready, latency);
        self.ready
            .get_or_init(alloc::boxed::Box::default)
            .record(latency);
    }

    #[inline]
    pub(crate) fn future_bytes(&self, bytes: u64) {
        raise(&self.future_bytes, bytes);
    }

    /// Counters of an await point (its index plus one); 0 is the unknown one.
    #[inline]
    pub(crate) fn site(&self, site: u32) -> &SiteCounters {
        const { assert!((SITE as usize) < AppendVec::<SiteCounters, 2>::LIMIT) };
        self.sites.at((site & SITE) as usize)
    }

    /// The slow calls that ended.
    #[cold]
    pub(crate) fn slow(&self) -> &SlowClasses {
        self.slow.get_or_init(alloc::boxed::Box::default)
    }

    /// The slow calls that ended, if there were any.
    pub(crate) fn known_slow(&self) -> Option<&SlowClasses> {
        self.slow.get()
    }

    /// Adds these counters to an aggregate, but not the slow calls. Each is read by itself: a read
    /// between two stores of one event is off by that event and no more.
    pub(crate) fn collect(&self, into: &mut ProcStats) {
        into.add(Sum::ReadyLatency, self.ready_latency.load(Relaxed));
        let peak = &mut into.peaks[Population::ReadyLatency as usize];
        *peak = (*peak).max(self.longest_ready.load(Relaxed));
        into.future_bytes = into.future_bytes.max(self.future_bytes.load(Relaxed));
        for (index, site) in self.sites.iter().filter(|(_, site)| !site.is_untouched()) {
            site.collect(into.site(index));
        }
        if let Some(ready) = self.ready.get() {
            ready.collect(&mut into.populations[Population::ReadyLatency as usize]);
        }
    }
}
