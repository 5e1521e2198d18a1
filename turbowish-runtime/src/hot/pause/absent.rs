//! Without a server nobody can pause a task, and calls do not look whether they are.

use std::convert::Infallible;
use std::task::Waker;

use crate::hot::task::{CoveredTask, TaskEntry};

/// What a task's row has of it: nothing.
#[derive(Debug, Default)]
pub(crate) struct PauseFlag(());

impl PauseFlag {
    /// Nobody asks.
    pub(crate) const fn lies_at(&self, _address: usize) {}
}

/// A poll is not to be: there is none such.
#[derive(Debug)]
pub(crate) struct PausedPoll(Infallible);

/// Every call may be polled.
#[inline]
pub(crate) const fn look(_: &Option<CoveredTask>, _: &Waker) -> Result<(), PausedPoll> {
    Ok(())
}

/// None is paused.
pub(crate) const fn over(_: &TaskEntry) {}
