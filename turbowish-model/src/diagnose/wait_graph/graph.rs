//! Graph of stuck waits: leaves of await trees, and between them the sides of resources that they
//! wait for.

use alloc::vec::Vec;

use super::Dependency;
use super::await_tree::Wait;
use super::blockers::{Blocker, Needs};
use super::fixpoint::{Solution, Solver};
use crate::account::resource::Role;
use crate::diagnose::situation::FutureRef;
use crate::ordered::Map;
use crate::sorting;

/// A waiting future, or the side of a resource that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Vertex {
    /// A node of a task: indices of the task and of the node.
    Leaf { task: usize, node: usize },
    /// Permits that do not suffice without each one of the blockers.
    Each(Needs),
    /// Permits of which any one blocker could release enough: any task except `but`, the one that
    /// waits.
    Any { resource: usize, but: Option<usize> },
    /// Senders of which any one suffices, except `but`.
    Senders { resource: usize, but: Option<usize> },
}

/// Arc from one vertex to another. From a leaf it has the wait, to a leaf the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arc {
    pub(super) to: usize,
    pub(super) wait: Option<Wait>,
    pub(super) link: Option<Dependency>,
}

/// Vertices ordered by the ids of their tasks and resources.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) vertices: Vec<Vertex>,
    pub(super) arcs: Vec<Vec<Arc>>,
}

/// An arc to a vertex that has no number yet.
type Unnumbered = (Vertex, Option<Wait>, Option<Dependency>);

/// Collects arcs before vertices are numbered.
struct Builder<'a> {
    solver: &'a Solver<'a>,
    arcs: Map<Vertex, Vec<Unnumbered>>,
}

impl Graph {
    /// Builds the graph of all stuck waits of a solver that has settled.
    pub(super) fn of(solver: &Solver<'_>) -> Self {
        let mut builder = Builder {
            solver,
            arcs: Map::new(),
        };
        let mut sides = Vec::new();
        for (&task, await_tree) in &solver.await_trees {
            for node in await_tree.stuck(None) {
                let leaf = Vertex::Leaf { task, node };
                builder.arcs.entry(leaf).or_default();
                sides.extend(await_tree.waits[node].iter().map(|&wait| (wait, leaf)));
            }
        }
        sorting::ascending(&mut sides);
        let mut known = (usize::MAX, Vec::new(), Vec::new());
        for ((r, w), leaf) in sides {
            if known.0 != r {
                known = (
                    r,
                    solver.verdicts(r),
                    solver.blockers(&solver.situation.resources[r]),
                );
            }
            builder.leave(leaf, (r, w), known.1[w], &known.2);
        }
        builder.number()
    }
}

impl Builder<'_> {
    /// Adds the arcs from a leaf.
    fn leave(&mut self, leaf: Vertex, (r, w): Wait, verdict: Solution, blockers: &[Blocker]) {
        let resource = &self.solver.situation.resources[r];
        let waiter = &resource.waiters[w];
        let senders;
        let (side, blockers) = match verdict {
            Solution::Served => return,
            Solution::Short => (self.solver.asked(r, waiter, blockers), blockers),
            Solution::Silent => {
                senders = self.solver.users(resource, Role::Send);
                let but = self.solver.another(waiter.task, &senders);
                (Vertex::Senders { resource: r, but }, &*senders)
            }
            Solution::Behind(before) => {
                let waiter = &resource.waiters[before];
                let leaves = self.leaves(self.solver.position(waiter.task), waiter.future);
                return self.add(leaf, leaves, Some((r, w)), Some(Dependency::Before(before)));
            }
        };
        self.add(leaf, [side].into(), Some((r, w)), None);
        if !self.arcs.contains_key(&side) {
            self.arcs.insert(side, Vec::new());
            for blocker in blockers {
                let blamed = match side {
                    Vertex::Each(needs) => self.solver.is_needed(needs, blockers, blocker),
                    Vertex::Any { but, .. } | Vertex::Senders { but, .. } => {
                        but != Some(blocker.task)
                    }
                    Vertex::Leaf { .. } => false,
                };
                if blamed {
                    let leaves = self.leaves(Some(blocker.task), blocker.future);
                    self.add(side, leaves, None, Some(blocker.link));
                }
            }
        }
    }

    /// The stuck leaves of a task: those of the future `future` if there are any, otherwise all.
    fn leaves(&self, task: Option<usize>, future: FutureRef) -> Vec<Vertex> {
        let Some(task) = task else {
            return Vec::new();
        };
        let Some(await_tree) = self.solver.await_trees.get(&task) else {
            return Vec::new();
        };
        let top = await_tree.position(&self.solver.situation.tasks[task].tree, future);
        let mut nodes: Vec<usize> = await_tree.stuck(top).collect();
        if nodes.is_empty() {
            nodes = await_tree.stuck(None).collect();
        }
        let leaves = nodes.into_iter().map(|node| Vertex::Leaf { task, node });
        leaves.collect()
    }

    fn add(&mut self, from: Vertex, to: Vec<Vertex>, wait: Option<Wait>, link: Option<Dependency>) {
        let arcs = self.arcs.entry(from).or_default();
        arcs.extend(to.into_iter().map(|to| (to, wait, link)));
    }

    /// Numbers the vertices by ids, so that the order of rows has no effect.
    fn number(self) -> Graph {
        let situation = self.solver.situation;
        let id_of = |task: Option<usize>| task.map_or(0, |at| situation.tasks[at].id);
        let key = |vertex: &Vertex| match *vertex {
            Vertex::Leaf { task, node } => {
                let task = &situation.tasks[task];
                (0, task.id, u64::from(task.tree[node].id), false)
            }
            Vertex::Each(needs) => {
                let id = situation.resources[needs.resource].id;
                (1, id, needs.amount, needs.shared)
            }
            Vertex::Any { resource, but } => {
                (2, situation.resources[resource].id, id_of(but), false)
            }
            Vertex::Senders { resource, but } => {
                (3, situation.resources[resource].id, id_of(but), false)
            }
        };
        let mut vertices: Vec<Vertex> = self.arcs.keys().copied().collect();
        sorting::by_key(&mut vertices, key);
        let numbers = Map::from_iter(
            vertices
                .iter()
                .enumerate()
                .map(|(number, vertex)| (*vertex, number)),
        );
        let arcs = vertices.iter().map(|vertex| {
            let mut arcs: Vec<Arc> = self.arcs[vertex]
                .iter()
                .filter_map(|&(to, wait, link)| {
                    let to = *numbers.get(&to)?;
                    Some(Arc { to, wait, link })
                })
                .collect();
            sorting::by_key(&mut arcs, |arc| arc.to);
            arcs
        });
        let arcs = arcs.collect();
        Graph { vertices, arcs }
    }
}
