//! Resources in a situation: holders and waiters, and which of a task's futures they are.

use turbowish_model::account::resource as model;
use turbowish_model::account::resource::{CurrentCall, Reading};
use turbowish_model::account::task::TaskReading;
use turbowish_model::diagnose::situation::{
    FutureRef, HoldingTask, IntendingTask, Node, NodeKind, NodeWake, Resource, ResourceFlow, Task,
    WaitingTask, asks_directly,
};
use turbowish_model::snapshot::TaskState;

use super::{SituationBuilder, spot};
use crate::monitor::resources;
use turbowish_model::ordered::Map;

/// Await stacks of the tasks that use a resource, with the root poll in which they were seen.
pub(super) type Trees<'a> = Map<u64, &'a TaskReading>;

impl SituationBuilder<'_> {
    pub(super) fn resource(
        &self,
        reading: &Reading,
        trees: &Trees<'_>,
        tasks: &[Task],
    ) -> Resource {
        let holders = reading.holders.iter().map(|holder| HoldingTask {
            task: known(holder.who).filter(|_| !holder.owned),
            future: holder_future(holder.who, trees),
            role: holder.role,
            amount: holder.amount.into(),
            since: self.ns(holder.since),
            spot: Some(spot(holder.at)),
            proc: self.proc_of(holder.who),
        });
        let waiters = reading.waiters.iter();
        let waiters = waiters.map(|waiter| self.waiter(waiter, trees, tasks));
        let intents = reading.intents.iter().map(|intent| IntendingTask {
            task: intent.who.task,
            role: intent.role,
            strength: intent.strength,
            proven: intent.proven && stands(intent.who, trees),
            end: intent.end,
        });
        Resource {
            id: reading.id,
            kind: reading.kind,
            name: resources::name(reading),
            made: Some(spot(reading.place)),
            capacity: reading.capacity,
            length: resources::inside(reading),
            closed: reading.closed,
            holders: holders.collect(),
            held: reading.held,
            waiters: waiters.collect(),
            waiting: reading.waiter_count,
            ends: reading.ends.clone(),
            intents: intents.collect(),
            intending: reading.intent_counts.0 + reading.intent_counts.1,
            flow: ResourceFlow {
                put: reading.flow.put,
                took: reading.flow.took,
                inside_p99_ns: None,
                deserted: reading.deserted.map(|since| self.ns(since)),
            },
        }
    }

    fn waiter(&self, waiter: &model::Waiter, trees: &Trees<'_>, tasks: &[Task]) -> WaitingTask {
        let who = waiter.who;
        let place = who.proc.checked_sub(1);
        let place = place.and_then(|proc| self.place(proc, who.site));
        let asked = spot(waiter.at);
        let directly = place
            .as_ref()
            .is_some_and(|place| asks_directly(place, &asked));
        let began = trees.get(&who.task).map(|tree| tree.began);
        // At least one poll of the task has begun since.
        let polled_since = waiter
            .woken
            .zip(began)
            .is_some_and(|(woken, began)| began > woken);
        let task = waiter
            .woken
            .and_then(|_| tasks.iter().find(|task| task.id == who.task));
        WaitingTask {
            task: known(who),
            future: waiter_future(waiter, trees, directly),
            role: waiter.role,
            amount: waiter.amount.into(),
            since: self.ns(waiter.since),
            proc: self.proc_of(who),
            place,
            woken: waiter.woken.map(|woken| self.ns(woken)),
            woken_poll: task.map(|task| task.polls - u64::from(polled_since)),
        }
    }

    fn proc_of(&self, who: CurrentCall) -> Option<String> {
        self.path(who.proc.checked_sub(1)?)
    }
}

/// Whether the task still has a call of that proc: a future may have moved to another task, with
/// everything that its source proves.
fn stands(who: CurrentCall, trees: &Trees<'_>) -> bool {
    trees.get(&who.task).is_some_and(|tree| {
        let branches = tree.branches.iter().flat_map(|branch| &branch.chain);
        let mut steps = tree.stack.iter().chain(branches);
        steps.any(|step| Some(step.proc) == who.proc.checked_sub(1))
    })
}

fn known(who: CurrentCall) -> Option<u64> {
    (who.task != 0).then_some(who.task)
}

/// Marks the calls that await a resource directly: such a call cannot continue without it. A wait
/// not polled by the task's last poll is a future of its own.
pub(super) fn mark_awaiting_calls(tasks: &mut [Task], resources: &[Resource]) {
    let at: Map<u64, usize> = tasks.iter().map(|task| task.id).zip(0..).collect();
    for waiter in resources.iter().flat_map(|resource| &resource.waiters) {
        let Some(&at) = waiter.task.and_then(|task| at.get(&task)) else {
            continue;
        };
        let task = &mut tasks[at];
        match waiter.future {
            FutureRef::Node(node) => {
                if let Some(node) = task.tree.get_mut(node as usize) {
                    node.kind = NodeKind::Call;
                }
            }
            FutureRef::Aside if task.state == TaskState::Polling || rests(task, waiter) => {}
            FutureRef::Aside => task.tree.push(Node {
                id: u32::try_from(task.tree.len()).unwrap_or(u32::MAX),
                aside: true,
                proc: waiter.proc.clone().unwrap_or_default(),
                place: waiter.place.clone(),
                since: waiter.since,
                wake: Some(NodeWake {
                    polled: task.polls.saturating_sub(1),
                    woken: waiter.woken,
                }),
                ..Node::default()
            }),
            FutureRef::Unknown => {}
        }
    }
}

/// Whether the waiting call is in a branch that the last poll did not reach.
fn rests(task: &Task, waiter: &WaitingTask) -> bool {
    let passed = |node: &Node| {
        let polled = node.wake.map(|wake| wake.polled);
        node.aside || polled.is_some_and(|polled| polled < task.polls)
    };
    let above = |node: &&Node| task.tree.get(node.parent? as usize);
    let mut nodes = task.tree.iter();
    nodes.any(|node| {
        let same = waiter.proc.as_ref() == Some(&node.proc) && waiter.place == node.place;
        same && std::iter::successors(Some(node), above).any(passed)
    })
}

/// Index in the tree of the call at this await point, if there is exactly one.
fn node_at(tree: &TaskReading, who: CurrentCall) -> Option<u32> {
    let mut at = tree
        .stack
        .iter()
        .zip(0..)
        .filter(|(step, _)| step.proc + 1 == who.proc && step.site == who.site);
    let found = at.next()?;
    at.next().is_none().then_some(found.1)
}

fn waiter_future(waiter: &model::Waiter, trees: &Trees<'_>, directly: bool) -> FutureRef {
    let Some(tree) = trees.get(&waiter.who.task).filter(|_| waiter.who.task != 0) else {
        return FutureRef::Unknown;
    };
    if waiter.polled < tree.began && tree.thread.is_none() {
        return FutureRef::Aside;
    }
    match node_at(tree, waiter.who) {
        Some(node) if directly => FutureRef::Node(node),
        _ => FutureRef::Unknown,
    }
}

/// The future with the guard: the call that acquired it, or a caller of it.
fn holder_future(who: CurrentCall, trees: &Trees<'_>) -> FutureRef {
    let Some(tree) = trees.get(&who.task).filter(|_| who.task != 0) else {
        return FutureRef::Unknown;
    };
    let mut of_proc = tree
        .stack
        .iter()
        .zip(0..)
        .filter(|(step, _)| step.proc + 1 == who.proc);
    match (of_proc.next(), of_proc.next()) {
        (Some((_, node)), None) => FutureRef::Node(node),
        _ => FutureRef::Unknown,
    }
}
