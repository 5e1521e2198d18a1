//! Later polls of the calls that have a slot: the root of a task, and a branch.
//!
//! Each function here does what its general counterpart does where nothing is special, or leaves it
//! to that one.

use std::sync::atomic::Ordering;
use std::task::Waker;

use turbowish_model::account::call::{Call as Account, PollEnd};
use turbowish_model::account::ledger::{PollSpan, Unwritten};
use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_model::event::CallEvent;
use turbowish_unsafe::waker::BorrowedWaker;

use super::branch::{reopen_branch, suspend_branch};
use super::nested::{OuterPoll, record_waker};
use super::quick::PollShape;
use super::root::{PollWaker, close_task, leave_task, open_again};
use super::{CLOSED, CLOSED_ANY, CallPoll, CallState, OpenPoll, STRAIGHT_ROOT};
use super::{begin_any, close_marked, end_rest, straight};
use crate::features;
use crate::hot::pause::{self, PausedPoll};
use crate::hot::proc::Proc;
use crate::hot::task::{self, Covered, CoveredTask};
use crate::hot::thread::{ThisThread, ThreadLedger};
use crate::hot::{clock, events, switch};

/// Opens the frame of a call of the running epoch that has a slot.
///
/// # Errors
/// If the task is paused: the future must not be polled.
#[allow(
    improper_ctypes_definitions,
    reason = "both sides are Rust; in C's way it cannot unwind"
)]
#[inline(never)]
pub(super) extern "C" fn begin_again<'a, 'b>(
    here: ThisThread,
    poll: &'b mut CallPoll<'a>,
    proc: &'static Proc,
    bytes: usize,
    waker: &'a Waker,
    state: &'a mut CallState,
) -> Result<BorrowedWaker<'b>, PausedPoll> {
    let epoch = state.account.epoch();
    let open = poll.open(state, epoch, CLOSED_ANY);
    if let Some(slot) = open.state.task.as_ref().map(CoveredTask::covered) {
        pause::look(Some(slot), waker)?;
        let (account, given) = (&mut open.state.account, &mut open.waker);
        let begun = here.with_current(open.epoch, |thread| {
            if thread.ledger.depth() == 0 {
                return reopen_root(here, thread, (account, slot), proc, waker, given);
            }
            let depth = reopen_branch(thread, (account, slot), proc, waker, given)?;
            straight::opened(here);
            Some((depth, PollShape::Branch))
        });
        if let Some(Some(begun)) = begun {
            (open.depth, open.shape) = begun;
            return Ok(open.waker.lent(waker));
        }
    }
    begin_any(open, proc, bytes, waker)
}

/// Begins a poll of a task's root on a thread that polls nothing, if nothing about it is special.
/// `given` becomes the waker for the poll: its address counts from here on. Returns the depth of
/// its frame, or [`STRAIGHT_ROOT`] if it has none since it has nothing to do.
#[inline(always)]
fn reopen_root<'a>(
    here: ThisThread,
    thread: &ThreadLedger,
    (account, slot): (&mut Account, Covered),
    proc: &'static Proc,
    waker: &'a Waker,
    given: &mut PollWaker<'a>,
) -> Option<(u32, PollShape)> {
    if slot.is_branch() || !task::is_wrapped() {
        return None;
    }
    let (ledger, id) = (&thread.ledger, proc.known()?);
    let is_straight = ledger.begin_straight(account, slot.id(), clock::ticks);
    if !is_straight && !ledger.start_root(account, id, slot.id(), clock::ticks) {
        return None;
    }
    events::call(|| CallEvent::PollStart {
        proc: Some(id),
        root: true,
    });
    thread.polls.store(true, Ordering::Relaxed);
    open_again(thread, slot, proc, waker, OuterPoll::nothing(thread), given);
    record_waker(thread, given, waker);
    let (word, depth) = match is_straight {
        true => (Account::straight(ledger.epoch()), STRAIGHT_ROOT),
        false => (Account::NOT_STRAIGHT, 0),
    };
    here.set_straight(word);
    Some((depth, PollShape::Root))
}

/// Ends such a poll of a task's root as pending.
#[inline(never)]
pub(super) extern "C" fn suspend_root(here: ThisThread, open: &mut OpenPoll<'_>) {
    open.waker.end_task();
    let mut read = None;
    if let Some(slot) = open.waker.covered()
        && switch::epoch() == Some(open.epoch)
    {
        let (state, depth) = (&mut *open.state, open.depth);
        let ended = here.with_current(open.epoch, |thread| {
            let span = end_root(here, thread, &mut state.account, depth)?;
            events::call(|| CallEvent::PollEnd(PollEnd::Pending));
            if features::TOKIO && state.account.is_marked() {
                let at = (0, true);
                close_marked(&thread.ledger, state, slot.root(), at, PollEnd::Pending);
            }
            close_task(thread, slot, &span);
            Ok(())
        });
        match ended {
            Some(Ok(())) => {
                open.depth = CLOSED;
                return;
            }
            Some(Err(unwritten)) => read = unwritten,
            None => {}
        }
    }
    end_rest(open, PollEnd::Pending, read);
}

/// Ends such a poll, with which the call returns.
#[inline(never)]
pub(super) extern "C" fn return_root_again(here: ThisThread, open: &mut OpenPoll<'_>) {
    open.waker.end_task();
    let mut read = None;
    if let Some(slot) = open.waker.covered()
        && switch::epoch() == Some(open.epoch)
    {
        let (state, depth) = (&mut *open.state, &mut open.depth);
        let ended = here.with_current(open.epoch, |thread| {
            let ledger = &thread.ledger;
            if *depth == STRAIGHT_ROOT {
                here.settle(false);
                straight::opened(here);
                *depth = ledger.turned(&mut state.account).ok_or(None)?;
            }
            ledger.return_bottom(&mut state.account, *depth, clock::ticks)?;
            here.settle(false);
            events::call(|| CallEvent::PollEnd(PollEnd::Ready));
            if features::SERVER {
                let polls = ledger.last_polls();
                polls.complete(0, PollOutcome::Ready, slot.cause());
            }
            Ok::<(), Unwritten>(())
        });
        match ended {
            Some(Ok(())) => {
                open.depth = CLOSED;
                open.waker.let_go();
                leave_task(open.state);
                return;
            }
            Some(Err(unwritten)) => read = unwritten,
            None => {}
        }
    }
    end_rest(open, PollEnd::Ready, read);
}

/// Ends the span of such a poll.
///
/// # Errors
/// If anything about it is special: nothing is done.
#[inline(always)]
fn end_root(
    here: ThisThread,
    thread: &ThreadLedger,
    account: &mut Account,
    depth: u32,
) -> Result<PollSpan, Unwritten> {
    let ledger = &thread.ledger;
    if depth == STRAIGHT_ROOT {
        if !here.is_settled() {
            return Err(None);
        }
        here.settle(false);
        straight::opened(here);
        return Ok(ledger.end_straight(account));
    }
    ledger.suspend_bottom(account, depth, clock::ticks)?;
    here.settle(false);
    Ok(ledger.last_span())
}

/// Ends such a poll of a branch as pending.
#[inline(never)]
pub(super) extern "C" fn suspend_branch_again(here: ThisThread, open: &mut OpenPoll<'_>) {
    open.waker.end_task();
    if let Some(branch) = open.waker.covered_within()
        && switch::epoch() == Some(open.epoch)
    {
        let (state, depth) = (&mut *open.state, open.depth);
        let ended = here.with_current(open.epoch, |thread| {
            suspend_branch(thread, state, depth, branch)
        });
        if ended == Some(true) {
            open.depth = CLOSED;
            return;
        }
    }
    end_rest(open, PollEnd::Pending, None);
}
