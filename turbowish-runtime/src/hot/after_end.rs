//! Polls of calls that are over, counted by the call that polled them.

use turbowish_model::account::ledger::Ledger;

use crate::hot::{dropped, never_polled};

/// Kind of such a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PollAfterEnd {
    /// Proc of the call that was over.
    pub(crate) proc: u32,
    /// Proc plus one, and await point plus one, of the call in whose poll it was polled; 0 if
    /// unknown.
    pub(crate) by: (u32, u16),
}

/// How often, and the last task; 0 if it is not instrumented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PollsAfterEnd {
    pub(crate) times: u64,
    pub(crate) task: u64,
}

/// Maximum number of distinct kinds counted.
const LIMIT: usize = 4_096;

/// Counts a poll, on this thread, of a call of `proc` that is over.
#[cold]
pub(crate) fn polled(ledger: &Ledger, proc: u32) {
    let here = ledger.current_call();
    let kind = PollAfterEnd {
        proc,
        by: (here.proc, here.site),
    };
    dropped::add_within(never_polled::after_end(), LIMIT, kind, |polls| {
        polls.times += 1;
        polls.task = here.task;
    });
}

/// Returns the count of each kind.
pub(crate) fn all() -> Vec<(PollAfterEnd, PollsAfterEnd)> {
    let all = never_polled::after_end().iter();
    all.map(|entry| (*entry.key(), *entry.value())).collect()
}
