//! Callbacks out of the poll path. Listeners are set from outside, so that nothing in here names
//! them.

use std::sync::OnceLock;

use turbowish_model::account::call::{Call, PollEnd};
use turbowish_model::account::ledger::Ledger;

use crate::hot::thread::ThreadLedger;

/// Callbacks for marked calls: those whose drop would lose an effect.
pub(crate) struct MarkedCalls {
    /// The poll of a marked call is closed. The pair is its depth, and whether the call is a task's
    /// root.
    pub(crate) closed: fn(&Ledger, &mut Call, u32, (u32, bool), PollEnd),
    /// A marked call was dropped while it was pending.
    pub(crate) dropped: fn(&ThreadLedger, &Call, u32),
    /// A marked call is dropped, and nothing is to be reported.
    pub(crate) forgotten: fn(&Call, u32),
    /// A task whose root was marked is over.
    pub(crate) task_over: fn(u64),
}

static MARKED_CALLS: OnceLock<MarkedCalls> = OnceLock::new();

/// Sets the listener for marked calls. The first listener stays.
pub(crate) fn on_marked_calls(listener: MarkedCalls) {
    let _ = MARKED_CALLS.set(listener);
}

/// The listener for marked calls. No call is marked before there is a listener.
#[cold]
pub(crate) fn marked_calls() -> Option<&'static MarkedCalls> {
    MARKED_CALLS.get()
}
