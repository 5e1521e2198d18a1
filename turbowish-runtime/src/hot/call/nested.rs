//! Roots of tasks inside another task's poll: calls polled by a nested executor are not children of
//! the call that runs it.
//!
//! A different waker alone proves nothing: `FuturesUnordered` polls its children with wakers of its
//! own. A call is the root of a nested task if it is polled with a waker other than the one its
//! caller was given, and
//!
//! - it was marked as a root ([`root()`](crate::root()), `spawn`, `block_on`, `TaskBuilder`), or
//! - tokio reports another running task than at the start of the enclosing task's poll, or
//! - that waker is one of those with which tokio's own `block_on` polls ([`executor`]).
//!
//! Every other call is a child: a task may be taken for a child, but never a child for a task.

mod executor;

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::task::Waker;

use turbowish_model::account::ledger::{Ledger, Start};
use turbowish_model::event::CallEvent;

pub(crate) use self::executor::learn;
use super::CallState;
use super::branch::open_branch;
use super::root::{PollWaker, open_root};
use crate::hot::proc::Proc;
use crate::hot::task::{self, CoveredTask};
use crate::hot::thread::ThreadLedger;
use crate::hot::{clock, events, origin, switch, thread};
use crate::runtimes::{self, RunningTask};

thread_local! {
    /// Tokio's running task when the innermost task's root poll began.
    static WITHIN: Cell<RunningTask> = const { Cell::new(RunningTask::NONE) };
}

/// Thread state saved around a poll with another waker, and restored after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct OuterPoll {
    lent: usize,
    /// Set for a nested root only.
    within: Option<RunningTask>,
}

impl OuterPoll {
    /// At the start of a task's root poll that is not nested.
    pub(super) fn nothing(thread: &ThreadLedger) -> Self {
        WITHIN.set(runtimes::running_task());
        Self::of(thread)
    }

    /// At the start of a nested root's poll.
    fn task(thread: &ThreadLedger) -> Self {
        let within = WITHIN.replace(runtimes::running_task());
        Self {
            within: Some(within),
            ..Self::of(thread)
        }
    }

    /// At the start of the poll of a call that belongs to its caller's task.
    pub(super) fn of(thread: &ThreadLedger) -> Self {
        Self {
            lent: thread.lent.load(Ordering::Relaxed),
            within: None,
        }
    }

    /// Whether the poll is that of a nested root.
    pub(super) const fn is_task(&self) -> bool {
        self.within.is_some()
    }

    /// Restores the saved state after the poll.
    pub(super) fn go_on(&self, thread: &ThreadLedger) {
        thread.lent.store(self.lent, Ordering::Relaxed);
        if let Some(within) = self.within {
            WITHIN.set(within);
        }
    }
}

/// Records the waker that a poll is given.
#[inline(always)]
pub(super) fn record_waker(thread: &ThreadLedger, given: &PollWaker<'_>, waker: &Waker) {
    let lent = given.lent(waker).waker().data().addr();
    thread.lent.store(lent, Ordering::Relaxed);
}

/// Whether there is an enclosing poll that was given a waker other than `waker`.
#[inline]
pub(super) fn is_suspect(thread: &ThreadLedger, waker: &Waker) -> bool {
    thread.ledger.depth() > 0 && waker.data().addr() != thread.lent.load(Ordering::Relaxed)
}

/// Opens the frame of a call that is polled with a waker other than the enclosing poll's.
#[cold]
#[inline(never)]
pub(super) fn open<'a>(
    thread: &ThreadLedger,
    state: &mut CallState,
    (proc, bytes): (&'static Proc, usize),
    waker: &'a Waker,
    given: &mut PollWaker<'a>,
) -> Option<u32> {
    let ledger = &thread.ledger;
    let root = is_root(ledger, state, waker);
    let start = Start {
        root,
        ..Start::default()
    };
    let key = proc.key(bytes)?;
    let opened = ledger.open(&mut state.account, key, clock::ticks(), start)?;
    if opened.unknown_birth {
        proc.is_created_early();
    }
    events::call(|| CallEvent::PollStart {
        proc: Some(key.id),
        root,
    });
    let outer = match root {
        true => OuterPoll::task(thread),
        false => OuterPoll::of(thread),
    };
    if root {
        let covered = state.task.as_ref().map(CoveredTask::covered);
        let state = (state, covered);
        open_root(thread, state, (proc, bytes), waker, Some(outer), given);
    } else if opened.is_branch || state.task.is_some() {
        *given = open_branch(thread, state, bytes, waker, Some(outer));
    } else {
        *given = PollWaker::Passed(outer);
    }
    record_waker(thread, given, waker);
    Some(opened.depth)
}

/// Whether a call that is polled with another waker is the root of a nested task.
fn is_root(ledger: &Ledger, state: &CallState, waker: &Waker) -> bool {
    is_marked(state)
        || runtimes::running_task().is_other_than(WITHIN.get())
        || (is_wrapped(ledger) && executor::is_blocking(waker))
}

/// Whether a call polled with `waker` on this thread belongs to the task of the call that polls it.
pub(crate) fn is_child(waker: &Waker) -> bool {
    let is_child = |thread: &ThreadLedger| thread.ledger.depth() > 0 && !is_suspect(thread, waker);
    let epoch = switch::epoch();
    epoch
        .and_then(|epoch| thread::with_current(epoch, is_child))
        .unwrap_or(false)
}

/// Whether the call was marked as a root.
fn is_marked(state: &CallState) -> bool {
    state.task.as_ref().is_some_and(CoveredTask::has_story) || origin::is_told()
}

/// Whether the enclosing task was given a TurboWish waker. If so, an executor's own waker comes
/// from elsewhere.
fn is_wrapped(ledger: &Ledger) -> bool {
    task::is_wrapped() && ledger.current_call().task != 0
}
