//! Rules for polls that take too long, for tasks that rarely yield, and for tasks that are starved
//! meanwhile.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan, Subject};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::memory::LONG;
use crate::diagnose::alert::quantity::{is_more, is_part};
use crate::diagnose::alert::rules::machine;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::words::{self, many, time};
use crate::diagnose::situation::{Proc, Task};
use crate::snapshot::TaskState;
use crate::snapshot::alert::Severity;
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units;
use crate::sorting;

pub(in crate::diagnose::alert) const LONG_POLL: PitfallRule = PitfallRule {
    why: "A poll must return quickly: its worker [runs|ran] no other task until then.",
    fixes: &[
        "{code}: file I/O, a lock of std, or a loop between two awaits? use spawn_blocking, or yield_now().await every few ms",
        super::doing::IF_COMPUTING,
        super::doing::IF_ASLEEP,
    ],
    limits: &[
        Limit::LongPollWarn,
        Limit::LongPollCount,
        Limit::LongPollShare,
        Limit::LongPollAlert,
    ],
    also: "An alert if one takes 100ms (long_poll.alert), a note if only the machine makes it so long.",
    ..PitfallRule::new(Pitfall::LongPoll)
};

pub(in crate::diagnose::alert) const YIELDS_RARELY: PitfallRule = PitfallRule {
    why: "{task} [yields|yielded] its worker only to take it again. The tasks that share the worker [wait|waited].",
    fixes: &[
        "{proc}: move the computation to spawn_blocking or to a dedicated thread",
        "or split it into pieces of less than a millisecond with yield_now().await between them",
    ],
    limits: &[
        Limit::YieldsRarelyShare,
        Limit::YieldsRarelyPoll,
        Limit::Window,
    ],
    ..PitfallRule::new(Pitfall::YieldsRarely)
};

pub(in crate::diagnose::alert) const STARVATION: PitfallRule = PitfallRule {
    scans: 2,
    why: "{task} was woken but [is|was] not polled, while {other} was polled {polls} times since the last scan. The executor [does|did] not get to it.",
    fixes: &[
        "find what the workers [do|did] instead: sort Functions by run",
        "if {other} never [waits|waited], let it yield: yield_now().await",
    ],
    limits: &[Limit::StarvationReady, Limit::StarvationPolls],
    ..PitfallRule::new(Pitfall::Starvation)
};

/// Procs with long polls.
pub(in crate::diagnose::alert) fn long_polls(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for proc in &scan.situation.procs {
        let counts = scan.memory.proc(proc);
        // Of very many polls a few are long because their thread was not running.
        let share = scan.limit(Limit::LongPollShare);
        let is_many = |polls: u64| {
            polls >= scan.limit(Limit::LongPollCount) && is_part(polls, counts.polls, share)
        };
        let own = counts.slow.saturating_sub(counts.preempted);
        let finding = if is_many(own) {
            slow_code(scan, proc, own, counts.slow - own)
        } else if is_many(counts.slow) && proc.longest_ns >= scan.limit(Limit::LongPollAlert) {
            slow_machine(scan, proc, counts.slow)
        } else {
            continue;
        };
        // An alert about a poll in progress is more precise.
        let known = Subject::Named(proc.path.clone());
        let open = |finding: &Finding| {
            finding.alert.pitfall == Pitfall::LongPoll && finding.subjects.contains(&known)
        };
        if !found.iter().any(open) {
            found.push(finding);
        }
    }
}

/// Polls that are long by themselves; `more` are not.
fn slow_code(scan: &Scan<'_>, proc: &Proc, slow: u64, more: u64) -> Finding {
    let (warn, worst) = (scan.limit(Limit::LongPollWarn), proc.longest_ns);
    // `longest_ns` covers the last seconds only, which may not include the long poll.
    let longest = match worst > warn {
        true => format!(" {}", time(worst)),
        false => String::new(),
    };
    let title = format!(
        "long poll{longest}: {}, {} > {}",
        proc.path,
        many(slow, "poll"),
        words::threshold(warn)
    );
    let mut finding = Finding::undated(Pitfall::LongPoll, scan.now())
        .of_proc(&proc.path)
        .at(&proc.path, None)
        .titled(title)
        .summed("polls [take|took] too long")
        .explained(&[("code", &proc.path)]);
    // In which polls the run delay fell is unknown.
    let delay = scan.memory.run_delays.longest(scan.situation);
    if worst.saturating_sub(delay) >= scan.limit(Limit::LongPollAlert) {
        finding.alert.severity = Severity::Alert;
    }
    if more > 0 {
        let more = many(more, "more poll");
        let told =
            format!(" {more} may be so long only because the kernel did not run the worker.");
        finding.alert.why.push_str(&told);
    }
    if let Some(delay) = run_delay(scan) {
        finding.alert.why.push_str(&format!("{delay}."));
    }
    finding
}

/// Polls that are long, as far as is known, only because the machine did not run their workers.
fn slow_machine(scan: &Scan<'_>, proc: &Proc, slow: u64) -> Finding {
    let warn = words::threshold(scan.limit(Limit::LongPollWarn));
    let title = format!(
        "long poll {}: the kernel did not run the worker; {}, {} > {warn}",
        time(proc.longest_ns),
        proc.path,
        many(slow, "poll"),
    );
    let mut finding = Finding::undated(Pitfall::LongPoll, scan.now())
        .of_proc(&proc.path)
        .at(&proc.path, None)
        .titled(title)
        .explained(&[("code", &proc.path)]);
    // The worker may have ended.
    let told = run_delay(scan).unwrap_or_else(|| " The kernel did not run the worker".into());
    finding.alert.why.push_str(&told);
    machine::blame(&mut finding.alert);
    finding.alert.why.push('.');
    finding
}

/// Sentence about the largest run delay of a worker, if it could explain one long poll. In which
/// polls it fell is unknown.
fn run_delay(scan: &Scan<'_>) -> Option<String> {
    let workers = scan.situation.workers.iter();
    let delays = workers.filter_map(|worker| {
        let (length, delay) = scan.memory.run_delays.long(worker, scan.now())?;
        Some((delay, length, worker))
    });
    let (delay, length, worker) = delays.max_by_key(|(delay, _, worker)| (*delay, worker.id))?;
    (delay >= scan.limit(Limit::LongPollWarn)).then(|| {
        format!(
            " In the last {} the kernel did not run {} for {}",
            time(length),
            worker.with_thread(),
            time(delay)
        )
    })
}

/// Tasks that are nearly always in a poll.
pub(in crate::diagnose::alert) fn busy_tasks(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let share = scan.limit(Limit::YieldsRarelyShare);
    let length = LONG * scan.limit(Limit::Window);
    for task in scan.tasks() {
        let (passed, counts) = scan.memory.long(task, scan.now());
        let Some(mean) = counts.busy_ns.checked_div(counts.polls) else {
            continue;
        };
        // A single poll that does not end is reported by another rule.
        let polls = counts.polls > LONG;
        if passed < length
            || !polls
            || mean <= scan.limit(Limit::YieldsRarelyPoll)
            || !is_more(counts.busy_ns, passed, share)
        {
            continue;
        }
        let busy = units::share(units::ppb(counts.busy_ns, passed));
        let title = format!(
            "yields rarely {}: {} spent {busy}% of it in polls, {} per poll",
            time(passed),
            task.name,
            time(mean)
        );
        found.push(
            Finding::new(Pitfall::YieldsRarely, scan.now().saturating_sub(passed))
                .of_task(task)
                .at(&task.root, None)
                .titled(title)
                .summed("a task hardly ever [waits|waited]")
                .explained(&[("task", &task.name), ("proc", &task.root)]),
        );
    }
}

/// Tasks that stay ready while others are polled again and again: one alert for all of them.
pub(in crate::diagnose::alert) fn starved(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let Some(before) = scan.memory.counted else {
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
        // All of those polls were within the task's time as ready.
        let since = task.state == TaskState::Ready && task.since <= before;
        since && task.id != other.id && scan.age(task.since) >= scan.limit(Limit::StarvationReady)
    });
    let mut starved: Vec<&Task> = starved.collect();
    sorting::by_key(&mut starved, |task| (task.since, task.id));
    let Some(worst) = starved.first() else {
        return;
    };
    let more = match starved.len() as u64 - 1 {
        0 => String::new(),
        more => format!(", and {}", many(more, "more task")),
    };
    let title = format!(
        "starvation {}+: {} ready but not polled{more}",
        time(scan.age(worst.since)),
        worst.name,
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
            .summed("woken tasks [are|were] not polled")
            .explained(&values),
    );
}
