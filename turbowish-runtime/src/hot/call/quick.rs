//! The start and end of a poll in the most frequent cases.

use std::sync::atomic::Ordering;
use std::task::Waker;

use turbowish_model::account::call::{Call as Account, PollEnd};
use turbowish_model::account::ledger::{Ledger, Unwritten};
use turbowish_model::event::CallEvent;

use super::again::{return_root_again, suspend_branch_again, suspend_root};
use super::first::{return_root, suspend_first};
use super::{CLOSED, CallState, OpenPoll, end_any, straight};
use crate::hot::proc::Proc;
use crate::hot::thread::{ThisThread, ThreadLedger};
use crate::hot::{clock, events, switch};

/// How the end of a poll is to be looked at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PollShape {
    /// As any.
    Any,
    /// As the first poll of a call that its caller awaits.
    New,
    /// As the poll of the first call of a task that has something to do.
    Bottom,
    /// As the first poll of a task's root.
    FirstRoot,
    /// As a later poll of a task's root.
    Root,
    /// As a later poll of a branch.
    Branch,
}

/// Opens the frame of a call in the two most frequent cases; `None` in all others.
#[inline(always)]
pub(super) fn begin_quick(
    here: ThisThread,
    thread: &ThreadLedger,
    state: &mut CallState,
    proc: &'static Proc,
    epoch: u32,
    waker: &Waker,
) -> Option<(u32, PollShape)> {
    let (ledger, account) = (&thread.ledger, &mut state.account);
    let depth = ledger.depth();
    let id = proc.known()?;
    let (shape, begun) = if depth == 0 {
        let is_below = straight::is_below(here, account, epoch);
        (
            PollShape::Bottom,
            is_below && ledger.start_bottom(account, id),
        )
    } else {
        let is_lent = waker.data().addr() == thread.lent.load(Ordering::Relaxed);
        let callee = (id, &proc.first_path);
        let begun = is_lent && ledger.start_awaited(account, depth, callee, clock::ticks);
        (PollShape::New, begun)
    };
    if !begun {
        return None;
    }
    straight::opened(here);
    events::call(|| CallEvent::PollStart {
        proc: proc.id(),
        root: false,
    });
    Some((depth, shape))
}

/// Closes the frame of a poll and charges its time. Each shape has a function of its own, at the
/// end, so that the compiler saves no register here, and none there for other shapes.
pub(super) extern "C" fn end(here: ThisThread, open: &mut OpenPoll<'_>, end: PollEnd) {
    match (open.shape, end) {
        (PollShape::New, PollEnd::Ready) => return_new(here, open),
        (PollShape::New, PollEnd::Pending) => suspend_new(here, open),
        (PollShape::Bottom, PollEnd::Ready) => return_bottom(here, open),
        (PollShape::Bottom, PollEnd::Pending) => suspend_bottom(here, open),
        (PollShape::FirstRoot, PollEnd::Ready) => return_root(here, open),
        (PollShape::FirstRoot, PollEnd::Pending) => suspend_first(here, open),
        (PollShape::Root, PollEnd::Ready) => return_root_again(here, open),
        (PollShape::Root, PollEnd::Pending) => suspend_root(here, open),
        (PollShape::Branch, PollEnd::Pending) => suspend_branch_again(here, open),
        _ => end_any(open, end, None),
    }
}

macro_rules! ends {
    ($($name:ident: $end:ident;)*) => {$(
        #[inline(never)]
        extern "C" fn $name(here: ThisThread, open: &mut OpenPoll<'_>) {
            let mut read = None;
            if switch::epoch() == Some(open.epoch) {
                let (account, depth) = (&mut open.state.account, open.depth);
                let ended = here.with_current(open.epoch, |thread| {
                    thread.ledger.$name(account, depth, clock::ticks)
                });
                match ended {
                    Some(Ok(())) => {
                        here.settle(PollEnd::$end == PollEnd::Pending && depth == 0);
                        events::call(|| CallEvent::PollEnd(PollEnd::$end));
                        open.depth = CLOSED;
                        return;
                    }
                    Some(Err(unwritten)) => read = unwritten,
                    None => {}
                }
            }
            end_any(open, PollEnd::$end, read);
        }
    )*};
}

ends! {
    suspend_new: Pending;
    suspend_bottom: Pending;
    return_new: Ready;
    return_bottom: Ready;
}

/// Closes the frame of a call in the most frequent cases.
///
/// # Errors
/// In all others: nothing is done.
#[inline(always)]
pub(super) fn end_quick(
    here: ThisThread,
    ledger: &Ledger,
    account: &mut Account,
    depth: u32,
    end: PollEnd,
) -> Result<(), Unwritten> {
    match end {
        PollEnd::Pending => ledger.suspend_bottom(account, depth, clock::ticks)?,
        PollEnd::Ready => ledger.return_bottom(account, depth, clock::ticks)?,
        PollEnd::Err | PollEnd::Panic | PollEnd::Torn => return Err(None),
    }
    here.settle(end == PollEnd::Pending && depth == 0);
    events::call(|| CallEvent::PollEnd(end));
    Ok(())
}
