//! Rules, one family per file. Each is a pure function of a scan: the present situation and the
//! memory of earlier ones.

pub(super) mod after_end;
pub(super) mod budget;
pub(super) mod cancelled;
pub(super) mod channels;
pub(super) mod crowded;
pub(super) mod deadlock;
pub(super) mod doing;
pub(super) mod ended_polls;
pub(super) mod futurelock;
pub(super) mod futures;
pub(super) mod leaks;
pub(super) mod locks;
pub(super) mod machine;
pub(super) mod open_polls;
pub(super) mod order;
pub(super) mod overload;
pub(super) mod polls;
pub(super) mod same_turn;
pub(super) mod snoozed;
pub(super) mod timers;
pub(super) mod wakes;

use alloc::vec::Vec;

use super::finding::{Finding, Scan};

/// A rule: appends its findings.
pub(super) type Rule = fn(&Scan<'_>, &mut Vec<Finding>);

pub(super) const ALL: &[Rule] = &[
    deadlock::cycles,
    futurelock::futurelocks,
    same_turn::futurelocks,
    open_polls::open_polls,
    polls::long_polls,
    polls::busy_tasks,
    crowded::crowded,
    polls::starved,
    timers::late,
    wakes::lost_wakers,
    wakes::spins,
    wakes::spurious,
    wakes::churn,
    budget::exhausted,
    snoozed::snoozed,
    cancelled::cut,
    locks::guards,
    locks::convoys,
    order::inversions,
    channels::growth,
    leaks::leaks,
    channels::bloat,
    channels::senders,
    after_end::polled,
    futures::detached,
    futures::large,
    futures::never_polled,
    overload::overload,
];
