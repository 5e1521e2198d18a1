//! Rule for deadlocks: each cycle of the wait graph, with its waits in order.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::account::resource::Role;
use crate::diagnose::alert::finding::{Finding, Scan, resource_party, task_party};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::{marked, tense};
use crate::diagnose::alert::words::{self, does, many, time};
use crate::diagnose::situation::{Resource, Situation, Task, TaskKind, WaitingTask};
use crate::diagnose::wait_graph::{self, Cycle, Dependency, Evidence};
use crate::ordered::Set;
use crate::snapshot::alert::{Behind, Point, Severity, Step};
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units;
use crate::sorting;

pub(in crate::diagnose::alert) const DEADLOCK: PitfallRule = PitfallRule {
    severity: Severity::Alert,
    scans: 2,
    why: "No task in the cycle [can|could] run until another one in it [does|did]. None was woken.{doubt}",
    fixes: FIXES,
    limits: &[Limit::Clear],
    ..PitfallRule::new(Pitfall::Deadlock)
};

pub(in crate::diagnose::alert) const SELF_DEADLOCK: PitfallRule = PitfallRule {
    severity: Severity::Alert,
    scans: 2,
    why: "Only {task} could end this wait, and it [cannot|could not] run until the wait [ends|ended].{doubt}",
    fixes: FIXES,
    limits: &[Limit::Clear],
    ..PitfallRule::new(Pitfall::SelfDeadlock)
};

/// One fix per arc that could be cut; a fix is used where an arc has a value for each of its names.
const FIXES: &[&str] = &[
    "{at} {does} while it holds {held}: drop the guard first",
    "take {wanted} before {held_too} in {proc} (it takes {held_too}, then {wanted})",
    "do not wait for {blocking} in {proc}, a receiver of {received}",
    "in {proc}, do not wait for {blocking} before the send to {sent}",
    "drop the senders of {own} that {proc} holds, so that the wait ends",
    "if {taker} [is alive but not polled now, it keeps|was alive but not polled, it kept] the guard: spawn it, or drop it first (see futurelock)",
];

/// A candidate is known that may have received what the cycle is based on.
const POSSIBLE: &str = " {candidate} was created since and may have received the guard or channel end in question: if it did, this [is|was] not a deadlock.";

const DOUBT: &str = " A channel end is attributed to the task that last used it: if it has moved to another task since, this [is|was] not a deadlock.";

/// Reports every cycle that persists.
pub(in crate::diagnose::alert) fn cycles(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for cycle in &scan.waits.cycles {
        if stands(scan.situation, cycle) {
            found.push(finding(scan, cycle));
        }
    }
}

/// Whether the cycle would persist if each of its tasks were polled when woken. A cycle with a
/// paused task counts: inspecting a task does not end the cycle. But a granted turn that is not
/// taken may be caused by the pause.
fn stands(situation: &Situation, cycle: &Cycle) -> bool {
    let next = cycle.steps.iter().cycle().skip(1);
    cycle.steps.iter().zip(next).all(|(step, next)| {
        let waits_to_be_polled = matches!(step.link, Dependency::Granted(_));
        let pause_holds_it = waits_to_be_polled && situation.tasks[next.task].paused;
        situation.tasks[step.task].kind != TaskKind::Blocking && !pause_holds_it
    })
}

/// A step with the rows that it refers to.
struct ArcCut<'a> {
    task: &'a Task,
    resource: &'a Resource,
    waiter: &'a WaitingTask,
    /// The relation of this task to the resource of the step before, and that resource.
    owned: (Dependency, &'a Resource),
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
    let behind = cycle.behind.iter().map(|&at| &scan.situation.tasks[at]);
    finding.tasks.extend(behind.clone().map(|task| task.id));
    finding.alert.behind = Behind {
        tasks: behind.map(task_party).collect(),
        unlisted: cycle.unlisted,
        ..Behind::default()
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
        .summed(&summary(&arcs, alone))
        .explained(&[("doubt", &doubt), ("task", name)]);
    finding.alert.fixes = fixes(&arcs, alone);
    finding
}

/// Text about the unproven fact that the cycle is based on; empty if it is certain.
fn doubt(scan: &Scan<'_>, cycle: &Cycle) -> String {
    let candidate = cycle.steps.iter().find_map(|step| step.candidate);
    match candidate.map(|candidate| scan.situation.candidates[candidate].name.as_str()) {
        Some(name) => PitfallRule::fill(POSSIBLE, &[("candidate", name)]).unwrap_or_default(),
        None if cycle.is_certain() => String::new(),
        None => marked(DOUBT),
    }
}

fn arcs<'a>(scan: &Scan<'a>, cycle: &Cycle) -> Vec<ArcCut<'a>> {
    let steps = &cycle.steps;
    let arcs = steps.iter().enumerate().map(|(nth, step)| {
        let before = &steps[(nth + steps.len() - 1) % steps.len()];
        let resource = &scan.situation.resources[step.resource];
        ArcCut {
            task: &scan.situation.tasks[step.task],
            resource,
            waiter: &resource.waiters[step.waiter],
            owned: (before.link, &scan.situation.resources[before.resource]),
        }
    });
    arcs.collect()
}

/// `deadlock 41.2 s+: conn:51022, repl-1, snapshot wait in a cycle`
fn title(arcs: &[ArcCut<'_>]) -> String {
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
        "deadlock {{for}}: {}{more} {} in a cycle",
        shown.join(", "),
        tense("wait", "waited")
    )
}

fn alone_title(arcs: &[ArcCut<'_>], likely: bool) -> String {
    let Some(arc) = arcs.first() else {
        return String::new();
    };
    let why = match arc.owned.0 {
        Dependency::Holds(_) if likely => "which it [holds|held]",
        Dependency::Holds(_) => "which it took",
        Dependency::Granted(_) => "which was granted to another of its futures",
        Dependency::Before(_) => "queued behind itself",
        Dependency::Receives(_) if likely => "of which it [is|was] the receiver",
        Dependency::Receives(_) => "which it received from",
        Dependency::Sends(_) if likely => "whose only senders it [holds|held]",
        Dependency::Sends(_) => "to which only it was seen to send",
    };
    let name = &arc.task.name;
    format!(
        "self deadlock {{for}}: {name} {} on {}, {}",
        tense("waits", "waited"),
        arc.resource.name,
        marked(why)
    )
}

fn summary(arcs: &[ArcCut<'_>], alone: bool) -> String {
    if alone {
        return "a task [waits|waited] for itself".to_string();
    }
    let tasks = Set::from_iter(arcs.iter().map(|arc| arc.task.id));
    let resources = Set::from_iter(arcs.iter().map(|arc| arc.resource.id));
    let (tasks, resources) = (tasks.len() as u64, resources.len() as u64);
    format!(
        "{} and {} [wait|waited] in a cycle",
        many(tasks, "task"),
        many(resources, "resource")
    )
}

fn shown(scan: &Scan<'_>, arc: &ArcCut<'_>, step: &wait_graph::CycleStep) -> Step {
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
fn how(scan: &Scan<'_>, resource: &Resource, step: &wait_graph::CycleStep) -> String {
    let only = |role: Role| resource.ends.iter().filter(|end| end.role == role).count() == 1;
    let who = |role, evidence| match (only(role), evidence) {
        (true, Evidence::Proven | Evidence::Said) => "only this task [intends|intended] to",
        (true, Evidence::Seen) => "only this task was seen to",
        (false, Evidence::Proven | Evidence::Said) => "this task [intends|intended] to",
        (false, Evidence::Seen) => "this task was seen to",
    };
    match step.link {
        Dependency::Holds(h) => {
            let holder = &resource.holders[h];
            let taken = words::taken(holder.spot.as_ref());
            let held = match step.candidate {
                None => "held",
                Some(_) => "not released for",
            };
            format!("{held} {}{taken}, by", time(scan.age(holder.since)))
        }
        Dependency::Granted(w) => {
            let woken = resource.waiters[w].woken.unwrap_or(scan.now());
            format!(
                "granted {} {}, not polled since, to",
                time(scan.age(woken)),
                tense("ago", "earlier")
            )
        }
        Dependency::Before(w) => {
            let since = resource.waiters[w].since;
            format!(
                "requested {} {}, ahead in the queue, by",
                time(scan.age(since)),
                tense("ago", "earlier")
            )
        }
        Dependency::Receives(evidence) => {
            let fill = match resource.capacity {
                Some(capacity) => format!(
                    "{}/{}, full",
                    units::count(resource.length),
                    units::count(capacity)
                ),
                None => units::count(resource.length),
            };
            marked(&format!("{fill}; {} receive", who(Role::Receive, evidence)))
        }
        Dependency::Sends(evidence) => {
            marked(&format!("empty; {} send", who(Role::Send, evidence)))
        }
    }
}

/// A fix for each arc that could be cut.
fn fixes(arcs: &[ArcCut<'_>], alone: bool) -> Vec<String> {
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
            Dependency::Holds(h) => {
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
            Dependency::Receives(_) => values.extend([("blocking", wanted), ("received", owned)]),
            Dependency::Sends(_) if alone => values.push(("own", owned)),
            Dependency::Sends(_) => values.extend([("blocking", wanted), ("sent", owned)]),
            Dependency::Granted(_) | Dependency::Before(_) => {}
        }
        for (nth, template) in FIXES.iter().enumerate() {
            if let Some(fix) = PitfallRule::fill(template, &values)
                && !fixes.iter().any(|(_, known)| *known == fix)
            {
                fixes.push((nth, fix));
            }
        }
    }
    sorting::by_key(&mut fixes, |(nth, _)| *nth);
    fixes.into_iter().map(|(_, fix)| fix).collect()
}
