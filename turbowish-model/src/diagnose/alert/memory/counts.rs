//! Counters of tasks and procs at the start of a window: what grew since is what happened in it.

use crate::diagnose::situation::{Proc, Task};

/// Counts at the start of a window, and at an instant within it at which the next window starts.
#[derive(Clone, Copy, Debug)]
pub(in crate::diagnose::alert) struct Rolling<T> {
    base: (u64, T),
    next: (u64, T),
}

impl<T: Copy> Rolling<T> {
    pub(super) const fn new(at: u64, counts: T) -> Self {
        Self {
            base: (at, counts),
            next: (at, counts),
        }
    }

    /// Keeps the start of the window between one and two lengths in the past, or a little more than
    /// three where situations are a length apart.
    pub(super) fn record(&mut self, now: u64, length: u64, counts: T) {
        if now.saturating_sub(self.next.0) >= length {
            self.base = self.next;
            self.next = (now, counts);
        }
    }

    /// Length of the window, and the counts at its start.
    pub(in crate::diagnose::alert) fn base(&self, now: u64) -> (u64, T) {
        (now.saturating_sub(self.base.0), self.base.1)
    }
}

/// Counters of a task.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::diagnose::alert) struct TaskCounts {
    pub(in crate::diagnose::alert) polls: u64,
    pub(in crate::diagnose::alert) busy_ns: u64,
    pub(in crate::diagnose::alert) idle: u64,
    pub(in crate::diagnose::alert) wakes: u64,
    pub(in crate::diagnose::alert) own: u64,
    pub(in crate::diagnose::alert) clones: u64,
}

impl TaskCounts {
    pub(in crate::diagnose::alert) fn of(task: &Task) -> Self {
        let wakes = task.wakes.as_ref();
        Self {
            polls: task.polls,
            busy_ns: task.busy_ns,
            idle: task.idle_polls.unwrap_or(0),
            wakes: wakes.map_or(0, |wakes| wakes.total),
            own: wakes.map_or(0, |wakes| wakes.by_itself),
            clones: wakes.map_or(0, |wakes| wakes.clones),
        }
    }

    /// Difference to an earlier count.
    pub(in crate::diagnose::alert) const fn since(self, base: Self) -> Self {
        Self {
            polls: self.polls.saturating_sub(base.polls),
            busy_ns: self.busy_ns.saturating_sub(base.busy_ns),
            idle: self.idle.saturating_sub(base.idle),
            wakes: self.wakes.saturating_sub(base.wakes),
            own: self.own.saturating_sub(base.own),
            clones: self.clones.saturating_sub(base.clones),
        }
    }
}

/// Counters of a proc.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::diagnose::alert) struct ProcCounts {
    /// Calls that were never polled and did not lose a race.
    pub(in crate::diagnose::alert) forgotten: u64,
    pub(in crate::diagnose::alert) polls: u64,
    pub(in crate::diagnose::alert) spurious: u64,
    pub(in crate::diagnose::alert) slow: u64,
    /// Those of the slow polls that may be slow only because their worker was not run.
    pub(in crate::diagnose::alert) preempted: u64,
    /// Root polls that used up tokio's budget.
    pub(in crate::diagnose::alert) forced: u64,
}

impl ProcCounts {
    pub(in crate::diagnose::alert) fn of(proc: &Proc, preempted: u64) -> Self {
        Self {
            preempted,
            forgotten: proc
                .never_polled
                .saturating_sub(proc.lost_races.unwrap_or(0)),
            polls: proc.polls,
            spurious: proc.spurious.unwrap_or(0),
            slow: proc.slow,
            forced: proc.forced.times,
        }
    }

    /// Difference to an earlier count.
    pub(in crate::diagnose::alert) const fn since(self, base: Self) -> Self {
        Self {
            forgotten: self.forgotten.saturating_sub(base.forgotten),
            polls: self.polls.saturating_sub(base.polls),
            spurious: self.spurious.saturating_sub(base.spurious),
            slow: self.slow.saturating_sub(base.slow),
            preempted: self.preempted.saturating_sub(base.preempted),
            forced: self.forced.saturating_sub(base.forced),
        }
    }
}
