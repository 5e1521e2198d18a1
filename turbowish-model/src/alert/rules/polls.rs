//! Polls that take too long, tasks that hardly ever stop, and those that wait for their turn meanwhile.

use alloc::format;
use alloc::vec::Vec;

use crate::alert::Severity;
use crate::alert::finding::{Finding, Scan, Subject};
use crate::alert::limits::Limit;
use crate::alert::memory::{LONG, is_more, is_part};
use crate::alert::table::{Pitfall, Row};
use crate::alert::words::{self, many, time};
use crate::scene::{OpenPoll, Task, Worker};
use crate::snapshot::TaskState;
use crate::units;

pub(in crate::alert) const LONG_POLL: Row = Row {
    why: "A poll must return soon: its worker serves no other task until it does.",
    fixes: &[
        "{proc}: file I/O, a lock of std, or a loop between two awaits? use spawn_blocking, or yield_now().await every few ms",
    ],
    limits: &[
        Limit::LongPoll,
        Limit::LongPollCount,
        Limit::LongPollShare,
        Limit::LongPollAlert,
    ],
    ..Row::new(
        Pitfall::LongPoll,
        "long_poll",
        "long poll",
        "docs/alerts/long-poll.md",
    )
};

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

pub(in crate::alert) const YIELDS_RARELY: Row = Row {
    why: "{task} gives its worker back only to take it again. What shares the worker with it waits.",
    fixes: &[
        "{proc}: move the computation to spawn_blocking or to a thread of its own",
        "or cut it into pieces of less than a millisecond with yield_now().await between them",
    ],
    limits: &[Limit::RarelyShare, Limit::RarelyPoll, Limit::Window],
    ..Row::new(
        Pitfall::YieldsRarely,
        "yields_rarely",
        "yields rarely",
        "docs/alerts/yields-rarely.md",
    )
};

pub(in crate::alert) const STARVATION: Row = Row {
    scans: 2,
    why: "{task} was woken and is not polled, while {other} was polled {polls} times since the last look. The executor does not come to it.",
    fixes: &[
        "find what the workers do instead: sort Procs by run",
        "if {other} never waits, let it yield: yield_now().await",
    ],
    limits: &[Limit::StarvationReady, Limit::StarvationPolls],
    ..Row::new(
        Pitfall::Starvation,
        "starvation",
        "starvation",
        "docs/alerts/starvation.md",
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

/// Procs whose polls were long.
pub(in crate::alert) fn long_polls(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let (warn, alert) = (
        scan.limit(Limit::LongPoll),
        scan.limit(Limit::LongPollAlert),
    );
    for proc in &scan.scene.procs {
        let counts = scan.memory.proc(proc);
        let slow = counts.slow;
        let worst = proc.longest_ns;
        // Among very many polls a few are long because their thread was not running.
        let share = scan.limit(Limit::LongPollShare);
        let is_warning =
            slow >= scan.limit(Limit::LongPollCount) && is_part(slow, counts.polls, share);
        if !is_warning {
            continue;
        }
        // One in progress says more.
        let known = Subject::Named(proc.path.clone());
        let open = |finding: &Finding| {
            finding.alert.pitfall == Pitfall::LongPoll && finding.subjects.contains(&known)
        };
        if found.iter().any(open) {
            continue;
        }
        let polls = if slow == 1 { "poll" } else { "polls" };
        let mut title = format!(
            "long poll: {}, {} {polls} > {}",
            proc.path,
            units::count(slow),
            words::threshold(warn)
        );
        // The longest is that of the last seconds, and they may be over.
        if worst > warn {
            title.push_str(&format!(", longest {}", time(worst)));
        }
        let mut finding = Finding::undated(Pitfall::LongPoll, scan.now())
            .of_proc(&proc.path)
            .at(&proc.path, None)
            .titled(title)
            .summed("polls take long")
            .explained(&[("proc", &proc.path)]);
        if worst >= alert {
            finding.alert.severity = Severity::Alert;
        }
        found.push(finding);
    }
}

/// Tasks that are nearly always in a poll.
pub(in crate::alert) fn busy_tasks(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let share = scan.limit(Limit::RarelyShare);
    let length = LONG * scan.limit(Limit::Window);
    for task in scan.tasks() {
        let (passed, counts) = scan.memory.long(task, scan.now());
        let Some(mean) = counts.busy_ns.checked_div(counts.polls) else {
            continue;
        };
        // One poll that does not end is another matter.
        let polls = counts.polls > LONG;
        if passed < length
            || !polls
            || mean <= scan.limit(Limit::RarelyPoll)
            || !is_more(counts.busy_ns, passed, share)
        {
            continue;
        }
        let busy = units::share(units::ppb(counts.busy_ns, passed));
        let title = format!(
            "yields rarely: {} was in polls {busy}% of {}, {} a poll",
            task.name,
            time(passed),
            time(mean)
        );
        found.push(
            Finding::new(Pitfall::YieldsRarely, scan.now().saturating_sub(passed))
                .of_task(task)
                .at(&task.root, None)
                .titled(title)
                .summed("a task hardly ever waits")
                .explained(&[("task", &task.name), ("proc", &task.root)]),
        );
    }
}

/// Tasks that are ready while others are polled again and again: one alert for all of them.
pub(in crate::alert) fn starved(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let Some(before) = scan.memory.before else {
        return;
    };
    let polled = scan
        .tasks()
        .map(|task| (scan.memory.recent_polls(task), task));
    let Some((polls, other)) = polled.max_by_key(|(polls, task)| (*polls, task.id)) else {
        return;
    };
    if polls < scan.limit(Limit::StarvationPolls) {
        return;
    }
    let starved = scan.tasks().filter(|task| {
        // Those polls were all within its waiting.
        let since = task.state == TaskState::Ready && task.since <= before;
        since && task.id != other.id && scan.age(task.since) >= scan.limit(Limit::StarvationReady)
    });
    let mut starved: Vec<&Task> = starved.collect();
    starved.sort_by_key(|task| (task.since, task.id));
    let Some(worst) = starved.first() else {
        return;
    };
    let title = format!(
        "starvation: {} ready and not polled, {} for {}",
        many(starved.len() as u64, "task"),
        worst.name,
        time(scan.age(worst.since))
    );
    let mut finding = Finding::undated(Pitfall::Starvation, scan.now());
    for task in &starved {
        finding = finding.with_task(task);
    }
    let polls = units::count(polls);
    let values = [
        ("task", worst.name.as_str()),
        ("other", &other.name),
        ("polls", &polls),
    ];
    found.push(
        finding
            .titled(title)
            .summed("woken tasks are not polled")
            .explained(&values),
    );
}
