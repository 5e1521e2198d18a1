//! Waits for an instant: that a task waits for a timer is told, of each wait by itself.
//!
//! Timers come and go by the million, and nobody else holds or awaits one. So they have no record, only an entry while a task of ours
//! waits; nobody's wait costs none.

use std::panic::Location;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;

use crate::hot::current::{CurrentCall, here};
use crate::hot::{clock, dropped, switch};

static TIMERS: LazyLock<DashMap<u64, Timer>> = LazyLock::new(|| DashMap::with_shard_amount(SHARDS));
static NEXT: AtomicU64 = AtomicU64::new(1);
static LIVE: AtomicU64 = AtomicU64::new(0);
/// Waits that have no entry.
static BEYOND: AtomicU64 = AtomicU64::new(0);

/// As for tasks: the monitor holds each for a few microseconds only.
const SHARDS: usize = 64;

/// Waits that are told at a time; of those beyond it is not known what they wait for.
const LIMIT: u64 = 100_000;

/// Stands for no entry.
const BEYOND_LIMIT: u64 = 0;

/// A wait for a timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// Who waits.
    pub(crate) who: CurrentCall,
    /// Since when, in ticks.
    pub(crate) since: u64,
    /// Where in the source it was asked for.
    pub(crate) at: &'static Location<'static>,
}

/// An entry; it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct TimerWait {
    /// [`BEYOND_LIMIT`] if it has none.
    id: u64,
    task: u64,
}

impl TimerWait {
    /// A timer that was asked for at `at` was polled by the current task, and its wait is kept in `slot` from one poll to the next.
    #[inline]
    pub(crate) fn polled(slot: &mut Option<Self>, pending: bool, at: &'static Location<'static>) {
        if !pending {
            *slot = None;
        } else if switch::is_armed() {
            let who = here();
            if slot.as_ref().is_none_or(|wait| wait.task != who.task) {
                *slot = Self::enter(who, at);
            }
        }
    }

    #[cold]
    fn enter(who: CurrentCall, at: &'static Location<'static>) -> Option<Self> {
        if who.task == 0 {
            return None;
        }
        if LIVE.fetch_add(1, Ordering::Relaxed) >= LIMIT {
            LIVE.fetch_sub(1, Ordering::Relaxed);
            BEYOND.fetch_add(1, Ordering::Relaxed);
            dropped::detail();
            let (id, task) = (BEYOND_LIMIT, who.task);
            return Some(Self { id, task });
        }
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let since = clock::ticks();
        TIMERS.insert(id, Timer { who, since, at });
        let task = who.task;
        Some(Self { id, task })
    }
}

impl Drop for TimerWait {
    fn drop(&mut self) {
        if switch::is_child() {
            return;
        }
        if self.id == BEYOND_LIMIT {
            BEYOND.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        LIVE.fetch_sub(1, Ordering::Relaxed);
        TIMERS.remove(&self.id);
    }
}

/// Waits for timers that are not among [`timers`].
pub(crate) fn timers_beyond() -> u64 {
    BEYOND.load(Ordering::Relaxed)
}

/// All waits for timers, the longest first.
pub(crate) fn timers() -> Vec<Timer> {
    let mut all: Vec<Timer> = TIMERS.iter().map(|entry| *entry.value()).collect();
    all.sort_unstable_by_key(|timer| timer.since);
    all
}
