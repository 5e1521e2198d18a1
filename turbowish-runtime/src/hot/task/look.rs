//! What the monitor sees of each task whenever it looks for alerts: it keeps nothing of it.

use turbowish_model::account::task::Glance;

use super::{TaskEntry, is_wrapped};

impl TaskEntry {
    /// The task of which it is a branch; 0 of a task.
    pub(crate) const fn owner(&self) -> u64 {
        self.owner
    }

    /// What the task shows now, without its chain.
    pub(crate) fn glance(&self) -> Glance {
        self.cell.glance(&mut std::thread::yield_now)
    }

    /// Something can wake it, and nothing has since its last poll, as far as that is seen.
    pub(crate) fn may_rest(&self) -> bool {
        !is_wrapped() || self.node.may_rest()
    }

    /// Times that it was woken since the monitor asked last.
    pub(crate) fn wakes_since_told(&self) -> u32 {
        self.node.wakes_since_told()
    }
}
