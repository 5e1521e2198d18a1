//! The numbers of procs and calls, by the names that vectors have for them.

use turbowish_model::account::aggregate::ProcStats;
use turbowish_model::account::counters::{Population, Sum};
use turbowish_model::account::histogram::{Buckets, upper_bound};
use turbowish_model::snapshot::quantile::Distribution;

use super::compare::Got;
use crate::replay::{CallOutcome, ReplayedCall};

/// A population as reports give it: buckets, and the exact sum and maximum.
pub(super) fn distribution(proc: &ProcStats, population: Population) -> Distribution {
    let buckets = &proc.populations[population as usize];
    sampled(buckets, proc.sum_of(population), proc.peak(population))
}

/// The waits of all await points of a proc that have ended.
pub(super) fn waits(proc: &ProcStats) -> Distribution {
    let mut all = Distribution::default();
    for site in &proc.sites {
        all.merge(&sampled(&site.wait, site.ended, site.longest));
    }
    all
}

fn sampled(buckets: &Buckets, sum: u64, max: u64) -> Distribution {
    let bounds = buckets
        .iter()
        .map(|(bucket, n)| (upper_bound(usize::from(bucket)), n));
    Distribution {
        n: buckets.total(),
        sum_ns: sum,
        max_ns: max,
        buckets: bounds.collect(),
    }
}

pub(super) fn offspring(got: &Got<'_>, proc: u32) -> u64 {
    let edges = got
        .aggregate
        .procs
        .iter()
        .filter_map(|other| other.edges.get(&proc));
    edges.map(|edge| edge.offspring).fold(0, u64::wrapping_add)
}

pub(super) fn fields(
    proc: &ProcStats,
    got: &Got<'_>,
    id: Option<usize>,
) -> Vec<(&'static str, u64)> {
    let (running, hold) = (proc.sum(Sum::Running), proc.sum(Sum::Hold));
    let foreign = proc.sum(Sum::Foreign);
    let in_child = hold.wrapping_sub(foreign).wrapping_sub(running);
    let paused = proc.yielded().wrapping_add(in_child).wrapping_add(foreign);
    let ppm = u128::from(running) * 1_000_000 / u128::from(got.window).max(1);
    vec![
        ("running", running),
        ("inclusive", proc.sum(Sum::Inclusive)),
        ("calls", proc.sum(Sum::Calls)),
        ("polls", proc.sum(Sum::Polls)),
        ("live", proc.live()),
        ("ready", proc.sum(Sum::Ready)),
        ("cancelled", proc.sum(Sum::Cancelled)),
        ("panicked", proc.sum(Sum::Panicked)),
        ("never_polled", proc.sum(Sum::NeverPolled)),
        ("hold", hold),
        ("wall", proc.sum(Sum::Wall)),
        ("unstarted", proc.sum(Sum::Unstarted)),
        ("yielded", proc.yielded()),
        ("in_child", in_child),
        ("foreign", foreign),
        ("paused", paused),
        ("inclusive_sum", hold.wrapping_sub(foreign)),
        ("max_call_running", proc.peak(Population::CallRunning)),
        ("max_poll", proc.longest()),
        ("occupancy_ppm", u64::try_from(ppm).unwrap_or(u64::MAX)),
        ("offspring", id.map_or(0, |id| offspring(got, id as u32))),
    ]
}

/// Times of one call; clocks of two threads may differ, so a difference may wrap.
pub(super) fn call_fields(call: &ReplayedCall, now: u64) -> [(&'static str, u64); 12] {
    let end = call.ended.unwrap_or(now);
    let wall = end.wrapping_sub(call.created);
    let unstarted = call.first.unwrap_or(end).wrapping_sub(call.created);
    let (hold, running) = (call.charge.hold, call.charge.running);
    let yielded = wall.wrapping_sub(unstarted).wrapping_sub(hold);
    let inclusive = call.charge.inclusive;
    [
        ("running", running),
        ("inclusive", inclusive),
        ("hold", hold),
        ("wall", wall),
        ("unstarted", unstarted),
        ("polls", call.polls),
        ("in_child", inclusive.wrapping_sub(running)),
        ("foreign", hold.wrapping_sub(inclusive)),
        ("yielded", yielded),
        ("paused", yielded.wrapping_add(hold).wrapping_sub(running)),
        ("waiting", call.waiting),
        ("ready", call.ready),
    ]
}

pub(super) const fn outcome_word(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Live => "live",
        CallOutcome::Ready => "ready",
        CallOutcome::Cancelled => "cancelled",
        CallOutcome::Panicked => "panicked",
    }
}
