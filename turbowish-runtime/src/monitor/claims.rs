//! What each task has of the resources: found by its id, made when it is asked for.

use std::panic::Location;

use turbowish_model::assemble::{Assembly, Names};
use turbowish_model::resource::{Kind, Reading, Role, Strength};
use turbowish_model::snapshot::{Aim, Claim, IntentRow, ResourceRow, TaskRow};

use super::resources::of_strength;
use super::tasks::spot;

/// What all tasks have of these resources, and the timers that they wait for.
pub(super) struct Claims<'a> {
    resources: &'a [ResourceRow],
    /// By task, those of one task in the order of the resources.
    marks: Vec<Mark>,
    /// By task, the longest wait of each first.
    timers: Vec<Timer>,
}

/// One of a task.
struct Mark {
    task: u64,
    /// Position of the resource.
    resource: usize,
    what: What,
    /// Position in the resource's list.
    at: usize,
}

#[derive(Clone, Copy)]
enum What {
    Holds,
    Waits,
    Means(Strength),
}

/// A wait for a timer, which is no resource with a row of its own.
struct Timer {
    task: u64,
    since_ns: u64,
    at: &'static Location<'static>,
}

impl<'a> Claims<'a> {
    /// `resources` are the rows of `readings`, which were read until `read_at`.
    pub(super) fn of<N: Names>(
        assembly: &Assembly<'_, N>,
        readings: &[Reading],
        resources: &'a [ResourceRow],
        read_at: u64,
    ) -> Self {
        let mut marks = Vec::new();
        for (resource, reading) in readings.iter().enumerate() {
            let mut add = |what, tasks: &mut dyn Iterator<Item = u64>| {
                marks.extend(tasks.enumerate().map(|(at, task)| Mark {
                    task,
                    resource,
                    what,
                    at,
                }));
            };
            let holders = &mut reading.holders.iter().map(|holder| holder.who.task);
            let waiters = &mut reading.waiters.iter().map(|waiter| waiter.who.task);
            add(What::Holds, holders);
            add(What::Waits, waiters);
            for strength in [Strength::Will, Strength::May] {
                let intents = of_strength(reading, strength);
                let means = &mut intents.map(|intent| intent.who.task);
                add(What::Means(strength), means);
            }
        }
        marks.sort_by_key(|mark| mark.task);
        let mut timers = timers(assembly, read_at);
        timers.sort_by_key(|timer| timer.task);
        Self {
            resources,
            marks,
            timers,
        }
    }

    /// Tells a task what it holds, what it waits for, and what it means to do: timers after resources.
    pub(super) fn tell(&self, row: &mut TaskRow) {
        for mark in of_task(&self.marks, row.id, |mark| mark.task) {
            let Some(resource) = self.resources.get(mark.resource) else {
                continue;
            };
            match mark.what {
                What::Holds => row.holds.extend(held(resource, mark.at)),
                What::Waits => row.waits_on.extend(wanted(resource, mark.at)),
                What::Means(Strength::Will) => {
                    row.will.extend(meant(resource, &resource.will, mark.at));
                }
                What::Means(Strength::May) => {
                    row.may.extend(meant(resource, &resource.may, mark.at));
                }
            }
        }
        let timers = of_task(&self.timers, row.id, |timer| timer.task);
        row.waits_on.extend(timers.iter().map(|timer| Claim {
            resource_id: 0,
            resource: Kind::Timer.word().to_owned(),
            role: Role::Wait,
            amount: 1,
            since_ns: timer.since_ns,
            at: spot(timer.at),
        }));
    }
}

/// Those of one task among what is sorted by task.
fn of_task<T>(sorted: &[T], task: u64, of: impl Fn(&T) -> u64) -> &[T] {
    let from = sorted.partition_point(|one| of(one) < task);
    let rest = &sorted[from..];
    &rest[..rest.partition_point(|one| of(one) == task)]
}

fn held(resource: &ResourceRow, at: usize) -> Option<Claim> {
    let holder = resource.holders.get(at)?;
    Some(Claim {
        resource_id: resource.id,
        resource: resource.name.clone(),
        role: holder.role,
        amount: holder.amount,
        since_ns: holder.since_ns,
        at: holder.at.clone(),
    })
}

fn wanted(resource: &ResourceRow, at: usize) -> Option<Claim> {
    let waiter = resource.waiters.get(at)?;
    Some(Claim {
        resource_id: resource.id,
        resource: resource.name.clone(),
        role: waiter.role,
        amount: waiter.amount,
        since_ns: waiter.since_ns,
        at: waiter.at.clone(),
    })
}

fn meant(resource: &ResourceRow, intents: &[IntentRow], at: usize) -> Option<Aim> {
    let intent = intents.get(at)?;
    Some(Aim {
        resource_id: resource.id,
        resource: resource.name.clone(),
        role: intent.role,
        proc: intent.proc.clone(),
    })
}

#[cfg(feature = "tokio")]
fn timers<N: Names>(assembly: &Assembly<'_, N>, read_at: u64) -> Vec<Timer> {
    let timers = crate::resource::timers().into_iter();
    let timers = timers.map(|timer| Timer {
        task: timer.who.task,
        since_ns: assembly.scale.ns(read_at.saturating_sub(timer.since)),
        at: timer.at,
    });
    timers.collect()
}

/// Without timers of ours there are none.
#[cfg(not(feature = "tokio"))]
const fn timers<N: Names>(_: &Assembly<'_, N>, _: u64) -> Vec<Timer> {
    Vec::new()
}
