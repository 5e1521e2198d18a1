//! Live tasks by ID, and their branches. A row exists from the end of a root's pending first poll
//! until the call ends or is dropped.
//!
//! Polls of a task are given a TurboWish waker, which refers to the same allocation as the row. It
//! is made when the first poll clones its waker, so a call that never waits costs none.

mod ended;
mod registry;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use turbowish_model::account::branch::BranchReading;
use turbowish_model::account::task::{Glance, TaskCell, TaskMeta, TaskReading};
use turbowish_model::event::{CallEvent, TaskEvent};
use turbowish_unsafe::waker::{BorrowedWaker, LazyTarget, WakeTarget};

pub(crate) use self::ended::{ended, panicked};
pub(crate) use self::registry::{
    DEFAULT_LIMIT, all, branches, enter, enter_branch, is_wrapped, limit, live, lost, outside,
    with, wrap,
};
use crate::hot::origin::TaskOrigin;
use crate::hot::pause::{self, PauseFlag};
use crate::hot::proc::Proc;
use crate::hot::waker_state::{self, Begun, Late, StatefulWaker, WakerState};
use crate::hot::{events, switch};
use crate::runtimes;

/// Row of a live task or of a branch: its state and its waker state.
#[derive(Debug)]
pub(crate) struct TaskEntry {
    pub(crate) cell: TaskCell,
    pub(crate) origin: Option<Arc<TaskOrigin>>,
    /// ID of the task of which this is a branch; 0 for a task.
    owner: u64,
    /// Whether it belongs to no tokio runtime.
    outside: bool,
    waker_state: WakerState,
    pub(crate) pause_flag: PauseFlag,
}

impl WakeTarget for TaskEntry {
    fn cloned(&self) {
        self.waker_state.cloned();
        events::task(self.task(), || TaskEvent::Cloned);
    }
    fn dropped(&self) {
        // Before the executor's waker is dropped: that is foreign code.
        events::task(self.task(), || TaskEvent::Dropped);
        self.waker_state.dropped();
    }
    fn wake(&self) {
        // Before the executor is told: another thread may poll at once.
        self.woken();
        self.waker_state.wake(self.task());
    }
}

impl StatefulWaker for TaskEntry {
    fn waker_state(&self) -> &WakerState {
        &self.waker_state
    }
    /// ID of the task that this is, or is a branch of.
    fn task(&self) -> u64 {
        match self.owner {
            0 => self.cell.meta.id,
            owner => owner,
        }
    }
}

impl TaskEntry {
    /// The task, or the call whose branch this is, was woken.
    #[inline]
    fn woken(&self) {
        match self.owner {
            0 => events::task(self.task(), || TaskEvent::Woken),
            _ => events::call(|| CallEvent::Wake),
        }
    }

    fn new(meta: TaskMeta, origin: Option<Arc<TaskOrigin>>, epoch: u32, thread: u32) -> Self {
        let cell = TaskCell::new(meta);
        cell.begin(epoch, thread, meta.created);
        if let Some(readied) = origin.as_deref().map(TaskOrigin::readied) {
            cell.readied(readied);
        }
        Self {
            cell,
            origin,
            owner: 0,
            outside: runtimes::is_outside(),
            waker_state: WakerState::default(),
            pause_flag: PauseFlag::default(),
        }
    }

    /// Creates a branch of the task `owner`.
    fn branch(meta: TaskMeta, owner: u64) -> Self {
        Self {
            cell: TaskCell::new(meta),
            origin: None,
            owner,
            outside: false,
            waker_state: WakerState::default(),
            pause_flag: PauseFlag::default(),
        }
    }

    /// Current state of the task.
    pub(crate) fn read(&self) -> TaskReading {
        let mut reading = self.cell.read(&mut std::thread::yield_now);
        if is_wrapped() {
            reading.waker = Some(self.waker_state.read());
        }
        reading
    }

    /// Whether it was woken since its last poll, as far as that is seen.
    pub(crate) fn is_woken(&self) -> bool {
        self.waker_state.wake_since_poll().is_some()
    }

    /// If it was woken, moves the time of the wake to `t`: it could not be polled before.
    pub(crate) fn wake_again(&self, t: u64) {
        self.waker_state.wake_again(t);
    }

    /// Current state of the branch, and the epoch of its last poll.
    pub(crate) fn read_branch(&self) -> (BranchReading, u32) {
        let (reading, epoch) = self.cell.read_branch(&mut std::thread::yield_now);
        let woken = self.waker_state.wake_since_poll();
        (BranchReading { woken, ..reading }, epoch)
    }
}

/// What the monitor looks at in every task for alerts; it keeps nothing of it.
impl TaskEntry {
    /// ID of the task of which it is a branch; 0 for a task.
    pub(crate) const fn owner(&self) -> u64 {
        self.owner
    }

    /// Current state of the task, without its await stack.
    pub(crate) fn glance(&self) -> Glance {
        self.cell.glance(&mut std::thread::yield_now)
    }

    /// Whether something can wake it and nothing has since its last poll, as far as that is seen.
    pub(crate) fn may_rest(&self) -> bool {
        !is_wrapped() || self.waker_state.may_rest()
    }

    /// Number of wakes since the monitor's previous call.
    pub(crate) fn wakes_since_told(&self) -> u32 {
        self.waker_state.wakes_since_told()
    }
}

/// A root call's reference to its row; dropping it removes the row.
#[derive(Debug)]
pub(crate) struct CoveredTask(Arc<TaskEntry>);

impl std::ops::Deref for CoveredTask {
    type Target = TaskCell;
    fn deref(&self) -> &TaskCell {
        &self.0.cell
    }
}

impl CoveredTask {
    /// Begins a poll with the executor's `waker`.
    pub(crate) fn begin_waker(&self, waker: &Waker) -> Begun {
        self.0.waker_state.begin(waker)
    }

    pub(crate) fn end_waker(&self) {
        self.0.waker_state.end();
    }

    /// The waker for a poll in which [`lent`](Self::lent) does not fit.
    pub(crate) fn late<'a>(&self, outer: &'a Waker) -> Late<'a, TaskEntry> {
        Late {
            target: self.0.clone(),
            outer,
            is_inside: self.is_branch(),
        }
    }

    /// The waker for a poll in which the waker state has the executor's waker.
    #[inline]
    pub(crate) fn lent(&self) -> BorrowedWaker<'_> {
        BorrowedWaker::new(&self.0)
    }

    /// Pause state of its row.
    #[inline]
    pub(crate) fn pause_flag(&self) -> &PauseFlag {
        &self.0.pause_flag
    }

    #[inline]
    pub(crate) fn is_branch(&self) -> bool {
        self.0.owner != 0
    }

    /// Whether it is a branch of `task`.
    pub(crate) fn is_branch_of(&self, task: u64) -> bool {
        self.is_branch() && self.0.owner == task
    }

    /// Whether it was marked as the root of a task.
    pub(crate) fn has_story(&self) -> bool {
        self.0.origin.is_some()
    }

    /// Records that it ends by a panic.
    #[cold]
    pub(crate) fn panicked(&self) {
        panicked(self.0.cell.meta, &self.0.origin);
    }
}

/// A task or a branch in its first poll, as its waker sees it.
#[derive(Debug)]
pub(crate) struct FirstPoll<'w> {
    pub(crate) outer: &'w Waker,
    pub(crate) meta: TaskMeta,
    pub(crate) origin: Option<Arc<TaskOrigin>>,
    /// ID of the task of which it is a branch; 0 for a task.
    pub(crate) owner: u64,
    pub(crate) epoch: u32,
    pub(crate) thread: u32,
    /// Created when the waker was cloned.
    pub(crate) live: OnceLock<Arc<TaskEntry>>,
    /// Whether it was woken by reference before there was a row to record it.
    pub(crate) woken: AtomicBool,
}

impl FirstPoll<'_> {
    /// The waker for the first poll.
    #[inline]
    pub(crate) fn lent(&self) -> BorrowedWaker<'_> {
        BorrowedWaker::late(self)
    }

    fn live(&self) -> &Arc<TaskEntry> {
        self.live.get_or_init(|| {
            Arc::new(match self.owner {
                0 => TaskEntry::new(self.meta, self.origin.clone(), self.epoch, self.thread),
                owner => TaskEntry::branch(self.meta, owner),
            })
        })
    }
}

impl LazyTarget for FirstPoll<'_> {
    fn waker(&self) -> Waker {
        waker_state::kept(self.live(), self.outer, self.owner != 0)
    }

    fn wake(&self) {
        match self.live.get() {
            Some(live) => {
                live.woken();
                live.waker_state.note_if_armed(live.task());
            }
            None => self.woken.store(true, Ordering::Relaxed),
        }
        self.outer.wake_by_ref();
    }
}

impl Drop for CoveredTask {
    fn drop(&mut self) {
        if switch::is_child() {
            // The parent's map is unused here, and may be locked forever.
            return;
        }
        registry::remove(&self.0);
        if !self.is_branch() {
            events::task(self.meta.id, || TaskEvent::End);
        }
        // A pause holds the task's row: end it first.
        pause::over(&self.0);
    }
}

/// Metadata of a task whose root call of `proc` begins at `t`; `None` beyond the limit of procs.
pub(crate) fn meta(proc: &'static Proc, future_bytes: usize, t: u64) -> Option<TaskMeta> {
    let future_bytes = u32::try_from(future_bytes).unwrap_or(u32::MAX);
    Some(TaskMeta::new(proc.id()?, proc.next_task(), t, future_bytes))
}

/// A new branch ID.
pub(crate) fn next_branch() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}
