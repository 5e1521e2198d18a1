//! What holds exactly in every reading, whatever the threads do meanwhile.

use turbowish_model::account::aggregate::{Aggregate, Anomaly, ProcStats};
use turbowish_model::account::counters::{Population, Sum};
use turbowish_model::collect::history::{Totals, Window};

/// No count and no time of a test comes near it.
const ABSURD: u64 = 1 << 62;

const COUNTS: [Sum; 8] = [
    Sum::Polls,
    Sum::Calls,
    Sum::Started,
    Sum::Ready,
    Sum::Err,
    Sum::Cancelled,
    Sum::Panicked,
    Sum::NeverPolled,
];

fn waited(proc: &ProcStats) -> u64 {
    let waited = proc.sites.iter().map(|site| site.waited);
    waited.fold(0, u64::wrapping_add)
}

fn parts(proc: &ProcStats) {
    assert!(proc.sums.iter().all(|&sum| sum < ABSURD), "{proc:?}");
    assert!(
        proc.sites.iter().all(|site| site.waited < ABSURD),
        "{proc:?}"
    );
    // Every moment of every call is unstarted, in a poll, or between two.
    let parts = proc.sum(Sum::Unstarted) + proc.sum(Sum::Hold) + waited(proc);
    assert_eq!(
        proc.sum(Sum::Wall),
        parts,
        "wall is the sum of its parts: {proc:?}"
    );
}

/// One reading by itself.
pub(super) fn check(totals: &Totals) {
    for proc in &totals.aggregate.procs {
        parts(proc);
        // What is in a poll is the call's own, of a call below it, or foreign.
        assert!(
            proc.sum(Sum::Running) + proc.sum(Sum::Foreign) <= proc.sum(Sum::Hold),
            "{proc:?}"
        );
        assert_eq!(
            proc.sum(Sum::Calls),
            proc.ended() + proc.sum(Sum::Abandoned) + proc.live(),
            "calls are over or live: {proc:?}"
        );
        assert!(proc.sum(Sum::Started) <= proc.sum(Sum::Calls), "{proc:?}");
        assert!(
            proc.sites.iter().all(|site| site.left <= site.waits),
            "{proc:?}"
        );
    }
    let running = totals
        .aggregate
        .procs
        .iter()
        .map(|proc| proc.sum(Sum::Running));
    assert_eq!(
        running.sum::<u64>(),
        totals.busy.values().sum::<u64>(),
        "running is busy"
    );
    for kind in [
        Anomaly::OrphanEnd,
        Anomaly::ForcedPop,
        Anomaly::ClockBackwards,
    ] {
        assert_eq!(totals.aggregate.anomalies[kind as usize], 0, "{kind:?}");
    }
}

pub(super) fn check_window(window: &Window) {
    window.aggregate.procs.iter().for_each(parts);
}

/// Of two readings, one after the other.
pub(super) fn is_later(before: &Totals, now: &Totals) {
    assert!(before.at <= now.at);
    for (proc, before) in before.aggregate.procs.iter().enumerate() {
        let now = &now.aggregate.procs[proc];
        for sum in COUNTS {
            assert!(
                before.sum(sum) <= now.sum(sum),
                "{sum:?}\n{before:?}\n{now:?}"
            );
        }
        for (site, before) in before.sites.iter().enumerate() {
            assert!(
                before.waits <= now.sites[site].waits,
                "\n{before:?}\n{now:?}"
            );
            assert!(
                before.cancelled <= now.sites[site].cancelled,
                "\n{before:?}\n{now:?}"
            );
        }
        let of = |stats: &ProcStats, which: usize| stats.populations[which].total();
        for which in 0..before.populations.len() {
            assert!(of(before, which) <= of(now, which), "\n{before:?}\n{now:?}");
        }
    }
    let polls = |aggregate: &Aggregate| -> u64 {
        let finished = Population::PollHold as usize;
        aggregate
            .procs
            .iter()
            .map(|proc| proc.populations[finished].total())
            .sum()
    };
    assert!(polls(&before.aggregate) <= polls(&now.aggregate));
}
