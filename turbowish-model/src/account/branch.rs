//! A task's await tree: the calls of its last poll, and the branches that are alive although that poll did not come to them.
//!
//! A *branch* has a waker of its own, so it is known when it was woken and in which root poll it was polled last. One that its parent would
//! poll again where it stands now rests; one whose parent has gone on is *left aside*: woken or not, nobody polls it.

use alloc::vec;
use alloc::vec::Vec;

use crate::account::await_stack::AwaitFrame;
use crate::account::task::{CHAIN, TaskReading};

/// The call that polled a branch last, as it stood then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parent {
    /// The branch that it is, or that it is inside of; 0 if none.
    pub within: u64,
    /// Its distance from the task's root.
    pub level: u32,
    /// Proc id.
    pub proc: u32,
    /// Await point plus one; 0 if unknown.
    pub site: u16,
}

/// A reading of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchReading {
    /// Unique within the process; never used twice.
    pub id: u64,
    /// Who polled it last.
    pub parent: Parent,
    /// Begin of the root poll in which that was.
    pub polled: u64,
    /// The first wake of its own waker since then, in ticks.
    pub woken: Option<u64>,
    /// Its calls as that poll left them, outermost first: itself, and what it awaits, at most [`CHAIN`].
    pub chain: Vec<AwaitFrame>,
}

/// What is known of a call that is a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// See [`BranchReading::id`].
    pub id: u64,
    /// See [`BranchReading::parent`].
    pub parent: Parent,
    /// It was polled in the last poll of its task.
    pub polled: bool,
    /// See [`BranchReading::woken`].
    pub woken: Option<u64>,
}

/// A call of an await tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeNode {
    /// Where it stands.
    pub step: AwaitFrame,
    /// Position of the call that polls it, before its own; `None` for the root, and where that is not there any more.
    pub parent: Option<usize>,
    /// It is alive, but the task's last poll has left aside what would poll it.
    pub aside: bool,
    /// It has a waker of its own.
    pub branch: Option<Branch>,
    /// What it awaits is alive as well, and not told.
    pub cut: bool,
}

/// The await tree of a task that rests: first the calls of its last poll as they are in [`TaskReading::stack`], then the rest.
#[must_use]
pub fn tree(reading: &TaskReading) -> Vec<TreeNode> {
    let mut twigs = on_the_trail(&reading.stack);
    let mut branches: Vec<&BranchReading> = reading.branches.iter().collect();
    // The outer ones first, in which the inner ones are found.
    branches.sort_by_key(|branch| (branch.parent.level, branch.id));
    for reading_of in branches {
        let Some(&step) = reading_of.chain.first() else {
            continue;
        };
        let branch = Branch {
            id: reading_of.id,
            parent: reading_of.parent,
            polled: reading_of.polled >= reading.began,
            woken: reading_of.woken,
        };
        let within = reading_of.parent.within;
        let same = |twig: &TreeNode| twig.branch.is_none() && twig.step == step;
        match find(&twigs, within, false, same) {
            Some(at) => twigs[at].branch = Some(branch),
            None => rest(&mut twigs, reading, reading_of, branch),
        }
    }
    set_aside(&mut twigs);
    twigs
}

fn on_the_trail(stack: &[AwaitFrame]) -> Vec<TreeNode> {
    // The last call of each level.
    let mut last: Vec<usize> = Vec::new();
    let mut twigs = Vec::with_capacity(stack.len());
    for (at, &step) in stack.iter().enumerate() {
        last.truncate(step.level as usize);
        twigs.push(TreeNode {
            step,
            parent: last.last().copied(),
            ..TreeNode::default()
        });
        last.push(at);
    }
    twigs
}

/// A branch that the last poll did not come to.
fn rest(twigs: &mut Vec<TreeNode>, task: &TaskReading, reading: &BranchReading, branch: Branch) {
    let parent = reading.parent;
    let is_parent =
        |twig: &TreeNode| (twig.step.level, twig.step.proc) == (parent.level, parent.proc);
    let stands = |twig: &TreeNode| is_parent(twig) && twig.step.site == parent.site;
    let found = find(twigs, parent.within, true, stands);
    let mut above = found.or_else(|| find(twigs, parent.within, true, is_parent));
    if above.is_none() && task.truncated {
        // It hangs on what is not shown.
        return;
    }
    let cut = reading.chain.len() >= CHAIN;
    for (nth, &step) in reading.chain.iter().enumerate() {
        twigs.push(TreeNode {
            step,
            parent: above,
            aside: above.is_none(),
            branch: (nth == 0).then_some(branch),
            cut: cut && nth + 1 == CHAIN && step.direct,
        });
        above = Some(twigs.len() - 1);
    }
}

/// The call inside of the branch `within` (0: of none), or that branch `itself`, of which `holds` is true; if there is none, the only
/// one of which it is, since what is around a branch may have become one only after its last poll.
fn find(
    twigs: &[TreeNode],
    within: u64,
    itself: bool,
    holds: impl Fn(&TreeNode) -> bool,
) -> Option<usize> {
    let mut fitting = (0..twigs.len()).filter(|&at| holds(&twigs[at]));
    let exact = fitting.clone().find(|&at| {
        let from = if itself { Some(at) } else { twigs[at].parent };
        let mut around = core::iter::successors(from, |&at| twigs[at].parent);
        let branch = around.find_map(|at| twigs[at].branch);
        branch.map_or(0, |branch| branch.id) == within
    });
    exact.or_else(|| {
        let only = fitting.next()?;
        fitting.next().is_none().then_some(only)
    })
}

/// A call that stands at another place than where it polled a branch has left it aside; so has one that awaits one other call, and nothing
/// around it, left those that it polled before that in the same poll.
fn set_aside(twigs: &mut [TreeNode]) {
    let mut awaited: Vec<Option<usize>> = vec![None; twigs.len()];
    for (at, twig) in twigs.iter().enumerate() {
        if let Some(parent) = twig.parent
            && twig.branch.is_none_or(|branch| branch.polled)
        {
            awaited[parent] = Some(at);
        }
    }
    for at in 0..twigs.len() {
        let Some(parent) = twigs[at].parent else {
            continue;
        };
        let above = &twigs[parent];
        let passed = above.step.direct && awaited[parent] != Some(at);
        let moved = twigs[at].branch.is_some_and(|branch| {
            branch.parent.level == above.step.level && branch.parent.site != above.step.site
        });
        twigs[at].aside |= passed || moved || above.aside;
    }
}

#[cfg(test)]
mod tests;
