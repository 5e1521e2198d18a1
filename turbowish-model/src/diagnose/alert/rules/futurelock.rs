//! Rule for futurelocks: a future holds a resource or its turn and is not polled, while its task
//! polls another future that waits behind it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::account::resource::{Kind, Role};
use crate::diagnose::alert::finding::{
    Finding, Scan, is_judged, leaves, resource_party, task_party,
};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::tense;
use crate::diagnose::alert::words::{self, last, time};
use crate::diagnose::situation::{FutureRef, HoldingTask, Resource, Task, WaitingTask};
use crate::diagnose::wait_graph::was_left;
use crate::snapshot::alert::{Behind, Party, Point, Severity, Step};
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::{Place, TaskState};
use crate::sorting;

pub(in crate::diagnose::alert) const FUTURELOCK: PitfallRule = PitfallRule {
    severity: Severity::Alert,
    hold: Some(Limit::SnoozedFuture),
    scans: 2,
    why: "{task} [keeps|kept] {proc} alive but [does|did] not poll it, so {resource} [stays|stayed] with that future. Meanwhile {task} [polls|polled] {victim}, which [waits|waited] for {resource}.{doubt}",
    fixes: &[
        "spawn {future}, or poll both in one join! or select!",
        "or drop {future} before {at}: `drop({future})`",
    ],
    limits: &[Limit::SnoozedFuture],
    ..PitfallRule::new(Pitfall::Futurelock)
};

const DOUBT: &str = " The waiter belongs to another task: this [is resolved only if {task} polls|could be resolved only if {task} polled] the future again.";

/// A future that holds a resource, or its turn, and is not polled.
struct Owner<'a> {
    task: &'a Task,
    proc: String,
    place: Option<&'a Place>,
    /// When it was granted its turn, or since when it holds the resource.
    since: u64,
    /// `true` for a guard, `false` for a granted turn.
    holds: bool,
}

/// Reports all futurelocks: granted turns that were not taken, and guards.
pub(in crate::diagnose::alert) fn futurelocks(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for resource in scan
        .situation
        .resources
        .iter()
        .filter(|resource| is_taken_in_turn(resource))
    {
        let granted = resource
            .waiters
            .iter()
            .filter_map(|waiter| granted(scan, waiter));
        let held = resource
            .holders
            .iter()
            .filter_map(|holder| held(scan, holder));
        for owner in granted.chain(held) {
            found.extend(finding(scan, resource, &owner));
        }
    }
}

const fn is_taken_in_turn(resource: &Resource) -> bool {
    matches!(
        resource.kind,
        Kind::Mutex | Kind::RwLock | Kind::Semaphore | Kind::OnceCell | Kind::Mpsc
    )
}

fn granted<'a>(scan: &Scan<'a>, waiter: &'a WaitingTask) -> Option<Owner<'a>> {
    let task = scan.task(waiter.task).filter(|task| is_judged(task))?;
    // A wake on an empty channel grants nothing.
    let owns = waiter.role != Role::Receive && waiter.role != Role::Wait;
    (owns && was_left(task, waiter)).then(|| Owner {
        task,
        proc: waiter.proc.clone().unwrap_or_else(|| task.root.clone()),
        place: waiter.place.as_ref(),
        since: waiter.woken.unwrap_or(waiter.since),
        holds: false,
    })
}

fn held<'a>(scan: &Scan<'a>, holder: &'a HoldingTask) -> Option<Owner<'a>> {
    let task = scan.task(holder.task).filter(|task| is_judged(task))?;
    let exclusive = holder.role != Role::Read;
    (holder.future == FutureRef::Aside && task.state == TaskState::Waiting && exclusive).then(
        || Owner {
            task,
            proc: holder.proc.clone().unwrap_or_else(|| task.root.clone()),
            place: None,
            since: holder.since,
            holds: true,
        },
    )
}

fn finding(scan: &Scan<'_>, resource: &Resource, owner: &Owner<'_>) -> Option<Finding> {
    let waiting = resource
        .waiters
        .iter()
        .filter(|waiter| waiter.woken.is_none());
    // Prefer a waiter of the same task: it certainly cannot resume.
    let own = waiting
        .clone()
        .find(|waiter| waiter.task == Some(owner.task.id) && waiter.future != FutureRef::Aside);
    let victim = match own {
        Some(own) => own,
        None if owner.holds => return None,
        None => waiting
            .clone()
            .find(|waiter| waiter.task != Some(owner.task.id))?,
    };
    let task = owner.task;
    let certain = own.is_some();
    // A guard may have been held long before another task wanted the lock; a turn is only granted
    // to a waiter.
    let since = if owner.holds {
        owner.since.max(victim.since)
    } else {
        owner.since
    };
    let mut finding = Finding::new(Pitfall::Futurelock, since)
        .of_task(task)
        .of_resource(resource);
    finding = finding.at(&owner.proc, owner.place);
    for waiter in waiting.clone() {
        finding.tasks.extend(waiter.task);
    }
    finding.alert.certain = certain;
    finding.alert.steps = steps(scan, resource, owner, victim);
    finding.alert.behind = behind(scan, resource, victim, task);
    Some(with_texts(finding, resource, owner, victim))
}

/// Fills in the texts.
fn with_texts(
    finding: Finding,
    resource: &Resource,
    owner: &Owner<'_>,
    victim: &WaitingTask,
) -> Finding {
    let (task, certain) = (&owner.task.name, finding.alert.certain);
    let future = last(&owner.proc);
    let doubt = if certain {
        None
    } else {
        PitfallRule::fill(DOUBT, &[("task", task)])
    };
    let got = match owner.holds {
        true => format!("{} {}", tense("holds", "held"), resource.name),
        false => format!("got {}", resource.name),
    };
    let sure = if certain { "certain" } else { "probable" };
    let values = [
        ("task", task.as_str()),
        ("proc", &owner.proc),
        ("resource", &resource.name),
        ("victim", victim.proc.as_deref().unwrap_or("a future")),
        ("future", future),
        ("at", &words::place(victim.place.as_ref())),
        ("doubt", doubt.as_deref().unwrap_or_default()),
    ];
    finding
        .titled(format!(
            "futurelock {{for}}: {task} {got}, but {} not poll {future}",
            tense("does", "did")
        ))
        .summed(&format!(
            "a future was granted a resource, but its task [polls|polled] another future; {sure}"
        ))
        .explained(&values)
}

/// The other tasks that wait there.
fn behind(scan: &Scan<'_>, resource: &Resource, victim: &WaitingTask, task: &Task) -> Behind {
    let waiting = resource.waiters.iter();
    let others = waiting.filter(|waiter| {
        let another = !core::ptr::eq(*waiter, victim) && waiter.task != Some(task.id);
        another && waiter.woken.is_none()
    });
    let others = others.filter_map(|waiter| scan.task(waiter.task));
    let mut tasks: Vec<Party> = others.map(task_party).collect();
    sorting::by(&mut tasks, |a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    tasks.dedup();
    let listed = resource.waiters.len() as u64;
    Behind {
        tasks,
        unlisted: resource.waiting.saturating_sub(listed),
        ..Behind::default()
    }
}

/// The future that owns the resource or turn, and the one that waits behind it.
fn steps(
    scan: &Scan<'_>,
    resource: &Resource,
    owner: &Owner<'_>,
    victim: &WaitingTask,
) -> Vec<Step> {
    let owned = if owner.holds {
        format!(
            "{} it for {}, not polled in the last poll of its task",
            tense("holds", "held"),
            time(scan.age(owner.since))
        )
    } else {
        format!(
            "granted {} {}, not polled since",
            time(scan.age(owner.since)),
            tense("ago", "earlier")
        )
    };
    let waits = format!(
        "{} {}, behind it",
        tense("waits", "waited"),
        time(scan.age(victim.since))
    );
    let waiting = scan.task(victim.task);
    let place = victim.place.clone().or_else(|| {
        let leaves = leaves(waiting?);
        leaves.last()?.place.clone()
    });
    let step = |task, point, since, how| Step {
        task,
        point,
        since,
        on: resource_party(resource),
        how,
    };
    let own = Point {
        proc: owner.proc.clone(),
        place: owner.place.cloned(),
    };
    let other = Point {
        proc: victim.proc.clone().unwrap_or_default(),
        place,
    };
    let party = waiting.map_or_else(|| task_party(owner.task), task_party);
    Vec::from([
        step(task_party(owner.task), own, owner.since, owned),
        step(party, other, victim.since, waits),
    ])
}
