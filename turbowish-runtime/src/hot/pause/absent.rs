//! Pauses without the feature `server`: no task can be paused, and calls do not check.

use std::convert::Infallible;
use std::task::Waker;

use crate::hot::task::Covered;

/// Pause state in a task's row: empty.
#[derive(Debug, Default)]
pub(crate) struct PauseFlag(());

impl PauseFlag {
    /// No effect: the address is needed only for pauses.
    pub(crate) const fn lies_at(&self, _address: usize) {}

    /// No effect.
    pub(crate) const fn reset(&self) {}
}

/// A withheld poll: cannot exist.
#[derive(Debug)]
pub(crate) struct PausedPoll(Infallible);

/// Every call may be polled.
#[inline]
pub(crate) const fn look(_: Option<Covered>, _: &Waker) -> Result<(), PausedPoll> {
    Ok(())
}

/// No effect: no task is paused.
pub(crate) const fn over(_: &PauseFlag, _: u64) {}
