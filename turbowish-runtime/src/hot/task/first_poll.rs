//! First polls: no slot is needed until the waker is cloned, or the poll ends pending.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use turbowish_model::account::task::TaskMeta;
use turbowish_unsafe::waker::{BorrowedWaker, LazyTarget};

use super::{TaskSlot, registry};
use crate::hot::origin::TaskOrigin;
use crate::hot::waker_state;

/// A task or a branch in its first poll, as its waker sees it.
#[derive(Debug)]
pub(crate) struct FirstPoll<'w> {
    pub(crate) outer: &'w Waker,
    pub(crate) meta: TaskMeta,
    pub(crate) origin: Option<Arc<TaskOrigin>>,
    /// ID of the task of which it is a branch; 0 for a task.
    pub(crate) owner: u64,
    epoch: u32,
    thread: u32,
    /// Taken when the waker was cloned; `None` if there was no room.
    slot: OnceLock<Option<&'static TaskSlot>>,
    /// Whether it was woken by reference before there was a slot to record it.
    woken: AtomicBool,
    /// Whether the slot belongs to a call now.
    entered: AtomicBool,
}

impl<'w> FirstPoll<'w> {
    /// A first poll with the waker `outer`, on a thread.
    pub(crate) const fn new(
        outer: &'w Waker,
        meta: TaskMeta,
        origin: Option<Arc<TaskOrigin>>,
        owner: u64,
        on: (u32, u32),
    ) -> Self {
        Self {
            outer,
            meta,
            origin,
            owner,
            epoch: on.0,
            thread: on.1,
            slot: OnceLock::new(),
            woken: AtomicBool::new(false),
            entered: AtomicBool::new(false),
        }
    }

    /// The waker for the first poll.
    #[inline]
    pub(crate) fn lent(&self) -> BorrowedWaker<'_> {
        BorrowedWaker::late(self)
    }

    /// Whether it was woken by reference before there was a slot to record it.
    pub(super) fn is_woken(&self) -> bool {
        self.woken.load(Ordering::Relaxed)
    }

    /// The slot, if its waker was cloned.
    pub(super) fn made(&self) -> Option<&'static TaskSlot> {
        self.slot.get().copied().flatten()
    }

    /// The slot, which belongs to the caller from here on.
    pub(super) fn enter(&self) -> Option<&'static TaskSlot> {
        let slot = self.slot();
        self.entered.store(true, Ordering::Relaxed);
        slot
    }

    fn slot(&self) -> Option<&'static TaskSlot> {
        *self.slot.get_or_init(|| {
            let slot = registry::take()?;
            match self.owner {
                0 => slot.begin_task(&self.meta, self.origin.as_ref(), self.epoch, self.thread),
                owner => slot.begin_branch(&self.meta, owner),
            }
            Some(slot)
        })
    }
}

impl LazyTarget for FirstPoll<'_> {
    fn waker(&self) -> Waker {
        match &self.slot() {
            Some(slot) => waker_state::kept(slot, self.outer, self.owner != 0),
            None => self.outer.clone(),
        }
    }

    fn wake(&self) {
        match self.made() {
            Some(slot) => {
                slot.tell_wake();
                slot.note();
            }
            None => self.woken.store(true, Ordering::Relaxed),
        }
        self.outer.wake_by_ref();
    }
}

impl Drop for FirstPoll<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(slot) = self.made()
            && !self.entered.load(Ordering::Relaxed)
        {
            // It ended, and may have left wakers behind.
            slot.over();
        }
    }
}
