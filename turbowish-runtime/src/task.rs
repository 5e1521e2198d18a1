//! Live tasks by id: entered when a root's first poll has ended pending, gone when its call ends or is dropped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use dashmap::DashMap;
use turbowish_model::task::{Birth, TaskCell};

use crate::proc::Proc;

static TASKS: LazyLock<DashMap<u64, Arc<TaskCell>>> =
    LazyLock::new(|| DashMap::with_shard_amount(SHARDS));
static LIVE: AtomicU64 = AtomicU64::new(0);
static LIMIT: AtomicU64 = AtomicU64::new(DEFAULT_LIMIT);
static LOST: AtomicU64 = AtomicU64::new(0);

/// Many, so that the monitor holds each for a few microseconds only: spawning waits for it.
const SHARDS: usize = 256;

/// Live tasks with a row of their own, unless the builder says otherwise.
pub(crate) const DEFAULT_LIMIT: u64 = 1_000_000;

/// A root call's hold on its row; the row goes when this goes.
#[derive(Debug)]
pub(crate) struct Task(Arc<TaskCell>);

impl std::ops::Deref for Task {
    type Target = TaskCell;
    fn deref(&self) -> &TaskCell {
        &self.0
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        TASKS.remove(&self.0.birth.id);
    }
}

/// A task whose root is a call of `proc` begins at `t`.
pub(crate) fn birth(proc: &'static Proc, future_bytes: usize, t: u64) -> Option<Birth> {
    let future_bytes = u32::try_from(future_bytes).unwrap_or(u32::MAX);
    Some(Birth::new(proc.id()?, proc.next_task(), t, future_bytes))
}

/// Gives a task a row, in its first poll on a thread; `None` beyond the limit, counted.
#[cold]
pub(crate) fn enter(birth: Birth, epoch: u32, thread: u32) -> Option<Task> {
    if LIVE.fetch_add(1, Ordering::Relaxed) >= LIMIT.load(Ordering::Relaxed) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        LOST.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    let cell = Arc::new(TaskCell::new(birth));
    cell.begin(epoch, thread, birth.created);
    TASKS.insert(cell.birth.id, cell.clone());
    Some(Task(cell))
}

/// All live tasks.
pub(crate) fn all() -> Vec<Arc<TaskCell>> {
    TASKS.iter().map(|entry| entry.value().clone()).collect()
}

/// Tasks that got no row.
pub(crate) fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// At most so many tasks get a row.
pub(crate) fn limit(tasks: u64) {
    LIMIT.store(tasks, Ordering::Relaxed);
}
