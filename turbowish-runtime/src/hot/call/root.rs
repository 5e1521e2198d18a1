//! Start and end of a task's poll: the waker it is given, its row, and its await point afterwards.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use turbowish_model::account::call::PollEnd;
use turbowish_model::account::ledger::{Charge, PollSpan};
use turbowish_model::account::poll_ring::{PollOutcome, Wakeup};
use turbowish_model::account::task::{TaskMeta, WakeCause};
use turbowish_model::event::TaskEvent;
use turbowish_unsafe::waker::BorrowedWaker;

use super::CallState;
use super::nested::OuterPoll;
use crate::features;
use crate::hot::origin::TaskOrigin;
use crate::hot::proc::Proc;
use crate::hot::task::{self, Covered, CoveredTask, FirstPoll, TaskSlot};
use crate::hot::thread::ThreadLedger;
use crate::hot::waker_state::Late;
use crate::hot::{clock, events, origin, thread};

/// The waker that a poll is given.
pub(super) enum PollWaker<'a> {
    /// The caller's waker, which is the one that the caller was given.
    Inherited,
    /// The caller's waker, which is another one.
    Passed(OuterPoll),
    /// The waker of the task whose root this call is, or of the branch that it is.
    Task(OuterPoll, &'a Waker, Covered),
    /// Like `Task`, in the first poll. Dropped in [`end`](super::end), so that a poll has
    /// nothing else to do afterwards.
    Late(ManuallyDrop<FirstPoll<'a>>, OuterPoll),
    /// Like `Task`, in a later poll, while the task has no clone of the executor's waker.
    Again(ManuallyDrop<Late<'a, &'static TaskSlot>>, OuterPoll),
}

impl<'a> PollWaker<'a> {
    /// The waker of `task`, in a poll with the executor's `waker`.
    #[inline]
    pub(super) fn of(task: Covered, fits: bool, waker: &'a Waker, outer: OuterPoll) -> Self {
        match fits {
            true => Self::Task(outer, waker, task),
            false => Self::Again(ManuallyDrop::new(task.late(waker)), outer),
        }
    }

    /// The state to restore after the poll.
    #[inline]
    pub(super) const fn outer(&self) -> Option<OuterPoll> {
        match self {
            Self::Inherited => None,
            Self::Passed(outer)
            | Self::Task(outer, ..)
            | Self::Late(_, outer)
            | Self::Again(_, outer) => Some(*outer),
        }
    }

    /// The task or branch, if it was one before this poll.
    #[inline]
    pub(super) fn covered(&self) -> Option<Covered> {
        self.covered_within().map(|(task, _)| task)
    }

    /// The task or branch, if it was one before this poll, and the state to restore after it.
    #[inline]
    pub(super) fn covered_within(&self) -> Option<(Covered, OuterPoll)> {
        match self {
            Self::Task(outer, _, task) => Some((*task, *outer)),
            Self::Again(late, outer) => Some((Covered::of(late), *outer)),
            _ => None,
        }
    }

    /// The task or branch, if this is its first poll.
    pub(super) fn first(&self) -> Option<&FirstPoll<'a>> {
        match self {
            Self::Late(first, _) => Some(first),
            _ => None,
        }
    }

    /// Whether the waker is one of TurboWish's.
    pub(super) const fn is_ours(&self) -> bool {
        matches!(self, Self::Task(..) | Self::Late(..) | Self::Again(..))
    }

    /// Ends the slot's waker, if the poll was given that.
    #[inline(always)]
    pub(super) fn end_task(&self) {
        if let Self::Task(_, outer, task) = self {
            task.end_waker(outer);
        }
    }

    /// Releases the waker after the poll.
    #[inline]
    pub(super) fn let_go(&mut self) {
        match self {
            Self::Inherited | Self::Passed(_) | Self::Task(..) => return,
            Self::Late(..) | Self::Again(..) => {}
        }
        match std::mem::replace(self, Self::Inherited) {
            Self::Late(first, _) => drop(ManuallyDrop::into_inner(first)),
            Self::Again(late, _) => drop(ManuallyDrop::into_inner(late)),
            _ => {}
        }
    }

    /// The waker to poll with.
    #[inline]
    pub(super) fn lent<'b>(&'b self, waker: &'a Waker) -> BorrowedWaker<'b> {
        match self {
            Self::Inherited | Self::Passed(_) => BorrowedWaker::same(waker),
            Self::Task(_, _, task) => task.lent(),
            Self::Late(first, _) => first.lent(),
            Self::Again(late, _) => late.lent(),
        }
    }
}

/// Opens the poll of a task's root, which is `covered` if it has a row. `given` becomes the waker
/// for the poll.
#[inline]
pub(super) fn open_root<'a>(
    thread: &ThreadLedger,
    (state, covered): (&mut CallState, Option<Covered>),
    (proc, bytes): (&'static Proc, usize),
    waker: &'a Waker,
    outer: Option<OuterPoll>,
    given: &mut PollWaker<'a>,
) {
    thread.polls.store(true, Ordering::Relaxed);
    let outer = outer.unwrap_or_else(|| OuterPoll::nothing(thread));
    match covered {
        Some(task) if !task.is_branch() => open_again(thread, task, proc, waker, outer, given),
        _ => {
            if covered.is_some() {
                // It was polled by another call before.
                leave_task(state);
            }
            open_new(thread, state, (proc, bytes), waker, outer, given);
        }
    }
}

/// Opens the poll of a root whose task has a row.
#[inline(always)]
pub(super) fn open_again<'a>(
    thread: &ThreadLedger,
    task: Covered,
    proc: &'static Proc,
    waker: &'a Waker,
    outer: OuterPoll,
    given: &mut PollWaker<'a>,
) {
    let ledger = &thread.ledger;
    let t = ledger.latest();
    ledger.name_root(task.id());
    let waited_since = task.begin(ledger.epoch(), thread.index, t);
    if !task::is_wrapped() {
        *given = PollWaker::Passed(outer);
        return;
    }
    // A wake from before accounting was disarmed is no reason for this poll.
    let begun = task.begin_waker(waker);
    if let (Some(woken), Some(waited_since)) = (begun.readied, waited_since) {
        let since = woken.since.max(waited_since);
        task.readied(WakeCause { since, ..woken });
        ready(thread, proc, t.saturating_sub(since));
    }
    *given = PollWaker::of(task, begun.fits, waker, outer);
}

/// Opens the poll of a root that has no row, or will get none.
#[inline(never)]
fn open_new<'a>(
    thread: &ThreadLedger,
    state: &mut CallState,
    (proc, bytes): (&'static Proc, usize),
    waker: &'a Waker,
    outer: OuterPoll,
    given: &mut PollWaker<'a>,
) {
    let ledger = &thread.ledger;
    let wrapped = task::is_wrapped();
    *given = PollWaker::Passed(outer);
    if state.account.is_rowless() {
        return;
    }
    ledger.show_all();
    let Some(id) = proc.id() else { return };
    let first = begin_life(thread, state, (proc, id), bytes, waker, wrapped);
    if wrapped {
        *given = PollWaker::Late(ManuallyDrop::new(first), outer);
    }
}

/// Records the ready latency of a poll.
fn ready(thread: &ThreadLedger, proc: &'static Proc, latency: u64) {
    if let Some(proc) = proc.id() {
        thread.ledger.ready(proc, latency, thread.late);
    }
}

/// Begins the first poll of a task: `id` is that of its root's proc. Returns the waker for it,
/// which the poll is given if it is `wrapped`.
#[inline(always)]
pub(super) fn begin_life<'a>(
    thread: &ThreadLedger,
    state: &mut CallState,
    (proc, id): (&'static Proc, u32),
    bytes: usize,
    waker: &'a Waker,
    wrapped: bool,
) -> FirstPoll<'a> {
    let ledger = &thread.ledger;
    // Taken here, so that no other root can take it.
    let origin = origin::origin();
    let meta = task::meta(proc, id, bytes, ledger.latest());
    ledger.name_root(meta.id);
    let poller = (ledger.epoch(), thread.index);
    let first = FirstPoll::new(waker, meta, origin, 0, poller);
    events::task(meta.id, || TaskEvent::Begin { root: 0 });
    // The thread shows one first poll at a time: a nested root is shown when it is over.
    let is_nested = ledger.depth() > 1;
    if !is_nested {
        thread.first_poll.begin(&meta);
    } else if !wrapped {
        enter(thread, state, meta, Some(&first));
    }
    if let (true, Some(origin)) = (wrapped, &first.origin) {
        told(thread, proc, origin, is_nested);
    }
    first
}

/// Begins the first poll of a task that has an origin.
fn told(thread: &ThreadLedger, proc: &'static Proc, origin: &Arc<TaskOrigin>, is_nested: bool) {
    let latest = thread.ledger.latest();
    ready(thread, proc, latest.saturating_sub(origin.at));
    if !is_nested {
        thread.tell(Some(origin.clone()));
    }
}

/// Gives the task a row, if there is room.
pub(super) fn enter(
    thread: &ThreadLedger,
    state: &mut CallState,
    meta: TaskMeta,
    first: Option<&FirstPoll<'_>>,
) {
    let on = (thread.ledger.epoch(), thread.index);
    match task::enter(meta, on, first, future_address(state)) {
        Some(task) => *state.task = Some(task),
        None => state.account.set_rowless(),
    }
}

/// Address of the future of this call, which does not move once it is polled. It follows the state,
/// unless its alignment is unusually large.
fn future_address(state: &CallState) -> usize {
    std::ptr::from_ref(state).addr() + size_of::<CallState>()
}

/// End of a poll.
pub(super) struct Closing<'a> {
    pub(super) end: PollEnd,
    /// The time of the end, if the clock was read.
    pub(super) read: Option<u64>,
    /// The waker that the poll was given.
    pub(super) given: &'a PollWaker<'a>,
}

/// Closes the poll of a task's root. A task that is not over records its await stack, and gets a
/// row for it after its first poll.
#[inline(never)]
pub(super) fn close_root(
    thread: &ThreadLedger,
    state: &mut CallState,
    t: u64,
    depth: u32,
    charge: &Charge,
    closing: &Closing<'_>,
) {
    let ledger = &thread.ledger;
    let pending = closing.end == PollEnd::Pending;
    if state.task.is_none() && !state.account.is_rowless() {
        let known = closing.given.first().map(|first| first.meta);
        let born = known.or_else(|| (depth == 0).then(|| thread.first_poll.own()));
        match born {
            Some(meta) if pending => enter(thread, state, meta, closing.given.first()),
            Some(meta) => events::task(meta.id, || TaskEvent::End),
            None => {}
        }
        if depth == 0 {
            thread.first_poll.end();
        }
        if depth == 0
            && closing
                .given
                .first()
                .is_some_and(|first| first.origin.is_some())
        {
            thread.tell(None);
        }
    }
    let known = closing.given.covered();
    let known = known.or_else(|| state.task.as_ref().map(CoveredTask::covered));
    if let (true, Some(task)) = (pending, known) {
        publish(thread, task, [t, charge.hold, charge.inclusive]);
    }
    if features::SERVER && depth == 0 {
        let start = t.saturating_sub(charge.hold);
        let (chain, wakeup) = match known {
            Some(task) if pending => (task.chain(), task.cause()),
            Some(task) => (0, task.cause()),
            None => (0, spawned(closing.given.first(), start)),
        };
        let polls = ledger.last_polls();
        polls.complete(chain, closing.end.into(), wakeup);
    }
}

/// Closes a poll of the root of a task with a row, which waits: `span` is that poll.
#[inline(always)]
pub(super) fn close_task(thread: &ThreadLedger, task: Covered, span: &PollSpan) {
    publish(thread, task, [span.end, span.hold, span.inclusive]);
    if features::SERVER {
        let polls = thread.ledger.last_polls();
        polls.complete(task.chain(), PollOutcome::Pending, task.cause());
    }
}

/// Publishes the end, the duration and the running time of the last poll of a task that waits, and
/// its await stack.
#[inline(always)]
fn publish(thread: &ThreadLedger, task: Covered, [end, hold, running]: [u64; 3]) {
    let ended = task.end(end, hold, running);
    match thread.ledger.take_await_stack() {
        Some(taken) => ended.publish_taken(task::chains(), &thread.chains, &taken),
        None => ended.unmoved(),
    }
}

/// What had made a task ready for its first poll, with which it ended.
pub(super) fn spawned(first: Option<&FirstPoll<'_>>, start: u64) -> Option<Wakeup> {
    let spawned = first?.origin.as_ref()?.readied();
    Some(Wakeup {
        latency: start.saturating_sub(spawned.since),
        by: spawned.by,
    })
}

/// Removes the call from its task: it belongs to none any more, or to another one.
#[inline(never)]
pub(super) fn leave_task(state: &mut CallState) {
    *state.task = None;
}

/// Accounting was disarmed during the first poll of a task. A task that is now pending gets its
/// row, without a known await point.
#[cold]
pub(super) fn outlast(
    epoch: u32,
    state: &mut CallState,
    pending: bool,
    first: Option<&FirstPoll<'_>>,
) {
    thread::with_current(epoch, |thread| {
        let first_poll = thread.first_poll.own();
        if pending && first_poll.id != 0 {
            let on = (epoch, thread.index);
            *state.task = task::enter(first_poll, on, first, future_address(state));
        }
        thread.first_poll.end();
    });
    if let Some(task) = &*state.task {
        task.end(clock::ticks(), 0, 0).unmoved();
    }
}

/// Records a task that ends because its poll unwound.
#[cold]
pub(super) fn told_of(state: &CallState, first: Option<&FirstPoll<'_>>) {
    match (&*state.task, first) {
        (Some(task), _) if !task.is_branch() => task.panicked(),
        (None, Some(first)) if first.owner == 0 => {
            task::panicked(first.meta, &first.origin);
        }
        _ => {}
    }
}
