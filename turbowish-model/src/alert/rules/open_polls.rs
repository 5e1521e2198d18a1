//! Polls in progress: long ones, and those that hold their worker.

use alloc::format;
use alloc::vec::Vec;

use crate::alert::Severity;
use crate::alert::finding::{Finding, Scan, Subject};
use crate::alert::limits::Limit;
use crate::alert::table::{Pitfall, Row};
use crate::alert::words::{self, time};
use crate::scene::{OpenPoll, Task, Worker};

pub(in crate::alert) const NEVER_YIELDS: Row = Row {
    severity: Severity::Alert,
    hold: Some(Limit::NeverYields),
    why: "{task} has not returned from its first poll. It has not reached an await that had to wait, and its worker serves no other task.",
    fixes: &[
        "{proc}: if it blocks or computes, run it in spawn_blocking or on a thread of its own",
        "if it loops, yield_now().await every few ms",
    ],
    limits: &[Limit::NeverYields],
    ..Row::new(
        Pitfall::NeverYields,
        "never_yields",
        "never yields",
        "docs/alerts/never-yields.md",
    )
};

pub(in crate::alert) const BLOCKED_WORKER: Row = Row {
    severity: Severity::Alert,
    hold: Some(Limit::BlockedWorker),
    why: "A poll must return soon: {worker} serves no other task until this one does.",
    fixes: &[
        "between {passed} and the next await: file I/O or a loop? use spawn_blocking, or yield_now().await every few ms",
        "{proc}: file I/O or a loop? use spawn_blocking, or yield_now().await every few ms",
        "see it now: turbowish debug --gdb {task}, or D in the console, stands in this poll",
        "see it now: attach a debugger to the thread of {thread}",
    ],
    limits: &[Limit::BlockedWorker],
    ..Row::new(
        Pitfall::BlockedWorker,
        "blocked_worker",
        "blocked worker",
        "docs/alerts/blocked-worker.md",
    )
};

/// A root poll in progress.
struct Open<'a> {
    worker: &'a Worker,
    poll: &'a OpenPoll,
    task: Option<&'a Task>,
    /// The innermost proc.
    proc: &'a str,
    age: u64,
}

fn open<'a>(scan: &Scan<'a>, worker: &'a Worker) -> Option<Open<'a>> {
    let poll = worker.poll.as_ref()?;
    let task = scan.task(poll.task);
    let root = task.map_or("a task without the attribute", |task| &task.root);
    Some(Open {
        worker,
        poll,
        task,
        proc: poll.stack.last().map_or(root, |(proc, _)| proc),
        age: scan.age(poll.since),
    })
}

/// Polls in progress: long ones, and those that are so long that they hold their worker.
pub(in crate::alert) fn open_polls(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let blocked = scan.limit(Limit::BlockedWorker);
    let workers = &scan.scene.workers;
    let open: Vec<Open<'_>> = workers
        .iter()
        .filter_map(|worker| open(scan, worker))
        .collect();
    let held = open.iter().filter(|open| open.age >= blocked).count();
    let all = held > 1 && held == workers.len();
    if all {
        found.push(all_blocked(&open));
    }
    for open in &open {
        let first = open.task.is_some_and(|task| task.polls == 1);
        if first && !all && open.age >= scan.limit(Limit::NeverYields) {
            found.extend(open.task.map(|task| never_yields(open, task)));
        } else if !first && !all && open.age >= blocked {
            found.push(blocked_worker(open));
        }
        // Folded under those. Seen once, it may be a thread that was not running for a moment.
        let twice = scan
            .memory
            .before
            .is_some_and(|before| open.poll.since <= before);
        if twice && open.age >= scan.limit(Limit::LongPollAlert) {
            found.push(long_poll_now(open));
        }
    }
    let stopped = scan.scene.heartbeat.filter(|at| scan.age(*at) >= blocked);
    if let Some(at) = stopped
        && held == 0
    {
        found.push(stopped_heart(at));
    }
}

fn long_poll_now(open: &Open<'_>) -> Finding {
    let title = format!(
        "long poll: {}, in one poll for {}+",
        open.proc,
        time(open.age)
    );
    let mut finding = Finding::new(Pitfall::LongPoll, open.poll.since).of_proc(open.proc);
    finding.alert.severity = Severity::Alert;
    if let Some(task) = open.task {
        finding = finding.with_task(task);
    }
    finding
        .at(open.proc, open.poll.passed.as_ref())
        .titled(title)
        .summed("a poll has not returned")
        .explained(&[("proc", open.proc)])
}

fn never_yields(open: &Open<'_>, task: &Task) -> Finding {
    let title = format!(
        "never yields: {} is in its first poll for {}+, in {}",
        task.name,
        time(open.age),
        open.proc
    );
    Finding::new(Pitfall::NeverYields, open.poll.since)
        .of_task(task)
        .at(open.proc, open.poll.passed.as_ref())
        .titled(title)
        .summed("a task has not returned from its first poll")
        .explained(&[("task", &task.name), ("proc", open.proc)])
}

fn blocked_worker(open: &Open<'_>) -> Finding {
    let worker = &open.worker.name;
    let title = format!(
        "blocked worker {worker}: {} in one poll for {}+",
        open.proc,
        time(open.age)
    );
    let mut finding = Finding::new(Pitfall::BlockedWorker, open.poll.since).of_worker(open.worker);
    let mut values = Vec::from([("worker", worker.as_str())]);
    // What no task of ours does has no name to ask for.
    match open.task {
        Some(task) => {
            finding = finding.with_task(task);
            values.push(("task", &task.name));
        }
        None => values.push(("thread", worker)),
    }
    let passed = open.poll.passed.as_ref();
    let passed = passed.map(|place| words::place(Some(place)));
    match &passed {
        Some(passed) => values.push(("passed", passed)),
        None => values.push(("proc", open.proc)),
    }
    finding
        .at(open.proc, open.poll.passed.as_ref())
        .titled(title)
        .summed("one poll has not returned")
        .explained(&values)
}

fn all_blocked(open: &[Open<'_>]) -> Finding {
    let since = open.iter().map(|open| open.poll.since).max().unwrap_or(0);
    let mut finding = Finding::new(Pitfall::BlockedWorker, since);
    let mut worst: Option<&Open<'_>> = None;
    for each in open {
        finding = finding.of_worker(each.worker);
        if let Some(task) = each.task {
            finding = finding.with_task(task);
        }
        if worst.is_none_or(|worst| each.age > worst.age) {
            worst = Some(each);
        }
    }
    // Whichever workers they are: it is one state of the process.
    finding.subjects = [Subject::Named("all".into())].into();
    let Some(worst) = worst else { return finding };
    let title = format!(
        "blocked workers: all {} are in one poll each, {} for {}+",
        open.len(),
        worst.proc,
        time(worst.age)
    );
    let values = [("worker", "no worker"), ("proc", worst.proc)];
    let mut finding = finding
        .at(worst.proc, worst.poll.passed.as_ref())
        .titled(title)
        .summed("no worker serves any other task")
        .explained(&values);
    finding.alert.why =
        "Every worker is in a poll that has not returned: the whole executor stands still.".into();
    finding
}

fn stopped_heart(at: u64) -> Finding {
    let mut finding = Finding::new(Pitfall::BlockedWorker, at)
        .about(Subject::Named("heartbeat".into()))
        .titled("blocked executor: it has polled nothing that was woken for {for}".into())
        .summed("the executor does not come to a task that is always ready");
    finding.alert.why = "A task that only waits to be polled is not: the workers are in polls that are not covered, or gone.".into();
    finding.alert.fixes =
        ["annotate the functions that run on the workers, to see which one it is".into()].into();
    finding
}
