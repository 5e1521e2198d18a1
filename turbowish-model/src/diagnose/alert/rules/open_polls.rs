//! Rules for polls in progress: long ones, and those that hold their worker.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::account::resource::Role;
use crate::diagnose::alert::asleep;
use crate::diagnose::alert::finding::{Finding, OngoingPoll, Scan, Subject, task_party};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::memory::{PollInterval, ProcessorTime};
use crate::diagnose::alert::quantity::is_part;
use crate::diagnose::alert::rules::doing::{self, Doing};
use crate::diagnose::alert::rules::machine;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::{marked, tense};
use crate::diagnose::alert::words::{self, time};
use crate::diagnose::situation::{HoldingTask, OpenPoll, Resource, Task, WorkerThread};
use crate::ordered::Set;
use crate::snapshot::TaskState;
use crate::snapshot::alert::Severity;
use crate::snapshot::pitfall::Pitfall;
use crate::sorting;

pub(in crate::diagnose::alert) const NEVER_YIELDS: PitfallRule = PitfallRule {
    severity: Severity::Alert,
    hold: Some(Limit::NeverYields),
    why: "{task} [has|had] not returned from its first poll. It [has|had] not reached an await that was pending, and its worker [runs|ran] no other task.",
    fixes: &[
        "{code}: if it blocks or computes, run it in spawn_blocking or on a dedicated thread",
        "if {code} loops, yield_now().await every few ms",
        doing::IF_COMPUTING,
        doing::IF_ASLEEP,
    ],
    limits: &[Limit::NeverYields],
    ..PitfallRule::new(Pitfall::NeverYields)
};

pub(in crate::diagnose::alert) const BLOCKED_WORKER: PitfallRule = PitfallRule {
    severity: Severity::Alert,
    hold: Some(Limit::BlockedWorker),
    why: "A poll must return quickly: {worker} [runs|ran] no other task until this one [returns|returned].",
    fixes: &[
        "{code}: file I/O or a loop? use spawn_blocking, or yield_now().await every few ms",
        doing::IF_COMPUTING,
        doing::IF_ASLEEP,
        "[look into this poll now: turbowish debug --gdb {task}, or D in the console|]",
        "[look into this poll now: attach a debugger to worker {thread}|]",
    ],
    limits: &[Limit::BlockedWorker],
    also: "A note if only the machine makes the poll so long.",
    ..PitfallRule::new(Pitfall::BlockedWorker)
};

/// What is most of a time.
pub(super) const MOST_PERCENT: u64 = 50;

/// A root poll, in progress or ended.
pub(super) struct Open<'a> {
    pub(super) worker: &'a WorkerThread,
    pub(super) poll: &'a OpenPoll,
    pub(super) task: Option<&'a Task>,
    /// Path of the innermost proc.
    pub(super) proc: &'a str,
    /// Its length so far.
    pub(super) age: u64,
    /// Part of the poll's age in which the machine did not run the thread, as far as measured.
    pub(super) run_delay: u64,
    /// The age without all run delay that it may have: the poll is this long in any case.
    pub(super) own: u64,
    /// Time on the processor, if it is known for most of the poll's age.
    pub(super) on_processor: Option<ProcessorTime>,
    /// What the thread does, as far as its time on the processor tells.
    pub(super) doing: Doing,
}

impl Open<'_> {
    /// Whether run delay makes the poll this long: it is most of the age, and the remainder is
    /// below the limit.
    fn is_run_delay(&self, limit: u64) -> bool {
        let rest = self.age.saturating_sub(self.run_delay);
        self.run_delay > rest && rest < limit
    }

    /// Whether most of the poll is certainly not run delay.
    fn is_own(&self) -> bool {
        is_part(self.own, self.age, MOST_PERCENT)
    }

    /// Whether the poll is over a limit, be it by itself or because of the machine.
    pub(super) fn is_over(&self, limit: u64) -> bool {
        self.own >= limit || self.age >= limit && (self.is_own() || self.is_run_delay(limit))
    }

    /// `The kernel did not run w0 for 412ms+ of this poll`, if that is at least a tenth of
    /// it.
    fn run_delay(&self) -> Option<String> {
        const TOLD_PERCENT: u64 = 10;
        is_part(self.run_delay, self.age, TOLD_PERCENT).then(|| {
            format!(
                "The kernel did not run {} for {}+ of this poll",
                self.worker.with_thread(),
                time(self.run_delay)
            )
        })
    }
}

fn open<'a>(scan: &Scan<'a>, worker: &'a WorkerThread) -> Option<Open<'a>> {
    let poll = worker.poll.as_ref()?;
    let task = scan.task(poll.task);
    let root = task.map_or("a task without the attribute", |task| &task.root);
    let span = PollInterval {
        since: poll.since,
        until: scan.now(),
        is_open: true,
    };
    let (times, now) = (&scan.memory.times, scan.now());
    let age = span.length();
    let on_processor = times.processor_within(worker, now, span);
    let on_processor = on_processor.filter(|on| is_part(on.of_ns, age, MOST_PERCENT));
    let run_delay = times.run_delay_within(worker, now, span);
    let doing = |on| Doing::of(on, run_delay, worker.sleeps);
    Some(Open {
        worker,
        poll,
        task,
        proc: poll.stack.last().map_or(root, |(proc, _)| proc),
        age,
        own: age.saturating_sub(times.run_delay_at_most(worker, now, span)),
        run_delay,
        on_processor,
        doing: on_processor.map_or(Doing::Something, doing),
    })
}

/// Reports polls in progress: long ones, and those long enough to hold their worker.
pub(in crate::diagnose::alert) fn open_polls(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let blocked = scan.limit(Limit::BlockedWorker);
    let workers = &scan.situation.workers;
    let open: Vec<Open<'_>> = workers
        .iter()
        .filter_map(|worker| open(scan, worker))
        .collect();
    let held = open.iter().filter(|open| open.is_over(blocked)).count();
    let all = held > 1 && held == workers.len();
    if all {
        found.push(all_blocked(scan, &open, blocked));
    }
    for open in &open {
        let first = open.task.is_some_and(|task| task.polls == 1);
        let never = scan.limit(Limit::NeverYields);
        if first && !all && open.is_over(never) && !open.is_run_delay(never) {
            let finding = open.task.map(|task| never_yields(open, task, never));
            found.extend(finding.map(|finding| behind(finding, scan, open)));
        } else if (!first || open.is_run_delay(never)) && !all && open.is_over(blocked) {
            found.push(behind(blocked_worker(open, blocked), scan, open));
        }
        // Long polls are folded under those. One seen in a single scan may be a thread that was not
        // running for a moment.
        let long = scan.limit(Limit::LongPollAlert);
        let twice = scan
            .memory
            .before
            .is_some_and(|before| open.poll.since <= before);
        if twice && open.own >= long {
            found.push(long_poll(open, long));
        }
    }
    let stopped = scan
        .situation
        .heartbeat
        .filter(|at| scan.age(*at) >= blocked);
    if let Some(at) = stopped
        && open.iter().all(|open| open.age < blocked)
    {
        found.push(stopped_heart(at));
    }
}

/// Adds the tasks that wait for the end of the poll: those that request what its task holds, and
/// those that were woken during the poll and are not polled.
fn behind(mut finding: Finding, scan: &Scan<'_>, open: &Open<'_>) -> Finding {
    let workers = &scan.situation.workers;
    let blocked = scan.limit(Limit::BlockedWorker);
    // A worker that is in no poll would poll them, if it could get them; a blocked one cannot.
    let alone = workers.iter().all(|worker| {
        let poll = worker.poll.as_ref();
        worker.id == open.worker.id || poll.is_none_or(|poll| scan.age(poll.since) >= blocked)
    });
    let stands = |task: &&Task| {
        let since = task.state == TaskState::Ready && task.since >= open.poll.since;
        since && scan.age(task.since) >= scan.limit(Limit::StarvationReady)
    };
    let own = |task: &&Task| {
        let wake = task.wakes.as_ref().and_then(|wakes| wakes.last.as_ref());
        let by = open.task.zip(wake);
        alone || by.is_some_and(|(by, wake)| by.name == wake.by)
    };
    let mut waiting: Vec<&Task> = scan.tasks().filter(stands).filter(own).collect();
    // There may be very many: those that are not listed are known by number.
    let mut unlisted = 0;
    for resource in held_now(scan, open) {
        let waiters = resource.waiters.iter();
        let more = resource.waiting.saturating_sub(waiters.len() as u64);
        unlisted += more;
        let unserved = waiters.filter(|waiter| waiter.woken.is_none());
        let unserved: Vec<&Task> = unserved
            .filter_map(|waiter| scan.task(waiter.task))
            .collect();
        finding = finding.with_resource(resource);
        let held = held(&resource.name, more + unserved.len() as u64);
        finding.alert.why.push_str(&held);
        waiting.extend(unserved);
    }
    waiting.retain(|task| open.task.is_none_or(|own| own.id != task.id));
    sorting::by_key(&mut waiting, |task| (task.name.clone(), task.id));
    waiting.dedup_by_key(|task| task.id);
    finding.alert.behind.waits = asleep::waits(scan, &waiting, open.poll.since);
    finding.alert.unpolled_ns = unpolled(scan, open);
    if finding.alert.unpolled_ns > 0 {
        let known = waiting.iter().map(|task| task.id);
        let before = &scan.memory.asleep;
        finding.asleep = asleep::sleepers(scan.situation, before, &Set::from_iter(known));
        let why = unwoken(scan, open).unwrap_or_default();
        finding.alert.why.push_str(&why);
    }
    finding.alert.behind.tasks = waiting.into_iter().map(task_party).collect();
    finding.alert.behind.unlisted = unlisted;
    if finding.alert.unpolled_ns > 0 && finding.alert.behind_count() == 0 {
        finding.alert.title.push_str("; nothing else was polled");
    }
    finding
}

/// What the poll's task holds and no other task can get meanwhile, by name.
fn held_now<'a>(scan: &Scan<'a>, open: &Open<'_>) -> Vec<&'a Resource> {
    let holds = |resource: &&Resource| {
        let only = |holder: &HoldingTask| matches!(holder.role, Role::Lock | Role::Write);
        let by = |holder: &HoldingTask| open.task.is_some_and(|it| holder.task == Some(it.id));
        let mut holders = resource.holders.iter();
        holders.any(|holder| only(holder) && by(holder))
    };
    let mut held: Vec<&Resource> = scan.situation.resources.iter().filter(holds).collect();
    sorting::by_key(&mut held, |resource| (resource.name.clone(), resource.id));
    held
}

/// Nothing was woken during a poll.
const UNWOKEN: &str = " No other task was woken meanwhile, though workers [are|were] free. On tokio one worker at a time watches timers and I/O, for all: if that [is|was] {worker}, they [stand|stood] still until it [returns|returned]. If not, nothing was due; which of the two is not known.";

/// Why nothing else runs though other workers are free: nothing is woken.
fn unwoken(scan: &Scan<'_>, open: &Open<'_>) -> Option<String> {
    let workers = scan.situation.workers.iter();
    let mut others = workers.filter(|worker| worker.id != open.worker.id);
    let is_free = others.next()?.poll.is_none() && others.all(|worker| worker.poll.is_none());
    let is_woken = |task: &Task| task.state == TaskState::Ready && task.since >= open.poll.since;
    (is_free && !scan.tasks().any(is_woken)).then(|| {
        let worker = &open.worker.name;
        PitfallRule::fill(UNWOKEN, &[("worker", worker)]).unwrap_or_default()
    })
}

/// ` It holds mutex db; 3 tasks wait for it.`
fn held(name: &str, waiting: u64) -> String {
    let waiting = match waiting {
        0 => String::new(),
        1 => marked("; 1 task [waits|waited] for it"),
        n => marked(&format!(
            "; {} [wait|waited] for it",
            words::many(n, "task")
        )),
    };
    format!(" It {} {name}{waiting}.", tense("holds", "held"))
}

/// For how long no other covered poll ran on any thread, if that is most of the poll's age; 0 if
/// others ran, or if that is unknown.
fn unpolled(scan: &Scan<'_>, open: &Open<'_>) -> u64 {
    let blocked = scan.limit(Limit::BlockedWorker);
    let mut since = open.poll.since;
    let workers = scan.situation.workers.iter();
    for worker in workers.filter(|worker| worker.id != open.worker.id) {
        let last = match &worker.poll {
            // It serves tasks.
            Some(poll) if scan.age(poll.since) < blocked => return 0,
            Some(poll) => poll.since,
            None => match worker.last_event {
                Some(last) => last,
                None => return 0,
            },
        };
        since = since.max(last);
    }
    let age = scan.age(since);
    if is_part(age, open.age, MOST_PERCENT) {
        age
    } else {
        0
    }
}

fn long_poll(open: &Open<'_>, limit: u64) -> Finding {
    let title = format!("long poll {}+: {}", time(open.age), open.proc);
    let mut finding = Finding::new(Pitfall::LongPoll, open.poll.since).of_proc(open.proc);
    finding.alert.severity = Severity::Alert;
    if let Some(task) = open.task {
        finding = finding.with_task(task);
    }
    let finding = finding
        .at(open.proc, open.poll.passed.as_ref())
        .titled(title)
        .summed("a poll [has not returned|took too long]")
        .explained(&[(open.doing.name(), open.proc)]);
    with_times(in_poll(finding, open), open, limit)
}

fn never_yields(open: &Open<'_>, task: &Task, limit: u64) -> Finding {
    let title = format!(
        "never yields {}+: {} in its first poll, in {}",
        time(open.age),
        task.name,
        open.proc
    );
    let finding = Finding::new(Pitfall::NeverYields, open.poll.since)
        .of_task(task)
        .at(open.proc, open.poll.passed.as_ref())
        .titled(title)
        .summed(
            "[a task has not returned from its first poll|the first poll of a task took too long]",
        )
        .explained(&[("task", &task.name), (open.doing.name(), open.proc)]);
    with_times(in_poll(finding, open), open, limit)
}

pub(super) fn blocked_worker(open: &Open<'_>, limit: u64) -> Finding {
    let worker = &open.worker.name;
    let title = if open.is_run_delay(limit) {
        format!(
            "blocked worker {worker} {}+: the kernel did not run it for {}+ of one poll, in {}",
            time(open.age),
            time(open.run_delay),
            open.proc
        )
    } else {
        format!(
            "blocked worker {worker} {}+: {} in one poll",
            time(open.age),
            open.proc
        )
    };
    let mut finding = Finding::new(Pitfall::BlockedWorker, open.poll.since).of_worker(open.worker);
    let thread = open.worker.with_thread();
    let mut values = Vec::from([("worker", worker.as_str())]);
    // Only an instrumented task has a name to report.
    match open.task {
        Some(task) => {
            finding = finding.with_task(task);
            values.push(("task", &task.name));
        }
        None => values.push(("thread", &thread)),
    }
    let passed = open.poll.passed.as_ref();
    let code = passed.map_or_else(
        || String::from(open.proc),
        |place| format!("between {} and the next await", words::place(Some(place))),
    );
    values.push((open.doing.name(), &code));
    let finding = finding
        .at(open.proc, open.poll.passed.as_ref())
        .titled(title)
        .summed("one poll [has not returned|took too long]")
        .explained(&values);
    with_times(in_poll(finding, open), open, limit)
}

/// Notes which poll it is, so that its end is found.
fn in_poll(mut finding: Finding, open: &Open<'_>) -> Finding {
    finding.poll = Some(OngoingPoll {
        worker: open.worker.id,
        since: open.poll.since,
        task: open.task.map(|task| (task.id, task.polls)),
        root: open.poll.stack.first().cloned(),
    });
    finding
}

/// Adds how long the thread was on the processor, and how long the machine did not run it. If only
/// that makes the poll so long, no change of the code is suggested.
fn with_times(mut finding: Finding, open: &Open<'_>, limit: u64) -> Finding {
    if let Some(on) = open.on_processor {
        let alert = &mut finding.alert;
        (alert.on_cpu_ns, alert.on_cpu_of_ns) = (Some(on.ns), on.of_ns);
        if !open.is_run_delay(limit) {
            let told = open.doing.told(&open.worker.name, on);
            alert.why.push_str(&told);
        }
    }
    let Some(told) = open.run_delay() else {
        return finding;
    };
    let alert = &mut finding.alert;
    alert.why.push_str(&format!(" {told}"));
    if open.is_run_delay(limit) {
        machine::blame(alert);
    }
    alert.why.push('.');
    finding
}

fn all_blocked(scan: &Scan<'_>, open: &[Open<'_>], limit: u64) -> Finding {
    let since = open.iter().map(|open| open.poll.since).max().unwrap_or(0);
    let mut finding = Finding::new(Pitfall::BlockedWorker, since);
    let mut worst: Option<&Open<'_>> = None;
    for each in open {
        finding = finding.of_worker(each.worker);
        if let Some(task) = each.task {
            finding = finding.with_task(task);
        }
        if worst.is_none_or(|worst| each.own > worst.own) {
            worst = Some(each);
        }
    }
    // A state of the process, independent of the particular workers.
    finding.subjects = [Subject::Named("all".into())].into();
    let Some(worst) = worst else { return finding };
    let title = format!(
        "blocked workers {}+: all {} in one poll each, {}",
        time(worst.age),
        open.len(),
        worst.proc
    );
    let values = [("worker", "no worker"), (worst.doing.name(), worst.proc)];
    let mut finding = finding
        .at(worst.proc, worst.poll.passed.as_ref())
        .titled(title)
        .summed("no worker [runs|ran] any other task")
        .explained(&values);
    finding.alert.why = marked(
        "Every worker [is|was] in a poll that [has|had] not returned: the whole executor [is|was] stalled.",
    );
    with_times(behind(finding, scan, worst), worst, limit)
}

fn stopped_heart(at: u64) -> Finding {
    let mut finding = Finding::new(Pitfall::BlockedWorker, at)
        .about(Subject::Named("heartbeat".into()))
        .titled("blocked executor {for}: no woken task was polled".into())
        .summed("the executor [does|did] not poll a task that is always ready");
    finding.alert.why = marked(
        "TurboWish's heartbeat task [is|was] ready but [is|was] not polled: the workers [are|were] in polls that are not covered, or gone.",
    );
    finding.alert.fixes =
        ["annotate the functions that run on the workers, to see which one blocks".into()].into();
    finding
}
