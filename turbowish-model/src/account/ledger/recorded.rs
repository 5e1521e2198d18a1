//! What the events of calls are recorded from.

use super::Ledger;
use super::frame::ROOT;

impl Ledger {
    /// Whether the poll at `depth`, which is open, is that of a task's root.
    #[must_use]
    pub fn begins_task(&self, depth: u32) -> bool {
        self.frames.at(depth as usize).has(ROOT)
    }
}
