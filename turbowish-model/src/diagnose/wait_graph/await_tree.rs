//! One task's await tree, and which of its nodes can resume.

use alloc::vec;
use alloc::vec::Vec;

use crate::diagnose::situation::{FutureRef, Node, NodeKind, Task};
use crate::ordered::Map;
use crate::snapshot::TaskState;

/// A wait: index of the resource in the situation, and of the waiter in the resource.
pub(super) type Wait = (usize, usize);

/// A task that waits for a resource, possibly among other things.
#[derive(Debug)]
pub(super) struct AwaitTree {
    /// The task can resume: it is not waiting, or its await point is unknown.
    free: bool,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// Indices from the leaves to the roots; nodes without a path to a root are missing.
    order: Vec<usize>,
    /// Waits of the leaves; a leaf without a known wait can resume.
    pub(super) waits: Vec<Vec<Wait>>,
    served: Vec<bool>,
    moves: Vec<bool>,
}

impl AwaitTree {
    /// Builds the tree of a task with the waits of its nodes.
    pub(super) fn new(task: &Task, seated: &[(u32, Wait)]) -> Self {
        let nodes = &task.tree;
        let places = Map::from_iter(nodes.iter().enumerate().map(|(at, node)| (node.id, at)));
        let mut await_tree = Self {
            // A paused task does not become free: what waits for others would still wait after the
            // pause.
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
                    await_tree.parents[at] = Some(parent);
                    await_tree.children[parent].push(at);
                }
                // The parent is missing: the tree was cut, so anything may be above.
                Some(_) => await_tree.free = true,
            }
        }
        for &(node, wait) in seated {
            if let Some(&at) = places.get(&node) {
                await_tree.waits[at].push(wait);
            }
        }
        await_tree.order = roots;
        let mut next = 0;
        while next < await_tree.order.len() {
            let below = await_tree.children[await_tree.order[next]].clone();
            await_tree.order.extend(below);
            next += 1;
        }
        await_tree.order.reverse();
        await_tree.free |= await_tree.order.is_empty();
        await_tree.settle(nodes);
        await_tree
    }

    /// Recomputes which nodes can resume. Returns whether more can than before.
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
        // The number of branches is trusted only if it shows that none is hidden.
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

    /// Marks the wait of a node as ended or satisfiable. Returns whether it was not marked before.
    pub(super) fn mark_served(&mut self, node: usize) -> bool {
        !core::mem::replace(&mut self.served[node], true)
    }

    /// Whether any node of the task can resume.
    pub(super) fn moves(&self) -> bool {
        self.free || self.moves.iter().any(|moves| *moves)
    }

    /// Whether what the future `future` holds may be released: its node can resume, or a node above
    /// it, which may drop it.
    pub(super) fn lets_go(&self, nodes: &[Node], future: FutureRef) -> bool {
        let Some(at) = self.position(nodes, future) else {
            return self.moves();
        };
        self.free || self.line(at).any(|at| self.moves[at])
    }

    /// Index of a future in the tree, if it has a path to a root.
    pub(super) fn position(&self, nodes: &[Node], future: FutureRef) -> Option<usize> {
        let FutureRef::Node(id) = future else {
            return None;
        };
        let at = nodes.iter().position(|node| node.id == id)?;
        self.order.contains(&at).then_some(at)
    }

    /// The node and its ancestors. Only for nodes with a path to a root, so it terminates.
    fn line(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        core::iter::successors(Some(at), |&at| self.parents[at])
    }

    /// Waiting nodes that cannot resume, and none of whose ancestors can; with `top`, only `top`
    /// and the nodes below it.
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
