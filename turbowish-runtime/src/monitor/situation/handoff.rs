//! Handoff candidates: tasks that may have been given what a task acquired before it began to wait.
//! Moves are not observed, so every possible receiver is a candidate.

use std::collections::{HashMap, HashSet};

use turbowish_model::account::resource::Reading;
use turbowish_model::diagnose::situation::HandoffCandidate;

use super::SituationBuilder;
use super::id_hash::IdHash;
use crate::hot::task::{self, TaskRow};
use crate::monitor::tasks::LiveTask;
use turbowish_model::ordered::Set;
use turbowish_model::sorting;

/// A task is normally polled this soon after it was spawned: one first seen later was spawned by
/// another task. In nanoseconds.
const GRACE: u64 = 100_000_000;

/// Maximum number of candidates per task, of those that it spawned, and of those whose spawner is
/// unknown.
const TOLD: usize = 8;

/// A live task with its spawn time.
struct NewTasks {
    task: u64,
    at: u64,
}

impl SituationBuilder<'_> {
    /// Handoff candidates of the tasks that wait for a resource and hold one or use an end of one.
    pub(super) fn candidates(&self) -> Vec<HandoffCandidate> {
        let waiting = Set::from_iter(
            self.resources
                .iter()
                .flat_map(|reading| &reading.waiters)
                .map(|waiter| waiter.who.task),
        );
        let owns = |task: &u64| *task != 0 && waiting.contains(task);
        let owners = Set::from_iter(self.resources.iter().flat_map(owners).filter(owns));
        if owners.is_empty() {
            return Vec::new();
        }
        let made = self.made();
        let of = |one: &LiveTask| {
            let id = one.meta.id;
            let until = one.reading.since.saturating_add(self.ticks(GRACE));
            let told = [id, UNKNOWN].into_iter().filter_map(|by| made.get(&by));
            let told = told.flat_map(move |made| {
                let known = made.partition_point(|made| made.at <= until);
                made[..known].iter().rev().take(TOLD)
            });
            let candidates =
                told.filter(move |made| made.task != id)
                    .map(move |made| HandoffCandidate {
                        of: id,
                        task: made.task,
                        name: self.known.name(made.task).unwrap_or_default(),
                        made: self.ns(made.at),
                    });
            candidates.collect::<Vec<HandoffCandidate>>()
        };
        let waits = self
            .crowd
            .picked()
            .iter()
            .filter(|one| owners.contains(&one.meta.id));
        waits.flat_map(of).collect()
    }

    /// All live tasks by their spawner, in spawn order.
    fn made(&self) -> HashMap<u64, Vec<NewTasks>> {
        let rows = task::all();
        let alive: HashSet<u64, IdHash> = rows.iter().map(TaskRow::id).collect();
        let mut made: HashMap<u64, Vec<NewTasks>> = HashMap::new();
        for row in rows {
            let task = row.id();
            let origin = row.origin();
            let Some(meta) = row.meta() else { continue };
            let (by, at) = match &origin {
                None => (UNKNOWN, meta.created),
                // Spawned by no task.
                Some(origin) if origin.parent.task() == 0 => continue,
                // The spawner has ended, and may have received what it had from another task.
                Some(origin) if !alive.contains(&origin.parent.task()) => (UNKNOWN, origin.at),
                Some(origin) => (origin.parent.task(), origin.at),
            };
            made.entry(by).or_default().push(NewTasks { task, at });
        }
        for made in made.values_mut() {
            sorting::by_key(made, |made| made.at);
        }
        made
    }
}

/// Stands for an unknown spawner.
const UNKNOWN: u64 = 0;

/// The tasks that hold a part of a resource, or were seen to use it.
fn owners(reading: &Reading) -> impl Iterator<Item = u64> {
    let holders = reading.holders.iter().filter(|holder| !holder.owned);
    let users = reading.ends.iter().filter_map(|end| end.user);
    holders.map(|holder| holder.who.task).chain(users)
}
