//! Blockers of a wait: every holder without which it cannot be satisfied; if none is indispensable,
//! the set of which any one suffices.

use alloc::vec::Vec;

use super::fixpoint::{Solver, asks_permits, sure_of, user};
use super::graph::Vertex;
use super::{CycleStep, Dependency, Evidence};
use crate::account::resource::{Kind, Role};
use crate::diagnose::situation::{FutureRef, Resource, Strength, WaitingTask};

/// A task that does not release its part of a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocker {
    /// Index of the task.
    pub(super) task: usize,
    pub(super) future: FutureRef,
    pub(super) link: Dependency,
    amount: u64,
    shared: bool,
}

impl Solver<'_> {
    /// All blockers of a wait for permits of a resource.
    pub(super) fn blockers(&self, resource: &Resource) -> Vec<Blocker> {
        let mut blockers = Vec::new();
        for (h, holder) in resource.holders.iter().enumerate() {
            if let Some(task) = self.position(holder.task)
                && !self.lets_go(holder.task, holder.future)
            {
                blockers.push(Blocker {
                    task,
                    future: holder.future,
                    link: Dependency::Holds(h),
                    amount: holder.amount,
                    shared: holder.role == Role::Read,
                });
            }
        }
        for (w, waiter) in resource.waiters.iter().enumerate() {
            if let Some(task) = self.position(waiter.task)
                && asks_permits(resource.kind, waiter.role)
                && self.keeps(waiter)
            {
                blockers.push(Blocker {
                    task,
                    future: FutureRef::Unknown,
                    link: Dependency::Granted(w),
                    amount: waiter.amount,
                    shared: waiter.role == Role::Read,
                });
            }
        }
        if resource.kind == Kind::Mpsc
            && resource.length > 0
            && self.is_stuck_side(resource, Role::Receive)
        {
            blockers.extend(self.receivers(resource));
        }
        blockers
    }

    /// Tasks that could take out the items inside. A single receiver blocks all of them; of several
    /// receivers any other could take them.
    fn receivers(&self, resource: &Resource) -> Vec<Blocker> {
        let mut receivers = self.users(resource, Role::Receive);
        let first = receivers.first().map(|receiver| receiver.task);
        let alone = receivers
            .iter()
            .all(|receiver| Some(receiver.task) == first);
        if let Some(receiver) = receivers.first_mut()
            && alone
        {
            receiver.amount = resource.length;
        }
        receivers
    }

    /// Stuck tasks that use an end of this side, or certainly have one.
    pub(super) fn users(&self, resource: &Resource, role: Role) -> Vec<Blocker> {
        let intents = || resource.intents.iter().filter(|intent| intent.role == role);
        let says = |task| {
            let mut own = intents().filter(|intent| intent.task == task);
            own.any(|intent| intent.strength == Strength::Will)
        };
        let sure = intents().filter(|intent| intent.proven);
        let ends = || resource.ends.iter().filter(|end| end.role == role);
        let all_proven = ends().all(|end| sure_of(resource, end).is_some());
        let users = ends().filter_map(|end| user(resource, end));
        let all = users.chain(sure.map(|intent| intent.task));
        all.filter(|&task| !self.moves(Some(task)))
            .filter_map(|task| {
                let evidence = match says(task) {
                    _ if all_proven => Evidence::Proven,
                    true => Evidence::Said,
                    false => Evidence::Seen,
                };
                Some(Blocker {
                    task: self.position(Some(task))?,
                    future: FutureRef::Unknown,
                    link: match role {
                        Role::Receive => Dependency::Receives(evidence),
                        _ => Dependency::Sends(evidence),
                    },
                    amount: 0,
                    shared: false,
                })
            })
            .collect()
    }

    /// The vertex that a wait for permits depends on.
    pub(super) fn asked(&self, r: usize, waiter: &WaitingTask, blockers: &[Blocker]) -> Vertex {
        let needs = Needs {
            resource: r,
            amount: waiter.amount,
            shared: waiter.role == Role::Read,
        };
        if blockers
            .iter()
            .any(|blocker| self.is_needed(needs, blockers, blocker))
        {
            return Vertex::Each(needs);
        }
        Vertex::Any {
            resource: r,
            but: self.another(waiter.task, blockers),
        }
    }

    /// The waiting task itself, if it is one of several blockers of its own wait: it cannot release
    /// before the others have.
    pub(super) fn another(&self, task: Option<u64>, blockers: &[Blocker]) -> Option<usize> {
        let own = self.position(task)?;
        let (mine, others): (Vec<&Blocker>, Vec<&Blocker>) =
            blockers.iter().partition(|blocker| blocker.task == own);
        (!mine.is_empty() && !others.is_empty()).then_some(own)
    }

    /// Index of a candidate that can resume and may have received what a step is based on: the
    /// step's wait may then end in a way that is not observed.
    pub(super) fn candidate(&self, step: &CycleStep, owner: usize) -> Option<usize> {
        let since = match step.link {
            Dependency::Holds(h) => self.situation.resources[step.resource].holders[h].since,
            // It is unknown since when the task has had the end.
            Dependency::Receives(evidence) | Dependency::Sends(evidence)
                if evidence != Evidence::Proven =>
            {
                0
            }
            _ => return None,
        };
        let owner = self.situation.tasks[owner].id;
        self.situation.candidates.iter().position(|candidate| {
            candidate.of == owner && candidate.made >= since && self.moves(Some(candidate.task))
        })
    }

    /// Whether the wait could not be satisfied even if all other blockers released everything.
    pub(super) fn is_needed(&self, needs: Needs, blockers: &[Blocker], blocker: &Blocker) -> bool {
        let resource = &self.situation.resources[needs.resource];
        if resource.kind == Kind::RwLock {
            return !needs.shared || !blocker.shared;
        }
        let capacity = match resource.kind {
            Kind::Mutex | Kind::OnceCell => 1,
            _ => resource.capacity.unwrap_or(u64::MAX),
        };
        let own = blockers.iter().filter(|other| other.task == blocker.task);
        let own = own.fold(0_u64, |sum, part| sum.saturating_add(part.amount));
        capacity.saturating_sub(own) < needs.amount
    }
}

/// Request of a wait: the resource, the amount, and whether it can be shared with readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Needs {
    pub(super) resource: usize,
    pub(super) amount: u64,
    pub(super) shared: bool,
}
