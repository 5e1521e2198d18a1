//! Start and end of a branch's poll: its own waker, and its await point afterwards.
//!
//! The branch takes a slot when that waker is cloned for the first time. A branch that ends at
//! once, or is no longer a branch, takes none.

use std::mem::ManuallyDrop;
use std::task::Waker;

use turbowish_model::account::call::{Call as Account, PollEnd};
use turbowish_model::account::ledger::Ledger;
use turbowish_model::account::task::TaskMeta;
use turbowish_model::event::CallEvent;

use super::CallState;
use super::nested::{OuterPoll, is_suspect, record_waker};
use super::root::{PollWaker, leave_task};
use crate::hot::proc::{self, Proc};
use crate::hot::task::{self, Covered, CoveredTask, FirstPoll};
use crate::hot::thread::ThreadLedger;
use crate::hot::{clock, events, thread};

/// Opens the poll of a call that is polled by another call and is a branch, or was one, or was the
/// root of a task.
#[inline(never)]
pub(super) fn open_branch<'a>(
    thread: &ThreadLedger,
    state: &mut CallState,
    bytes: usize,
    waker: &'a Waker,
    outer: Option<OuterPoll>,
) -> PollWaker<'a> {
    let ledger = &thread.ledger;
    let own = || outer.unwrap_or_else(|| OuterPoll::of(thread));
    let owner = ledger.current_call().task;
    if let Some(known) = state.task.as_ref().map(CoveredTask::covered) {
        // What is awaited is no branch, though it was one in an earlier epoch: while its caller has
        // nothing to do, it would be taken for a root.
        if known.is_branch_of(owner) && !state.account.is_fused() {
            ledger.name_branch(known.id());
            known.begin_branch(thread.index);
            let begun = known.begin_waker(waker);
            return PollWaker::of(known, begun.fits, waker, own());
        }
        // It was a task's root before, or a branch, or belonged to another task.
        leave_task(state);
    }
    if owner == 0 || !task::is_wrapped() || !ledger.is_branch() {
        return outer.map_or(PollWaker::Inherited, PollWaker::Passed);
    }
    if ledger.is_new_fork() {
        let parent = ledger.parent(ledger.depth() - 1);
        proc::learn(parent.proc, parent.site);
    }
    let meta = TaskMeta {
        id: task::next_branch(),
        created: ledger.latest(),
        future_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
    };
    ledger.name_branch(meta.id);
    let first = FirstPoll::new(waker, meta, None, owner, (ledger.epoch(), thread.index));
    PollWaker::Late(ManuallyDrop::new(first), own())
}

/// Opens the poll of a branch that waits, in the task that it belonged to before, if nothing about
/// it is special. `given` becomes the waker for the poll. Returns the depth of its frame.
#[inline]
pub(super) fn reopen_branch<'a>(
    thread: &ThreadLedger,
    (account, branch): (&mut Account, Covered),
    proc: &'static Proc,
    waker: &'a Waker,
    given: &mut PollWaker<'a>,
) -> Option<u32> {
    let (ledger, depth) = (&thread.ledger, thread.ledger.depth());
    let is_own = !is_suspect(thread, waker) && branch.is_branch_of(ledger.current_task());
    let names = (proc.known()?, branch.id());
    if !is_own || !ledger.start_branch(account, depth, names, clock::ticks) {
        return None;
    }
    events::call(|| CallEvent::PollStart {
        proc: Some(names.0),
        root: false,
    });
    branch.begin_branch(thread.index);
    let begun = branch.begin_waker(waker);
    *given = PollWaker::of(branch, begun.fits, waker, OuterPoll::of(thread));
    record_waker(thread, given, waker);
    Some(depth)
}

/// Closes the poll of a branch that was opened by [`reopen_branch`] and waits where it has waited
/// before, if nothing about it is special. Returns whether it did.
#[inline]
pub(super) fn suspend_branch(
    thread: &ThreadLedger,
    state: &mut CallState,
    depth: u32,
    (branch, outer): (Covered, OuterPoll),
) -> bool {
    let ledger = &thread.ledger;
    if !ledger.suspend_branch(&mut state.account, depth, clock::ticks) {
        return false;
    }
    thread::this().settle(false);
    events::call(|| CallEvent::PollEnd(PollEnd::Pending));
    outer.go_on(thread);
    if !stay(ledger, branch) {
        publish(thread, branch, depth);
    }
    true
}

/// Ends a branch's poll as pending, if it waits where it waited before. Returns whether it does.
#[inline]
fn stay(ledger: &Ledger, branch: Covered) -> bool {
    ledger.is_unmoved() && branch.stay(ledger.epoch(), ledger.root_began())
}

/// Closes the poll of a branch that ended pending.
#[inline(never)]
pub(super) fn close_branch(
    thread: &ThreadLedger,
    state: &mut CallState,
    depth: u32,
    first: Option<&FirstPoll<'_>>,
) {
    let ledger = &thread.ledger;
    if let Some(first) = first {
        *state.task = task::enter_branch(first);
    }
    if let Some(branch) = state.task.as_ref().map(CoveredTask::covered)
        && (first.is_some() || !stay(ledger, branch))
    {
        publish(thread, branch, depth);
    }
}

/// Publishes where a branch waits, the poll of which has ended at `depth`.
#[inline(never)]
fn publish(thread: &ThreadLedger, branch: Covered, depth: u32) {
    let ledger = &thread.ledger;
    let (parent, began) = (ledger.parent(depth), ledger.root_began());
    branch.end_branch(ledger.epoch(), began, parent, task::chains(), |stack| {
        ledger.look_at_await_stack(|step| stack.push(step));
    });
}
