//! Deadlocks: each cycle of the wait-for graph, with its waits in order.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::account::resource::Role;
use crate::diagnose::alert::finding::{Finding, Scan, resource_party, task_party};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::table::{Pitfall, Row};
use crate::diagnose::alert::words::{self, does, many, time};
use crate::diagnose::alert::{Behind, Point, Severity, Step};
use crate::diagnose::situation::{Resource, Scene, Task, TaskKind, Waiter};
use crate::diagnose::wait_graph::{self, Cycle, Link, Tie};
use crate::snapshot::units;

pub(in crate::diagnose::alert) const DEADLOCK: Row = Row {
    severity: Severity::Alert,
    scans: 2,
    why: "No task in the cycle can run until another one in it does. None was woken.{doubt}",
    fixes: FIXES,
    limits: &[Limit::Clear],
    ..Row::new(
        Pitfall::Deadlock,
        "deadlock",
        "deadlock",
        "docs/alerts/deadlock.md",
    )
};

pub(in crate::diagnose::alert) const SELF_DEADLOCK: Row = Row {
    severity: Severity::Alert,
    scans: 2,
    why: "Only {task} could end this wait, and it cannot run until the wait ends.{doubt}",
    fixes: FIXES,
    limits: &[Limit::Clear],
    ..Row::new(
        Pitfall::SelfDeadlock,
        "self_deadlock",
        "self deadlock",
        "docs/alerts/self-deadlock.md",
    )
};

/// One per arc that could be cut; each is filled where an arc has what it names.
const FIXES: &[&str] = &[
    "{at} {does} while it holds {held}: drop the guard first",
    "take {wanted} before {held_too} in {proc} (it takes {held_too}, then {wanted})",
    "do not wait for {blocking} in {proc}, a receiver of {received}",
    "in {proc}, do not wait for {blocking} before the send to {sent}",
    "drop the senders of {own} that {proc} holds, so that the wait ends",
    "if {taker} is alive but not polled now, it keeps the guard: spawn it, or drop it first (see futurelock)",
];

/// A task is known that may have what it rests on.
const POSSIBLE: &str = " {heir} was created since and may have received the guard or channel end in question: if it did, this is not a deadlock.";

const DOUBT: &str = " A channel end is attributed to the task that last used it: if it has moved to another task since, this is not a deadlock.";

/// Every cycle.
pub(in crate::diagnose::alert) fn cycles(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for cycle in &scan.waits.cycles {
        if stands(scan.scene, cycle) {
            found.push(finding(scan, cycle));
        }
    }
}

/// It would not end by itself if every task of it were polled when it is woken. So one of which a task is paused counts: whoever looks into
/// it has not ended it. But that a future was given its turn and is not polled may be the pause's doing.
fn stands(scene: &Scene, cycle: &Cycle) -> bool {
    let next = cycle.steps.iter().cycle().skip(1);
    cycle.steps.iter().zip(next).all(|(step, next)| {
        let waits_to_be_polled = matches!(step.link, Link::Granted(_));
        let pause_holds_it = waits_to_be_polled && scene.tasks[next.task].paused;
        scene.tasks[step.task].kind != TaskKind::Blocking && !pause_holds_it
    })
}

/// A step with what it speaks of.
struct Arc<'a> {
    task: &'a Task,
    resource: &'a Resource,
    waiter: &'a Waiter,
    /// What the step before says of this task: its link, and the resource.
    owned: (Link, &'a Resource),
}

fn finding(scan: &Scan<'_>, cycle: &Cycle) -> Finding {
    let arcs = arcs(scan, cycle);
    // The cycle closed with its last wait.
    let since = arcs.iter().map(|arc| arc.waiter.since).max();
    let alone = cycle.is_of_one_task();
    let pitfall = if alone {
        Pitfall::SelfDeadlock
    } else {
        Pitfall::Deadlock
    };
    let mut finding = Finding::new(pitfall, since.unwrap_or(scan.now()));
    for (arc, step) in arcs.iter().zip(&cycle.steps) {
        finding = finding.of_task(arc.task).of_resource(arc.resource);
        finding.alert.steps.push(shown(scan, arc, step));
    }
    finding.alert.at = finding.alert.steps.first().map(|step| step.point.clone());
    finding.alert.certain = cycle.is_certain();
    if !cycle.is_likely() {
        finding.alert.severity = Severity::Warning;
    }
    let behind = cycle.behind.iter().map(|&at| &scan.scene.tasks[at]);
    finding.tasks.extend(behind.clone().map(|task| task.id));
    finding.alert.behind = Behind {
        tasks: behind.map(task_party).collect(),
        unlisted: cycle.unlisted,
    };
    let doubt = doubt(scan, cycle);
    let name = arcs.first().map_or("", |arc| &arc.task.name);
    let sure = if cycle.is_likely() { "" } else { "possible " };
    let title = if alone {
        alone_title(&arcs, cycle.is_likely())
    } else {
        title(&arcs)
    };
    let mut finding = finding
        .titled(format!("{sure}{title}"))
        .summed(summary(&arcs, alone))
        .explained(&[("doubt", &doubt), ("task", name)]);
    finding.alert.fixes = fixes(&arcs, alone);
    finding
}

/// On what it rests that is not known.
fn doubt(scan: &Scan<'_>, cycle: &Cycle) -> String {
    let heir = cycle.steps.iter().find_map(|step| step.heir);
    match heir.map(|heir| scan.scene.heirs[heir].name.as_str()) {
        Some(name) => Row::fill(POSSIBLE, &[("heir", name)]).unwrap_or_default(),
        None if cycle.is_certain() => String::new(),
        None => DOUBT.to_string(),
    }
}

fn arcs<'a>(scan: &Scan<'a>, cycle: &Cycle) -> Vec<Arc<'a>> {
    let steps = &cycle.steps;
    let arcs = steps.iter().enumerate().map(|(nth, step)| {
        let before = &steps[(nth + steps.len() - 1) % steps.len()];
        let resource = &scan.scene.resources[step.resource];
        Arc {
            task: &scan.scene.tasks[step.task],
            resource,
            waiter: &resource.waiters[step.waiter],
            owned: (before.link, &scan.scene.resources[before.resource]),
        }
    });
    arcs.collect()
}

/// `deadlock: conn:51022, repl-1, snapshot wait in a cycle, 41.2 s`
fn title(arcs: &[Arc<'_>]) -> String {
    const NAMED: usize = 4;
    let mut names: Vec<&str> = Vec::new();
    for arc in arcs {
        if !names.contains(&arc.task.name.as_str()) {
            names.push(&arc.task.name);
        }
    }
    let more = names.len().saturating_sub(NAMED);
    let shown = &names[..names.len().min(NAMED)];
    let more = if more > 0 {
        format!(" and {}", many(more as u64, "more task"))
    } else {
        String::new()
    };
    format!(
        "deadlock: {}{more} wait in a cycle, {{for}}",
        shown.join(", ")
    )
}

fn alone_title(arcs: &[Arc<'_>], likely: bool) -> String {
    let Some(arc) = arcs.first() else {
        return String::new();
    };
    let why = match arc.owned.0 {
        Link::Holds(_) if likely => "which it holds",
        Link::Holds(_) => "which it took",
        Link::Granted(_) => "whose next turn another of its futures owns",
        Link::Before(_) => "queued behind itself",
        Link::Receives(_) if likely => "of which it is the receiver",
        Link::Receives(_) => "which it received from",
        Link::Sends(_) if likely => "whose only senders it holds",
        Link::Sends(_) => "to which only it was seen to send",
    };
    let name = &arc.task.name;
    format!(
        "self deadlock: {name} waits on {}, {why}, {{for}}",
        arc.resource.name
    )
}

fn summary(arcs: &[Arc<'_>], alone: bool) -> String {
    if alone {
        return "a task waits for itself".to_string();
    }
    let tasks: BTreeSet<u64> = arcs.iter().map(|arc| arc.task.id).collect();
    let resources: BTreeSet<u64> = arcs.iter().map(|arc| arc.resource.id).collect();
    let (tasks, resources) = (tasks.len() as u64, resources.len() as u64);
    format!(
        "{} and {} wait in a cycle",
        many(tasks, "task"),
        many(resources, "resource")
    )
}

fn shown(scan: &Scan<'_>, arc: &Arc<'_>, step: &wait_graph::Step) -> Step {
    let proc = arc.waiter.proc.as_ref().unwrap_or(&arc.task.root);
    Step {
        task: task_party(arc.task),
        point: Point {
            proc: proc.clone(),
            place: arc.waiter.place.clone(),
        },
        since: arc.waiter.since,
        on: resource_party(arc.resource),
        how: how(scan, arc.resource, step),
    }
}

/// `held 41.6 s, taken at snapshot.rs:92, by`
fn how(scan: &Scan<'_>, resource: &Resource, step: &wait_graph::Step) -> String {
    let only = |role: Role| resource.ends.iter().filter(|end| end.role == role).count() == 1;
    let who = |role, tie| match (only(role), tie) {
        (true, Tie::Proven | Tie::Said) => "only this task intends to",
        (true, Tie::Seen) => "only this task was seen to",
        (false, Tie::Proven | Tie::Said) => "this task intends to",
        (false, Tie::Seen) => "this task was seen to",
    };
    match step.link {
        Link::Holds(h) => {
            let holder = &resource.holders[h];
            let taken = words::taken(holder.spot.as_ref());
            let held = match step.heir {
                None => "held",
                Some(_) => "not released for",
            };
            format!("{held} {}{taken}, by", time(scan.age(holder.since)))
        }
        Link::Granted(w) => {
            let woken = resource.waiters[w].woken.unwrap_or(scan.now());
            format!(
                "granted {} ago, not polled since, to",
                time(scan.age(woken))
            )
        }
        Link::Before(w) => {
            let since = resource.waiters[w].since;
            format!(
                "requested {} ago, ahead in the queue, by",
                time(scan.age(since))
            )
        }
        Link::Receives(tie) => {
            let fill = match resource.capacity {
                Some(capacity) => format!(
                    "{}/{}, full",
                    units::count(resource.length),
                    units::count(capacity)
                ),
                None => units::count(resource.length),
            };
            format!("{fill}; {} receive", who(Role::Receive, tie))
        }
        Link::Sends(tie) => format!("empty; {} send", who(Role::Send, tie)),
    }
}

/// A line for each arc that could be cut.
fn fixes(arcs: &[Arc<'_>], alone: bool) -> Vec<String> {
    let mut fixes: Vec<(usize, String)> = Vec::new();
    for arc in arcs {
        let proc = arc.waiter.proc.as_ref().unwrap_or(&arc.task.root);
        let at = words::place(arc.waiter.place.as_ref());
        let (link, owned) = (arc.owned.0, arc.owned.1.name.as_str());
        let wanted = arc.resource.name.as_str();
        let mut values = Vec::from([
            ("at", at.as_str()),
            ("does", does(arc.waiter.role)),
            ("proc", proc.as_str()),
        ]);
        let locks = !matches!(arc.waiter.role, Role::Send | Role::Receive | Role::Wait);
        match link {
            Link::Holds(h) => {
                let taker = arc.owned.1.holders[h].proc.as_deref();
                let polled = |taker: &&str| arc.task.tree.iter().any(|node| node.proc == **taker);
                values.extend(
                    taker
                        .filter(|taker| alone && !polled(taker))
                        .map(|taker| ("taker", taker)),
                );
                values.push(("held", owned));
                if locks && owned != wanted {
                    values.extend([("held_too", owned), ("wanted", wanted)]);
                }
            }
            Link::Receives(_) => values.extend([("blocking", wanted), ("received", owned)]),
            Link::Sends(_) if alone => values.push(("own", owned)),
            Link::Sends(_) => values.extend([("blocking", wanted), ("sent", owned)]),
            Link::Granted(_) | Link::Before(_) => {}
        }
        for (nth, template) in FIXES.iter().enumerate() {
            if let Some(fix) = Row::fill(template, &values)
                && !fixes.iter().any(|(_, known)| *known == fix)
            {
                fixes.push((nth, fix));
            }
        }
    }
    fixes.sort_by_key(|(nth, _)| *nth);
    fixes.into_iter().map(|(_, fix)| fix).collect()
}
