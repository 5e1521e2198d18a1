//! Root polls that ended since the last scan and took as long as a worker may be blocked: judged
//! like polls in progress, by what the looks between the scans tell of their worker.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::memory::PollInterval;
use crate::diagnose::alert::quantity::is_part;
use crate::diagnose::alert::rules::doing::Doing;
use crate::diagnose::alert::rules::open_polls::{MOST_PERCENT, Open, blocked_worker};
use crate::diagnose::alert::words::time;
use crate::diagnose::situation::{FinishedPoll, OpenPoll, Task, WorkerThread};
use crate::snapshot::alert::Severity;

/// A finding for each of them.
pub(in crate::diagnose::alert) fn ended_polls(scan: &Scan<'_>) -> Vec<Finding> {
    let workers = scan.situation.workers.iter();
    let polls =
        workers.flat_map(|worker| worker.ended_polls.iter().map(move |poll| (worker, poll)));
    polls
        .map(|(worker, poll)| finding(scan, worker, poll))
        .collect()
}

fn finding(scan: &Scan<'_>, worker: &WorkerThread, ended: &FinishedPoll) -> Finding {
    let span = PollInterval {
        since: ended.since,
        until: ended.until,
        is_open: false,
    };
    // Lengths are compared in buckets of a histogram, which are up to 3 % wide.
    let limit = scan.limit(Limit::BlockedWorker).min(span.length());
    let gone;
    let task = match scan.task(Some(ended.task)) {
        Some(task) => Some(task),
        None => {
            gone = ended.name.as_ref().map(|name| of_gone_task(ended, name));
            gone.as_ref()
        }
    };
    let stack = ended.stack.iter().map(|proc| (proc.clone(), ended.since));
    let poll = OpenPoll {
        task: Some(ended.task),
        since: ended.since,
        stack: stack.collect(),
        passed: ended.passed.clone(),
    };
    let open = open(scan, (worker, &poll, task), span);
    let mut finding = if open.is_over(limit) {
        blocked_worker(&open, limit)
    } else {
        perhaps_the_machine(&open, limit)
    };
    finding.until = Some(ended.until);
    finding.alert.behind_unknown = true;
    // A scan may have seen it when it was a long poll still, and does not look then for who waits.
    let told = " No scan told who waited for this poll, so that is not known.";
    finding.alert.why.push_str(told);
    finding
}

/// What is known of a task that has ended, or that the situation omits.
fn of_gone_task(poll: &FinishedPoll, name: &str) -> Task {
    Task {
        id: poll.task,
        name: name.into(),
        root: poll.stack.first().cloned().unwrap_or_default(),
        ..Task::default()
    }
}

fn open<'a>(
    scan: &Scan<'_>,
    (worker, poll, task): (&'a WorkerThread, &'a OpenPoll, Option<&'a Task>),
    span: PollInterval,
) -> Open<'a> {
    let (times, now) = (&scan.memory.times, scan.now());
    let (length, delay) = (span.length(), times.run_delay_at_most(worker, now, span));
    let on_processor = times.processor_within(worker, now, span);
    let on_processor = on_processor.filter(|on| is_part(on.of_ns, length, MOST_PERCENT));
    let run_delay = times.run_delay_within(worker, now, span);
    let at_most = times.processor_at_most(worker, now, span);
    let slept = at_most.map_or(0, |ran| length.saturating_sub(ran).saturating_sub(delay));
    let proc = poll.stack.last().map_or("", |(proc, _)| proc);
    Open {
        worker,
        poll,
        task,
        proc,
        age: length,
        own: length.saturating_sub(delay),
        run_delay,
        on_processor,
        doing: match on_processor {
            _ if is_part(slept, length.saturating_sub(delay), Doing::MOST_PERCENT) => Doing::Asleep,
            Some(on) => Doing::of(on, run_delay, false),
            None => Doing::Something,
        },
    }
}

/// The looks were too rare to tell the poll's own time from the run delay around it: most of it may
/// be either.
fn perhaps_the_machine(open: &Open<'_>, limit: u64) -> Finding {
    let mut finding = blocked_worker(open, limit);
    let alert = &mut finding.alert;
    alert.severity = Severity::Note;
    alert.certain = false;
    alert.title = format!(
        "blocked worker {} {}+: the kernel may not have run it, in {}",
        open.worker.name,
        time(open.age),
        open.proc
    );
    let delay = time(open.age - open.own);
    alert.why.push_str(&format!(
        " The kernel did not run {} for up to {delay} of this poll: whether the code or the machine made it so long is not known.",
        open.worker.with_thread(),
    ));
    alert.fixes.push(String::from(
        "if other functions are slow, too, give the process more cores, or take load off the machine",
    ));
    finding
}
