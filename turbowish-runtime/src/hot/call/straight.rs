//! Straight polls: calls that do nothing in a poll but poll what they await. They cost two
//! comparisons, one on the way down and one on the way up.
//!
//! On the way down a call compares its word with that of this thread: it is the same as long as all
//! callers up to the task's root, and the call itself, await a call directly that was pending at
//! the end of the last poll. The first call that differs opens a frame. On the way up, nothing is
//! to be done if that frame was closed as pending; otherwise the frame has become that of the
//! caller.

use turbowish_model::account::call::{Call as Account, PollEnd};

use super::root::Closing;
use super::{CallState, close_in, close_plain, end_quick};
use crate::hot::thread::{ThisThread, ThreadLedger};
use crate::hot::{switch, thread};

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

/// Ends a poll of a task's root that had no frame, and may have got one.
#[inline(never)]
pub(super) fn end_root(epoch: u32, state: &mut CallState, closing: &Closing<'_>) {
    let here = thread::this();
    here.settle(false);
    opened(here);
    here.with_current(epoch, |thread| {
        if let Some(depth) = thread.ledger.turned(&mut state.account) {
            close_in(thread, state, depth, closing);
        }
    });
}

/// Ends a poll of a call that had no frame in it, and may have got one.
#[inline(never)]
pub(super) extern "C" fn end(here: ThisThread, state: &mut CallState, end: PollEnd) {
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
