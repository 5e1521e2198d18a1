//! The state of a call beside its future, and the end of a call that is dropped.

use std::mem::ManuallyDrop;

use turbowish_model::account::call::Call as Account;
use turbowish_model::event::CallEvent;

use super::{ProcRef, recorded};
use crate::features;
use crate::hot::events::{self, marked_calls};
use crate::hot::never_polled;
use crate::hot::proc::Proc;
use crate::hot::task::CoveredTask;
use crate::hot::thread::ThreadLedger;
use crate::hot::{clock, switch, thread};

/// The state of a call, which ends with it.
#[repr(C)]
pub(super) struct Owned<P: ProcRef> {
    // Before the state, which the future follows in any case.
    pub(super) proc: P,
    pub(super) state: CallState,
}

/// Accounting state of a call, apart from its future.
///
/// A call is moved a few times before its first poll, so the state is small. The functions that
/// write it are not passed its address, so that the compiler can elide most of these moves.
#[derive(Debug)]
#[repr(C)]
pub(super) struct CallState {
    pub(super) account: Account,
    /// The task of which this call is the root, or the call's branch of a task. Dropped in
    /// [`forget`], so that a call's drop has nothing else to do afterwards.
    pub(super) task: ManuallyDrop<Option<CoveredTask>>,
}

const _: () = assert!(size_of::<CallState>() == 48);

/// Bytes of a call beside its future.
pub(crate) const OWN_BYTES: u64 = size_of::<CallState>() as u64;

impl<P: ProcRef> Drop for Owned<P> {
    #[inline]
    fn drop(&mut self) {
        if self.state.account.is_open() {
            forget(&mut self.state, self.proc.proc());
        }
    }
}

/// Records the drop of a call.
extern "C" fn forget(state: &mut CallState, proc: &'static Proc) {
    state.cancel(proc);
    if features::TOKIO
        && state.account.is_marked()
        && !switch::is_child()
        && let Some(proc) = proc.id()
        && let Some(listener) = marked_calls()
    {
        (listener.forgotten)(&state.account, proc);
        let root = state.task.as_ref().filter(|task| !task.is_branch());
        root.inspect(|task| (listener.task_over)(task.id()));
    }
    *state.task = None;
}

impl CallState {
    fn cancel(&mut self, proc: &'static Proc) {
        let epoch = self.account.epoch();
        if switch::epoch() != Some(epoch) || !self.account.is_live(epoch) {
            return recorded::cancel(self, proc);
        }
        if let Some(proc) = proc.id() {
            self.cancel_in(epoch, proc, |_| ());
        }
    }

    /// Records the drop in the running epoch, and passes the thread's ledger to `then`.
    #[inline(always)]
    pub(super) fn cancel_in(&mut self, epoch: u32, proc: u32, then: impl Fn(&ThreadLedger)) {
        let is_root = self.task.as_ref().is_some_and(|task| !task.is_branch());
        let account = &mut self.account;
        let drop_in = |thread: &ThreadLedger, account: &mut Account| {
            let maker = thread.ledger.maker(account);
            thread.ledger.drop_call(account, proc, clock::ticks());
            then(thread);
            events::call(|| CallEvent::Drop);
            if is_root {
                thread.ledger.note_root_drop();
            }
            if features::SERVER && !account.is_polled() {
                never_polled::unpolled(&thread.ledger, proc, maker);
            }
            if features::TOKIO
                && account.is_marked()
                && let Some(listener) = marked_calls()
            {
                (listener.dropped)(thread, account, proc);
            }
        };
        if thread::with(epoch, |thread| drop_in(thread, account)).is_none() {
            thread::with_stray(epoch, |thread| drop_in(thread, account));
        }
    }
}
