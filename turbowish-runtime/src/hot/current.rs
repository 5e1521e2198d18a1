//! The running task and its innermost call on this thread.

pub(crate) use turbowish_model::account::resource::CurrentCall;
use turbowish_model::account::task::WakeSource;

use crate::hot::{switch, thread};

/// The innermost call that is polled on this thread; the default if there is none.
#[inline]
pub(crate) fn current_call() -> CurrentCall {
    let Some(epoch) = switch::epoch() else {
        return CurrentCall::default();
    };
    thread::with_current(epoch, |thread| thread.ledger.current_call()).unwrap_or_default()
}

/// What runs on this thread: a task and its innermost call, or the thread itself;
/// [`WakeSource::UNKNOWN`] if nothing was ever accounted on it.
pub(crate) fn who() -> WakeSource {
    let who = |thread: &thread::ThreadLedger| match thread.ledger.current_task() {
        0 => WakeSource::of_thread(thread.index),
        task => WakeSource::of_task(task, thread.ledger.current_path()),
    };
    let epoch = switch::epoch();
    let known = epoch.and_then(|epoch| thread::with_current(epoch, who));
    known.unwrap_or_default()
}

/// ID of the task that runs on this thread in this epoch, 0 if none does; and the time of the last
/// event here.
#[inline]
pub(crate) fn task_and_when(epoch: u32) -> (u64, u64) {
    let what = |thread: &thread::ThreadLedger| {
        let ledger = &thread.ledger;
        (ledger.current_task(), ledger.latest())
    };
    thread::with_current(epoch, what).unwrap_or_default()
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

/// The task that runs on this thread, and its innermost call; [`WakeSource::UNKNOWN`] if none does.
pub(crate) fn spawner() -> WakeSource {
    let spawner =
        ledger(|ledger| WakeSource::of_task(ledger.current_task(), ledger.current_path()));
    spawner.unwrap_or_default()
}
