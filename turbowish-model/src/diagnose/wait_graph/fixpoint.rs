//! Solver: finds which waits can be satisfied, as a least fixpoint over all resources, recomputed
//! where something changed.

use alloc::vec;
use alloc::vec::Vec;

use super::await_tree::{AwaitTree, Wait};
use crate::account::resource::{Kind, Role};
use crate::diagnose::situation::{
    End, FutureRef, HoldingTask, IntendingTask, Resource, Situation, Task, WaitingTask,
};
use crate::ordered::{Map, Set};
use crate::snapshot::TaskState;

/// A situation, and the set of futures that can resume.
#[derive(Debug)]
pub(super) struct Solver<'a> {
    pub(super) situation: &'a Situation,
    /// Indices of tasks by id.
    tasks: Map<u64, usize>,
    /// Trees of the tasks that wait for a resource, by index; all other tasks can resume.
    pub(super) await_trees: Map<usize, AwaitTree>,
    /// Resources related to a task in `await_trees`, by the task's index.
    touches: Map<usize, Set<usize>>,
}

/// Outcome of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Solution {
    /// The wait can be satisfied.
    Served,
    /// What could be released does not suffice.
    Short,
    /// Enough could be released, but this earlier waiter is stuck: its index among the waiters.
    Behind(usize),
    /// No sender can resume.
    Silent,
}

impl<'a> Solver<'a> {
    pub(super) fn new(situation: &'a Situation) -> Self {
        let mut tasks = Map::new();
        for (at, task) in situation.tasks.iter().enumerate() {
            tasks.insert(task.id, at);
        }
        let mut solver = Self {
            situation,
            tasks,
            await_trees: Map::new(),
            touches: Map::new(),
        };
        solver.plant();
        solver
    }

    /// Builds a tree for each task with a node that waits for a resource.
    fn plant(&mut self) {
        let mut seated: Map<usize, Vec<(u32, Wait)>> = Map::new();
        for (r, resource) in self.situation.resources.iter().enumerate() {
            for (w, waiter) in resource.waiters.iter().enumerate() {
                if let Some(task) = self.position(waiter.task)
                    && let FutureRef::Node(node) = waiter.future
                {
                    seated.entry(task).or_default().push((node, (r, w)));
                }
            }
        }
        for (at, waits) in seated {
            let await_tree = AwaitTree::new(&self.situation.tasks[at], &waits);
            self.await_trees.insert(at, await_tree);
        }
        for (r, resource) in self.situation.resources.iter().enumerate() {
            let waiters = resource.waiters.iter().filter_map(|waiter| waiter.task);
            let holders = resource.holders.iter().filter_map(|holder| holder.task);
            let ends = resource.ends.iter().filter_map(|end| user(resource, end));
            let intents = resource.intents.iter().map(|intent| intent.task);
            for task in waiters.chain(holders).chain(ends).chain(intents) {
                if let Some(at) = self.position(Some(task))
                    && self.await_trees.contains_key(&at)
                {
                    self.touches.entry(at).or_default().insert(r);
                }
            }
        }
    }

    /// Index of a live task.
    pub(super) fn position(&self, task: Option<u64>) -> Option<usize> {
        self.tasks.get(&task?).copied()
    }

    /// Satisfies all waits that can be satisfied.
    pub(super) fn settle(&mut self) {
        let mut next: Vec<usize> = (0..self.situation.resources.len()).rev().collect();
        let mut queued = vec![true; next.len()];
        while let Some(r) = next.pop() {
            queued[r] = false;
            for (w, verdict) in self.verdicts(r).into_iter().enumerate() {
                if verdict != Solution::Served {
                    continue;
                }
                let Some(task) = self.mark_served(r, w) else {
                    continue;
                };
                for &touched in self.touches.get(&task).into_iter().flatten() {
                    if !core::mem::replace(&mut queued[touched], true) {
                        next.push(touched);
                    }
                }
            }
        }
    }

    /// Satisfies a wait. Returns the index of its task if more of the task can resume than before.
    fn mark_served(&mut self, r: usize, w: usize) -> Option<usize> {
        let waiter = &self.situation.resources[r].waiters[w];
        let at = self.position(waiter.task)?;
        let nodes = &self.situation.tasks[at].tree;
        let await_tree = self.await_trees.get_mut(&at)?;
        let node = await_tree.position(nodes, waiter.future)?;
        (await_tree.mark_served(node) && await_tree.settle(nodes)).then_some(at)
    }

    /// Outcome of each wait for a resource, as far as known.
    pub(super) fn verdicts(&self, r: usize) -> Vec<Solution> {
        let resource = &self.situation.resources[r];
        let left = self.left(resource);
        let mut before = None;
        let mut verdicts = Vec::with_capacity(resource.waiters.len());
        for (w, waiter) in resource.waiters.iter().enumerate() {
            let verdict = self.verdict(resource, waiter, left, before);
            let queued = waiter.woken.is_none() && asks_permits(resource.kind, waiter.role);
            let goes = verdict == Solution::Served || self.lets_go(waiter.task, waiter.future);
            if queued && !goes {
                before.get_or_insert(w);
            }
            verdicts.push(verdict);
        }
        verdicts
    }

    fn verdict(
        &self,
        resource: &Resource,
        waiter: &WaitingTask,
        left: Left,
        before: Option<usize>,
    ) -> Solution {
        // A woken waiter resumes when it is polled. One that is not polled any more does not, but
        // it is no leaf.
        if resource.closed || waiter.woken.is_some() {
            return Solution::Served;
        }
        if asks_permits(resource.kind, waiter.role) {
            return match before {
                _ if !left.is_enough(waiter) => Solution::Short,
                Some(before) => Solution::Behind(before),
                None => Solution::Served,
            };
        }
        let inside = matches!(resource.kind, Kind::Mpsc) && resource.length > 0;
        if waiter.role == Role::Receive && !inside && self.is_stuck_side(resource, Role::Send) {
            return Solution::Silent;
        }
        Solution::Served
    }

    /// What remains for waits for permits if everything releasable is released.
    fn left(&self, resource: &Resource) -> Left {
        let stuck = |holder: &&HoldingTask| !self.lets_go(holder.task, holder.future);
        let held = resource.holders.iter().filter(stuck);
        let given = resource.waiters.iter().filter(|waiter| self.keeps(waiter));
        if resource.kind == Kind::RwLock {
            let roles = held.map(|holder| holder.role);
            let roles: Vec<Role> = roles.chain(given.map(|waiter| waiter.role)).collect();
            return Left::Shared {
                readers: roles.contains(&Role::Read),
                writer: roles.iter().any(|role| *role != Role::Read),
            };
        }
        let capacity = match resource.kind {
            Kind::Mutex | Kind::OnceCell => Some(1),
            _ => resource.capacity,
        };
        let Some(capacity) = capacity else {
            return Left::Unknown;
        };
        let mut gone: u64 = held.map(|holder| holder.amount).sum();
        gone = gone.saturating_add(given.map(|waiter| waiter.amount).sum());
        if resource.kind == Kind::Mpsc && self.is_stuck_side(resource, Role::Receive) {
            gone = gone.saturating_add(resource.length);
        }
        Left::Permits {
            capacity,
            left: capacity.saturating_sub(gone),
        }
    }

    /// Whether the waiter was granted its turn and will not take it.
    pub(super) fn keeps(&self, waiter: &WaitingTask) -> bool {
        self.is_left(waiter) && !self.lets_go(waiter.task, waiter.future)
    }

    fn is_left(&self, waiter: &WaitingTask) -> bool {
        let task = self
            .position(waiter.task)
            .map(|at| &self.situation.tasks[at]);
        task.is_some_and(|task| was_left(task, waiter))
    }

    /// Whether all users and intents of that side of a channel are known and none of their tasks
    /// can resume.
    pub(super) fn is_stuck_side(&self, resource: &Resource, role: Role) -> bool {
        let mut ends = resource.ends.iter().filter(|end| end.role == role);
        let mut intents = resource.intents.iter().filter(|intent| intent.role == role);
        let listed = resource.intents.len() as u64;
        let known = resource.ends.iter().any(|end| end.role == role);
        known
            && resource.intending <= listed
            && ends.all(|end| !self.moves(user(resource, end)))
            && intents.all(|intent| !self.moves(Some(intent.task)))
    }

    /// Whether any node of the task can resume; true for an unknown task.
    pub(super) fn moves(&self, task: Option<u64>) -> bool {
        match self.position(task).and_then(|at| self.await_trees.get(&at)) {
            Some(await_tree) => await_tree.moves(),
            None => true,
        }
    }

    /// Whether what the task's future `future` holds may be released.
    pub(super) fn lets_go(&self, task: Option<u64>, future: FutureRef) -> bool {
        let Some(at) = self.position(task) else {
            return true;
        };
        match self.await_trees.get(&at) {
            Some(await_tree) => await_tree.lets_go(&self.situation.tasks[at].tree, future),
            None => true,
        }
    }
}

/// The task that owns an end: the one that certainly has it, otherwise the one that used it last.
pub(super) fn user(resource: &Resource, end: &End) -> Option<u64> {
    let sure = sure_of(resource, end).map(|intent| intent.task);
    sure.or(end.user)
}

/// The proof that a task has the end: its call uses the end later, or gives it to nobody while it
/// runs.
pub(super) fn sure_of<'a>(resource: &'a Resource, end: &End) -> Option<&'a IntendingTask> {
    let number = end.number?;
    let is_sure = |intent: &&IntendingTask| {
        intent.proven && intent.role == end.role && intent.end == Some(number)
    };
    resource.intents.iter().find(is_sure)
}

/// Whether the task was polled since the waiter was woken, and did not poll it.
pub(crate) fn was_left(task: &Task, waiter: &WaitingTask) -> bool {
    let Some(woken) = waiter.woken else {
        return false;
    };
    let polls = |more: u64| {
        waiter
            .woken_poll
            .is_none_or(|poll| task.polls >= poll.saturating_add(more))
    };
    match task.state {
        TaskState::Waiting | TaskState::Paused => task.since > woken && polls(1),
        TaskState::Ready => waiter.woken_poll.is_some() && polls(1),
        // The poll in progress may still reach it.
        TaskState::Polling => waiter.woken_poll.is_some() && polls(2),
    }
}

/// Whether the use is granted in turn and released afterwards.
pub(super) const fn asks_permits(kind: Kind, role: Role) -> bool {
    match kind {
        Kind::Mutex | Kind::RwLock | Kind::Semaphore | Kind::OnceCell => true,
        Kind::Mpsc => matches!(role, Role::Send),
        _ => false,
    }
}

/// What a resource can offer at best.
#[derive(Clone, Copy, Debug)]
enum Left {
    /// Unknown.
    Unknown,
    /// A lock shared by readers: which kinds of holders are stuck.
    Shared { readers: bool, writer: bool },
    /// A number of permits.
    Permits { capacity: u64, left: u64 },
}

impl Left {
    const fn is_enough(self, waiter: &WaitingTask) -> bool {
        match self {
            Self::Unknown => true,
            Self::Shared { readers, writer } => {
                !writer && (!readers || matches!(waiter.role, Role::Read))
            }
            // A request above the capacity waits for permits that are still to be added.
            Self::Permits { capacity, left } => waiter.amount > capacity || waiter.amount <= left,
        }
    }
}
