//! Without tokio's crate nothing is known of its runtimes.

use std::sync::Arc;
use std::task::RawWakerVTable;

/// A runtime: none is seen.
pub(crate) enum Seen {}

pub(crate) const fn current() -> Option<Arc<Seen>> {
    None
}

pub(crate) const fn note() {}

pub(crate) const fn forget() {}

pub(crate) const fn tasks() -> Option<u64> {
    None
}

/// Without tokio's crate no task is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunningTask;

impl RunningTask {
    pub(crate) const NONE: Self = Self;

    pub(crate) const fn is_other_than(self, _around: Self) -> bool {
        false
    }
}

pub(crate) const fn running_task() -> RunningTask {
    RunningTask
}

/// Without tokio's crate nothing is known of tasks in runtimes.
pub(crate) const fn is_outside() -> bool {
    false
}

pub(crate) const fn is_forced_to_yield() -> bool {
    false
}

pub(crate) const fn blocking_wakers() -> Option<[&'static RawWakerVTable; 2]> {
    None
}
