//! Rules for wakes that can no longer come, that have no effect, or that cost more than needed.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan, Subject, leaf, leaves};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::memory::TaskCounts;
use crate::diagnose::alert::quantity::{is_more, is_part};
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::{marked, tense};
use crate::diagnose::alert::words::{self, brief, many};
use crate::diagnose::situation::{Node, Task};
use crate::ordered::Map;
use crate::snapshot::alert::Severity;
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units;
use crate::sorting;

pub(in crate::diagnose::alert) const LOST_WAKER: PitfallRule = PitfallRule {
    severity: Severity::Alert,
    hold: Some(Limit::LostWaker),
    scans: 2,
    why: "{task} returned Pending from {expr}, but nothing [holds|held] its waker: no clone of it [is|was] alive, and the task was not woken.{doubt}",
    fixes: &[
        "{place}: before a future returns Pending, it must pass cx.waker() to the code that will wake it",
        "if the other side was dropped, finish the future instead of returning Pending",
    ],
    limits: &[Limit::LostWaker],
    ..PitfallRule::new(Pitfall::LostWaker)
};

pub(in crate::diagnose::alert) const SELF_WAKE_SPIN: PitfallRule = PitfallRule {
    scans: 2,
    why: "{task} [wakes|woke] itself from inside its own polls, and its polls [change|changed] nothing: it [keeps|kept] its worker busy instead of waiting.",
    fixes: &[
        "{place}: pass the waker to the event source and wake from there, instead of wake_by_ref() in poll",
        "if it polls something that has no waker, use a timer: time::sleep",
    ],
    limits: &[
        Limit::SelfWakeSpinRate,
        Limit::SelfWakeSpinShare,
        Limit::SelfWakeSpinPoll,
        Limit::SpuriousPollsShare,
        Limit::Window,
    ],
    ..PitfallRule::new(Pitfall::SelfWakeSpin)
};

pub(in crate::diagnose::alert) const SPURIOUS_POLLS: PitfallRule = PitfallRule {
    why: "Most polls of {proc} [return|returned] Pending and [change|changed] nothing below it: the task [is|was] woken needlessly, or one wake-up [polls|polled] many futures.",
    fixes: &[
        "many futures in one join! or select!: FuturesUnordered, or a task for each, polls only the woken ones",
        "a Notify or broadcast that wakes all to serve one: use notify_one, or a channel",
    ],
    limits: &[
        Limit::SpuriousPollsShare,
        Limit::SpuriousPollsPolls,
        Limit::Window,
    ],
    ..PitfallRule::new(Pitfall::SpuriousPolls)
};

pub(in crate::diagnose::alert) const WAKER_CHURN: PitfallRule = PitfallRule {
    severity: Severity::Note,
    why: "Each clone of {task}'s waker increments and decrements a reference count that threads share.",
    fixes: &[
        "keep the future's stored waker, and clone only if !waker.will_wake(cx.waker()): Waker::clone_from does that",
    ],
    limits: &[
        Limit::WakerChurnClones,
        Limit::WakerChurnPolls,
        Limit::Window,
    ],
    ..PitfallRule::new(Pitfall::WakerChurn)
};

/// Proc, line and column, and the tasks that wait there.
type Places<'a> = Map<(&'a str, u32, u32), Vec<(&'a Task, &'a Node)>>;

/// The leaf of a task, and its await point as text.
fn stands(task: &Task) -> (Option<&Node>, String) {
    let leaf = leaves(task).into_iter().next_back();
    let place = leaf.and_then(|leaf| leaf.place.as_ref());
    (leaf, words::place(place))
}

/// Tasks that nothing can wake, grouped by the await point at which they wait.
pub(in crate::diagnose::alert) fn lost_wakers(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let mut places = Places::new();
    for task in scan.waiting() {
        // A combinator has its own wakers: which of them is lost is unknown.
        let Some(leaf) = Some(task).filter(|task| is_lost(task)).and_then(leaf) else {
            continue;
        };
        let at = leaf
            .place
            .as_ref()
            .map_or((0, 0), |place| (place.line, place.column));
        places
            .entry((&leaf.proc, at.0, at.1))
            .or_default()
            .push((task, leaf));
    }
    for ((proc, line, column), mut lost) in places {
        sorting::by_key(&mut lost, |(task, _)| (task.since, task.id));
        let Some(&(first, leaf)) = lost.first() else {
            continue;
        };
        let place = words::place(leaf.place.as_ref());
        let who = match lost.len() {
            1 => first.name.clone(),
            n => many(n as u64, "task"),
        };
        let verb = if lost.len() == 1 { "waits" } else { "wait" };
        let verb = tense(verb, "waited");
        let expr = leaf
            .place
            .as_ref()
            .map_or_else(|| "a future".into(), |place| brief(&place.expr));
        let title = format!(
            "lost waker {{for}}: {who} {verb} at {place}, and nothing {} wake {}",
            tense("can", "could"),
            if lost.len() == 1 { "it" } else { "them" }
        );
        let meant = may_be_meant(leaf);
        let doubt = marked(if meant { MEANT } else { "" });
        let mut finding = Finding::new(Pitfall::LostWaker, first.since)
            .about(Subject::At(proc.into(), line, column))
            .at(proc, leaf.place.as_ref())
            .titled(title)
            .summed("a future returned Pending, and its waker [is|was] gone")
            .explained(&[
                ("task", &first.name),
                ("expr", &expr),
                ("place", &place),
                ("doubt", &doubt),
            ]);
        if meant {
            finding.alert.severity = Severity::Warning;
            finding.alert.certain = false;
        }
        for (task, _) in &lost {
            finding = finding.with_task(task);
        }
        found.push(finding);
    }
}

fn is_lost(task: &Task) -> bool {
    let Some(wakes) = &task.wakes else {
        return false;
    };
    let woken = wakes
        .last
        .as_ref()
        .is_some_and(|wake| wake.at >= task.since);
    // A task that was never polled waits for its executor.
    task.polls > 0 && wakes.live == Some(0) && !woken && !waits_for_ever(task)
}

/// Whether the leaf awaits `pending()`, which is meant to wait forever.
fn waits_for_ever(task: &Task) -> bool {
    let leaves = leaves(task);
    leaves.iter().any(|leaf| {
        let expr = leaf.place.as_ref().map_or("", |place| place.expr.trim());
        let path = expr.trim_end_matches(|c: char| c == '(' || c == ')' || c.is_whitespace());
        let path = path
            .split("::<")
            .next()
            .unwrap_or(path)
            .trim_end_matches("::");
        expr.ends_with(')')
            && path
                .rsplit("::")
                .next()
                .is_some_and(|end| end.trim() == "pending")
    })
}

/// What a function without the attribute awaits is not seen.
const MEANT: &str = " The awaits inside it are not visible: if it awaits future::pending(), it [waits|waited] forever on purpose, and this [is|was] not a lost waker.";

/// Whether the leaf awaits the result of a function, which may wait forever on purpose. A closure
/// or a named future that is awaited does what its text says.
fn may_be_meant(leaf: &Node) -> bool {
    let expr = leaf.place.as_ref().map_or("", |place| place.expr.trim());
    let name = expr.split('(').next().unwrap_or(expr);
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    expr.ends_with(')') && name != "poll_fn"
}

/// Tasks that wake themselves without progress.
pub(in crate::diagnose::alert) fn spins(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for task in scan.tasks().filter(|task| task.wakes.is_some()) {
        let (passed, counts) = scan.memory.short(task, scan.now());
        let rate = u128::from(counts.wakes) * u128::from(units::SECOND) / u128::from(passed.max(1));
        let mean = counts.busy_ns.checked_div(counts.polls);
        let is_spin = passed >= scan.limit(Limit::Window)
            && rate >= u128::from(scan.limit(Limit::SelfWakeSpinRate))
            && is_more(
                counts.own,
                counts.wakes,
                scan.limit(Limit::SelfWakeSpinShare),
            )
            && mean.is_some_and(|mean| mean <= scan.limit(Limit::SelfWakeSpinPoll))
            && gets_nowhere(scan, task, passed, counts);
        if !is_spin {
            continue;
        }
        let rate = units::rate(units::micro_per_second(counts.wakes, passed));
        let title = format!(
            "self-wake spin: {} {} itself {rate} times a second and {} no progress",
            task.name,
            tense("wakes", "woke"),
            tense("makes", "made")
        );
        let (leaf, place) = stands(task);
        let proc = leaf.map_or(task.root.as_str(), |leaf| &leaf.proc);
        found.push(
            Finding::new(Pitfall::SelfWakeSpin, scan.now().saturating_sub(passed))
                .of_task(task)
                .at(proc, leaf.and_then(|leaf| leaf.place.as_ref()))
                .titled(title)
                .summed("a task [keeps|kept] waking itself")
                .explained(&[("task", &task.name), ("place", &place)]),
        );
    }
}

/// Whether the polls of a window had no effect: as counted, or because the task has not moved since
/// before all of them.
fn gets_nowhere(scan: &Scan<'_>, task: &Task, passed: u64, counts: TaskCounts) -> bool {
    match task.idle_polls {
        Some(_) => is_part(
            counts.idle,
            counts.polls,
            scan.limit(Limit::SpuriousPollsShare),
        ),
        None => {
            let stands = scan.memory.stands(task);
            stands.is_some_and(|since| since <= scan.now().saturating_sub(passed))
        }
    }
}

/// Procs most of whose polls have no effect.
pub(in crate::diagnose::alert) fn spurious(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for proc in scan
        .situation
        .procs
        .iter()
        .filter(|proc| proc.spurious.is_some())
    {
        let counts = scan.memory.proc(proc);
        let enough = counts.polls >= scan.limit(Limit::SpuriousPollsPolls);
        if !enough
            || !is_more(
                counts.spurious,
                counts.polls,
                scan.limit(Limit::SpuriousPollsShare),
            )
        {
            continue;
        }
        let share = units::share(units::ppb(counts.spurious.min(counts.polls), counts.polls));
        let title = format!(
            "spurious polls: {}, {share}% of {} polls changed nothing",
            proc.path,
            units::count(counts.polls)
        );
        found.push(
            Finding::undated(Pitfall::SpuriousPolls, scan.now())
                .of_proc(&proc.path)
                .at(&proc.path, None)
                .titled(title)
                .summed("polls [change|changed] nothing")
                .explained(&[("proc", &proc.path)]),
        );
    }
}

/// Tasks whose waker is cloned again and again.
pub(in crate::diagnose::alert) fn churn(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for task in scan.tasks() {
        let (_, counts) = scan.memory.long(task, scan.now());
        let per_poll = counts.clones.checked_div(counts.polls).unwrap_or(0);
        let too_many = u128::from(counts.clones)
            > u128::from(counts.polls) * u128::from(scan.limit(Limit::WakerChurnClones));
        if counts.polls < scan.limit(Limit::WakerChurnPolls) || !too_many {
            continue;
        }
        let (leaf, _) = stands(task);
        let title = format!(
            "waker churn: the waker of {} {} cloned {} times per poll",
            task.name,
            tense("is", "was"),
            units::count(per_poll)
        );
        found.push(
            Finding::undated(Pitfall::WakerChurn, scan.now())
                .of_task(task)
                .at(
                    leaf.map_or(task.root.as_str(), |leaf| &leaf.proc),
                    leaf.and_then(|leaf| leaf.place.as_ref()),
                )
                .titled(title)
                .summed("wakers [are|were] cloned more often than needed")
                .explained(&[("task", &task.name)]),
        );
    }
}
