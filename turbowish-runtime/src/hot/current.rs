//! The running task and its innermost call on this thread.

pub(crate) use turbowish_model::account::resource::CurrentCall;
pub(crate) use turbowish_model::account::task::THREAD;

use crate::hot::{switch, thread};

/// The innermost call that is polled on this thread; the default if there is none.
#[inline]
pub(crate) fn current_call() -> CurrentCall {
    let Some(epoch) = switch::epoch() else {
        return CurrentCall::default();
    };
    thread::with_current(epoch, |thread| thread.ledger.current_call()).unwrap_or_default()
}

/// ID of the task that runs on this thread. Without a task: the thread's number with [`THREAD`]; 0
/// if nothing was ever accounted on this thread.
pub(crate) fn who() -> u64 {
    who_and_when().0
}

/// The same, and the time of the last event on this thread; 0 if there was none.
pub(crate) fn who_and_when() -> (u64, u64) {
    let both = |thread: &thread::ThreadLedger| {
        let who = match thread.ledger.current_task() {
            0 => THREAD | u64::from(thread.index),
            task => task,
        };
        (who, thread.ledger.latest())
    };
    let epoch = switch::epoch();
    epoch
        .and_then(|epoch| thread::with_current(epoch, both))
        .unwrap_or_default()
}

/// Number of this thread, if something is accounted here.
pub(crate) fn thread_index() -> Option<u32> {
    thread::with_current(switch::epoch()?, |thread| thread.index)
}

/// Runs `f` with the ledger of this thread, if something is accounted here. `f` must not run user
/// code.
#[inline]
pub(crate) fn ledger<R>(
    f: impl FnOnce(&turbowish_model::account::ledger::Ledger) -> R,
) -> Option<R> {
    thread::with_current(switch::epoch()?, |thread| f(&thread.ledger))
}
