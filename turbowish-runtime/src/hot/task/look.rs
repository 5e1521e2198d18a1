//! Accessors with which the monitor scans every task for alerts; it keeps nothing of them.

use turbowish_model::account::task::Glance;

use super::{TaskEntry, is_wrapped};

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
