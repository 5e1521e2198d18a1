//! Rows of an await tree: each call before those it polls; calls that are not polled any more come
//! last.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Assembly, Names};
use crate::account::branch::{TreeNode, tree};
use crate::account::task::TaskReading;
use crate::snapshot::StackRow;
use crate::snapshot::combinator::Combinator;
use crate::sorting;

impl<N: Names> Assembly<'_, N> {
    /// Rows of a suspended task's await tree.
    pub(super) fn stack(&self, reading: &TaskReading) -> Vec<StackRow> {
        let (twigs, now) = (tree(reading), self.read_at(reading));
        let children = children(&twigs);
        let is_top = |at: &usize| {
            let twig = &twigs[*at];
            match twig.parent {
                None => true,
                Some(parent) => twig.aside && !twigs[parent].aside,
            }
        };
        let (live, aside): (Vec<usize>, Vec<usize>) = (0..twigs.len())
            .filter(is_top)
            .partition(|&at| !twigs[at].aside);
        let mut rows = Vec::with_capacity(twigs.len());
        // A stack instead of recursion, next one last: chains may be long.
        let tops = live.into_iter().chain(aside).rev();
        let mut next: Vec<(usize, u32)> = tops.map(|at| (at, 0)).collect();
        while let Some((at, depth)) = next.pop() {
            let below = children[at].iter().copied();
            let below = below.filter(|&child| twigs[child].aside == twigs[at].aside);
            let below: Vec<usize> = below.collect();
            next.extend(below.iter().rev().map(|&child| (child, depth + 1)));
            rows.extend(self.stack_row(&twigs, at, now, &below, depth));
        }
        rows
    }

    fn stack_row(
        &self,
        twigs: &[TreeNode],
        at: usize,
        now: u64,
        below: &[usize],
        depth: u32,
    ) -> Option<StackRow> {
        let TreeNode {
            step, branch, cut, ..
        } = twigs[at];
        let place = self.place(step.proc, step.site);
        let expr = place.as_ref().map_or("", |place| place.expr.as_str());
        let age = |since: u64| self.scale.ns(now.saturating_sub(since));
        let fork = if below.len() > 1 || below.iter().any(|&child| twigs[child].branch.is_some()) {
            Some(Combinator::of(expr))
        } else {
            Combinator::from_expr(expr)
                .filter(|fork| *fork != Combinator::Several && !below.is_empty())
        };
        Some(StackRow {
            depth,
            proc: String::from(self.names.proc(step.proc)?.path),
            place,
            since_ns: age(step.since),
            fork,
            woken_ns: branch.and_then(|branch| branch.woken).map(age),
            aside: twigs[at].aside,
            cut,
        })
    }
}

/// The calls that each call polls, in the order of their first poll as far as that is known.
fn children(twigs: &[TreeNode]) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); twigs.len()];
    for (at, twig) in twigs.iter().enumerate() {
        if let Some(parent) = twig.parent {
            children[parent].push(at);
        }
    }
    for branches in &mut children {
        sorting::by_key(branches, |&at| {
            twigs[at].branch.map_or(0, |branch| branch.id)
        });
    }
    children
}
