//! Rule for tasks that are spawned and do not end.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan, leaves};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::memory::Grown;
use crate::diagnose::alert::quantity::is_more;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::{marked, tense};
use crate::diagnose::alert::words::{self, brief, many, time};
use crate::diagnose::situation::{Node, NodeKind, Resource, RootTasks, Task};
use crate::ordered::{Map, Set};
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::{Spot, units};

pub(in crate::diagnose::alert) const TASK_LEAK: PitfallRule = PitfallRule {
    why: "{spawned} spawned in {time}, {ended} ended. {waits}",
    fixes: &[
        "{at}: let the wait end, with a timeout or a select! with a shutdown signal",
        "{spawner}keep the JoinHandle, or use a JoinSet, and abort the tasks with their owner",
        "if they are meant to live, bound their number: a Semaphore permit for each task",
    ],
    limits: &[
        Limit::TaskLeakWindows,
        Limit::TaskLeakSpawned,
        Limit::TaskLeakEnded,
        Limit::TaskLeakIdle,
        Limit::TaskLeakPolled,
        Limit::Window,
    ],
    ..PitfallRule::new(Pitfall::TaskLeak)
};

/// Procs whose tasks only grow in number.
pub(in crate::diagnose::alert) fn leaks(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for root in &scan.situation.roots {
        let Some(growth) = scan.memory.roots.get(&root.path) else {
            continue;
        };
        let grown = growth.grown(root, scan.now());
        let are_idle = is_more(grown.idle, grown.live, 50);
        let windows = scan.limit(if are_idle {
            Limit::TaskLeakWindows
        } else {
            Limit::TaskLeakPolled
        });
        if growth.windows() >= windows.max(1) && grown.live > 0 {
            found.push(leak(scan, root, grown, are_idle));
        }
    }
}

fn leak(scan: &Scan<'_>, root: &RootTasks, grown: Grown, are_idle: bool) -> Finding {
    let age = scan.age(grown.since);
    let ended = units::count(grown.ended);
    let title = format!(
        "task leak {{for}}: {} of {}, +{}/s",
        many(root.live, "task"),
        root.path,
        units::rate(units::micro_per_second(grown.live, age)),
    );
    let seen = seen(scan, root, are_idle);
    let point = most(&seen, &|task| {
        let place = waits_at(task)?.place.as_ref()?;
        Some((&place.file, place.line, place.column))
    });
    let point = point.and_then(|(tasks, one)| Some((tasks, waits_at(one)?)));
    let on = resource(scan, &seen);
    let spawned = many(grown.live.saturating_add(grown.ended), "task");
    let (time, waits, spawner) = (time(age), waits(point, on, seen.len()), spawner(&seen));
    let mut values = Vec::from([
        ("spawned", spawned.as_str()),
        ("time", &time),
        ("ended", &ended),
        ("waits", &waits),
        ("spawner", &spawner),
    ]);
    let place = point.and_then(|(_, node)| node.place.as_ref());
    let at = place.map(|place| words::line(&place.file, place.line));
    values.extend(at.as_deref().map(|at| ("at", at)));
    let mut finding = Finding::new(Pitfall::TaskLeak, grown.since)
        .of_proc(&root.path)
        .titled(title)
        .summed("tasks [are|were] spawned and [do|did] not end")
        .explained(&values);
    if let Some(on) = on {
        finding = finding.with_resource(on);
    }
    if let Some((_, node)) = point {
        finding = finding.at(&node.proc, node.place.as_ref());
    }
    finding.tasks = Set::from_iter(seen.iter().map(|task| task.id));
    finding
}

/// The tasks of a root that are in the situation and wait; if they are idle, only those that are.
fn seen<'a>(scan: &Scan<'a>, root: &RootTasks, are_idle: bool) -> Vec<&'a Task> {
    let idle = match are_idle {
        true => scan.limit(Limit::TaskLeakIdle),
        false => 0,
    };
    let tasks = scan.waiting().filter(|task| task.root == root.path);
    tasks.filter(|task| scan.age(task.since) >= idle).collect()
}

/// A source location of a task.
type Key<'a> = (&'a str, u32, u32);

/// What more than half of the tasks have: how many, and one of them.
fn most<'a>(
    seen: &[&'a Task],
    key: &dyn Fn(&'a Task) -> Option<Key<'a>>,
) -> Option<(usize, &'a Task)> {
    let mut counts: Map<Key<'a>, (usize, &'a Task)> = Map::new();
    for &task in seen {
        if let Some(key) = key(task) {
            counts.entry(key).or_insert((0, task)).0 += 1;
        }
    }
    let mut counts = counts.into_iter().map(|(_, count)| count);
    counts.find(|(tasks, _)| tasks * 2 > seen.len())
}

/// The node at which a task waits: the outermost one that polls several, else the innermost call.
fn waits_at(task: &Task) -> Option<&Node> {
    let polls_several = |node: &&Node| {
        let kind = matches!(
            node.kind,
            NodeKind::Join | NodeKind::Select | NodeKind::Unordered
        );
        kind && !node.aside
    };
    let several = task.tree.iter().find(polls_several);
    several.or_else(|| leaves(task).last().copied())
}

/// The resource for which more than half of the tasks wait.
fn resource<'a>(scan: &Scan<'a>, seen: &[&Task]) -> Option<&'a Resource> {
    let ids = Set::from_iter(seen.iter().map(|task| task.id));
    let mut resources = scan.situation.resources.iter();
    resources.find(|resource| {
        let tasks = resource.waiters.iter().filter_map(|waiter| waiter.task);
        tasks.filter(|task| ids.contains(task)).count() * 2 > ids.len()
    })
}

/// Where most of the tasks wait, as text.
fn waits(point: Option<(usize, &Node)>, on: Option<&Resource>, seen: usize) -> String {
    let Some((tasks, node)) = point else {
        return marked(match seen {
            0 => "It is not known where they [wait|waited].",
            _ => "Most of them [do|did] not wait at the same place.",
        });
    };
    let place = words::place(node.place.as_ref());
    let expr = node.place.as_ref().map(|place| brief(&place.expr));
    let on = on.map_or(String::new(), |on| format!("{}: ", on.name));
    format!(
        "{tasks} of the {seen} looked at {} at {place} for {on}{}.",
        tense("wait", "waited"),
        expr.unwrap_or_default()
    )
}

/// `main.rs:31: `, where most of the tasks were spawned; empty if unknown.
fn spawner(seen: &[&Task]) -> String {
    let one = most(seen, &|task| task.spawned.as_ref().map(key));
    let spot = one.and_then(|(_, task)| task.spawned.as_ref());
    spot.map_or_else(String::new, |spot| {
        format!("{}: ", words::line(&spot.file, spot.line))
    })
}

fn key(spot: &Spot) -> Key<'_> {
    (&spot.file, spot.line, spot.column)
}
