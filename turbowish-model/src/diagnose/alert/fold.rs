//! Folding: a finding that follows from a more severe one is no alert of its own.

use alloc::string::String;
use alloc::vec::Vec;

use super::finding::Finding;
use crate::ordered::Set;
use crate::snapshot::pitfall::Pitfall;

/// Whether a pitfall is a cycle of waits: it stays the same alert as long as it shares tasks and
/// resources with its earlier finding.
pub(super) const fn is_cycle(pitfall: Pitfall) -> bool {
    matches!(
        pitfall,
        Pitfall::Deadlock | Pitfall::SelfDeadlock | Pitfall::Futurelock
    )
}

/// Whether other findings follow from this pitfall.
pub(super) const fn is_cause(pitfall: Pitfall) -> bool {
    let says_more = matches!(
        pitfall,
        Pitfall::BlockedSender
            | Pitfall::StreamStall
            | Pitfall::SelfWakeSpin
            | Pitfall::CrowdedTask
    );
    is_cycle(pitfall) || is_held_worker(pitfall) || says_more
}

/// Whether a worker is held by a poll.
pub(super) const fn is_held_worker(pitfall: Pitfall) -> bool {
    matches!(pitfall, Pitfall::BlockedWorker | Pitfall::NeverYields)
}

/// Whether tasks that are ready have to wait because of this pitfall.
const fn keeps_others_waiting(pitfall: Pitfall) -> bool {
    is_held_worker(pitfall)
        || matches!(
            pitfall,
            Pitfall::LongPoll
                | Pitfall::YieldsRarely
                | Pitfall::CrowdedTask
                | Pitfall::Starvation
                | Pitfall::SelfWakeSpin
        )
}

/// Whether tasks in or behind a cycle cause this pitfall inevitably.
const fn follows_from_cycle(pitfall: Pitfall) -> bool {
    matches!(
        pitfall,
        Pitfall::GuardAcrossAwait
            | Pitfall::LockConvoy
            | Pitfall::BlockedSender
            | Pitfall::BufferBloat
            | Pitfall::UnboundedGrowth
            | Pitfall::TaskLeak
            | Pitfall::SnoozedFuture
            | Pitfall::StreamStall
            | Pitfall::LostWaker
            | Pitfall::LockOrderInversion
            | Pitfall::Starvation
    )
}

/// Removes and returns the findings that follow from another finding, or from one in `standing`,
/// which holds earlier ones.
pub(super) fn fold(found: &mut Vec<Finding>, standing: &[Finding]) -> Vec<Finding> {
    let locked = tasks(found, Pitfall::Futurelock);
    let turns = resources(found, Pitfall::Futurelock);
    let mut folded = take(found, |finding| {
        // A granted turn that is not taken explains a cycle through it.
        matches!(
            finding.alert.pitfall,
            Pitfall::Deadlock | Pitfall::SelfDeadlock
        ) && !finding.tasks.is_disjoint(&locked)
            && !finding.resources.is_disjoint(&turns)
    });
    let causes = Causes::of(found.iter().chain(standing));
    folded.extend(take(found, |finding| causes.explain(finding)));
    folded.extend(duplicates(found, standing));
    folded
}

/// The parties of the findings from which others follow.
#[derive(Default)]
struct Causes {
    /// Tasks in cycles, and behind them.
    tasks: Set<u64>,
    /// Resources in cycles.
    resources: Set<u64>,
    /// A worker is held by a poll.
    held: bool,
    /// Procs whose polls hold workers; `holding` has the tasks.
    procs: Set<String>,
    holding: Set<u64>,
}

impl Causes {
    fn of<'a>(found: impl Iterator<Item = &'a Finding>) -> Self {
        let mut causes = Self::default();
        for finding in found {
            if is_cycle(finding.alert.pitfall) {
                causes.tasks.extend(finding.tasks.iter().copied());
                causes.resources.extend(finding.resources.iter().copied());
            }
            if is_held_worker(finding.alert.pitfall) {
                causes.held = true;
                causes.holding.extend(finding.tasks.iter().copied());
                let at = finding.alert.at.as_ref();
                causes.procs.extend(at.map(|at| at.proc.clone()));
            }
        }
        causes
    }

    fn explain(&self, finding: &Finding) -> bool {
        let pitfall = finding.alert.pitfall;
        let in_cycle = !finding.resources.is_disjoint(&self.resources)
            || !finding.tasks.is_empty() && finding.tasks.is_subset(&self.tasks);
        let at = finding.alert.at.as_ref();
        let in_poll = at.is_some_and(|at| self.procs.contains(&at.proc))
            || !finding.tasks.is_empty() && finding.tasks.is_subset(&self.holding);
        follows_from_cycle(pitfall) && in_cycle
            || pitfall == Pitfall::Starvation && self.held
            || pitfall == Pitfall::LongPoll && in_poll
    }
}

/// Removes findings whose tasks or resources have a more precise finding.
fn duplicates(found: &mut Vec<Finding>, standing: &[Finding]) -> Vec<Finding> {
    let pairs = [
        (Pitfall::SnoozedFuture, Pitfall::Futurelock),
        (Pitfall::SnoozedFuture, Pitfall::StreamStall),
        (Pitfall::SpuriousPolls, Pitfall::SelfWakeSpin),
    ];
    let mut folded = Vec::new();
    // On any full channel a sender waits now and then: only a raised alert is more precise.
    let blocked = resources(standing, Pitfall::BlockedSender);
    folded.extend(take(found, |finding| {
        finding.alert.pitfall == Pitfall::BufferBloat && !finding.resources.is_disjoint(&blocked)
    }));
    // It is seen now and then: after each round, its futures wait for a while.
    let mut crowded = tasks(found, Pitfall::CrowdedTask);
    crowded.extend(tasks(standing, Pitfall::CrowdedTask));
    folded.extend(take(found, |finding| {
        finding.alert.pitfall == Pitfall::YieldsRarely && !finding.tasks.is_disjoint(&crowded)
    }));
    let is_busy = |finding: &Finding| keeps_others_waiting(finding.alert.pitfall);
    if found.iter().chain(standing).any(is_busy) {
        folded.extend(take(found, |finding| {
            finding.alert.pitfall == Pitfall::LateTimers
        }));
    }
    for (less, more) in pairs {
        let known = tasks(found, more);
        let places: Set<u64> = resources(found, more);
        folded.extend(take(found, |finding| {
            finding.alert.pitfall == less
                && (!finding.tasks.is_disjoint(&known) || !finding.resources.is_disjoint(&places))
        }));
    }
    folded
}

fn tasks(found: &[Finding], pitfall: Pitfall) -> Set<u64> {
    let of = found
        .iter()
        .filter(|finding| finding.alert.pitfall == pitfall);
    of.flat_map(|finding| finding.tasks.iter().copied())
        .collect()
}

fn resources(found: &[Finding], pitfall: Pitfall) -> Set<u64> {
    let of = found
        .iter()
        .filter(|finding| finding.alert.pitfall == pitfall);
    of.flat_map(|finding| finding.resources.iter().copied())
        .collect()
}

fn take(found: &mut Vec<Finding>, which: impl Fn(&Finding) -> bool) -> Vec<Finding> {
    let all = core::mem::take(found);
    let (taken, kept) = all.into_iter().partition(which);
    *found = kept;
    taken
}
