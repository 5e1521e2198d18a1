//! Waits for timers: each wait of a task for a timer is shown.
//!
//! Timers are created and dropped by the million, and no other task holds or awaits one. So a timer
//! has no record, only an entry while a task waits for it. A wait outside of any task costs none.

use std::panic::Location;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dashmap::DashMap;

use super::late_timers::TimerDelays;
use super::registry::{RESOURCES, SHARDS};
use crate::hot::current::{CurrentCall, current_call};
use crate::hot::{clock, dropped, switch};
use turbowish_model::sorting;

/// Waits for timers in this process. On cache lines of their own: the counts change with every
/// wait.
#[repr(align(64))]
pub(super) struct Timers {
    waits: LazyLock<DashMap<u64, Timer>>,
    next: AtomicU64,
    live: AtomicU64,
    /// Number of waits without an entry.
    beyond: AtomicU64,
    pub(super) delays: TimerDelays,
}

impl Timers {
    pub(super) const fn new() -> Self {
        Self {
            waits: LazyLock::new(|| DashMap::with_shard_amount(SHARDS)),
            next: AtomicU64::new(1),
            live: AtomicU64::new(0),
            beyond: AtomicU64::new(0),
            delays: TimerDelays::new(),
        }
    }
}

/// Maximum number of waits with an entry; of those beyond it is not known what they wait for.
const LIMIT: u64 = 100_000;

/// Stands for no entry.
const BEYOND_LIMIT: u64 = 0;

/// A wait for a timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// The call that waits.
    pub(crate) who: CurrentCall,
    /// Start of the wait, in ticks.
    pub(crate) since: u64,
    /// Source location of the timer's creation.
    pub(crate) at: &'static Location<'static>,
}

/// Entry of a wait; removed on drop.
#[derive(Debug)]
pub(crate) struct TimerWait {
    /// [`BEYOND_LIMIT`] if it has none.
    id: u64,
    task: u64,
    /// Start of the wait, in ticks.
    since: u64,
}

impl TimerWait {
    /// Records a poll by the current task of a timer that was created at `at`. The wait is kept in
    /// `slot` from one poll to the next.
    #[inline]
    pub(crate) fn polled(slot: &mut Option<Self>, pending: bool, at: &'static Location<'static>) {
        if !pending {
            *slot = None;
        } else if switch::is_armed() {
            let who = current_call();
            if slot.as_ref().is_none_or(|wait| wait.task != who.task) {
                *slot = Self::enter(who, at);
            }
        }
    }

    /// Records that the wait is over; `passed` returns the time since the timer's deadline.
    #[inline]
    pub(crate) fn completed(slot: &Option<Self>, passed: impl FnOnce() -> Duration) {
        if let Some(wait) = slot
            && switch::is_armed()
        {
            let delays = &RESOURCES.timers.delays;
            delays.completed(current_call(), wait.since, passed());
        }
    }

    #[cold]
    fn enter(who: CurrentCall, at: &'static Location<'static>) -> Option<Self> {
        if who.task == 0 {
            return None;
        }
        let (since, task) = (clock::ticks(), who.task);
        if RESOURCES.timers.live.fetch_add(1, Ordering::Relaxed) >= LIMIT {
            RESOURCES.timers.live.fetch_sub(1, Ordering::Relaxed);
            RESOURCES.timers.beyond.fetch_add(1, Ordering::Relaxed);
            dropped::detail();
            let id = BEYOND_LIMIT;
            return Some(Self { id, task, since });
        }
        let id = RESOURCES.timers.next.fetch_add(1, Ordering::Relaxed);
        RESOURCES.timers.waits.insert(id, Timer { who, since, at });
        Some(Self { id, task, since })
    }
}

impl Drop for TimerWait {
    fn drop(&mut self) {
        if switch::is_child() {
            return;
        }
        if self.id == BEYOND_LIMIT {
            RESOURCES.timers.beyond.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        RESOURCES.timers.live.fetch_sub(1, Ordering::Relaxed);
        RESOURCES.timers.waits.remove(&self.id);
    }
}

/// Number of waits for timers that are not among [`timers`].
pub(crate) fn timers_beyond() -> u64 {
    RESOURCES.timers.beyond.load(Ordering::Relaxed)
}

/// Calls `f` for each wait for a timer, in no order. `f` must not use timers.
pub(crate) fn each_timer(mut f: impl FnMut(&Timer)) {
    let waits = RESOURCES.timers.waits.iter();
    waits.for_each(|entry| f(entry.value()));
}

/// All waits for timers, the longest first.
pub(crate) fn timers() -> Vec<Timer> {
    let mut all: Vec<Timer> = RESOURCES
        .timers
        .waits
        .iter()
        .map(|entry| *entry.value())
        .collect();
    sorting::by_key(&mut all, |timer| timer.since);
    all
}
