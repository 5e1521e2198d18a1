//! Live tasks and branches of this process.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use turbowish_model::account::paths::{PATH_LIMIT, Paths};
use turbowish_model::account::slots::{Links, Slots, Slotted};
use turbowish_model::account::task::{Extra, TaskMeta, WakeSource};
use turbowish_model::event::TaskEvent;
use turbowish_unsafe::waker::slot::Vtables;

use super::counts::Rare;
use super::ended::Panicked;
use super::live::{Live, OwnCounts, ThreadCounts};
use super::{BRANCH, CoveredTask, FirstPoll, MARKED, OUTSIDE, SHOWN, TaskEntry, TaskRow, TaskSlot};
use crate::hot::{clock, dropped, events, pause};

/// Tasks of this process.
pub(super) struct Tasks {
    /// Of tasks and of branches.
    slots: Slots<Place>,
    /// Those of the slots' wakers, and of the executors'.
    vtables: Vtables<TaskEntry>,
    /// Chains of pending calls. Apart from the paths of calls, whose counters lie next to each
    /// other.
    chains: Paths,
    live: ThreadCounts,
    shared: SharedNumbers,
    /// Maximum number of tasks with a row, and of branches.
    limit: AtomicU64,
    /// Whether tasks are polled with TurboWish wakers.
    wrapped: AtomicBool,
    /// The last tasks that ended by a panic.
    pub(super) ended: Mutex<VecDeque<Panicked>>,
    /// Whether the panic hook was added to.
    pub(super) hooked: AtomicBool,
}

/// What all threads change now and then. On a cache line of its own: what is beside it is read at
/// every poll.
#[repr(align(64))]
struct SharedNumbers {
    /// Blocks of IDs of branches that threads have taken.
    branch_blocks: AtomicU64,
    /// Tasks without a row.
    lost: AtomicU64,
}

/// A slot in the table. No two tasks share a cache line.
#[repr(align(64))]
struct Place(TaskSlot);

impl Slotted for Place {
    type Extra = Extra<Rare>;

    fn new(index: u32, next: u32) -> Self {
        Self(TaskSlot::new(TaskEntry::new(index, next)))
    }
    fn links(&self) -> Links {
        self.0.links()
    }
    fn link(&self, links: Links) {
        self.0.link(links);
    }
}

impl TaskEntry {
    /// What follows a free slot.
    fn links(&self) -> Links {
        Links::of(self.cell.word())
    }

    fn link(&self, links: Links) {
        self.cell.set_word(links.word());
    }

    /// Index plus one of the slot after a free one.
    fn next(&self) -> u32 {
        self.links().next
    }

    /// Makes `next` follow a free slot.
    fn set_next(&self, next: u32) {
        self.link(Links { next, batch: 0 });
    }
}

pub(super) static TASKS: Tasks = Tasks {
    slots: Slots::new(),
    vtables: Vtables::new(),
    chains: Paths::new(PATH_LIMIT),
    live: ThreadCounts::first(),
    shared: SharedNumbers {
        branch_blocks: AtomicU64::new(0),
        lost: AtomicU64::new(0),
    },
    limit: AtomicU64::new(DEFAULT_LIMIT),
    wrapped: AtomicBool::new(true),
    ended: Mutex::new(VecDeque::new()),
    hooked: AtomicBool::new(false),
};

/// Default maximum of live tasks with a row of their own.
pub(crate) const DEFAULT_LIMIT: u64 = 1_000_000;

/// Slots that a thread gives to the others at once, when it has twice as many.
const BATCH: u32 = 128;

/// Free slots of one thread.
struct FreeSlots {
    /// Index plus one of the first; 0 if there is none.
    first: Cell<u32>,
    count: Cell<u32>,
}

/// What a thread has of its own.
struct OwnTasks {
    free: FreeSlots,
    counts: OwnCounts,
    /// The next ID of a branch, unless it is the first of a block.
    next_branch: Cell<u64>,
}

/// IDs of branches that a thread takes at once.
const IDS: u64 = 64;

thread_local! {
    static OWN: OwnTasks = const {
        OwnTasks {
            free: FreeSlots::new(),
            counts: OwnCounts::new(),
            next_branch: Cell::new(0),
        }
    };
}

impl FreeSlots {
    const fn new() -> Self {
        Self {
            first: Cell::new(0),
            count: Cell::new(0),
        }
    }

    fn take(&self) -> Option<&'static TaskSlot> {
        if self.first.get() == 0 {
            let first = TASKS.slots.take().or_else(|| TASKS.slots.grow())?;
            self.first.set(first + 1);
            // Given lists are at least this long, or what a thread had left.
            self.count.set(0);
        }
        let slot = at(self.first.get() - 1);
        self.first.set(slot.next());
        self.count.set(self.count.get().saturating_sub(1));
        Some(slot)
    }

    fn add(&self, entry: &TaskEntry) {
        entry.set_next(self.first.get());
        self.first.set(entry.index() + 1);
        self.count.set(self.count.get() + 1);
        if self.count.get() == 2 * BATCH {
            self.give_batch();
        }
    }

    /// Gives the slots behind the first few to the other threads.
    #[cold]
    fn give_batch(&self) {
        let mut last = at(self.first.get() - 1);
        for _ in 1..BATCH {
            match last.next().checked_sub(1) {
                Some(next) => last = at(next),
                None => return,
            }
        }
        let rest = last.next();
        last.set_next(0);
        self.count.set(BATCH);
        if let Some(first) = rest.checked_sub(1) {
            TASKS.slots.give(first);
        }
    }
}

impl Drop for FreeSlots {
    fn drop(&mut self) {
        if let Some(first) = self.first.replace(0).checked_sub(1) {
            TASKS.slots.give(first);
        }
    }
}

/// A new branch ID, not 0. Those of a thread rise.
#[inline]
pub(crate) fn next_branch() -> u64 {
    let block = || (TASKS.shared.branch_blocks.fetch_add(1, Ordering::Relaxed) + 1) * IDS;
    let next = OWN.try_with(|own| {
        let next = match own.next_branch.get() {
            used_up if used_up.is_multiple_of(IDS) => block(),
            next => next,
        };
        own.next_branch.set(next + 1);
        next
    });
    next.unwrap_or_else(|_| block())
}

/// The table of chains of pending calls, for the cells of slots.
#[inline]
pub(crate) fn chains() -> &'static Paths {
    &TASKS.chains
}

/// The vtables of the slots' wakers, and of the executors' that they keep.
#[inline]
pub(super) fn vtables() -> &'static Vtables<TaskEntry> {
    &TASKS.vtables
}

/// The slot at `index`.
#[inline]
pub(super) fn at(index: u32) -> &'static TaskSlot {
    &TASKS.slots.at(index).0
}

/// What few tasks need, of the slot at `index`.
pub(super) fn extra(index: u32) -> Option<&'static Extra<Rare>> {
    TASKS.slots.extra(index)
}

/// The same, made if necessary.
pub(super) fn make_extra(index: u32) -> &'static Extra<Rare> {
    TASKS.slots.make_extra(index)
}

/// Takes a free slot; `None` if there are no more.
pub(super) fn take() -> Option<&'static TaskSlot> {
    // The thread's storage may be gone: then a whole list is taken, and the rest given back.
    let taken = OWN.try_with(|own| own.free.take());
    taken.unwrap_or_else(|_| FreeSlots::new().take())
}

/// Frees a slot.
pub(super) fn free(entry: &'static TaskEntry) {
    let added = OWN.try_with(|own| own.free.add(entry));
    if added.is_err() {
        entry.set_next(0);
        TASKS.slots.give(entry.index());
    }
}

/// Counts tasks or branches that begin or end, on this thread.
#[inline]
fn change(what: Live, by: u64) {
    if OWN
        .try_with(|own| own.counts.add(&TASKS.live, what, by))
        .is_err()
    {
        TASKS.live.add_stray(what, by);
    }
}

fn begun(what: Live) {
    change(what, 1);
}

fn over(what: Live) {
    change(what, 1_u64.wrapping_neg());
}

/// Whether so many more rows are within the limit.
fn has_room(what: Live, more: u64) -> bool {
    let limit = TASKS.limit.load(Ordering::Relaxed);
    // Each row has a slot: below the limit of slots, the sum of all threads is not needed.
    TASKS.slots.made() < limit || TASKS.live.sum(what) + more <= limit
}

/// Gives a task a row at the end of its first poll, which was on a thread; its future lies at
/// `address` from here on. `None` beyond the limit, counted.
#[inline(never)]
pub(crate) fn enter(
    meta: TaskMeta,
    (epoch, thread): (u32, u32),
    first: Option<&FirstPoll<'_>>,
    address: usize,
) -> Option<CoveredTask> {
    let slot = || match first {
        Some(first) => first.enter(),
        None => {
            let slot = take()?;
            slot.begin_task(&meta, None, epoch, thread);
            Some(slot)
        }
    };
    begun(Live::Tasks);
    let Some(slot) = has_room(Live::Tasks, 0).then(slot).flatten() else {
        over(Live::Tasks);
        TASKS.shared.lost.fetch_add(1, Ordering::Relaxed);
        return None;
    };
    if first.is_some_and(FirstPoll::is_woken) {
        // Only the task's own poll could reach that waker: it is ready from the end of this poll.
        slot.count_wake(true);
        slot.wakes
            .note(|| (WakeSource::of_task(meta.id, 0), meta.created));
    }
    if slot.has(OUTSIDE) {
        begun(Live::Outside);
    }
    slot.pause_flag.lies_at(address);
    show(slot);
    Some(CoveredTask::of(slot))
}

/// Keeps the slot of a branch after its first poll, if it can be woken; `None` beyond the limit.
pub(crate) fn enter_branch(first: &FirstPoll<'_>) -> Option<CoveredTask> {
    let woken = first.is_woken();
    if first.made().is_none() && !woken {
        return None;
    }
    let has_room = has_room(Live::Branches, 1);
    let Some(slot) = has_room.then(|| first.enter()).flatten() else {
        dropped::detail();
        return None;
    };
    begun(Live::Branches);
    if woken {
        slot.count_wake(true);
        slot.wakes
            .note(|| (WakeSource::of_task(first.owner, 0), clock::ticks()));
    }
    show(slot);
    Some(CoveredTask::of(slot))
}

/// Shows a slot, at the end of a first poll.
fn show(slot: &TaskSlot) {
    let flags = slot.flags();
    if slot.has_users() {
        // A waker on another thread may set a flag meanwhile.
        flags.fetch_or(SHOWN, Ordering::Release);
    } else {
        flags.store(flags.load(Ordering::Relaxed) | SHOWN, Ordering::Release);
    }
}

/// Removes the row of a task or of a branch that is over.
pub(super) fn leave(slot: &'static TaskSlot) {
    let flags = slot.flags().load(Ordering::Relaxed);
    slot.flags().store(flags & !SHOWN, Ordering::Release);
    over(match flags & BRANCH {
        0 => Live::Tasks,
        _ => Live::Branches,
    });
    if flags & OUTSIDE != 0 {
        over(Live::Outside);
    }
    if flags & BRANCH == 0 {
        events::task(slot.cell.id(), || TaskEvent::End);
    }
    pause::over(&slot.pause_flag, slot.cell.id());
    if flags & MARKED != 0 {
        drop(slot.cell.rare().and_then(Rare::take_origin));
    }
}

/// Number of live tasks with a row.
pub(crate) fn live() -> u64 {
    TASKS.live.sum(Live::Tasks)
}

/// Number of live tasks with a row that belong to no tokio runtime.
pub(crate) fn outside() -> u64 {
    TASKS.live.sum(Live::Outside)
}

/// Number of tasks without a row.
pub(crate) fn lost() -> u64 {
    TASKS.shared.lost.load(Ordering::Relaxed)
}

/// Slots that are shown and have all of these `flags`, but none of the others.
fn shown(flags: u32, others: u32) -> impl Iterator<Item = TaskRow> {
    let (wanted, mask) = (SHOWN | flags, SHOWN | flags | others);
    let slots = TASKS.slots.iter().map(|place| &place.0);
    let slots = slots.filter(move |slot| slot.flags().load(Ordering::Acquire) & mask == wanted);
    slots.filter_map(TaskRow::of)
}

/// The `wanted` branches, also of ended tasks, by the task that polled them last.
pub(crate) fn branches(wanted: impl Fn(&TaskRow) -> bool) -> HashMap<u64, Vec<TaskRow>> {
    let mut of: HashMap<u64, Vec<TaskRow>> = HashMap::new();
    if TASKS.live.sum(Live::Branches) > 0 {
        for row in shown(BRANCH, 0).filter(wanted) {
            of.entry(row.owner()).or_default().push(row);
        }
    }
    of
}

/// Runs `f` with a live task; `None` if it has no row. Looks at all tasks.
pub(crate) fn with<R>(id: u64, f: impl FnOnce(TaskRow) -> R) -> Option<R> {
    shown(0, BRANCH).find(|row| row.id() == id).map(f)
}

/// Names given to live tasks, by ID.
pub(crate) fn named() -> HashMap<u64, Arc<str>> {
    let named = shown(MARKED, BRANCH).filter_map(|row| {
        let name = row.origin()?.name.clone()?;
        Some((row.id(), name))
    });
    named.collect()
}

/// All live tasks, one after the other: a task that begins meanwhile may be among them.
pub(crate) fn each() -> impl Iterator<Item = TaskRow> {
    shown(0, BRANCH)
}

/// A list of all live tasks.
pub(crate) fn all() -> Vec<TaskRow> {
    let mut all = Vec::with_capacity(usize::try_from(live()).unwrap_or(0));
    all.extend(each());
    all
}

/// Number of slots, free ones too.
#[cfg(test)]
pub(crate) fn slots() -> usize {
    TASKS.slots.iter().count()
}

/// Whether tasks are polled with TurboWish wakers.
#[inline]
pub(crate) fn is_wrapped() -> bool {
    TASKS.wrapped.load(Ordering::Relaxed)
}

/// Sets whether tasks are polled with TurboWish wakers.
pub(crate) fn wrap(wakers: bool) {
    TASKS.wrapped.store(wakers, Ordering::Relaxed);
}

/// Sets the maximum number of tasks with a row.
pub(crate) fn limit(tasks: u64) {
    TASKS.limit.store(tasks, Ordering::Relaxed);
}
