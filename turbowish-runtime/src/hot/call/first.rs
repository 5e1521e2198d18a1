//! The first poll of a task's root. Most calls from code without the attribute end with it.
//!
//! Each function here does what its general counterpart does where nothing is special, or does
//! nothing and leaves it to that one.

use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;
use std::task::Waker;

use turbowish_model::account::call::PollEnd;
use turbowish_model::account::ledger::{Ledger, PollSpan, Unwritten};
use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_model::event::{CallEvent, TaskEvent};
use turbowish_unsafe::waker::BorrowedWaker;

use super::nested::{OuterPoll, record_waker};
use super::quick::PollShape;
use super::root::{PollWaker, begin_life, close_task, enter, spawned};
use super::{CLOSED, CLOSED_ANY, CallPoll, CallState, OpenPoll, begin_any, end_any, straight};
use crate::features;
use crate::hot::pause::PausedPoll;
use crate::hot::proc::Proc;
use crate::hot::task::{self, CoveredTask, FirstPoll};
use crate::hot::thread::ThisThread;
use crate::hot::{clock, events, switch};

/// Opens the frame of a call that has no caller on this thread.
///
/// # Errors
/// If the task is paused: the future must not be polled.
#[allow(
    improper_ctypes_definitions,
    reason = "both sides are Rust; in C's way it cannot unwind"
)]
#[inline(never)]
pub(super) extern "C" fn begin_first<'a, 'b>(
    here: ThisThread,
    poll: &'b mut CallPoll<'a>,
    proc: &'static Proc,
    bytes: usize,
    waker: &'a Waker,
    state: &'a mut CallState,
) -> Result<BorrowedWaker<'b>, PausedPoll> {
    let epoch = state.account.epoch();
    let open = poll.open(state, epoch, CLOSED_ANY);
    if let Some(id) = proc.known().filter(|_| task::is_wrapped()) {
        let (state, given) = (&mut *open.state, &mut open.waker);
        let begun = here.with_current(open.epoch, |thread| {
            let account = &mut state.account;
            if !thread.ledger.start_new_root(account, id, clock::ticks) {
                return false;
            }
            events::call(|| CallEvent::PollStart {
                proc: Some(id),
                root: true,
            });
            thread.polls.store(true, Ordering::Relaxed);
            let outer = OuterPoll::nothing(thread);
            let first = begin_life(thread, state, (proc, id), bytes, waker, true);
            *given = PollWaker::Late(ManuallyDrop::new(first), outer);
            record_waker(thread, given, waker);
            true
        });
        if begun == Some(true) {
            straight::opened(here);
            (open.depth, open.shape) = (0, PollShape::FirstRoot);
            return Ok(open.waker.lent(waker));
        }
    }
    begin_any(open, proc, bytes, waker)
}

/// Ends such a poll, with which the call returns.
#[inline(never)]
pub(super) extern "C" fn return_root(here: ThisThread, open: &mut OpenPoll<'_>) {
    let mut read = None;
    if let Some(first) = open.waker.first()
        && first.origin.is_none()
        && switch::epoch() == Some(open.epoch)
    {
        let account = &mut open.state.account;
        let ended = here.with_current(open.epoch, |thread| {
            thread.ledger.return_root(account, clock::ticks)?;
            here.settle(false);
            events::call(|| CallEvent::PollEnd(PollEnd::Ready));
            events::task(first.meta.id, || TaskEvent::End);
            thread.first_poll.end();
            Ok::<(), Unwritten>(())
        });
        match ended {
            Some(Ok(())) => {
                open.depth = CLOSED;
                // With neither a slot nor an origin, nothing is to be released.
                if first.made().is_some() {
                    open.waker.let_go();
                }
                return;
            }
            Some(Err(unwritten)) => read = unwritten,
            None => {}
        }
    }
    end_any(open, PollEnd::Ready, read);
}

/// Ends such a poll as pending: the task gets a row.
#[inline(never)]
pub(super) extern "C" fn suspend_first(here: ThisThread, open: &mut OpenPoll<'_>) {
    let mut read = None;
    if let Some(first) = open.waker.first()
        && switch::epoch() == Some(open.epoch)
    {
        let state = &mut *open.state;
        let ended = here.with_current(open.epoch, |thread| {
            let ledger = &thread.ledger;
            ledger.suspend_new(&mut state.account, 0, clock::ticks)?;
            here.settle(false);
            events::call(|| CallEvent::PollEnd(PollEnd::Pending));
            enter(thread, state, first.meta, Some(first));
            thread.first_poll.end();
            if first.origin.is_some() {
                thread.tell(None);
            }
            match state.task.as_ref().map(CoveredTask::covered) {
                Some(task) => close_task(thread, task, &ledger.last_span()),
                None => complete_without_row(ledger, first),
            }
            Ok::<(), Unwritten>(())
        });
        match ended {
            Some(Ok(())) => {
                open.depth = CLOSED;
                open.waker.let_go();
                return;
            }
            Some(Err(unwritten)) => read = unwritten,
            None => {}
        }
    }
    end_any(open, PollEnd::Pending, read);
}

/// Completes the record of a first poll that has ended pending, for whose task there is no row.
#[cold]
fn complete_without_row(ledger: &Ledger, first: &FirstPoll<'_>) {
    if features::SERVER {
        let PollSpan { end, hold, .. } = ledger.last_span();
        let wakeup = spawned(Some(first), end - hold);
        ledger
            .last_polls()
            .complete(0, PollOutcome::Pending, wakeup);
    }
}
