//! One task's await tree, and which of its nodes can go on.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::diagnose::situation::{FutureRef, Node, NodeKind, Task};
use crate::snapshot::TaskState;

/// A wait: positions of the resource in the scene, and of the waiter in it.
pub(super) type Wait = (usize, usize);

/// A task that waits for a resource, maybe among other things.
#[derive(Debug)]
pub(super) struct Forest {
    /// It is not waiting, or nothing is known of where: it can go on.
    free: bool,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// Positions from the leaves to the roots; what hangs on no root is not in it.
    order: Vec<usize>,
    /// What leaves wait for; a leaf that waits for nothing known can go on.
    pub(super) waits: Vec<Vec<Wait>>,
    served: Vec<bool>,
    moves: Vec<bool>,
}

impl Forest {
    /// The tree of a task, with what its nodes wait for.
    pub(super) fn new(task: &Task, seated: &[(u32, Wait)]) -> Self {
        let nodes = &task.tree;
        let places: BTreeMap<u32, usize> = nodes
            .iter()
            .enumerate()
            .map(|(at, node)| (node.id, at))
            .collect();
        let mut forest = Self {
            // A pause frees nobody: what waits for others would go on waiting after it.
            free: task.state != TaskState::Waiting || places.len() < nodes.len(),
            parents: vec![None; nodes.len()],
            children: vec![Vec::new(); nodes.len()],
            order: Vec::new(),
            waits: vec![Vec::new(); nodes.len()],
            served: vec![false; nodes.len()],
            moves: vec![false; nodes.len()],
        };
        let mut roots = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            match node.parent.map(|parent| places.get(&parent)) {
                _ if node.aside => {}
                None => roots.push(at),
                Some(Some(&parent)) if parent != at => {
                    forest.parents[at] = Some(parent);
                    forest.children[parent].push(at);
                }
                // A parent that is not there: the tree was cut somewhere, so anything may be above.
                Some(_) => forest.free = true,
            }
        }
        for &(node, wait) in seated {
            if let Some(&at) = places.get(&node) {
                forest.waits[at].push(wait);
            }
        }
        forest.order = roots;
        let mut next = 0;
        while next < forest.order.len() {
            let below = forest.children[forest.order[next]].clone();
            forest.order.extend(below);
            next += 1;
        }
        forest.order.reverse();
        forest.free |= forest.order.is_empty();
        forest.settle(nodes);
        forest
    }

    /// Computes what can go on; whether anything more can than before.
    pub(super) fn settle(&mut self, nodes: &[Node]) -> bool {
        let mut more = false;
        for index in 0..self.order.len() {
            let at = self.order[index];
            let moves = self.node_moves(&nodes[at], at);
            more |= moves && !self.moves[at];
            self.moves[at] |= moves;
        }
        more
    }

    fn node_moves(&self, node: &Node, at: usize) -> bool {
        let children = &self.children[at];
        let mut below = children.iter().map(|&child| self.moves[child]);
        let asks = !self.waits[at].is_empty();
        // The number of branches is trusted only where it says that none is hidden.
        let hidden = node.branches != Some(children.len() as u32);
        match node.kind {
            _ if self.served[at] => true,
            NodeKind::Unknown => true,
            NodeKind::Call if children.is_empty() => !asks,
            NodeKind::Call => below.any(|moves| moves),
            NodeKind::Join => children.is_empty() || below.all(|moves| moves),
            NodeKind::Select | NodeKind::Unordered => {
                hidden || children.is_empty() || below.any(|moves| moves)
            }
        }
    }

    /// The wait of a node is over, or can be.
    pub(super) fn serve(&mut self, node: usize) -> bool {
        !core::mem::replace(&mut self.served[node], true)
    }

    /// Something in the task can go on.
    pub(super) fn moves(&self) -> bool {
        self.free || self.moves.iter().any(|moves| *moves)
    }

    /// What is in that seat may be given back, or given up: its node can go on, or one above it, which may drop it.
    pub(super) fn lets_go(&self, nodes: &[Node], seat: FutureRef) -> bool {
        let Some(at) = self.position(nodes, seat) else {
            return self.moves();
        };
        self.free || self.line(at).any(|at| self.moves[at])
    }

    /// The position of a seat in the tree, if it is in there and hangs on a root.
    pub(super) fn position(&self, nodes: &[Node], seat: FutureRef) -> Option<usize> {
        let FutureRef::Node(id) = seat else {
            return None;
        };
        let at = nodes.iter().position(|node| node.id == id)?;
        self.order.contains(&at).then_some(at)
    }

    /// A node and all above it. Only for what hangs on a root, so it ends.
    fn line(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        core::iter::successors(Some(at), |&at| self.parents[at])
    }

    /// Nodes that wait and cannot go on, nor anything above them; those below `top` only, if there is one.
    pub(super) fn stuck(&self, top: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let nodes = self.order.iter().copied();
        nodes.filter(move |&at| {
            !self.free
                && !self.waits[at].is_empty()
                && self.line(at).all(|at| !self.moves[at])
                && top.is_none_or(|top| self.line(at).any(|at| at == top))
        })
    }
}
