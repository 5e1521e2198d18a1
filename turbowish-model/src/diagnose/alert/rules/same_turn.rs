//! Rule for futurelocks on an unknown resource: a future was woken and is not polled, and its task
//! waits for the same thing elsewhere.
//!
//! Of a lock outside of `turbowish::sync` only the text of the await points is known. If a future
//! was woken at one of them and is not polled, while another future of the same task waits at the
//! same text and was not woken, a futurelock is probable.

use alloc::format;
use alloc::vec::Vec;

use super::snoozed::{around, left};
use crate::diagnose::alert::finding::{Finding, Scan, leaves, task_party};
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::tense;
use crate::diagnose::alert::words::{self, last, time};
use crate::diagnose::situation::{Node, Task, WaitingTask, last_method};
use crate::snapshot::alert::{Party, PartyKind, Point, Step};
use crate::snapshot::pitfall::Pitfall;

const DOUBT: &str = " That both wait for the same resource is inferred from the text of the two await points alone: it is not a type of turbowish::sync.";

/// Methods that wait for a turn which stays with the waiter it was granted to.
const TURNS: &[&str] = &[
    "acquire",
    "acquire_arc",
    "acquire_many",
    "acquire_many_owned",
    "acquire_owned",
    "get_or_init",
    "get_or_try_init",
    "lock",
    "lock_arc",
    "lock_owned",
    "read",
    "read_owned",
    "reserve",
    "reserve_many",
    "send",
    "write",
    "write_owned",
];

/// Reports these futurelocks, except for tasks that have a known one.
pub(in crate::diagnose::alert) fn futurelocks(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let is_known = |task: &Task| {
        let mut locked = found
            .iter()
            .filter(|found| found.alert.pitfall == Pitfall::Futurelock);
        locked.any(|found| found.tasks.contains(&task.id))
    };
    let tasks = scan.waiting().filter(|task| !is_known(task));
    let more: Vec<Finding> = tasks.filter_map(|task| of(scan, task)).collect();
    found.extend(more);
}

fn of(scan: &Scan<'_>, task: &Task) -> Option<Finding> {
    let mut nodes = task.tree.iter();
    nodes.find_map(|node| {
        let woken = left(task, node).filter(|_| node.aside)?;
        let turns = task.tree.iter().filter(|below| {
            let same = below.id == node.id;
            same || around(task, below).any(|above| above.id == node.id)
        });
        let mut pairs = turns.filter_map(|turn| Some((turn, victim(scan, task, turn)?)));
        let (turn, victim) = pairs.next()?;
        Some(finding(scan, task, node, turn, woken, victim))
    })
}

/// The leaf at which the task waits, judging by the texts, for what `turn` was granted.
fn victim<'a>(scan: &Scan<'a>, task: &'a Task, turn: &Node) -> Option<&'a Node> {
    let asked = turn.place.as_ref()?;
    let is_turn = |method: &str| TURNS.contains(&method);
    last_method(&asked.expr).filter(|method| is_turn(method))?;
    let is_known = |node: &Node| {
        let is_this = |waiter: &WaitingTask| {
            waiter.task == Some(task.id)
                && waiter.place == node.place
                && waiter.proc.as_ref() == Some(&node.proc)
        };
        let mut resources = scan.situation.resources.iter();
        // A waiter that is not listed may be this one.
        resources.any(|resource| {
            let is_cut = resource.waiting > resource.waiters.len() as u64;
            is_cut || resource.waiters.iter().any(is_this)
        })
    };
    let mut leaves = leaves(task).into_iter();
    leaves.find(|leaf| {
        let same = leaf
            .place
            .as_ref()
            .is_some_and(|place| place.expr == asked.expr);
        let woken = leaf.wake.is_some_and(|wake| wake.woken.is_some());
        // Known resources are handled by the rule for futurelocks.
        same && !woken && !is_known(leaf)
    })
}

/// Builds the finding: `node` was woken, and `turn`, in it, has the same text as the waiting leaf.
fn finding(
    scan: &Scan<'_>,
    task: &Task,
    node: &Node,
    turn: &Node,
    woken: u64,
    victim: &Node,
) -> Finding {
    let text = turn.place.as_ref().map_or("", |place| place.expr.as_str());
    let future = last(&node.proc);
    let mut finding = Finding::new(Pitfall::Futurelock, woken)
        .of_task(task)
        .at(&turn.proc, turn.place.as_ref());
    finding.alert.certain = false;
    finding.alert.steps = steps(scan, task, turn, woken, victim, text);
    let doubt = PitfallRule::fill(DOUBT, &[]);
    finding
        .titled(format!(
            "futurelock {{for}}: {} {} not poll {future}, which was woken, and {} at {text} itself",
            task.name,
            tense("does", "did"),
            tense("waits", "waited")
        ))
        .summed("a future was woken and its task [waits|waited] at the same thing; probable")
        .explained(&[
            ("task", &task.name),
            ("proc", &node.proc),
            ("resource", text),
            ("victim", &victim.proc),
            ("future", future),
            ("at", &words::place(victim.place.as_ref())),
            ("doubt", doubt.as_deref().unwrap_or_default()),
        ])
}

fn steps(
    scan: &Scan<'_>,
    task: &Task,
    turn: &Node,
    woken: u64,
    victim: &Node,
    text: &str,
) -> Vec<Step> {
    let step = |node: &Node, since, how| Step {
        task: task_party(task),
        point: Point {
            proc: node.proc.clone(),
            place: node.place.clone(),
        },
        since,
        on: Party {
            kind: PartyKind::Resource,
            id: 0,
            name: text.into(),
        },
        how,
    };
    let owns = format!(
        "woken {} {}, not polled since",
        time(scan.age(woken)),
        tense("ago", "earlier")
    );
    let waits = format!(
        "{} {}, behind it",
        tense("waits", "waited"),
        time(scan.age(victim.since))
    );
    Vec::from([step(turn, woken, owns), step(victim, victim.since, waits)])
}
