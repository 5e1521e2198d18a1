//! Who drops calls that wait: the innermost open poll, and with the first call all those that it polled.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{ARRIVED, Frame};
use crate::account::call::{Call, PENDING};
use crate::account::sync::{AtomicU32, AtomicU64};

/// The last calls that were dropped in a poll, one right after the other.
#[derive(Default)]
pub(super) struct LastDrop {
    /// The event of the last one.
    event: AtomicU64,
    /// Proc of the first one, plus one; 0 if it was no branch of the call that dropped it.
    head: AtomicU32,
    number: AtomicU64,
}

/// A call was dropped half-way by the innermost open poll, alone or as a part of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropGroup {
    /// Proc of the outermost call that was dropped.
    pub head: u32,
    /// The same for all calls that are dropped with it.
    pub number: u64,
}

impl Ledger {
    /// A call that waits is dropped in the poll of `top`; this is its event.
    pub(super) fn fall(&self, top: &Frame, call: &Call, proc: u32) {
        let fall = &self.fall;
        let event = self.sequence.count();
        let goes_on = event == fall.event.load(Relaxed).wrapping_add(2);
        fall.event.store(event, Relaxed);
        if goes_on {
            return;
        }
        let is_branch = is_below(top, call);
        fall.head
            .store(if is_branch { proc + 1 } else { 0 }, Relaxed);
        fall.number
            .store(fall.number.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// The call that was dropped last is the root of a task, and no branch of anything.
    pub fn note_root_drop(&self) {
        self.fall.head.store(0, Relaxed);
    }

    /// What the call was part of whose drop was this thread's last event, if it waited, and was polled where the innermost open poll stands.
    #[must_use]
    pub fn fallen(&self) -> Option<DropGroup> {
        let fall = &self.fall;
        let is_last = self.sequence.count() == fall.event.load(Relaxed).wrapping_add(1);
        let head = fall.head.load(Relaxed).checked_sub(1).filter(|_| is_last)?;
        let number = fall.number.load(Relaxed);
        Some(DropGroup { head, number })
    }
}

/// The call was polled by `top` at the await point where that stands, as far as can be told: in this very poll, if it has only come there
/// in this one.
fn is_below(top: &Frame, call: &Call) -> bool {
    if top.has(ARRIVED) {
        call.suspended >= top.start.load(Relaxed)
    } else {
        top.has(PENDING)
    }
}
