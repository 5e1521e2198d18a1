//! The wait-for graph of one instant: what cannot go on whatever happens, and the cycles that are the reason.
//!
//! Its nodes are futures that wait, not tasks: a `join!` needs all of its branches, a `select!` any one, and a task gives back what it
//! holds only where the future that holds it can go on. Computed is the least set of what *can* go on; what is not known is in
//! it (a timer, I/O, somebody else's future, an unknown holder or user). So what is left is stuck for certain, as far as the scene is right:
//!
//! - A wait for permits (mutex, rwlock, semaphore, a place in a channel) can be served if what is free, and what can be given back,
//!   is enough, and nobody stands before it in the queue for ever: tokio's queues are fair.
//! - A waiter that has been given its turn holds it. It takes it when its task polls it; a future that its task has left aside does not.
//! - A receiver can go on if any end that sends is of an unknown user, or of a task that can go on, and likewise a sender. An end, used
//!   before or not, is of the task whose call uses it further down, or gives it to nobody while it runs, as the attribute has read there.
//! - Whoever means to use a side and can go on does so, whatever the ends say. That a task *says* it means to proves nothing: it
//!   never makes anything stuck, and no cycle certain.
//!
//! A wait depends on all without whom it is never enough. Where there is no such, any of several would do, and the one that waits is not
//! to blame for what it has itself: two tasks with a permit each that want one more wait for each other.
//!
//! What is stuck waits for something stuck, and so, in the end, for a cycle: the cause. The rest is behind it.

mod await_tree;
mod blockers;
mod cycle;
mod fixpoint;
mod graph;

use alloc::vec::Vec;

use crate::diagnose::situation::Situation;

/// What is stuck in a scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Each separate cause, in the order of the ids of the tasks in it.
    pub cycles: Vec<Cycle>,
}

/// A cycle of waits, and what waits for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    /// Each waits for the next one, the last for the first.
    pub steps: Vec<CycleStep>,
    /// Positions in [`Situation::tasks`] of the tasks that are stuck because of it, and are not in it.
    pub behind: Vec<usize>,
    /// Waits for its resources that the scene counts and does not list.
    pub unlisted: u64,
}

/// A wait within a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleStep {
    /// Position in [`Situation::tasks`].
    pub task: usize,
    /// Position in its tree.
    pub node: usize,
    /// Position in [`Situation::resources`].
    pub resource: usize,
    /// Position in its waiters.
    pub waiter: usize,
    /// What the task of the next step has to do with the resource.
    pub link: Dependency,
    /// A task that can go on, and that the one of the next step may have given what the link rests on: position in [`Situation::heirs`].
    pub heir: Option<usize>,
}

/// Why a wait depends on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// It holds the resource: position in the resource's holders.
    Holds(usize),
    /// It was given its turn, and the future that waited is not polled: position in the resource's waiters.
    Granted(usize),
    /// It waits before: position in the resource's waiters.
    Before(usize),
    /// It receives.
    Receives(Evidence),
    /// It sends.
    Sends(Evidence),
}

/// Why an end of a channel is a task's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It used the end last, which may have gone to another task since.
    Seen,
    /// It says that it will use it. That is taken as said, and proves nothing.
    Said,
    /// The source of its call shows that it has the end, and those of the other ends of that side theirs: none was given away.
    Proven,
}

pub(crate) use self::fixpoint::was_left;

impl Waits {
    /// Finds what is stuck.
    #[must_use]
    pub fn of(scene: &Situation) -> Self {
        let mut world = fixpoint::Solver::new(scene);
        world.settle();
        Self {
            cycles: cycle::find(&world),
        }
    }
}

impl Cycle {
    /// Nothing in it rests on who used the end of a channel last, which may have gone to another task since, on what is only said, or on
    /// a guard that may have gone.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        let proven = |step: &CycleStep| match step.link {
            Dependency::Receives(tie) | Dependency::Sends(tie) => tie == Evidence::Proven,
            Dependency::Holds(_) | Dependency::Granted(_) | Dependency::Before(_) => true,
        };
        self.is_likely() && self.steps.iter().all(proven)
    }

    /// No task is known that could have been given what it rests on.
    #[must_use]
    pub fn is_likely(&self) -> bool {
        self.steps.iter().all(|step| step.heir.is_none())
    }

    /// One task waits for itself.
    #[must_use]
    pub fn is_of_one_task(&self) -> bool {
        let first = self.steps.first().map(|step| step.task);
        self.steps.iter().all(|step| Some(step.task) == first)
    }
}
