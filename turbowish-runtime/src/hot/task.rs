//! Live tasks and their branches. A task has a slot from the end of a root's pending first poll, or
//! from the first clone of its waker, until the call is over and nothing has its waker.
//!
//! Slots are never freed, so their wakers refer to them without a reference count, and a reader may
//! look at any time. A call that ends in its first poll and keeps no waker uses none.

mod counts;
mod ended;
mod first_poll;
mod live;
mod panics;
mod registry;
mod row;

use std::num::NonZeroU32;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Waker;

use turbowish_model::account::slots::SLOT_LIMIT;
use turbowish_model::account::task::{TaskMeta, WakeSource};
use turbowish_model::event::{CallEvent, TaskEvent};
use turbowish_unsafe::waker::BorrowedWaker;
use turbowish_unsafe::waker::slot::{Slot, SlotTarget, Vtables};

use self::counts::{SlotCell, SlotWord, WakerCount, WakerCounts};
pub(crate) use self::ended::{ended, panicked};
pub(crate) use self::first_poll::FirstPoll;
pub(crate) use self::panics::PanicNote;
pub use self::panics::record_panics;
#[cfg(test)]
pub(crate) use self::registry::slots;
pub(crate) use self::registry::{
    DEFAULT_LIMIT, all, branches, chains, each, enter, enter_branch, is_wrapped, limit, live, lost,
    named, next_branch, outside, with, wrap,
};
pub(crate) use self::row::TaskRow;
use crate::features;
use crate::hot::origin::TaskOrigin;
use crate::hot::pause::PauseFlag;
use crate::hot::proc::Proc;
use crate::hot::waker_state::{self, Begun, Late, LateTarget, Wakes};
use crate::hot::{clock, current, events, forced_yield, switch};
use crate::runtimes;

/// Slot of a task or of a branch.
pub(crate) type TaskSlot = Slot<TaskEntry>;

/// State of a task or of a branch: what readers see of it, and what is known of its waker.
#[derive(Debug)]
pub(crate) struct TaskEntry {
    /// Its word is the ID of the task of which this is a branch; while the slot is free, what
    /// follows it.
    pub(crate) cell: SlotCell,
    wakes: Wakes,
    counts: WakerCounts,
    pause_flag: PauseFlag,
}

// There are as many as tasks that wait.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<TaskSlot>() == 120 + size_of::<PauseFlag>());

/// Bits of flags below the index.
const FLAG_BITS: u32 = 8;
const _: () = assert!(SLOT_LIMIT <= 1 << (u32::BITS - FLAG_BITS));
/// All flags.
const FLAGS: u32 = (1 << FLAG_BITS) - 1;
/// The task or branch has a row: it is shown.
const SHOWN: u32 = 1;
/// This is a branch.
const BRANCH: u32 = 2;
/// The task belongs to no tokio runtime.
const OUTSIDE: u32 = 4;
/// The task has an origin.
const MARKED: u32 = 8;
/// A clone of the executor's own waker was given away in the last poll.
const PASSED: u32 = 16;
/// The poll in progress was lent the slot's waker. Only the polling thread writes flags meanwhile.
const LENT: u32 = 32;

impl SlotTarget for TaskEntry {
    fn cloned(&self) {
        if waker_state::is_by_program() {
            self.counts.add(&self.cell, WakerCount::Clones);
            forced_yield::look();
        }
        events::task(self.task(), || TaskEvent::Cloned);
    }

    fn dropped(&self) {
        events::task(self.task(), || TaskEvent::Dropped);
    }

    fn woken(&self) {
        self.tell_wake();
        self.note();
    }

    fn is_polled_here(&self) -> bool {
        self.has(LENT) && current::thread_index().is_some_and(|own| self.cell.is_polled_on(own))
    }

    fn free(&'static self) {
        registry::free(self);
    }

    fn may_wait() -> bool {
        !switch::is_child()
    }

    #[inline]
    fn vtables() -> &'static Vtables<Self> {
        registry::vtables()
    }
}

impl TaskEntry {
    /// The state of a free slot, which is followed by `next`.
    fn new(index: u32, next: u32) -> Self {
        let entry = Self {
            cell: SlotCell::unused(SlotWord::new(index)),
            wakes: Wakes::default(),
            counts: WakerCounts::default(),
            pause_flag: PauseFlag::default(),
        };
        entry.cell.set_word(u64::from(next));
        entry
    }

    /// The slot's index.
    #[inline]
    fn index(&self) -> u32 {
        self.cell.owner().index()
    }

    /// The flags, and above them the index.
    #[inline]
    fn flags(&self) -> &AtomicU32 {
        &self.cell.owner().0
    }

    /// Begins the life of a task whose first poll is in progress on a thread.
    fn begin_task(
        &self,
        meta: &TaskMeta,
        origin: Option<&Arc<TaskOrigin>>,
        epoch: u32,
        thread: u32,
    ) {
        let outside = if runtimes::is_outside() { OUTSIDE } else { 0 };
        let marked = if origin.is_some() { MARKED } else { 0 };
        self.renew(meta, outside | marked);
        self.cell.begin(epoch, thread, meta.created);
        if let Some(origin) = origin {
            self.cell.readied(origin.readied());
            self.cell.make_rare().set_origin(origin.clone());
        }
    }

    /// Begins the life of a branch of the task `owner`.
    fn begin_branch(&self, meta: &TaskMeta, owner: u64) {
        self.renew(meta, BRANCH);
        self.cell.set_word(owner);
    }

    fn renew(&self, meta: &TaskMeta, flags: u32) {
        // The ID first: a reader that sees anything else of the new task sees that, too.
        self.cell.renew(meta);
        let index = self.flags().load(Ordering::Relaxed) & !FLAGS;
        self.flags().store(index | flags, Ordering::Relaxed);
        self.wakes.renew();
        self.counts.renew(&self.cell);
        self.pause_flag.reset();
    }

    fn has(&self, flag: u32) -> bool {
        self.flags().load(Ordering::Relaxed) & flag != 0
    }

    /// ID of the task that this is, or is a branch of.
    fn task(&self) -> u64 {
        match self.has(BRANCH) {
            false => self.cell.id(),
            true => self.owner(),
        }
    }

    /// ID of the task of which this is a branch.
    fn owner(&self) -> u64 {
        self.cell.word()
    }

    /// Where the task was marked, if it was.
    fn origin(&self) -> Option<Arc<TaskOrigin>> {
        self.cell.rare()?.origin()
    }

    /// The task, or the call whose branch this is, was woken.
    #[inline]
    fn tell_wake(&self) {
        match self.has(BRANCH) {
            false => events::task(self.task(), || TaskEvent::Woken),
            true => events::call(|| CallEvent::Wake),
        }
    }

    /// Records a wake, while accounting is armed.
    fn note(&self) {
        let Some(epoch) = switch::epoch() else {
            return;
        };
        let (task, latest) = current::task_and_when(epoch);
        let is_own = task != 0 && task == self.task();
        self.count_wake(is_own);
        if is_own {
            // Its task is ready from the end of this poll on, so no clock is read.
            self.wakes.note(|| (WakeSource::of_task(task, 0), latest));
        } else {
            self.wakes.note(|| (current::who(), clock::ticks()));
        }
    }

    /// Counts a wake; `is_own` if the task woke itself, on this thread.
    fn count_wake(&self, is_own: bool) {
        if is_own && !(features::RUNTIMES && runtimes::is_forced_to_yield()) {
            self.counts.add_own(&self.cell, WakerCount::Own);
        } else {
            if is_own {
                forced_yield::look();
            }
            self.counts.add(&self.cell, WakerCount::Others);
        }
    }
}

impl LateTarget for &'static TaskSlot {
    fn own(&self) -> Waker {
        self.lent().waker().clone()
    }
    fn adopt(&self, outer: &Waker) -> Result<(), Waker> {
        Slot::adopt(self, outer)
    }
    fn passes(&self) {
        self.flags().fetch_or(PASSED, Ordering::Relaxed);
    }
    fn note(&self) {
        TaskEntry::note(self);
    }
}

/// A call's reference to its slot: the task of which it is the root, or its branch. Dropping it
/// ends that.
#[derive(Debug)]
pub(crate) struct CoveredTask(NonZeroU32);

impl Deref for CoveredTask {
    type Target = SlotCell;
    #[inline]
    fn deref(&self) -> &SlotCell {
        &self.slot().cell
    }
}

impl CoveredTask {
    fn of(slot: &'static TaskSlot) -> Self {
        Self(NonZeroU32::MIN.saturating_add(slot.index()))
    }

    #[inline]
    fn slot(&self) -> &'static TaskSlot {
        registry::at(self.0.get() - 1)
    }

    /// What it refers to.
    #[inline]
    pub(crate) fn covered(&self) -> Covered {
        Covered(self.slot())
    }

    #[inline]
    pub(crate) fn is_branch(&self) -> bool {
        self.slot().has(BRANCH)
    }

    /// Whether it was marked as the root of a task.
    pub(crate) fn has_story(&self) -> bool {
        self.slot().has(MARKED)
    }

    /// Records that it ends by a panic.
    #[cold]
    pub(crate) fn panicked(&self) {
        panicked(self.meta(), &self.slot().origin());
    }
}

/// What a [`CoveredTask`] refers to, found once for several steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Covered(&'static TaskSlot);

impl Deref for Covered {
    type Target = SlotCell;
    #[inline]
    fn deref(&self) -> &SlotCell {
        &self.0.cell
    }
}

impl Covered {
    /// What a late waker is for.
    #[inline]
    pub(crate) fn of(late: &Late<'_, &'static TaskSlot>) -> Self {
        Self(late.target)
    }

    /// Pause state of its row.
    #[inline]
    pub(crate) fn pause_flag(self) -> &'static PauseFlag {
        &self.0.pause_flag
    }

    /// Begins a poll of a task with the executor's `waker`; the cell's has begun.
    #[inline]
    pub(crate) fn begin_waker(self, waker: &Waker) -> Begun {
        let slot = self.0;
        if slot.has(PASSED) {
            slot.flags().fetch_and(!PASSED, Ordering::Relaxed);
        }
        // Without a clone there can be none before this poll makes one.
        let fits = slot.fits(waker);
        if fits {
            let flags = slot.flags().load(Ordering::Relaxed);
            slot.flags().store(flags | LENT, Ordering::Relaxed);
        }
        Begun {
            readied: slot.wakes.take(),
            fits,
        }
    }

    /// Ends a poll that was given the slot's waker.
    #[inline]
    pub(crate) fn end_waker(self, outer: &Waker) {
        let slot = self.0;
        let flags = slot.flags().load(Ordering::Relaxed);
        slot.flags().store(flags & !LENT, Ordering::Relaxed);
        slot.settle(outer);
    }

    /// The waker for a poll that the slot's waker does not fit.
    pub(crate) fn late(self, outer: &Waker) -> Late<'_, &'static TaskSlot> {
        Late {
            target: self.0,
            outer,
            is_inside: self.0.has(BRANCH),
        }
    }

    /// The waker for a poll that it fits.
    #[inline]
    pub(crate) fn lent<'a>(self) -> BorrowedWaker<'a> {
        self.0.lent()
    }

    #[inline]
    pub(crate) fn is_branch(self) -> bool {
        self.0.has(BRANCH)
    }

    /// Whether it is a branch of `task`.
    pub(crate) fn is_branch_of(self, task: u64) -> bool {
        self.0.has(BRANCH) && self.0.owner() == task
    }
}

impl Drop for CoveredTask {
    fn drop(&mut self) {
        let slot = self.slot();
        if !switch::is_child() {
            // In a child the origin's lock may be locked forever.
            registry::leave(slot);
        }
        slot.over();
    }
}

/// Metadata of a task whose root call of `proc`, which has the number `id`, begins at `t`.
#[inline]
pub(crate) fn meta(proc: &'static Proc, id: u32, future_bytes: usize, t: u64) -> TaskMeta {
    let future_bytes = u32::try_from(future_bytes).unwrap_or(u32::MAX);
    TaskMeta::new(id, proc.next_task(id), t, future_bytes)
}
