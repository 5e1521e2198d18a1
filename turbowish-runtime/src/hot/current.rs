//! Who runs on this thread: the task, and the innermost call of it.

pub(crate) use turbowish_model::account::resource::CurrentCall;

use crate::hot::{switch, thread};

/// The innermost call that is polled on this thread; nobody, if none is.
#[inline]
pub(crate) fn here() -> CurrentCall {
    let Some(epoch) = switch::epoch() else {
        return CurrentCall::default();
    };
    thread::with_current(epoch, |thread| thread.ledger.here()).unwrap_or_default()
}

/// Marks the number of a thread, where otherwise the id of a task would stand.
pub(crate) const THREAD: u64 = 1 << 63;

/// The task that runs on this thread; if none of ours does the thread, with [`THREAD`]; 0 if nothing was ever accounted on it.
pub(crate) fn who() -> u64 {
    let who = |thread: &thread::ThreadLedger| match thread.ledger.here().task {
        0 => THREAD | u64::from(thread.index),
        task => task,
    };
    let epoch = switch::epoch();
    epoch
        .and_then(|epoch| thread::with_current(epoch, who))
        .unwrap_or(0)
}

/// Runs `f` with the ledger of this thread, if something is accounted here. `f` must not run user code.
#[cfg(feature = "tokio")]
#[inline]
pub(crate) fn ledger<R>(
    f: impl FnOnce(&turbowish_model::account::ledger::Ledger) -> R,
) -> Option<R> {
    thread::with_current(switch::epoch()?, |thread| f(&thread.ledger))
}
