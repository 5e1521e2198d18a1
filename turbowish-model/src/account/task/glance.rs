//! A glance at a task: whether the rest is worth reading.

use core::sync::atomic::Ordering::Relaxed;

use super::{POLLED, TaskCell};

/// The part of a [`TaskReading`](super::TaskReading) that tells whether the rest is worth reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// A thread polls it now.
    pub is_polled: bool,
    /// Epoch of its last accounted poll.
    pub epoch: u32,
    /// Begin of the poll, or end of the last one.
    pub since: u64,
    /// Root polls begun.
    pub polls: u64,
    /// Longest finished root poll.
    pub longest: u64,
}

impl TaskCell {
    /// As much of it as can be told without its chain: nothing is allocated for it.
    #[must_use]
    pub fn glance(&self, relax: &mut dyn FnMut()) -> Glance {
        self.sequence.read(relax, || Glance {
            is_polled: self.thread.load(Relaxed) & POLLED != 0,
            epoch: self.epoch.load(Relaxed),
            since: self.since.load(Relaxed),
            polls: self.polls.load(Relaxed),
            longest: self.longest.load(Relaxed),
        })
    }
}
