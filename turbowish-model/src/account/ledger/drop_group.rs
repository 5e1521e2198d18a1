//! Drop groups: calls that wait and are dropped together, one right after the other, in the
//! innermost open poll.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{ARRIVED, Frame};
use crate::account::call::PENDING;
use crate::account::sync::{AtomicU32, AtomicU64};

/// The last group of calls that were dropped in a poll, one right after the other.
#[derive(Default)]
pub(super) struct LastDrop {
    /// Number of the group's last drop among the events of the thread.
    event: AtomicU64,
    /// Proc of the group's first call plus one; 0 if that was no branch of the call that dropped
    /// it.
    head: AtomicU32,
    number: AtomicU64,
}

/// A suspended call that the innermost open poll dropped, alone or as a part of another call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropGroup {
    /// Proc id of the outermost call that was dropped.
    pub head: u32,
    /// Number of the group: the same for all calls that were dropped together.
    pub number: u64,
}

impl Ledger {
    /// Records the drop of a call that was suspended, in the poll of `top`. Must be called within
    /// the write section of the drop.
    pub(super) fn fall(&self, top: &Frame, suspended: u64, proc: u32) {
        let fall = &self.past.drop;
        let event = self.event();
        let goes_on = event == fall.event.load(Relaxed).wrapping_add(1);
        fall.event.store(event, Relaxed);
        if goes_on {
            return;
        }
        let is_branch = is_below(top, suspended);
        fall.head
            .store(if is_branch { proc + 1 } else { 0 }, Relaxed);
        fall.number
            .store(fall.number.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Removes the group's head: the call dropped last was the root of a task and is no branch.
    pub fn note_root_drop(&self) {
        self.past.drop.head.store(0, Relaxed);
    }

    /// The group of the last drop; `None` unless that drop was this thread's last event, the call
    /// was suspended and it was polled at the await point of the innermost open poll.
    #[must_use]
    pub fn fallen(&self) -> Option<DropGroup> {
        let fall = &self.past.drop;
        let is_last = self.event() == fall.event.load(Relaxed);
        let head = fall.head.load(Relaxed).checked_sub(1).filter(|_| is_last)?;
        let number = fall.number.load(Relaxed);
        Some(DropGroup { head, number })
    }
}

/// Whether `top` polled a call at its present await point, as far as can be told: in this very
/// poll if `top` reached the await point in it.
fn is_below(top: &Frame, suspended: u64) -> bool {
    if top.has(ARRIVED) {
        suspended >= top.start.load(Relaxed)
    } else {
        top.has(PENDING)
    }
}
