//! Resources of each task: found by task ID, computed on request.

use std::panic::Location;

use turbowish_model::account::resource::{
    Holder, Intent, Kind, Reading, Rest, Role, SHOWN, Strength, Waiter,
};
use turbowish_model::collect::assemble::{Assembly, Names};
use turbowish_model::snapshot::{Aim, Claim, ResourceRow, TaskRow};

use super::resources::path;
use super::tasks::spot;
use crate::resource;
use turbowish_model::sorting;

/// What all tasks hold, wait for and intend, and the timers that they wait for.
pub(super) struct Claims<'a, N> {
    assembly: &'a Assembly<'a, N>,
    resources: &'a [ResourceRow],
    /// By task; those of one task in the order of the resources.
    marks: Vec<Mark<'a>>,
    /// By task; the longest wait of each first.
    timers: Vec<TimerClaim>,
    /// Whether some waits are not among these.
    hides_waits: bool,
    /// When the resources had been read, in ticks.
    read_at: u64,
}

/// An entry of a task.
struct Mark<'a> {
    task: u64,
    /// Index of the resource.
    resource: usize,
    what: What<'a>,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Holds(&'a Holder),
    Waits(&'a Waiter),
    IntentTarget(&'a Intent),
}

impl What<'_> {
    /// Index of the list in a task's row.
    const fn list(self) -> usize {
        match self {
            Self::Holds(_) => 0,
            Self::Waits(_) => 1,
            Self::IntentTarget(intent) => match intent.strength {
                Strength::Will => 2,
                Strength::May => 3,
            },
        }
    }
}

/// A wait for a timer, which is not a resource with a row of its own.
struct TimerClaim {
    task: u64,
    since_ns: u64,
    at: &'static Location<'static>,
}

impl<'a, N: Names> Claims<'a, N> {
    /// Collects the entries. `resources` are the rows of `readings`, and `rests` belong to those as
    /// well: all were read by `read_at`.
    pub(super) fn of(
        assembly: &'a Assembly<'a, N>,
        resources: &'a [ResourceRow],
        readings: &'a [Reading],
        rests: &'a [Rest],
        read_at: u64,
    ) -> Self {
        let mut marks = Vec::new();
        for (resource, (reading, rest)) in readings.iter().zip(rests).enumerate() {
            let mark = |task, what| Mark {
                task,
                resource,
                what,
            };
            let holders = reading.holders.iter().chain(&rest.holders);
            marks.extend(holders.map(|one| mark(one.who.task, What::Holds(one))));
            let waiters = reading.waiters.iter().chain(&rest.waiters);
            marks.extend(waiters.map(|one| mark(one.who.task, What::Waits(one))));
            let intents = reading.intents.iter().chain(&rest.intents);
            marks.extend(intents.map(|one| mark(one.who.task, What::IntentTarget(one))));
        }
        sorting::by_key(&mut marks, |mark| mark.task);
        let mut timers = timers(assembly, read_at);
        sorting::by_key(&mut timers, |timer| timer.task);
        Self {
            assembly,
            resources,
            marks,
            timers,
            hides_waits: resource::hides_waits(),
            read_at,
        }
    }

    /// Whether a task may have waits that are not shown.
    pub(super) const fn hides_waits(&self) -> bool {
        self.hides_waits
    }

    /// Fills in what a task holds, waits for and intends to do: timers after resources. A task with
    /// very many parts of one resource lists as many of them as the resource lists of all tasks.
    pub(super) fn tell(&self, row: &mut TaskRow) {
        let (mut resource, mut listed) = (usize::MAX, [0; 4]);
        for mark in of_task(&self.marks, row.id, |mark| mark.task) {
            if mark.resource != resource {
                (resource, listed) = (mark.resource, [0; 4]);
            }
            let listed = &mut listed[mark.what.list()];
            *listed += 1;
            if let Some(resource) = self.resources.get(resource).filter(|_| *listed <= SHOWN) {
                self.tell_one(row, resource, mark.what);
            }
        }
        let timers = of_task(&self.timers, row.id, |timer| timer.task);
        row.waits_on
            .extend(timers.iter().take(SHOWN).map(|timer| Claim {
                resource_id: 0,
                resource: Kind::Timer.word().to_owned(),
                role: Role::Wait,
                amount: 1,
                since_ns: timer.since_ns,
                at: spot(timer.at),
            }));
    }

    fn tell_one(&self, row: &mut TaskRow, resource: &ResourceRow, what: What<'_>) {
        let claim = |role, amount: u32, since, at| Claim {
            resource_id: resource.id,
            resource: resource.name.clone(),
            role,
            amount: amount.into(),
            since_ns: self.assembly.ago_by(since, self.read_at),
            at: spot(at),
        };
        match what {
            What::Holds(one) => row
                .holds
                .push(claim(one.role, one.amount, one.since, one.at)),
            What::Waits(one) => row
                .waits_on
                .push(claim(one.role, one.amount, one.since, one.at)),
            What::IntentTarget(one) => {
                let aim = Aim {
                    resource_id: resource.id,
                    resource: resource.name.clone(),
                    role: one.role,
                    proc: path(self.assembly, one.who),
                };
                match one.strength {
                    Strength::Will => row.will.push(aim),
                    Strength::May => row.may.push(aim),
                }
            }
        }
    }
}

/// The entries of one task in a slice sorted by task.
fn of_task<T>(sorted: &[T], task: u64, of: impl Fn(&T) -> u64) -> &[T] {
    let from = sorted.partition_point(|one| of(one) < task);
    let rest = &sorted[from..];
    &rest[..rest.partition_point(|one| of(one) == task)]
}

fn timers<N: Names>(assembly: &Assembly<'_, N>, read_at: u64) -> Vec<TimerClaim> {
    let timers = resource::timers().into_iter();
    let timers = timers.map(|timer| TimerClaim {
        task: timer.who.task,
        since_ns: assembly.ago_by(timer.since, read_at),
        at: timer.at,
    });
    timers.collect()
}
