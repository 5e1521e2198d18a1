//! Rules for locks that are held too long, and for those that many tasks want at once.

use alloc::format;
use alloc::vec::Vec;

use crate::account::resource::{Kind, Role};
use crate::diagnose::alert::finding::{Finding, Scan, Subject, is_judged, leaves, task_party};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::{marked, tense};
use crate::diagnose::alert::words::{self, many};
use crate::diagnose::situation::{HoldingTask, Resource, Task, WaitingTask};
use crate::snapshot::TaskState;
use crate::snapshot::alert::Severity;
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units;
use crate::sorting;

pub(in crate::diagnose::alert) const GUARD_ACROSS_AWAIT: PitfallRule = PitfallRule {
    hold: Some(Limit::GuardAcrossAwaitHeld),
    scans: 2,
    why: "{task} [holds|held] {resource} while it [waits|waited] for something else. Every task that [wants|wanted] {resource} [waits|waited] for that, too.",
    fixes: &[
        "{at}: drop the guard before this await (with a block, or drop(guard))",
        "or copy the needed data, drop the guard, await, and lock again",
    ],
    limits: &[Limit::GuardAcrossAwaitHeld],
    ..PitfallRule::new(Pitfall::GuardAcrossAwait)
};

pub(in crate::diagnose::alert) const LOCK_CONVOY: PitfallRule = PitfallRule {
    scans: 2,
    why: "{many} were woken together and all [want|wanted] {resource}, which serves one at a time: all wake-ups but one were wasted.",
    fixes: &[
        "wake one task: notify_one instead of notify_waiters, a channel instead of a broadcast",
        "or shard {resource}, or hold it for a shorter time",
    ],
    limits: &[
        Limit::LockConvoyWaiters,
        Limit::LockConvoySpread,
        Limit::LockConvoyWait,
    ],
    ..PitfallRule::new(Pitfall::LockConvoy)
};

/// Exclusive guards that are held while their task waits for something else.
pub(in crate::diagnose::alert) fn guards(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let exclusive = [Kind::Mutex, Kind::RwLock];
    let locks = scan
        .situation
        .resources
        .iter()
        .filter(|resource| exclusive.contains(&resource.kind));
    for resource in locks {
        for holder in &resource.holders {
            let Some(task) = scan.task(holder.task).filter(|task| is_judged(task)) else {
                continue;
            };
            // Acquired before the poll that ended pending, so it is held across an await.
            let across = task.state == TaskState::Waiting && holder.since <= task.since;
            if across && matches!(holder.role, Role::Lock | Role::Write) {
                found.push(guard(scan, resource, holder, task));
            }
        }
    }
}

fn guard(scan: &Scan<'_>, resource: &Resource, holder: &HoldingTask, task: &Task) -> Finding {
    let mut waiting: Vec<&WaitingTask> = resource
        .waiters
        .iter()
        .filter(|waiter| waiter.woken.is_none())
        .collect();
    waiting.retain(|waiter| waiter.task != Some(task.id));
    let held_up = waiting
        .iter()
        .any(|waiter| scan.age(waiter.since) >= scan.limit(Limit::GuardAcrossAwaitHeld));
    let stands = leaves(task).into_iter().find(|leaf| leaf.place.is_some());
    let place = stands.and_then(|leaf| leaf.place.as_ref());
    let proc = stands.map_or(&task.root, |leaf| &leaf.proc);
    let at = words::place(place);
    let count = waiting.len() as u64
        + resource
            .waiting
            .saturating_sub(resource.waiters.len() as u64);
    let waits = match count {
        0 => "".into(),
        1 => marked("; 1 task [waits|waited] for it"),
        n => marked(&format!("; {} [wait|waited] for it", many(n, "task"))),
    };
    let title = format!(
        "guard across await {{for}}: {} {} {} while it {} at {at}{waits}",
        task.name,
        tense("holds", "held"),
        resource.name,
        tense("waits", "waited")
    );
    let mut finding = Finding::new(Pitfall::GuardAcrossAwait, holder.since)
        .of_task(task)
        .of_resource(resource);
    if !held_up {
        // No other task is affected yet.
        finding.alert.severity = Severity::Note;
    }
    let known = waiting.iter().filter_map(|waiter| scan.task(waiter.task));
    finding.alert.behind.tasks = known.map(task_party).collect();
    finding.alert.behind.unlisted = count.saturating_sub(finding.alert.behind.tasks.len() as u64);
    finding
        .at(proc, place)
        .titled(title)
        .summed("a lock [is|was] held while its task [waits|waited] for something else")
        .explained(&[
            ("task", &task.name),
            ("resource", &resource.name),
            ("at", &at),
        ])
}

/// Locks that many tasks requested at once and that are handed on one by one.
pub(in crate::diagnose::alert) fn convoys(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let locks = [Kind::Mutex, Kind::RwLock];
    for resource in scan
        .situation
        .resources
        .iter()
        .filter(|resource| locks.contains(&resource.kind))
    {
        let at_least = scan.limit(Limit::LockConvoyWaiters);
        if (resource.waiters.len() as u64) < at_least {
            continue;
        }
        let (came, until) = most_at_once(scan, resource);
        if came == 0 || came < at_least || !is_handed_on(scan, resource, until) {
            continue;
        }
        let mut who = many(came, "task");
        if resource.waiting > resource.waiters.len() as u64 {
            // The times of the waiters that are not listed are unknown.
            who += " or more";
        }
        let title = format!(
            "lock convoy: {who} requested {} at once, and {} served one by one",
            resource.name,
            tense("are", "were")
        );
        let mut finding = Finding::undated(Pitfall::LockConvoy, scan.now()).of_resource(resource);
        finding.alert.behind.unlisted = resource.waiting;
        if let Some(waiter) = resource.waiters.first() {
            finding = finding.at(
                waiter.proc.as_deref().unwrap_or_default(),
                waiter.place.as_ref(),
            );
        }
        finding.subjects.insert(Subject::Resource(resource.id));
        let summary = format!(
            "{} [wait|waited] for one lock",
            units::count(resource.waiting)
        );
        found.push(
            finding
                .titled(title)
                .summed(&summary)
                .explained(&[("many", &who), ("resource", &resource.name)]),
        );
    }
}

/// Whether a lock was handed on since the last scan. If that saw no waiters of it, whether it was
/// since the last of those that came at once did so, at the instant `until`.
fn is_handed_on(scan: &Scan<'_>, resource: &Resource, until: u64) -> bool {
    match scan.memory.channel(resource).taken {
        Some(taken) => resource.flow.took > taken,
        None => {
            let mut woken = resource.waiters.iter().filter_map(|waiter| waiter.woken);
            let mut held = resource.holders.iter().map(|holder| holder.since);
            woken.any(|woken| woken > until) || held.any(|since| since > until)
        }
    }
}

/// Maximum number of waiters that began within one spread of time and still wait after a while, and
/// when the last of them began.
fn most_at_once(scan: &Scan<'_>, resource: &Resource) -> (u64, u64) {
    let (spread, wait) = (Limit::LockConvoySpread, Limit::LockConvoyWait);
    let waiting = resource
        .waiters
        .iter()
        .filter(|waiter| waiter.role != Role::Read && scan.age(waiter.since) >= scan.limit(wait));
    let mut times: Vec<u64> = waiting.map(|waiter| waiter.since).collect();
    sorting::ascending(&mut times);
    let (mut first, mut most, mut until) = (0, 0, 0);
    for (at, time) in times.iter().enumerate() {
        while time - times[first] > scan.limit(spread) {
            first += 1;
        }
        if at - first + 1 > most {
            (most, until) = (at - first + 1, *time);
        }
    }
    (most as u64, until)
}
