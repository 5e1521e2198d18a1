//! Calls dropped before their first poll, counted by the call that dropped them. Whether that was a
//! mistake is decided by the monitor.

use std::sync::LazyLock;

use dashmap::DashMap;
use turbowish_model::account::ledger::Ledger;

use crate::hot::after_end::{PollAfterEnd, PollsAfterEnd};
use crate::hot::dropped;
use crate::hot::forced_yield::ForcedYield;

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
    by_kind: LazyLock<DashMap<NeverPolled, u64>>,
    after_end: LazyLock<DashMap<PollAfterEnd, PollsAfterEnd>>,
    forced_yields: LazyLock<DashMap<ForcedYield, u64>>,
}

static COUNTS: DropCounts = DropCounts {
    by_kind: LazyLock::new(|| DashMap::with_shard_amount(SHARDS)),
    after_end: LazyLock::new(|| DashMap::with_shard_amount(SHARDS)),
    forced_yields: LazyLock::new(|| DashMap::with_shard_amount(SHARDS)),
};

const SHARDS: usize = 64;

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
    let drop = NeverPolled {
        proc,
        by: (by, here.site),
        by_maker: maker == Some(by),
    };
    dropped::add_within(&COUNTS.by_kind, LIMIT, drop, |times| *times += 1);
}

/// Returns the count of each place.
pub(crate) fn all() -> Vec<(NeverPolled, u64)> {
    let all = COUNTS.by_kind.iter();
    all.map(|entry| (*entry.key(), *entry.value())).collect()
}

/// Polls of calls that are over.
pub(super) fn after_end() -> &'static DashMap<PollAfterEnd, PollsAfterEnd> {
    &COUNTS.after_end
}

/// Polls that have used up their budget.
pub(super) fn forced_yields() -> &'static DashMap<ForcedYield, u64> {
    &COUNTS.forced_yields
}
