//! Rule for snoozed futures: futures that were woken and that their task does not poll.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan, Subject, is_judged, leaves};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::tense;
use crate::diagnose::alert::words::{self, last};
use crate::diagnose::situation::{FutureRef, Node, NodeKind, Resource, Task, WaitingTask};
use crate::diagnose::wait_graph::was_left;
use crate::snapshot::TaskState;
use crate::snapshot::pitfall::Pitfall;

pub(in crate::diagnose::alert) const SNOOZED_FUTURE: PitfallRule = PitfallRule {
    hold: Some(Limit::SnoozedFuture),
    scans: 2,
    why: "{proc} was woken and could [make|have made] progress. {task} was polled since, but did not poll it.",
    fixes: &[
        "poll it where {task} [waits|waited]: put both into one join! or select!",
        "or spawn {future}: a separate task is polled whenever it is woken",
        "or drop {future} if it is no longer needed",
    ],
    limits: &[Limit::SnoozedFuture],
    ..PitfallRule::new(Pitfall::SnoozedFuture)
};

pub(in crate::diagnose::alert) const STREAM_STALL: PitfallRule = PitfallRule {
    hold: Some(Limit::SnoozedFuture),
    scans: 2,
    why: "{proc} [is|was] one of the futures of a stream, and was woken. {task} [polls|polled] the stream only where it [takes|took] the next item, and [waits|waited] at {elsewhere} meanwhile.",
    fixes: &[
        "do not await between two items: spawn the work, or make it part of the stream (for_each_concurrent, buffered after map)",
        "or spawn the futures: the tasks of a JoinSet run on their own",
    ],
    limits: &[Limit::SnoozedFuture],
    ..PitfallRule::new(Pitfall::StreamStall)
};

/// Reports nodes with their own waker, and futures that waited for a resource.
pub(in crate::diagnose::alert) fn snoozed(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for task in scan.tasks() {
        for node in &task.tree {
            // An enclosing node was woken too and is reported instead.
            if let Some(woken) = left(task, node)
                && !around(task, node).any(|node| left(task, node).is_some())
            {
                found.push(finding(task, node, woken));
            }
        }
    }
    for resource in &scan.situation.resources {
        for waiter in &resource.waiters {
            let task = scan.task(waiter.task).filter(|task| is_judged(task));
            // A future below the task's root is about to be polled, or its parent is reported.
            let aside = waiter.future == FutureRef::Aside;
            if let Some(task) = task.filter(|task| aside && was_left(task, waiter))
                && !is_known(task, waiter)
            {
                found.push(served(resource, waiter, task));
            }
        }
    }
}

/// Whether the waiting future is a node of its task's tree, and is reported as such.
fn is_known(task: &Task, waiter: &WaitingTask) -> bool {
    let mut nodes = task.tree.iter();
    nodes.any(|node| {
        let same = waiter.proc.as_ref() == Some(&node.proc) && waiter.place == node.place;
        let mut line = core::iter::once(node).chain(around(task, node));
        same && line.any(|node| left(task, node).is_some())
    })
}

/// The enclosing nodes, innermost first.
pub(super) fn around<'a>(task: &'a Task, node: &'a Node) -> impl Iterator<Item = &'a Node> {
    let above = |node: &&'a Node| {
        let id = node.parent?;
        task.tree.iter().find(|node| node.id == id)
    };
    // Bounds the iteration in a malformed tree.
    core::iter::successors(above(&node), above).take(task.tree.len())
}

/// Builds the finding of a future that was woken by a resource and is not polled.
fn served(resource: &Resource, waiter: &WaitingTask, task: &Task) -> Finding {
    let proc = waiter.proc.as_ref().unwrap_or(&task.root);
    let place = words::place(waiter.place.as_ref());
    let name = &task.name;
    let title = title(name, proc, &place);
    let woken = waiter.woken.unwrap_or(waiter.since);
    Finding::new(Pitfall::SnoozedFuture, woken)
        .of_task(task)
        .of_resource(resource)
        .at(proc, waiter.place.as_ref())
        .titled(title)
        .summed("a future was woken and [is|was] not polled")
        .explained(&[("proc", proc), ("task", name), ("future", last(proc))])
}

/// When the node was woken, if its task was polled since without polling the node.
pub(super) fn left(task: &Task, node: &Node) -> Option<u64> {
    let wake = node.wake?;
    let woken = wake.woken?;
    let passed = task.polls.saturating_sub(wake.polled);
    let is_left = match task.state {
        // The task's last poll ended after the wake.
        TaskState::Waiting | TaskState::Paused => task.since > woken && passed >= 1,
        // The next poll, or the one in progress, may still reach the node: two polls must have
        // passed.
        TaskState::Ready => passed >= 2,
        TaskState::Polling => passed >= 3,
    };
    is_left.then_some(woken)
}

fn title(task: &str, proc: &str, place: &str) -> String {
    let does = tense("does", "did");
    format!("snoozed future {{for}}: {task} {does} not poll {proc} at {place}, which was woken")
}

fn finding(task: &Task, node: &Node, woken: u64) -> Finding {
    let parent = node
        .parent
        .and_then(|id| task.tree.iter().find(|node| node.id == id));
    let in_stream = node.fork == NodeKind::Unordered
        || parent.is_some_and(|parent| parent.kind == NodeKind::Unordered);
    let place = words::place(node.place.as_ref());
    let elsewhere = leaves(task).into_iter().find(|leaf| leaf.id != node.id);
    let elsewhere = words::place(elsewhere.and_then(|leaf| leaf.place.as_ref()));
    let pitfall = if in_stream {
        Pitfall::StreamStall
    } else {
        Pitfall::SnoozedFuture
    };
    let title = if in_stream {
        format!(
            "stream stall {{for}}: {} {} not poll {} while it {} at {elsewhere}",
            task.name,
            tense("does", "did"),
            node.proc,
            tense("waits", "waited")
        )
    } else {
        title(&task.name, &node.proc, &place)
    };
    let mut found = Finding::new(pitfall, woken).of_task(task);
    if !in_stream {
        // One finding per stream suffices; elsewhere each future is a separate mistake.
        let id = match node.branch {
            0 => node.id,
            // Practically unique: it only has to tell apart the few branches of one task.
            branch => branch as u32,
        };
        found = found.about(Subject::At(node.proc.clone(), id, 0));
    }
    found
        .at(&node.proc, node.place.as_ref())
        .titled(title)
        .summed("a future was woken and [is|was] not polled")
        .explained(&[
            ("proc", &node.proc),
            ("task", &task.name),
            ("future", last(&node.proc)),
            ("elsewhere", &elsewhere),
        ])
}
