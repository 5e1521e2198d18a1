//! Tasks behind a poll that blocks its worker: where they stand, and which of them slept through
//! it.
//!
//! While nothing is woken, nobody is known to wait for the poll. So the tasks that stood still are
//! kept until it has ended: those that are woken then may have been due before. A situation omits
//! tasks to which nothing happens, so they are kept from the beginning of the poll on.

use alloc::vec::Vec;

use super::finding::{Scan, is_judged, leaf};
use crate::diagnose::situation::{Situation, Task};
use crate::ordered::{Map, Set};
use crate::snapshot::TaskState;
use crate::snapshot::alert::{BEHIND_WAITS, BehindWait, Point};
use crate::sorting;

/// Maximum number of tasks that are remembered to tell which of them slept through a long poll.
pub const SLEEPERS_KEPT: usize = 1_024;

/// A task that waits while nothing is polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sleeper {
    task: u64,
    polls: u64,
    /// Start of its wait.
    since: u64,
    at: Point,
    /// It uses a resource: a situation without it shows that it has ended.
    is_related: bool,
}

/// The tasks that wait, without those that an alert names already: those of this situation, and
/// those of an earlier one that this one omits, as nothing has happened to them.
pub(super) fn sleepers(
    situation: &Situation,
    before: &[Sleeper],
    named: &Set<u64>,
) -> Vec<Sleeper> {
    let resources = situation.resources.iter();
    let related = Set::from_iter(resources.flat_map(|resource| {
        let holders = resource.holders.iter().filter_map(|holder| holder.task);
        holders.chain(resource.waiters.iter().filter_map(|waiter| waiter.task))
    }));
    let waits = |task: &&Task| task.state == TaskState::Waiting && is_judged(task);
    let asleep = situation.tasks.iter().filter(waits);
    let asleep = asleep.filter(|task| !named.contains(&task.id));
    let asleep = asleep.map(|task| Sleeper {
        task: task.id,
        polls: task.polls,
        since: task.since,
        at: stands(task),
        is_related: related.contains(&task.id),
    });
    let there = Set::from_iter(situation.tasks.iter().map(|task| task.id));
    let omitted = before
        .iter()
        .filter(|sleeper| !sleeper.is_related && !there.contains(&sleeper.task));
    asleep.chain(omitted.cloned()).take(SLEEPERS_KEPT).collect()
}

/// The tasks to remember for the next situation: none, unless a poll takes so long that it may
/// block its worker.
pub(super) fn remembered(situation: &Situation, before: &[Sleeper]) -> Vec<Sleeper> {
    const LONG_NS: u64 = 50_000_000;
    let polls = situation
        .workers
        .iter()
        .filter_map(|worker| worker.poll.as_ref());
    match polls
        .map(|poll| situation.now.saturating_sub(poll.since))
        .max()
    {
        Some(LONG_NS..) => sleepers(situation, before, &Set::new()),
        _ => Vec::new(),
    }
}

/// Where those stood that were woken when the poll, which began at `began`, had ended at `ended`.
pub(super) fn woken(
    sleepers: &[Sleeper],
    situation: &Situation,
    began: u64,
    ended: u64,
) -> Vec<BehindWait> {
    let tasks = Map::from_iter(situation.tasks.iter().map(|task| (task.id, task)));
    let woken = sleepers
        .iter()
        .filter(|sleeper| match tasks.get(&sleeper.task) {
            Some(task) => task.polls > sleeper.polls || task.state != TaskState::Waiting,
            None => sleeper.is_related,
        });
    let stood = woken.map(|sleeper| {
        let since = sleeper.since.max(began);
        (sleeper.at.clone(), ended.saturating_sub(since))
    });
    let mut waits = grouped(stood);
    waits.iter_mut().for_each(|wait| wait.asleep = true);
    waits
}

/// Where these tasks stand, and for how long of the time since `began`.
pub(super) fn waits(scan: &Scan<'_>, tasks: &[&Task], began: u64) -> Vec<BehindWait> {
    let stands = |task: &&Task| (stands(task), scan.age(task.since.max(began)));
    grouped(tasks.iter().map(stands))
}

fn stands(task: &Task) -> Point {
    match leaf(task) {
        Some(leaf) => Point {
            proc: leaf.proc.clone(),
            place: leaf.place.clone(),
        },
        None => Point {
            proc: task.root.clone(),
            place: None,
        },
    }
}

fn grouped(stood: impl Iterator<Item = (Point, u64)>) -> Vec<BehindWait> {
    let mut waits: Vec<BehindWait> = Vec::new();
    for (at, ns) in stood {
        match waits.iter_mut().find(|wait| wait.at == at) {
            Some(wait) => {
                wait.tasks += 1;
                wait.longest_ns = wait.longest_ns.max(ns);
            }
            None => waits.push(BehindWait {
                at,
                tasks: 1,
                longest_ns: ns,
                asleep: false,
            }),
        }
    }
    // Of equal ones, the one that was found first.
    sorting::by_key(&mut waits, |wait| u64::MAX - wait.tasks);
    waits.truncate(BEHIND_WAITS);
    waits
}
