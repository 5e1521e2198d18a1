//! First polls: no slot is needed until the waker is cloned, or the poll ends pending.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Waker;

use turbowish_model::account::task::TaskMeta;
use turbowish_unsafe::waker::{BorrowedWaker, LazyTarget};

use super::counts::Rare;
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
    /// Index of the slot plus one, or [`NO_ROOM`]; 0 until the waker is cloned or the poll ends
    /// pending.
    slot: AtomicU32,
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
            slot: AtomicU32::new(0),
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
    #[inline]
    pub(in crate::hot) fn made(&self) -> Option<&'static TaskSlot> {
        match self.slot.load(Ordering::Acquire) {
            0 | NO_ROOM => None,
            index => Some(registry::at(index - 1)),
        }
    }

    /// The slot, which belongs to the caller from here on. The poll is over: no other thread has
    /// its waker by reference.
    pub(super) fn enter(&self) -> Option<&'static TaskSlot> {
        self.entered.store(true, Ordering::Relaxed);
        match self.slot.load(Ordering::Acquire) {
            0 => {
                let (slot, word) = self.take();
                self.slot.store(word, Ordering::Relaxed);
                slot
            }
            _ => self.made(),
        }
    }

    fn slot(&self) -> Option<&'static TaskSlot> {
        match self.slot.load(Ordering::Acquire) {
            0 => self.clone_first(),
            _ => self.made(),
        }
    }

    /// A slot for the task, and the word for it.
    fn take(&self) -> (Option<&'static TaskSlot>, u32) {
        let taken = registry::take();
        if let Some(slot) = taken {
            match self.owner {
                0 => slot.begin_task(&self.meta, self.origin.as_ref(), self.epoch, self.thread),
                owner => slot.begin_branch(&self.meta, owner),
            }
        }
        (taken, taken.map_or(NO_ROOM, |slot| slot.index() + 1))
    }

    /// The slot, for the first clone of the waker.
    fn clone_first(&self) -> Option<&'static TaskSlot> {
        let (taken, word) = self.take();
        // Release: who finds the slot also finds the task in it.
        let first = self
            .slot
            .compare_exchange(0, word, Ordering::AcqRel, Ordering::Acquire);
        if first.is_ok() {
            return taken;
        }
        // Another thread has cloned the waker at the same time.
        if let Some(slot) = taken {
            drop(slot.cell.rare().and_then(Rare::take_origin));
            registry::free(slot);
        }
        self.made()
    }
}

/// In place of a slot's number: there was no room.
const NO_ROOM: u32 = u32::MAX;

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
