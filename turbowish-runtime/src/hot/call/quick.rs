//! The start and end of a poll in the most frequent cases.

use std::sync::atomic::Ordering;
use std::task::Waker;

use turbowish_model::account::call::{Call as Account, PollEnd};
use turbowish_model::account::ledger::Ledger;
use turbowish_model::event::CallEvent;

use super::{CallState, straight};
use crate::hot::proc::Proc;
use crate::hot::thread::ThreadLedger;
use crate::hot::{clock, events};

/// Opens the frame of a call in the two most frequent cases; `None` in all others.
#[inline(always)]
pub(super) fn begin_quick(
    thread: &ThreadLedger,
    state: &mut CallState,
    proc: &'static Proc,
    epoch: u32,
    waker: &Waker,
) -> Option<u32> {
    let (ledger, account) = (&thread.ledger, &mut state.account);
    let depth = ledger.depth();
    let begun = if depth == 0 {
        straight::is_below(account, epoch) && ledger.start_bottom(account, proc.known()?)
    } else {
        waker.data().addr() == thread.lent.load(Ordering::Relaxed)
            && ledger.start_awaited(account, depth, proc.known()?, clock::ticks)
    };
    if !begun {
        return None;
    }
    straight::opened();
    events::call(|| CallEvent::PollStart {
        proc: proc.id(),
        root: false,
    });
    Some(depth)
}

/// Closes the frame of a call in the most frequent cases. Returns whether it did.
#[inline(always)]
pub(super) fn end_quick(ledger: &Ledger, account: &mut Account, depth: u32, end: PollEnd) -> bool {
    let ended = match end {
        PollEnd::Pending => ledger.suspend_awaited(account, depth, clock::ticks),
        PollEnd::Ready => ledger.return_awaited(account, depth, clock::ticks),
        PollEnd::Err | PollEnd::Panic | PollEnd::Torn => false,
    };
    if ended {
        straight::settle(end == PollEnd::Pending && depth == 0);
        events::call(|| CallEvent::PollEnd(end));
    }
    ended
}
