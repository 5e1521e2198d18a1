//! Live tasks and branches of this process, by ID.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use dashmap::DashMap;
use turbowish_model::account::task::TaskMeta;

use super::ended::Panicked;
use super::{CoveredTask, FirstPoll, TaskEntry};
use crate::hot::dropped;

/// Tasks of this process.
pub(super) struct Tasks {
    rows: Rows,
    /// Branches of all tasks that wait, or have waited, and can be woken.
    branches: Rows,
    counts: Counts,
    /// Maximum number of tasks with a row, and of branches.
    limit: AtomicU64,
    /// Whether tasks are polled with TurboWish wakers.
    wrapped: AtomicBool,
    /// The last tasks that ended by a panic.
    pub(super) ended: Mutex<VecDeque<Panicked>>,
}

type Rows = LazyLock<DashMap<u64, Arc<TaskEntry>>>;

/// Numbers of tasks. On a cache line of their own: they change with every task, and what is beside
/// them is read at every poll.
#[repr(align(64))]
struct Counts {
    live: AtomicU64,
    live_branches: AtomicU64,
    /// Live tasks that belong to no tokio runtime.
    outside: AtomicU64,
    /// Tasks without a row.
    lost: AtomicU64,
}

pub(super) static TASKS: Tasks = Tasks {
    rows: LazyLock::new(|| DashMap::with_shard_amount(SHARDS)),
    branches: LazyLock::new(|| DashMap::with_shard_amount(SHARDS)),
    counts: Counts {
        live: AtomicU64::new(0),
        live_branches: AtomicU64::new(0),
        outside: AtomicU64::new(0),
        lost: AtomicU64::new(0),
    },
    limit: AtomicU64::new(DEFAULT_LIMIT),
    wrapped: AtomicBool::new(true),
    ended: Mutex::new(VecDeque::new()),
};

/// Many, so that the monitor holds each lock for a few microseconds only: spawning waits for it.
const SHARDS: usize = 256;

/// Default maximum of live tasks with a row of their own.
pub(crate) const DEFAULT_LIMIT: u64 = 1_000_000;

/// Gives a task a row, in its first poll on a thread; `None` beyond the limit, counted.
#[cold]
pub(crate) fn enter(
    meta: TaskMeta,
    epoch: u32,
    thread: u32,
    first: Option<&FirstPoll<'_>>,
) -> Option<CoveredTask> {
    let counts = &TASKS.counts;
    if counts.live.fetch_add(1, Ordering::Relaxed) >= TASKS.limit.load(Ordering::Relaxed) {
        counts.live.fetch_sub(1, Ordering::Relaxed);
        counts.lost.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    let made = first.and_then(|first| first.live.get());
    let live = made.cloned().unwrap_or_else(|| {
        let origin = first.and_then(|first| first.origin.clone());
        Arc::new(TaskEntry::new(meta, origin, epoch, thread))
    });
    if first.is_some_and(|first| first.woken.load(Ordering::Relaxed)) {
        // Only the task's own poll could reach that waker.
        live.waker_state.note_by(meta.id, true);
    }
    if live.outside {
        counts.outside.fetch_add(1, Ordering::Relaxed);
    }
    TASKS.rows.insert(meta.id, live.clone());
    Some(CoveredTask(live))
}

/// Keeps the entry of a branch after its first poll, if it can be woken; `None` beyond the limit.
pub(crate) fn enter_branch(first: &FirstPoll<'_>) -> Option<CoveredTask> {
    let woken = first.woken.load(Ordering::Relaxed);
    if first.live.get().is_none() && !woken {
        return None;
    }
    let count = &TASKS.counts.live_branches;
    if count.load(Ordering::Relaxed) >= TASKS.limit.load(Ordering::Relaxed) {
        dropped::detail();
        return None;
    }
    count.fetch_add(1, Ordering::Relaxed);
    let made = first.live.get().cloned();
    let live = made.unwrap_or_else(|| Arc::new(TaskEntry::branch(first.meta, first.owner)));
    if woken {
        live.waker_state.note_by(first.owner, true);
    }
    TASKS.branches.insert(first.meta.id, live.clone());
    Some(CoveredTask(live))
}

/// Removes the row of a task or of a branch that is over.
#[inline]
pub(super) fn remove(entry: &TaskEntry) {
    let counts = &TASKS.counts;
    let (count, rows) = match entry.owner {
        0 => (&counts.live, &TASKS.rows),
        _ => (&counts.live_branches, &TASKS.branches),
    };
    count.fetch_sub(1, Ordering::Relaxed);
    if entry.outside {
        counts.outside.fetch_sub(1, Ordering::Relaxed);
    }
    rows.remove(&entry.cell.meta.id);
}

/// Number of live tasks with a row.
pub(crate) fn live() -> u64 {
    TASKS.counts.live.load(Ordering::Relaxed)
}

/// Number of live tasks with a row that belong to no tokio runtime.
pub(crate) fn outside() -> u64 {
    TASKS.counts.outside.load(Ordering::Relaxed)
}

/// Number of tasks without a row.
pub(crate) fn lost() -> u64 {
    TASKS.counts.lost.load(Ordering::Relaxed)
}

/// The `wanted` branches, also of ended tasks, by the task that polled them last.
pub(crate) fn branches(wanted: impl Fn(&TaskEntry) -> bool) -> HashMap<u64, Vec<Arc<TaskEntry>>> {
    let mut of: HashMap<u64, Vec<Arc<TaskEntry>>> = HashMap::new();
    let branches = TASKS.branches.iter();
    for entry in branches.filter(|entry| wanted(entry.value())) {
        of.entry(entry.owner)
            .or_default()
            .push(entry.value().clone());
    }
    of
}

/// Runs `f` with a live task, which cannot end meanwhile; `None` if it has no row.
pub(crate) fn with<R>(id: u64, f: impl FnOnce(&Arc<TaskEntry>) -> R) -> Option<R> {
    TASKS.rows.get(&id).map(|live| f(&live))
}

/// All live tasks.
pub(crate) fn all() -> Vec<Arc<TaskEntry>> {
    let mut all = Vec::with_capacity(usize::try_from(live()).unwrap_or(0));
    all.extend(TASKS.rows.iter().map(|entry| entry.value().clone()));
    all
}

/// Whether tasks are polled with TurboWish wakers.
#[inline]
pub(crate) fn is_wrapped() -> bool {
    TASKS.wrapped.load(Ordering::Relaxed)
}

/// Sets whether tasks are polled with TurboWish wakers.
pub(crate) fn wrap(wakers: bool) {
    TASKS.wrapped.store(wakers, Ordering::Relaxed);
}

/// Sets the maximum number of tasks with a row.
pub(crate) fn limit(tasks: u64) {
    TASKS.limit.store(tasks, Ordering::Relaxed);
}
