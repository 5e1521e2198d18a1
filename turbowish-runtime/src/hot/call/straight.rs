//! Straight polls: calls that do nothing in a poll but poll what they await. They cost two
//! comparisons, one on the way down and one on the way up.
//!
//! On the way down a call compares its word with that of this thread: it is the same as long as all
//! callers up to the task's root, and the call itself, await a call directly that was pending at
//! the end of the last poll. The first call that differs opens a frame. On the way up, nothing is
//! to be done if that frame was closed as pending; otherwise the frame has become that of the
//! caller.

use std::task::Waker;

use turbowish_model::account::call::{Call as Account, PollEnd};
use turbowish_model::account::ledger::{Charge, PollSpan, Unwritten};
use turbowish_model::event::CallEvent;

use super::root::{Closing, PollWaker, close_root, open_root};
use super::{CallState, OpenPoll, PollShape, STRAIGHT_ROOT};
use super::{close_in, close_marked, close_plain, end_quick, nested};
use crate::features;
use crate::hot::events;
use crate::hot::proc::Proc;
use crate::hot::task::{self, Covered};
use crate::hot::thread::{ThisThread, ThreadLedger};
use crate::hot::{clock, switch, thread};

/// Whether this call has nothing to do in the poll that begins.
#[inline(always)]
pub(super) fn is_straight(here: ThisThread, account: &Account) -> bool {
    account.is_straight(here.straight())
}

/// Whether the callers of a call that is about to open a frame have none.
#[inline(always)]
pub(super) fn is_below(here: ThisThread, account: &Account, epoch: u32) -> bool {
    here.straight() == Account::straight(epoch) && account.is_fused() && account.epoch() == epoch
}

/// A frame is opened: no poll below it is straight.
#[inline(always)]
pub(super) fn opened(here: ThisThread) {
    here.set_straight(Account::NOT_STRAIGHT);
}

/// A frame was closed; `pending` if as pending.
#[inline]
pub(super) fn closed(thread: &ThreadLedger, depth: u32, pending: bool) {
    thread::this().settle(pending && thread.ledger.was_straight(depth));
}

/// Begins a poll of a task's root. Returns the depth of its frame, or [`STRAIGHT_ROOT`] if it has
/// none since it has nothing to do; `None` if anything about it is special. `given` becomes the
/// waker for the poll: its address counts from here on.
#[inline]
pub(super) fn begin_root<'a>(
    thread: &ThreadLedger,
    (state, covered): (&mut CallState, Option<Covered>),
    (proc, bytes): (&'static Proc, usize),
    waker: &'a Waker,
    given: &mut PollWaker<'a>,
) -> Option<u32> {
    let (ledger, id) = (&thread.ledger, proc.known()?);
    let account = &mut state.account;
    let mut is_straight = false;
    let has_frame = match covered {
        None => ledger.start_new_root(account, id, clock::ticks),
        Some(task) if task.is_branch() || !task::is_wrapped() => false,
        Some(task) => {
            is_straight = ledger.begin_straight(account, task.id(), clock::ticks);
            !is_straight && ledger.start_root(account, id, task.id(), clock::ticks)
        }
    };
    if !is_straight && !has_frame {
        return None;
    }
    events::call(|| CallEvent::PollStart {
        proc: Some(id),
        root: true,
    });
    open_root(thread, (state, covered), (proc, bytes), waker, None, given);
    nested::record_waker(thread, given, waker);
    let (word, depth) = match is_straight {
        true => (Account::straight(ledger.epoch()), STRAIGHT_ROOT),
        false => (Account::NOT_STRAIGHT, 0),
    };
    thread::this().set_straight(word);
    Some(depth)
}

/// Ends a poll of a task's root that had no frame.
#[inline(never)]
pub(super) fn end_root(epoch: u32, state: &mut CallState, closing: &Closing<'_>) {
    let here = thread::this();
    let is_settled = here.is_settled();
    here.settle(false);
    opened(here);
    here.with_current(epoch, |thread| {
        if is_settled && closing.end == PollEnd::Pending {
            settle_root(thread, state, closing);
        } else if let Some(depth) = thread.ledger.turned(&mut state.account) {
            close_in(thread, state, depth, closing);
        }
    });
}

fn settle_root(thread: &ThreadLedger, state: &mut CallState, closing: &Closing<'_>) {
    let ledger = &thread.ledger;
    let span = ledger.end_straight(&mut state.account);
    // The frame is that of the call that had something to do.
    let proc = |state: &CallState| state.task.as_ref().map_or(0, |task| task.root());
    close_span(thread, state, proc, &span, closing);
}

/// Ends a poll of a task's root that had a frame, in the most frequent cases.
///
/// # Errors
/// In all others: nothing is done.
#[inline]
pub(super) fn end_of_root(
    thread: &ThreadLedger,
    state: &mut CallState,
    closing: &Closing<'_>,
) -> Result<(), Unwritten> {
    let (ledger, account) = (&thread.ledger, &mut state.account);
    match closing.end {
        PollEnd::Pending => ledger.suspend_root(account, 0, clock::ticks)?,
        PollEnd::Ready => ledger.return_bottom(account, 0, clock::ticks)?,
        PollEnd::Err | PollEnd::Panic | PollEnd::Torn => return Err(None),
    }
    thread::this().settle(false);
    close_span(
        thread,
        state,
        |_| ledger.proc_at(0),
        &ledger.last_span(),
        closing,
    );
    Ok(())
}

fn close_span(
    thread: &ThreadLedger,
    state: &mut CallState,
    proc: impl FnOnce(&CallState) -> u32,
    span: &PollSpan,
    closing: &Closing<'_>,
) {
    let ledger = &thread.ledger;
    events::call(|| CallEvent::PollEnd(closing.end));
    if features::TOKIO && state.account.is_marked() {
        let proc = proc(state);
        close_marked(ledger, state, proc, (0, true), closing.end);
    }
    let charge = Charge {
        hold: span.hold,
        running: 0,
        inclusive: span.inclusive,
    };
    close_root(thread, state, span.end, 0, &charge, closing);
}

/// Ends a poll of a call that had no frame in it, and may have got one.
#[inline(never)]
pub(super) extern "C" fn end(here: ThisThread, open: &mut OpenPoll<'_>, end: PollEnd) {
    open.shape = PollShape::Any;
    let state = &mut *open.state;
    let epoch = state.account.epoch();
    if switch::epoch() != Some(epoch) {
        return;
    }
    here.with_current(epoch, |thread| {
        if let Some(depth) = thread.ledger.turned(&mut state.account)
            && let Err(read) = end_quick(here, &thread.ledger, &mut state.account, depth, end)
        {
            close_plain(thread, state, depth, (end, read));
        }
    });
}
