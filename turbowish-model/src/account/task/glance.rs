//! Glance: the small part of a task's state that decides whether the rest must be read.

use core::sync::atomic::Ordering::Relaxed;

use super::{CellOwner, Count, TaskCell};

/// The part of a [`TaskReading`](super::TaskReading) that decides whether the rest must be read.
/// Times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// A thread polls the task now.
    pub is_polled: bool,
    /// Epoch of the last accounted poll.
    pub epoch: u32,
    /// Start of the poll in progress, or end of the last one.
    pub since: u64,
    /// Number of root polls started.
    pub polls: u64,
    /// Longest finished root poll.
    pub longest: u64,
}

impl<O: CellOwner> TaskCell<O> {
    /// Reads the task without its await stack. Does not allocate.
    #[must_use]
    pub fn glance(&self, relax: &mut dyn FnMut()) -> Glance {
        self.sequence.read(relax, || {
            let poller = self.poller();
            Glance {
                is_polled: poller.is_polled,
                epoch: poller.epoch,
                since: self.since.load(Relaxed),
                polls: self.counted(Count::Polls),
                longest: self.longest(),
            }
        })
    }
}
