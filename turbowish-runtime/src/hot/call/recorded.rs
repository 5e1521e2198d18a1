//! Polls of calls whose events are recorded.
//!
//! Everything here does what is done without a recorder in the general way, and then writes down
//! what was done, with the time that the ledger has taken for it. So the ledgers that are driven
//! with these events come to the same sums. A call has its number instead of its epoch between
//! polls: no quick way takes it for a call of this epoch.

use std::task::Waker;

use turbowish_model::account::call::{Call as Account, Origin, PollEnd};
use turbowish_model::event::CallEvent;
use turbowish_unsafe::waker::BorrowedWaker;

use super::arrive::arrive_in;
use super::entered::{Entered, PLAIN};
use super::root::{Closing, PollWaker};
use super::{CLOSED, CallState, OpenPoll, close_in, close_plain, open_frame, outlast, unseen};
use crate::hot::pause::PausedPoll;
use crate::hot::proc::Proc;
use crate::hot::thread::{self, ThreadLedger};
use crate::hot::{clock, switch};

/// In place of the epoch of an open poll: the number of its call, and this.
const NUMBERED: u32 = 1 << 31;

const _: () = assert!(turbowish_model::account::call::CALL_NUMBERS == NUMBERED >> 3);

/// The number of the call of an open poll whose events are recorded; 0 if it got none.
pub(super) const fn number(epoch: u32) -> Option<u32> {
    match epoch >> 28 {
        0b1000 => Some(epoch & !NUMBERED),
        _ => None,
    }
}

fn recorded_epoch() -> Option<u32> {
    switch::recorded(switch::state())
}

/// The number of a call that was seen in this epoch.
fn known(account: &Account) -> Option<u32> {
    account
        .number()
        .filter(|&number| thread::is_numbered_now(number))
}

/// Ends a poll without a frame.
#[cold]
pub(super) fn unseen_end(state: &mut CallState, epoch: u32) {
    match number(epoch) {
        Some(number) => end_unseen(state, number),
        None => unseen(epoch),
    }
}

/// Ends a poll that began in an epoch in which events of calls are recorded, or in one that is
/// over.
#[cold]
#[inline(never)]
pub(super) fn end_rarely(epoch: u32, state: &mut CallState, depth: u32, closing: &Closing<'_>) {
    let call = number(epoch);
    let epoch = call.map_or(epoch, |_| state.account.epoch());
    if let Some(number) = call
        && switch::epoch() == Some(epoch)
    {
        end((epoch, number), state, depth, closing);
    } else if depth == 0 && state.task.is_none() && !switch::is_child() {
        let is_pending = closing.end == PollEnd::Pending;
        outlast(epoch, state, is_pending, closing.given.first());
    }
}

/// Begins a poll.
///
/// # Errors
/// If the task is paused: the future must not be polled.
#[cold]
#[inline(never)]
pub(super) fn begin<'a, 'b>(
    open: &'b mut OpenPoll<'a>,
    proc: &'static Proc,
    bytes: usize,
    waker: &'a Waker,
) -> Result<BorrowedWaker<'b>, PausedPoll> {
    let epoch = open.epoch;
    let known = known(&open.state.account);
    if known.is_some() {
        open.state.account.take_number(epoch);
    }
    let opened = open_frame(open, epoch, proc, bytes, waker);
    if let Err(paused) = opened {
        rest(open.state, epoch, known.unwrap_or(0));
        return Err(paused);
    }
    let (depth, is_live) = (open.depth, open.state.account.is_live(epoch));
    let begun = thread::with_current(epoch, |thread| {
        let number = match known {
            Some(number) => number,
            None if is_live => thread.calls.as_ref()?.number(epoch)?,
            None => 0,
        };
        if depth == CLOSED {
            thread.log_call(0, CallEvent::Unaccounted);
        } else {
            let start = CallEvent::PollStart {
                proc: proc.id(),
                root: thread.ledger.begins_task(depth),
            };
            thread.log_call(number, start);
        }
        Some(number)
    });
    open.epoch = NUMBERED | begun.flatten().unwrap_or(0);
    match opened {
        Ok(true) => Ok(open.waker.lent(waker)),
        _ => Ok(BorrowedWaker::same(waker)),
    }
}

/// After a poll, the call has its number again.
fn rest(state: &mut CallState, epoch: u32, number: u32) {
    if number != 0 && state.account.is_live(epoch) {
        state.account.set_number(number);
    }
}

/// Closes the frame of a call with this number.
fn end((epoch, number): (u32, u32), state: &mut CallState, depth: u32, closing: &Closing<'_>) {
    thread::with_current(epoch, |thread| {
        match closing.given {
            PollWaker::Inherited => close_plain(thread, state, depth, (closing.end, None)),
            _ => close_in(thread, state, depth, closing),
        }
        if number != 0 {
            thread.log_call(number, CallEvent::PollEnd(closing.end));
        }
    });
    rest(state, epoch, number);
}

/// Ends a poll without a frame.
fn end_unseen(state: &mut CallState, number: u32) {
    let Some(epoch) = recorded_epoch() else {
        return;
    };
    thread::with_current(epoch, |thread| {
        thread.ledger.unseen();
        thread.log_call(0, CallEvent::Unaccounted);
    });
    rest(state, epoch, number);
}

/// Creates a call, which is counted at once.
#[cold]
#[inline(never)]
pub(super) fn create(proc: &'static Proc, bytes: usize) -> Origin {
    let (Some(epoch), Some(key)) = (recorded_epoch(), proc.key(bytes)) else {
        return Origin::UNSEEN;
    };
    let origin = thread::with(epoch, |thread| {
        let number = thread.calls.as_ref()?.number(epoch)?;
        if proc.is_large(bytes) {
            proc.grows(bytes);
        }
        let origin = thread.ledger.create(key, clock::ticks());
        thread.log_call(number, CallEvent::Create { proc: key.id });
        Some(origin.numbered(number))
    });
    origin.flatten().unwrap_or(Origin::UNSEEN)
}

/// Arrives at an await point.
#[cold]
#[inline(never)]
pub(super) fn arrive(proc: &'static Proc, site: u32, shape: usize) {
    if let (Some(epoch), Some(id)) = (recorded_epoch(), proc.id()) {
        thread::with_current(epoch, |thread| {
            arrive_in(thread, (proc, id), site, shape);
            let arrival = CallEvent::Await {
                proc: id,
                site: site + 1,
                direct: shape & 1 != 0,
            };
            thread.log_call(0, arrival);
        });
    }
}

/// Records the drop of a call, if it was seen in this epoch.
#[cold]
#[inline(never)]
pub(super) fn cancel(state: &mut CallState, proc: &'static Proc) {
    if let (Some(number), Some(epoch)) = (known(&state.account), recorded_epoch())
        && let Some(proc) = proc.id()
    {
        state.account.take_number(epoch);
        let log = |thread: &ThreadLedger| thread.log_call(number, CallEvent::Drop);
        state.cancel_in(epoch, proc, log);
    }
}

/// Begins a plain function.
#[cold]
#[inline(never)]
pub(super) fn enter(proc: &'static Proc, entered: &mut Entered) {
    let (Some(epoch), Some(key)) = (recorded_epoch(), proc.key(0)) else {
        return;
    };
    thread::with(epoch, |thread| {
        let number = thread.calls.as_ref()?.number(epoch)?;
        let (ledger, t) = (&thread.ledger, clock::ticks());
        entered.account = Account::new(ledger.create(key, t));
        thread.log_call(number, CallEvent::Create { proc: key.id });
        let depth = ledger.poll_start(&mut entered.account, key, t, PLAIN)?;
        let start = CallEvent::PollStart {
            proc: Some(key.id),
            root: ledger.begins_task(depth),
        };
        thread.log_call(number, start);
        entered.begin(NUMBERED | number, depth);
        Some(())
    });
}

/// Ends a plain function.
#[cold]
#[inline(never)]
pub(super) fn left(entered: &mut Entered) {
    let epoch = entered.account.epoch();
    if let Some((number, depth)) = entered.numbered()
        && switch::epoch() == Some(epoch)
    {
        let end = entered.end();
        thread::with_current(epoch, |thread| {
            let account = &mut entered.account;
            thread.ledger.poll_end(account, depth, clock::ticks(), end);
            thread.log_call(number, CallEvent::PollEnd(end));
        });
    }
}
