//! A task's await tree: the calls of its last poll, and the live branches that this poll did not
//! reach.
//!
//! A *branch* has its own waker, so it is known when it was woken and in which root poll it was
//! last polled. A branch that its parent would poll again at its present await point is suspended.
//! A branch whose parent has moved on is *not polled any more*: no call polls it, woken or not.

use alloc::vec;
use alloc::vec::Vec;

use crate::account::await_stack::AwaitFrame;
use crate::account::task::{CHAIN, TaskReading};
use crate::sorting;

/// The call that last polled a branch, as it was then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parent {
    /// Id of the branch that the parent is or is nested in; 0 if none.
    pub within: u64,
    /// Distance of the parent from the task's root.
    pub level: u32,
    /// Proc id of the parent.
    pub proc: u32,
    /// Await point of the parent plus one; 0 if unknown.
    pub site: u16,
}

/// A branch at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchReading {
    /// Unique within the process; never used twice.
    pub id: u64,
    /// The call that last polled it.
    pub parent: Parent,
    /// Start of the root poll in which it was last polled, in ticks.
    pub polled: u64,
    /// First wake through its own waker since then, in ticks.
    pub woken: Option<u64>,
    /// Its await stack after that poll, outermost first: the branch and what it awaits, at most
    /// [`CHAIN`] frames.
    pub chain: Vec<AwaitFrame>,
}

/// The branch data of a call in an await tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// See [`BranchReading::id`].
    pub id: u64,
    /// See [`BranchReading::parent`].
    pub parent: Parent,
    /// The branch was polled in the last poll of its task.
    pub polled: bool,
    /// See [`BranchReading::woken`].
    pub woken: Option<u64>,
}

/// A call in an await tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeNode {
    /// Proc and await point of the call.
    pub step: AwaitFrame,
    /// Index of the call that polls it, lower than its own; `None` for the root, or if that call is
    /// not there any more.
    pub parent: Option<usize>,
    /// The call is alive, but the task's last poll has moved past the call that would poll it.
    pub aside: bool,
    /// Branch data; `None` if the call has no waker of its own.
    pub branch: Option<Branch>,
    /// The call awaits another live call that is not in the tree.
    pub cut: bool,
}

/// Builds the await tree of a suspended task: first the calls of its last poll in the order of
/// [`TaskReading::stack`], then the others.
#[must_use]
pub fn tree(reading: &TaskReading) -> Vec<TreeNode> {
    let mut twigs = on_the_trail(&reading.stack);
    let mut branches: Vec<&BranchReading> = reading.branches.iter().collect();
    // Outer branches first: inner ones are found in them.
    sorting::by_key(&mut branches, |branch| (branch.parent.level, branch.id));
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
    // Index of the last call of each level.
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

/// Adds a branch that the last poll did not reach.
fn rest(twigs: &mut Vec<TreeNode>, task: &TaskReading, reading: &BranchReading, branch: Branch) {
    let parent = reading.parent;
    let is_parent =
        |twig: &TreeNode| (twig.step.level, twig.step.proc) == (parent.level, parent.proc);
    let stands = |twig: &TreeNode| is_parent(twig) && twig.step.site == parent.site;
    let found = find(twigs, parent.within, true, stands);
    let mut above = found.or_else(|| find(twigs, parent.within, true, is_parent));
    if above.is_none() && task.truncated {
        // The parent is in the part of the stack that was cut.
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

/// Finds the call for which `holds` is true inside the branch `within` (0: inside none), or that
/// branch itself with `itself`. Without such a call, returns the only one for which `holds` is
/// true: the call around a branch may have become a branch after its last poll.
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

/// Sets `aside` on calls that are not polled any more. A call that stands at another await point
/// than where it polled a branch no longer polls that branch. A call that awaits one other call
/// directly no longer polls those that it polled earlier in the same poll.
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
