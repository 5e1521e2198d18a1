//! Calls dropped before their first poll, counted by the call that dropped them. Whether that was a
//! mistake is decided by the monitor.

use std::sync::LazyLock;

use turbowish_model::account::ledger::Ledger;

use crate::hot::dropped::{self, MistakeCount, MistakeKind, MistakeTable};

/// Kind of such a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NeverPolled {
    pub(crate) proc: u32,
    /// Proc, and await point plus one, of the call in whose poll it was dropped.
    pub(crate) by: (u32, u16),
    /// Whether a call of the same proc had created it.
    pub(crate) by_maker: bool,
}

/// Such drops in this process, [polls of calls that are over](crate::hot::after_end), and
/// [polls that have used up their budget](crate::hot::forced_yield).
struct DropCounts {
    by_kind: LazyLock<MistakeTable>,
    after_end: LazyLock<MistakeTable>,
    forced_yields: LazyLock<MistakeTable>,
}

static COUNTS: DropCounts = DropCounts {
    by_kind: LazyLock::new(dropped::mistakes),
    after_end: LazyLock::new(dropped::mistakes),
    forced_yields: LazyLock::new(dropped::mistakes),
};

/// Maximum number of distinct kinds counted.
const LIMIT: usize = 65_536;

/// Counts a call of `proc`, created by a call of `maker`, that was dropped on this thread
/// before its first poll.
#[cold]
pub(crate) fn unpolled(ledger: &Ledger, proc: u32, maker: Option<u32>) {
    let here = ledger.current_call();
    let Some(by) = here.proc.checked_sub(1) else {
        return;
    };
    let by_maker = maker == Some(by);
    let key = [proc, by, here.site.into(), by_maker.into()];
    dropped::count_within(&COUNTS.by_kind, LIMIT, key, 0);
}

/// Returns the count of each place.
pub(crate) fn all() -> Vec<(NeverPolled, u64)> {
    let all = dropped::all(&COUNTS.by_kind).into_iter();
    let drop = |([proc, by, site, by_maker], count): (MistakeKind, MistakeCount)| {
        let drop = NeverPolled {
            proc,
            by: (by, site as u16),
            by_maker: by_maker != 0,
        };
        (drop, count.times)
    };
    all.map(drop).collect()
}

/// Polls of calls that are over.
pub(super) fn after_end() -> &'static MistakeTable {
    &COUNTS.after_end
}

/// Polls that have used up their budget.
pub(super) fn forced_yields() -> &'static MistakeTable {
    &COUNTS.forced_yields
}
