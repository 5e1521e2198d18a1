//! Polls of calls that are over, counted by the call that polled them.

use turbowish_model::account::ledger::Ledger;

use crate::hot::dropped::{MistakeCount, MistakeKind};
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

/// Maximum number of distinct kinds counted.
const LIMIT: usize = 4_096;

/// Counts a poll, on this thread, of a call of `proc` that is over.
#[cold]
pub(crate) fn polled(ledger: &Ledger, proc: u32) {
    let here = ledger.current_call();
    let key = [proc, here.proc, here.site.into(), 0];
    dropped::count_within(never_polled::after_end(), LIMIT, key, here.task);
}

/// Returns the count of each kind, and the last task; 0 if that is not instrumented.
pub(crate) fn all() -> Vec<(PollAfterEnd, MistakeCount)> {
    let all = dropped::all(never_polled::after_end()).into_iter();
    let kind = |([proc, by, site, _], count): (MistakeKind, MistakeCount)| {
        let by = (by, site as u16);
        (PollAfterEnd { proc, by }, count)
    };
    all.map(kind).collect()
}
