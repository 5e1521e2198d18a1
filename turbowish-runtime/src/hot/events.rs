//! Doors out of the hot path. Who listens is set from outside, so that nothing in here names it.

use std::sync::OnceLock;

use turbowish_model::account::call::{Call, PollEnd};
use turbowish_model::account::ledger::Ledger;

use crate::hot::thread::ThreadLedger;

/// Listens to calls that are marked: those whose drop would lose something.
pub(crate) struct MarkedCalls {
    /// A poll of such a call is closed. The pair is its depth, and whether the call is a task's root.
    pub(crate) closed: fn(&Ledger, &mut Call, u32, (u32, bool), PollEnd),
    /// Such a call was dropped while it waited.
    pub(crate) dropped: fn(&ThreadLedger, &Call, u32),
    /// Such a call is dropped, and nothing is to be reported.
    pub(crate) forgotten: fn(&Call, u32),
    /// The task whose root such a call was is over.
    pub(crate) task_over: fn(u64),
}

static MARKED_CALLS: OnceLock<MarkedCalls> = OnceLock::new();

/// Sets who listens to marked calls. The first listener stays.
pub(crate) fn on_marked_calls(listener: MarkedCalls) {
    let _ = MARKED_CALLS.set(listener);
}

/// Who listens to marked calls. No call is marked before there is a listener.
#[cold]
pub(crate) fn marked_calls() -> Option<&'static MarkedCalls> {
    MARKED_CALLS.get()
}
