//! Tests of await trees as text: `*` has its own waker, `(…)` is not polled any more, `!` was
//! woken.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{BranchReading, Parent, tree};
use crate::account::await_stack::AwaitFrame;
use crate::account::task::TaskReading;

/// Level, proc, site.
type At = (u32, u32, u16);

fn step((level, proc, site): At) -> AwaitFrame {
    AwaitFrame {
        level,
        proc,
        site,
        // Procs below ten await the call below them directly.
        direct: proc < 10,
        since: 5,
    }
}

/// Builds a branch from the branch around it, its parent, whether it was polled in the last poll,
/// and its chain.
fn branch(id: u64, within: u64, parent: At, polled: bool, chain: &[At]) -> BranchReading {
    let (level, proc, site) = parent;
    BranchReading {
        id,
        parent: Parent {
            within,
            level,
            proc,
            site,
        },
        polled: if polled { 100 } else { 50 },
        woken: (!polled).then_some(60),
        chain: chain.iter().copied().map(step).collect(),
    }
}

fn check(stack: &[At], branches: &[BranchReading], expected: &[&str]) {
    for turn in 0..branches.len().max(1) {
        let mut branches = branches.to_vec();
        branches.rotate_left(turn);
        let reading = TaskReading {
            began: 100,
            stack: stack.iter().copied().map(step).collect(),
            branches,
            ..TaskReading::default()
        };
        let twigs = tree(&reading);
        let mut text: Vec<String> = twigs
            .iter()
            .map(|twig| {
                let parent = twig.parent.map(|parent| twigs[parent].step.proc);
                let parent = parent.map_or(String::from("-"), |parent| format!("{parent}"));
                let mark = twig.branch.map_or("", |branch| match branch.woken {
                    Some(_) => "*!",
                    None => "*",
                });
                let call = format!("{}{mark}", twig.step.proc);
                match twig.aside {
                    true => format!("{parent} ({call})"),
                    false => format!("{parent} {call}"),
                }
            })
            .collect();
        text[stack.len().min(twigs.len())..].sort();
        assert_eq!(text, expected);
    }
}

#[test]
fn a_chain_has_no_branches() {
    check(&[], &[], &[]);
    check(
        &[(0, 1, 1), (1, 2, 1), (2, 20, 1)],
        &[],
        &["- 1", "1 2", "2 20"],
    );
}

#[test]
fn branches_of_the_last_poll_are_found_on_the_trail() {
    let fork = (0, 10, 3);
    check(
        &[fork, (1, 20, 1), (1, 21, 1)],
        &[
            branch(1, 0, fork, true, &[(1, 20, 1)]),
            branch(2, 0, fork, true, &[(1, 21, 1)]),
        ],
        &["- 10", "10 20*", "10 21*"],
    );
}

#[test]
fn equal_branches_are_counted() {
    let fork = (0, 10, 3);
    let one = [(1, 20, 1)];
    check(
        &[fork, (1, 20, 1)],
        &[
            branch(1, 0, fork, true, &one),
            branch(2, 0, fork, true, &one),
            branch(3, 0, fork, true, &one),
        ],
        &["- 10", "10 20*", "10 20*", "10 20*"],
    );
}

#[test]
fn what_a_stream_has_not_polled_rests_where_it_was() {
    let fork = (1, 10, 3);
    check(
        &[(0, 1, 1), fork, (2, 20, 1)],
        &[
            branch(1, 0, fork, true, &[(2, 20, 1)]),
            branch(2, 0, fork, false, &[(2, 2, 1), (3, 30, 1)]),
        ],
        &["- 1", "1 10", "10 20*", "10 2*!", "2 30"],
    );
}

#[test]
fn what_the_parent_has_gone_on_from_is_left_aside() {
    // The parent stands at 4 now and polled the branch at 3.
    check(
        &[(0, 11, 4)],
        &[branch(1, 0, (0, 11, 3), false, &[(1, 2, 1), (2, 30, 1)])],
        &["- 11", "11 (2*!)", "2 (30)"],
    );
    // The parent polled it in this very poll and awaits another call now.
    check(
        &[(0, 1, 4), (1, 20, 1), (1, 21, 1)],
        &[branch(1, 0, (0, 1, 3), true, &[(1, 20, 1)])],
        &["- 1", "1 (20*)", "1 21"],
    );
    // The parent has ended.
    check(
        &[(0, 11, 4)],
        &[branch(1, 0, (1, 12, 3), false, &[(2, 20, 1)])],
        &["- 11", "- (20*!)"],
    );
}

#[test]
fn branches_of_branches_hang_on_the_right_one() {
    let fork = (0, 10, 3);
    let inner = (1, 12, 2);
    let outer = |id| branch(id, 0, fork, id == 1, &[inner]);
    check(
        &[fork, inner, (2, 20, 1)],
        &[
            outer(1),
            outer(2),
            branch(3, 1, inner, true, &[(2, 20, 1)]),
            branch(4, 2, inner, false, &[(2, 21, 1)]),
            branch(5, 2, inner, false, &[(2, 22, 1)]),
        ],
        &["- 10", "10 12*", "12 20*", "10 12*!", "12 21*!", "12 22*!"],
    );
}

#[test]
fn what_hangs_on_what_is_not_shown_is_not_shown() {
    let reading = TaskReading {
        began: 100,
        stack: Vec::from([step((0, 1, 1))]),
        truncated: true,
        branches: Vec::from([branch(1, 0, (600, 10, 3), true, &[(601, 20, 1)])]),
        ..TaskReading::default()
    };
    assert_eq!(tree(&reading).len(), 1);
}
