//! Start and end of a branch's poll: its own waker, and its await point afterwards.
//!
//! The branch takes a slot when that waker is cloned for the first time. A branch that ends at
//! once, or is no longer a branch, takes none.

use std::mem::ManuallyDrop;
use std::task::Waker;

use turbowish_model::account::task::TaskMeta;

use super::CallState;
use super::nested::OuterPoll;
use super::root::{PollWaker, leave_task};
use crate::hot::proc;
use crate::hot::task::{self, CoveredTask, FirstPoll};
use crate::hot::thread::ThreadLedger;

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
        if known.is_branch_of(owner) {
            ledger.name_branch(known.id());
            known.begin_branch(thread.index);
            let begun = known.begin_waker(waker);
            return PollWaker::of(known, begun.fits, waker, own());
        }
        // It was a task's root before, or belonged to another task.
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
    if let Some(branch) = &*state.task {
        let began = ledger.current_call().poll;
        let (parent, chains) = (ledger.parent(depth), task::chains());
        branch.end_branch(ledger.epoch(), began, parent, chains, |stack| {
            ledger.look_at_await_stack(|step| stack.push(step));
        });
    }
}
