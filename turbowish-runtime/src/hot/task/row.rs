//! Rows: what the monitor sees of a task or a branch. It may end at any time, and its slot become
//! another one's.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turbowish_model::account::branch::BranchReading;
use turbowish_model::account::task::{Glance, TaskMeta, TaskReading, WakerReading};

use super::counts::WakerCount;
use super::{BRANCH, MARKED, PASSED, SHOWN, TaskEntry, TaskSlot, chains, is_wrapped};
use crate::hot::origin::TaskOrigin;
use crate::hot::pause::PauseFlag;

/// A reference to a live task or branch. What it reads is `None` if that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskRow {
    slot: &'static TaskSlot,
    id: u64,
}

impl TaskRow {
    /// The task or branch in a slot that is shown now.
    pub(super) fn of(slot: &'static TaskSlot) -> Option<Self> {
        // The ID of a slot that is shown does not change.
        let is_shown = || slot.flags().load(Ordering::Acquire) & SHOWN != 0;
        let row = is_shown().then(|| Self {
            slot,
            id: slot.cell.id(),
        });
        row.filter(Self::is_live)
    }

    /// ID of the task or branch.
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    /// Proc of the task's root.
    pub(crate) const fn root(&self) -> u32 {
        TaskMeta::of(self.id).root()
    }

    /// Whether it is not over.
    pub(crate) fn is_live(&self) -> bool {
        self.slot.flags().load(Ordering::Acquire) & SHOWN != 0 && self.slot.cell.is_still(self.id)
    }

    /// Passes on what was read, if the slot was that of the task all the time.
    fn checked<R>(&self, read: impl FnOnce(&TaskEntry) -> R) -> Option<R> {
        let read = read(self.slot);
        self.is_live().then_some(read)
    }

    /// Current state of the task.
    pub(crate) fn read(&self) -> Option<(TaskMeta, TaskReading)> {
        self.checked(|entry| {
            let (meta, mut reading) = entry.cell.read_of(chains(), &mut std::thread::yield_now);
            if is_wrapped() {
                reading.waker = Some(self.waker(entry));
            }
            (meta, reading)
        })
    }

    /// All counters of the waker.
    fn waker(&self, entry: &TaskEntry) -> WakerReading {
        WakerReading {
            woken: entry.wakes.since_poll(),
            by: entry.wakes.by(),
            wakes: entry.counts.wakes(&entry.cell),
            own_wakes: entry.counts.get(&entry.cell, WakerCount::Own),
            clones: entry.counts.get(&entry.cell, WakerCount::Clones),
            live: self.slot.live() + u32::from(entry.has(PASSED)),
        }
    }

    /// Metadata of the task.
    pub(crate) fn meta(&self) -> Option<TaskMeta> {
        self.checked(|entry| entry.cell.read_meta(&mut std::thread::yield_now))
    }

    /// Where the task was marked, if it was.
    pub(crate) fn origin(&self) -> Option<Arc<TaskOrigin>> {
        if !self.slot.has(MARKED) {
            return None;
        }
        self.checked(TaskEntry::origin).flatten()
    }

    /// Whether it was woken since its last poll, as far as that is seen.
    pub(crate) fn is_woken(&self) -> bool {
        let woken = self.checked(|entry| entry.wakes.since_poll().is_some());
        woken.unwrap_or(false)
    }

    /// If it was woken, moves the time of the wake to `t`: it could not be polled before.
    pub(crate) fn wake_again(&self, t: u64) {
        if self.is_live() {
            self.slot.wakes.wake_again(t);
        }
    }

    /// Current state of the branch, and the epoch of its last poll.
    pub(crate) fn read_branch(&self) -> Option<(BranchReading, u32)> {
        self.checked(|entry| {
            let (reading, epoch) = entry
                .cell
                .read_branch(chains(), &mut std::thread::yield_now);
            let woken = entry.wakes.since_poll();
            (BranchReading { woken, ..reading }, epoch)
        })
    }

    /// Pause state of the task.
    pub(crate) fn pause_flag(&self) -> &PauseFlag {
        &self.slot.pause_flag
    }
}

/// What the monitor looks at in every task for alerts; it keeps nothing of it.
impl TaskRow {
    /// ID of the task of which it is a branch; 0 for a task.
    pub(crate) fn owner(&self) -> u64 {
        match self.slot.has(BRANCH) {
            true => self.slot.owner(),
            false => 0,
        }
    }

    /// Current state of the task, without its await stack.
    pub(crate) fn glance(&self) -> Option<Glance> {
        self.checked(|entry| entry.cell.glance(&mut std::thread::yield_now))
    }

    /// Whether something can wake it and nothing has since its last poll, as far as that is seen.
    pub(crate) fn may_rest(&self) -> bool {
        if !is_wrapped() {
            return true;
        }
        let is_held = self.slot.live() > 0 || self.slot.has(PASSED);
        self.slot.wakes.since_poll().is_none() && is_held
    }

    /// Whether all of its wakes are counted.
    pub(crate) fn sees_wakes(&self) -> bool {
        is_wrapped() && !self.slot.has(PASSED)
    }

    /// Number of wakes since the last call, which only the monitor's thread makes.
    pub(crate) fn wakes_since_told(&self) -> u32 {
        let wakes = self.checked(|entry| entry.counts.wakes(&entry.cell));
        let slot = self.slot;
        wakes.map_or(0, |wakes| slot.counts.tell(&slot.cell, wakes))
    }
}
