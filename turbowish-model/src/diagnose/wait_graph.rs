//! Wait graph of one instant: the waits that can never be satisfied, and the cycles that are the
//! reason.
//!
//! Nodes are waiting futures, not tasks. A `join!` needs all of its branches, a `select!` any one,
//! and a task releases what it holds only where the future that holds it can resume. The solver
//! computes the least set of futures that *can* resume. Whatever is unknown is in that set: a
//! timer, I/O, an external future, an unknown holder or user. The remaining futures are therefore
//! certainly stuck, provided that the situation is correct:
//!
//! - A wait for permits (mutex, rwlock, semaphore, a slot in a channel) can be satisfied if the
//!   free and the releasable permits suffice and no earlier waiter is stuck in the queue: tokio's
//!   queues are fair.
//! - A waiter that was granted its turn holds it. It takes the turn when its task polls it; a
//!   future that its task does not poll any more never does.
//! - A receiver can resume if any sending end has an unknown user or belongs to a task that can
//!   resume; likewise a sender. An end, used before or not, belongs to the task whose call uses it
//!   later, or gives it to nobody while it runs, as the attribute has read in the source.
//! - A task that intends to use a side and can resume will do so, whatever the ends show. An intent
//!   that is only *declared* proves nothing: it never makes a future stuck, and no cycle certain.
//!
//! Blockers of a wait: every holder without which it cannot be satisfied; if none is indispensable,
//! the set of which any one suffices. In the latter case the waiting task is not blamed for what it
//! holds itself: two tasks that hold one permit each and want one more wait for each other.
//!
//! A stuck future waits for another stuck future, and thus, in the end, for a cycle: the cause. All
//! others are behind it.

mod await_tree;
mod blockers;
mod cycle;
mod fixpoint;
mod graph;

use alloc::vec::Vec;

use crate::diagnose::situation::Situation;

/// The stuck waits of a situation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Independent cycles, ordered by the ids of their tasks.
    pub cycles: Vec<Cycle>,
}

/// A cycle of waits, and the tasks that wait because of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    /// Each step waits for the next one, the last for the first.
    pub steps: Vec<CycleStep>,
    /// Indices in [`Situation::tasks`] of the tasks that are stuck because of the cycle and are not
    /// in it.
    pub behind: Vec<usize>,
    /// Number of waits for its resources that the situation counts but does not list.
    pub unlisted: u64,
}

/// One wait in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleStep {
    /// Index in [`Situation::tasks`].
    pub task: usize,
    /// Index in the task's tree.
    pub node: usize,
    /// Index in [`Situation::resources`].
    pub resource: usize,
    /// Index in the resource's waiters.
    pub waiter: usize,
    /// Relation of the next step's task to the resource.
    pub link: Dependency,
    /// Index in [`Situation::candidates`] of a task that can resume and may have received from the
    /// next step's task what `link` is based on.
    pub candidate: Option<usize>,
}

/// Reason why a wait depends on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// The task holds the resource: index in the resource's holders.
    Holds(usize),
    /// The task was granted its turn, and the future that waited is not polled: index in the
    /// resource's waiters.
    Granted(usize),
    /// The task is ahead in the queue: index in the resource's waiters.
    Before(usize),
    /// The task has a receiving end.
    Receives(Evidence),
    /// The task has a sending end.
    Sends(Evidence),
}

/// Evidence that an end of a channel belongs to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The task used the end last; the end may have moved to another task since.
    Seen,
    /// The task declares that it will use the end. This is taken as declared and proves nothing.
    Said,
    /// The source of the task's call shows that it has the end, and the sources of the other ends
    /// of that side show theirs: none was given away.
    Proven,
}

pub(crate) use self::fixpoint::was_left;

impl Waits {
    /// Finds the cycles of a situation.
    #[must_use]
    pub fn of(situation: &Situation) -> Self {
        let mut solver = fixpoint::Solver::new(situation);
        solver.settle();
        Self {
            cycles: cycle::find(&solver),
        }
    }
}

impl Cycle {
    /// Whether the cycle is certain: no step is based on the last use of a channel's end, which may
    /// have moved to another task since, on a mere declaration, or on a guard that may have moved.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        let proven = |step: &CycleStep| match step.link {
            Dependency::Receives(evidence) | Dependency::Sends(evidence) => {
                evidence == Evidence::Proven
            }
            Dependency::Holds(_) | Dependency::Granted(_) | Dependency::Before(_) => true,
        };
        self.is_likely() && self.steps.iter().all(proven)
    }

    /// Whether no task is known that may have received what a step is based on.
    #[must_use]
    pub fn is_likely(&self) -> bool {
        self.steps.iter().all(|step| step.candidate.is_none())
    }

    /// Whether one task waits for itself.
    #[must_use]
    pub fn is_of_one_task(&self) -> bool {
        let first = self.steps.first().map(|step| step.task);
        self.steps.iter().all(|step| Some(step.task) == first)
    }
}
