//! Long polls, blocked workers, tasks that hardly wait, and those that are not served.

use turbowish_model::diagnose::alert::{Limit, Limits};
use turbowish_model::diagnose::situation::{LongPolls, OpenPoll, Proc, WorkerThread};
use turbowish_model::snapshot::TaskState;
use turbowish_model::snapshot::alert::{Alert, Severity};

use crate::play::{Play, check, check_still};
use turbowish_testing::situations::{MS, SECOND, START, SituationBuilder, place, spot};

fn workers(stage: &mut SituationBuilder, count: usize) {
    for n in 0..count {
        stage.situation.workers.push(WorkerThread {
            id: n as u64,
            name: format!("w{n}"),
            ..WorkerThread::default()
        });
    }
}

/// A task is polled by a worker since an instant.
pub(crate) fn polls(stage: &mut SituationBuilder, worker: usize, task: &str, since: u64) {
    let task = stage.get(task);
    task.state = TaskState::Polling;
    task.since = since;
    let (id, root) = (task.id, task.root.clone());
    stage.situation.workers[worker].poll = Some(OpenPoll {
        task: Some(id),
        since,
        stack: vec![(root, since), ("app::write".to_owned(), since)],
        passed: Some(place("write.rs:97 self.db.lock()")),
    });
}

pub(crate) fn hog(stage: &mut SituationBuilder, count: usize, number: u64) {
    workers(stage, count);
    stage.task("hog", "hog.rs:1 write()").polls = number;
    polls(stage, 0, "hog", START);
}

#[test]
fn a_poll_that_does_not_return_is_seen_while_it_lasts() {
    let mut stage = SituationBuilder::new();
    hog(&mut stage, 2, 7);
    let mut play = Play::new(stage);
    play.until(6_000, |_, _| ());
    assert_eq!(
        play.log,
        [
            "250 + alert long poll 250ms+: app::write",
            "1000 + alert blocked worker w0 1.00 s+: app::write in one poll",
            "1000 - long_poll",
        ]
    );
    let [alert]: &[Alert] = &play.last else {
        panic!("{:?}", play.last);
    };
    assert_eq!(
        alert.title,
        "blocked worker w0 6.00 s+: app::write in one poll"
    );
    assert_eq!(
        alert.fixes,
        [
            "between write.rs:97 and the next await: file I/O or a loop? use spawn_blocking, or yield_now().await every few ms",
            "look into this poll now: turbowish debug --gdb hog, or D in the console",
        ]
    );
    play.until(20_000, |stage, _| {
        stage.situation.workers[0].poll = None;
        stage.get("hog").state = TaskState::Waiting;
    });
    assert_eq!(play.log[3..], ["7000 - blocked_worker"]);
}

#[test]
fn a_first_poll_that_does_not_return() {
    check_still(
        |stage| hog(stage, 2, 1),
        3_000,
        &[
            "250 + alert long poll 250ms+: app::write",
            "1000 + alert never yields 1.00 s+: hog in its first poll, in app::write",
            "1000 - long_poll",
        ],
    );
}

#[test]
fn all_workers_at_once_are_one_alert() {
    let build = |stage: &mut SituationBuilder, number| {
        hog(stage, 2, number);
        stage.task("pig", "pig.rs:1 write()").polls = 7;
        polls(stage, 1, "pig", START + 100 * MS);
        stage.situation.heartbeat = Some(START);
    };
    let all = [
        "250 + alert long poll 250ms+: app::write",
        "1000 + alert blocked worker w0 1.00 s+: app::write in one poll",
        "1000 - long_poll",
        "1250 + alert blocked workers 1.25 s+: all 2 in one poll each, app::write; nothing else was polled",
        "2000 - blocked_worker",
    ];
    check_still(|stage| build(stage, 7), 5_000, &all);
}

#[test]
fn polls_that_are_not_covered_show_at_the_heartbeat() {
    let build = |stage: &mut SituationBuilder| {
        workers(stage, 2);
        stage.situation.heartbeat = Some(START);
    };
    check_still(
        build,
        3_000,
        &["1000 + alert blocked executor 1.00 s+: no woken task was polled"],
    );
    let beats =
        |stage: &mut SituationBuilder, ms| stage.situation.heartbeat = Some(START + ms * MS);
    check(build, 3_000, beats, &[]);
    check(
        build,
        3_000,
        |stage, _| stage.situation.heartbeat = None,
        &[],
    );
}

#[test]
fn short_polls_are_silent() {
    // A new poll at each look.
    check(
        |stage| hog(stage, 1, 7),
        20_000,
        |stage, ms| polls(stage, 0, "hog", START + ms * MS - 99 * MS),
        &[],
    );
    // Long, but over at the next look: the thread may not have been running.
    check(
        |stage| hog(stage, 1, 7),
        20_000,
        |stage, ms| polls(stage, 0, "hog", START + ms * MS - 240 * MS),
        &[],
    );
}

/// Makes each situation from the one before.
type Change<'a> = &'a mut dyn FnMut(&mut SituationBuilder, u64);

/// A worker is kept waiting for a processor for so many parts in a hundred of the time, from an
/// instant on.
fn kept_waiting(
    worker: usize,
    percent: u64,
    from_ms: u64,
) -> impl FnMut(&mut SituationBuilder, u64) {
    move |stage, ms| {
        let waited = ms.saturating_sub(from_ms) * MS / 100 * percent;
        stage.situation.workers[worker].run_delay_ns = Some(7 * SECOND + waited);
    }
}

/// Titles, and what the only alert says in the end, with what to do.
fn check_run_delay(
    number: u64,
    until: u64,
    change: impl FnMut(&mut SituationBuilder, u64),
    log: &[&str],
    why: &str,
    fixes: usize,
) {
    let mut stage = SituationBuilder::new();
    hog(&mut stage, 2, number);
    let mut play = Play::new(stage);
    play.until(until, change);
    assert_eq!(play.log, log);
    let [alert]: &[Alert] = &play.last else {
        panic!("{:?}", play.last);
    };
    assert_eq!(alert.why, why);
    let about_the_code = alert.fixes.iter().filter(|fix| !fix.contains("cores"));
    assert_eq!(about_the_code.count(), fixes, "{:?}", alert.fixes);
}

const HELD: &str = "A poll must return quickly: w0 runs no other task until this one returns.";

#[test]
fn a_poll_that_the_machine_does_not_run_is_no_long_poll() {
    let delayed = [
        "1000 + note blocked worker w0 1.00 s+: the kernel did not run it for 900ms+ of one poll, in app::write",
    ];
    let why = "A poll must return quickly: w0 runs no other task until this one returns. \
               The kernel did not run w0 for 3.60 s+ of this poll: more threads want to run than there are cores, or the \
               process is at its CPU limit.";
    check_run_delay(7, 4_000, kept_waiting(0, 90, 0), &delayed, why, 0);
    // Nor does its task never yield.
    check_run_delay(1, 4_000, kept_waiting(0, 90, 0), &delayed, why, 0);
    // Below a second there is no alert.
    check(|stage| hog(stage, 2, 7), 750, kept_waiting(0, 90, 0), &[]);
}

fn check_still_with(change: impl FnMut(&mut SituationBuilder, u64), log: &[&str]) {
    check(|stage| hog(stage, 2, 7), 1_500, change, log);
}

#[test]
fn a_poll_that_is_long_by_itself_is_told_with_its_run_delay() {
    let long = "250 + alert long poll 250ms+: app::write";
    let blocked = "1000 + alert blocked worker w0 1.00 s+: app::write in one poll";
    // Half of the poll, or more, is not the delay.
    let check = |percent, why: &str| {
        let log = [long, blocked, "1000 - long_poll"];
        check_run_delay(7, 2_000, kept_waiting(0, percent, 0), &log, why, 2);
    };
    check(0, HELD);
    check(9, HELD);
    let told = |time| format!("{HELD} The kernel did not run w0 for {time}+ of this poll.");
    check(10, &told("200ms"));
    check(50, &told("1.00 s"));
    // It is the delay, below a second, so that what is left is no blocked worker.
    let machine = "1000 + note blocked worker w0 1.00 s+: the kernel did not run it for 510ms+ of one poll, in app::write";
    check_still_with(kept_waiting(0, 51, 0), &[long, machine, "1000 - long_poll"]);
    let still = "1000 + alert never yields 1.00 s+: hog in its first poll, in app::write";
    let why = "hog has not returned from its first poll. It has not reached an await that was pending, and its worker runs no other \
               task. The kernel did not run w0 for 800ms+ of this poll.";
    let log = [long, still, "1000 - long_poll"];
    check_run_delay(1, 2_000, kept_waiting(0, 40, 0), &log, why, 2);
    // Most of it is run delay, and it is long without that, too.
    let mut stage = SituationBuilder::new();
    hog(&mut stage, 2, 7);
    let mut play = Play::new(stage);
    play.until(10_000, kept_waiting(0, 80, 0));
    let why = format!("{HELD} The kernel did not run w0 for 8.00 s+ of this poll.");
    assert_eq!(play.last[0].why, why);
}

#[test]
fn a_poll_that_may_be_long_because_of_the_machine_is_no_alert() {
    let long = "250 + alert long poll 250ms+: app::write";
    // What is left is as long as a long poll is, and a little less.
    check(
        |stage| hog(stage, 2, 7),
        250,
        kept_waiting(0, 60, 0),
        &[long],
    );
    check(|stage| hog(stage, 2, 7), 250, kept_waiting(0, 61, 0), &[]);
    // The delay was in the poll, or just before it: no scan tells which. It began 10 ms after one,
    // and what was counted by the next one was at most 240 ms in the poll.
    let begins_late = |delay: u64| {
        move |stage: &mut SituationBuilder, ms: u64| {
            let worker = &mut stage.situation.workers[0];
            let counted = [0, delay.min(300), delay];
            worker.run_delay_ns = Some(SECOND + counted[ms.min(500) as usize / 250] * MS);
            worker.poll = None;
            if ms >= 250 {
                polls(stage, 0, "hog", START + 10 * MS);
            }
        }
    };
    let late = "500 + alert long poll 490ms+: app::write";
    check(|stage| hog(stage, 2, 7), 500, begins_late(451), &[]);
    check(|stage| hog(stage, 2, 7), 500, begins_late(450), &[late]);
}

/// Neither the processor nor waits that have ended explain the time: it may wait for a processor
/// all the time, unless it sleeps.
#[test]
fn a_wait_for_a_processor_that_may_be_in_progress_is_not_the_polls_own() {
    let waits = |cpu: u64, sleeps: bool| {
        move |stage: &mut SituationBuilder, ms: u64| {
            let worker = &mut stage.situation.workers[0];
            // At the last look it had just begun to wait.
            let ran = ms.min(250);
            (worker.cpu_ns, worker.run_delay_ns) =
                (Some((ran + cpu * (ms - ran) / 250) * MS), Some(0));
            worker.sleeps = sleeps;
        }
    };
    let log = |change| {
        let mut stage = SituationBuilder::new();
        hog(&mut stage, 2, 7);
        stage.situation.workers[0].poll = None;
        let mut play = Play::new(stage);
        play.until(500, change);
        play.log
    };
    let in_poll = |cpu, sleeps| {
        let times = waits(cpu, sleeps);
        log(move |stage: &mut SituationBuilder, ms: u64| {
            times(stage, ms);
            if ms > 0 {
                polls(stage, 0, "hog", START + 180 * MS);
            }
        })
    };
    let long = "500 + alert long poll 320ms+: app::write";
    // Of 320 ms it may have waited 250, or 220.
    assert_eq!(in_poll(0, false), [""; 0]);
    assert_eq!(in_poll(29, false), [""; 0]);
    assert_eq!(in_poll(30, false), [long]);
    assert_eq!(in_poll(0, true), [long]);
}

#[test]
fn finished_polls_that_the_machine_may_have_made_long_are_a_warning() {
    let check = |delay: u64, severity| {
        let mut stage = SituationBuilder::new();
        workers(&mut stage, 1);
        let proc = proc(&mut stage);
        (proc.slow, proc.polls, proc.longest_ns) = (3, 3, 150 * MS);
        let mut play = Play::new(stage);
        play.until(2_000, |stage, ms| {
            let grown = if ms == 0 { 0 } else { delay };
            stage.situation.workers[0].run_delay_ns = Some(SECOND + grown * MS);
        });
        assert_eq!(play.last[0].severity, severity, "{delay}");
    };
    check(50, Severity::Alert);
    check(51, Severity::Warning);
}

#[test]
fn run_delay_before_the_poll_was_seen_is_not_its_own() {
    let log = [
        "250 + alert long poll 250ms+: app::write",
        "1000 + alert blocked worker w0 1.00 s+: app::write in one poll",
        "1000 - long_poll",
    ];
    // Seven seconds before, and the system tells nothing; another worker; another poll.
    let cases: [Change<'_>; 3] = [
        &mut |_, _| (),
        &mut kept_waiting(1, 90, 0),
        &mut |stage, ms| {
            if ms == 0 {
                stage.situation.workers[0].run_delay_ns = Some(0);
            }
            if ms == 250 {
                stage.situation.workers[0].run_delay_ns = None;
            }
            if ms == 500 {
                stage.situation.workers[0].run_delay_ns = Some(60 * SECOND);
            }
        },
    ];
    for case in cases {
        check_run_delay(7, 2_000, case, &log, HELD, 2);
    }
    // No more of a poll than the poll is long.
    let mut stage = SituationBuilder::new();
    hog(&mut stage, 2, 7);
    let mut play = Play::new(stage);
    play.until(1_500, kept_waiting(0, 10_000, 0));
    assert!(
        play.last[0]
            .title
            .contains(" 1.50 s+: the kernel did not run it for 1.50 s+ of one poll"),
        "{}",
        play.last[0].title
    );
}

/// A worker is on the processor for so many parts in a hundred of the time, and sleeps or not.
fn on_the_processor(percent: u64, sleeps: bool) -> impl FnMut(&mut SituationBuilder, u64) {
    move |stage, ms| {
        let worker = &mut stage.situation.workers[0];
        worker.cpu_ns = Some(7 * SECOND + ms * MS / 100 * percent);
        worker.sleeps = sleeps;
    }
}

/// What is said of a worker that has been in one poll for 2 s: why, and the first thing to do.
fn check_on_the_processor(
    number: u64,
    change: impl FnMut(&mut SituationBuilder, u64),
    why: &str,
    fix: &str,
) {
    let mut stage = SituationBuilder::new();
    hog(&mut stage, 2, number);
    let mut play = Play::new(stage);
    play.until(2_000, change);
    let [alert]: &[Alert] = &play.last else {
        panic!("{:?}", play.last);
    };
    assert!(alert.why.ends_with(why), "{}", alert.why);
    assert_eq!(alert.fixes[0], fix);
    let is_told = alert.why.contains("on the processor");
    assert_eq!(alert.on_cpu_ns.is_some(), is_told, "{alert:?}");
    assert_eq!(alert.on_cpu_of_ns > 0, is_told, "{alert:?}");
}

#[test]
fn a_poll_that_does_not_return_is_told_with_the_time_on_the_processor() {
    let code = "between write.rs:97 and the next await";
    let unknown = format!(
        "{code}: file I/O or a loop? use spawn_blocking, or yield_now().await every few ms"
    );
    let computing = "a long computation or a loop? split it with yield_now().await every few ms, or move it to spawn_blocking";
    let asleep = "a blocking call? thread::sleep, file or network I/O, a lock or channel of std, join: use the async one, or spawn_blocking";
    let was = |time| format!("returns. w0 was on the processor for {time} of the last 2.00 s");
    let check = |percent, sleeps, why: &str, fix: &str| {
        check_on_the_processor(7, on_the_processor(percent, sleeps), why, fix);
    };
    let slept = "it slept or waited in a call of the system.";
    let fix = format!("{code}: {asleep}");
    let not = "returns. w0 was not on the processor in the last 2.00 s";
    check(0, true, &format!("{not}: {slept}"), &fix);
    check(20, true, &format!("{}: {slept}", was("400ms")), &fix);
    check(21, true, &format!("{}.", was("420ms")), &unknown);
    // It may also have waited for a processor.
    check(0, false, &format!("{not}."), &unknown);
    check(79, false, &format!("{}.", was("1.58 s")), &unknown);
    let fix = format!("{code}: {computing}");
    check(80, false, &format!("{}: it computed.", was("1.60 s")), &fix);
    check(100, true, &format!("{}: it computed.", was("2.00 s")), &fix);
    // The first poll of a task.
    let fix = format!("app::write: {asleep}");
    check_on_the_processor(1, on_the_processor(0, true), slept, &fix);
    let fix = format!("app::write: {computing}");
    check_on_the_processor(1, on_the_processor(99, false), "it computed.", &fix);
}

#[test]
fn time_on_the_processor_is_told_only_as_far_as_it_is_known() {
    let fix = "between write.rs:97 and the next await: file I/O or a loop? use spawn_blocking, or yield_now().await every few ms";
    // The system tells nothing; it tells it only now, or for less than half of the poll.
    check_on_the_processor(7, |_, _| (), HELD, fix);
    for from in [2_000, 1_250] {
        let late = move |stage: &mut SituationBuilder, ms| {
            if ms >= from {
                on_the_processor(0, true)(stage, ms);
            }
        };
        check_on_the_processor(7, late, HELD, fix);
    }
    // Nor is it less than before, nor more than the time.
    let back = |stage: &mut SituationBuilder, ms: u64| {
        stage.situation.workers[0].cpu_ns = Some(7 * SECOND - ms);
    };
    check_on_the_processor(7, back, HELD, fix);
    let why = "returns. w0 was on the processor for 2.00 s of the last 2.00 s: it computed.";
    let fix = "between write.rs:97 and the next await: a long computation or a loop? split it with yield_now().await every few ms, or move it to spawn_blocking";
    check_on_the_processor(7, on_the_processor(200, false), why, fix);
    // Time in which the machine did not run it is neither sleep nor work.
    let both = |stage: &mut SituationBuilder, ms: u64| {
        on_the_processor(50, false)(stage, ms);
        kept_waiting(0, 50, 0)(stage, ms);
    };
    let why = "returns. w0 was on the processor for 1.00 s of the last 2.00 s: it computed. \
               The kernel did not run w0 for 1.00 s+ of this poll.";
    check_on_the_processor(7, both, why, fix);
}

#[test]
fn all_workers_that_the_machine_does_not_run() {
    let mut stage = SituationBuilder::new();
    hog(&mut stage, 2, 7);
    stage.task("pig", "pig.rs:1 write()").polls = 7;
    polls(&mut stage, 1, "pig", START + 100 * MS);
    let mut play = Play::new(stage);
    play.until(3_000, |stage, ms| {
        kept_waiting(0, 90, 0)(stage, ms);
        kept_waiting(1, 90, 0)(stage, ms);
    });
    let [alert]: &[Alert] = &play.last else {
        panic!("{:?}", play.last);
    };
    assert_eq!(alert.severity, Severity::Note);
    assert_eq!(
        alert.why,
        "Every worker is in a poll that has not returned: the whole executor is stalled. \
         The kernel did not run w0 for 2.70 s+ of this poll: more threads want to run than there are cores, or the \
         process is at its CPU limit."
    );
}

fn proc(stage: &mut SituationBuilder) -> &mut Proc {
    stage.situation.procs.push(Proc {
        path: "app::write".to_owned(),
        spot: spot("write.rs:9"),
        ..Proc::default()
    });
    stage.situation.procs.last_mut().expect("a proc")
}

#[test]
fn finished_polls_that_were_long() {
    let grows = |by: u64, longest: u64| {
        move |stage: &mut SituationBuilder, ms: u64| {
            let proc = &mut stage.situation.procs[0];
            if ms < 2_000 {
                proc.slow += by;
                proc.polls += by * 100;
                proc.longest_ns = longest;
            }
        }
    };
    let build = |stage: &mut SituationBuilder| {
        proc(stage);
    };
    check(
        build,
        30_000,
        grows(11, 38_400_000),
        &[
            "0 + warning long poll 38.4ms: app::write, 11 polls > 10ms",
            "21000 - long_poll",
        ],
    );
    // Very few of very many.
    check(
        build,
        9_000,
        |stage, ms| {
            grows(11, 38_400_000)(stage, ms);
            stage.situation.procs[0].polls += 1;
        },
        &[],
    );
    // Below the count, however long; and very long ones.
    let polls = |slow: u64, longest: u64| {
        move |stage: &mut SituationBuilder| {
            let proc = proc(stage);
            (proc.slow, proc.polls, proc.longest_ns) = (slow, slow, longest);
        }
    };
    check_still(polls(2, 150 * MS), 9_000, &[]);
    check_still(
        polls(3, 100 * MS),
        9_000,
        &["0 + alert long poll 100ms: app::write, 3 polls > 10ms"],
    );
}

#[test]
fn finished_polls_are_told_with_the_run_delay_of_the_workers() {
    let check = |change: Change<'_>, expected: &str| {
        let mut stage = SituationBuilder::new();
        workers(&mut stage, 2);
        proc(&mut stage);
        let mut play = Play::new(stage);
        play.until(3_000, |stage, ms| {
            let proc = &mut stage.situation.procs[0];
            (proc.slow, proc.polls, proc.longest_ns) = (11, 11, 40 * MS);
            change(stage, ms);
        });
        let [alert]: &[Alert] = &play.last else {
            panic!("{:?}", play.last);
        };
        assert_eq!(alert.title, "long poll 40.0ms: app::write, 11 polls > 10ms");
        let why = "A poll must return quickly: its worker runs no other task until then.";
        assert_eq!(alert.why, format!("{why}{expected}"));
        assert_eq!(alert.fixes.len(), 1);
    };
    check(&mut |_, _| (), "");
    // As long as a long poll, and one less.
    check(
        &mut |stage, ms| {
            stage.situation.workers[0].run_delay_ns = Some(SECOND);
            stage.situation.workers[1].run_delay_ns = Some(SECOND + ms.min(10) * MS);
        },
        " In the last 3.00 s the kernel did not run w1 for 10.0ms.",
    );
    check(
        &mut |stage, ms| {
            stage.situation.workers[1].run_delay_ns = Some(SECOND + ms.min(9) * MS);
        },
        "",
    );
}

/// Polls of one length that end on w0 between two scans, of which the kernel does not run it for so
/// long.
struct Turn {
    polls: u64,
    each_ms: u64,
    delay_ms: u64,
}

/// A worker has these polls in each turn of two seconds. The first one is the first scan: all run
/// delay since the thread started may have been in its polls.
fn turns(turn: &Turn) -> impl FnMut(&mut SituationBuilder, u64) {
    move |stage, ms| {
        let count = if ms < 2_000 { turn.polls } else { 0 };
        let proc = &mut stage.situation.procs[0];
        proc.slow += count;
        proc.polls += count;
        proc.longest_ns = turn.each_ms * MS;
        let worker = &mut stage.situation.workers[0];
        worker.run_delay_ns = Some(SECOND + (ms / 250 + 1) * turn.delay_ms * MS);
        worker.long_polls = match count {
            0 => Vec::new(),
            _ => vec![LongPolls {
                proc: "app::write".to_owned(),
                polls: count,
                least_ns: turn.each_ms * MS,
            }],
        };
    }
}

fn one_worker(stage: &mut SituationBuilder) {
    workers(stage, 1);
    proc(stage);
    // Before the first turn.
    stage.situation.workers[0].run_delay_ns = Some(SECOND);
}

/// The log of eight such turns, and the WHY of the last alert after its first sentence.
fn check_turns([polls, each_ms, delay_ms]: [u64; 3], log: &[&str], why: &str) {
    let turn = Turn {
        polls,
        each_ms,
        delay_ms,
    };
    let mut stage = SituationBuilder::new();
    one_worker(&mut stage);
    let mut play = Play::new(stage);
    play.until(3_000, turns(&turn));
    assert_eq!(play.log, log);
    let last = play.last.first().map_or("", |alert| &alert.why);
    let first = "A poll must return quickly: its worker runs no other task until then.";
    assert_eq!(last.strip_prefix(first).unwrap_or(last), why);
}

#[test]
fn finished_polls_that_only_the_machine_made_long_raise_nothing() {
    // What they take over the limit is all of the delay, or a millisecond more.
    check_turns([1, 18, 8], &[], "");
    check_turns([4, 18, 32], &[], "");
    check_turns([4, 99, 356], &[], "");
    let delay = " 1 more poll may be so long only because the kernel did not run the worker. \
               In the last 3.00 s the kernel did not run w0 for 84.0ms.";
    let log = ["750 + warning long poll 18.0ms: app::write, 3 polls > 10ms"];
    check_turns([1, 18, 7], &log, delay);
}

#[test]
fn finished_polls_that_are_long_by_themselves_are_a_warning_on_a_busy_machine() {
    let log = ["250 + warning long poll 40.0ms: app::write, 4 polls > 10ms"];
    let why = " 12 more polls may be so long only because the kernel did not run the worker. \
               In the last 3.00 s the kernel did not run w0 for 600ms.";
    check_turns([5, 40, 50], &log, why);
}

#[test]
fn finished_polls_that_the_machine_made_very_long_are_a_note() {
    let log = [
        "500 + note long poll 150ms: the kernel did not run the worker; app::write, 3 polls > 10ms",
    ];
    let why = " In the last 3.00 s the kernel did not run w0 for 1.68 s: more threads want to run than \
               there are cores, or the process is at its CPU limit.";
    check_turns([1, 150, 140], &log, why);
}

#[test]
fn run_delay_explains_only_polls_that_were_there_then() {
    // In the scan before the poll began, unless it was in progress at that scan.
    let delayed_before = |in_progress: bool| {
        move |stage: &mut SituationBuilder, ms: u64| {
            turns(&Turn {
                polls: u64::from(ms == 500) * 3,
                each_ms: 150,
                delay_ms: 0,
            })(stage, ms);
            let worker = &mut stage.situation.workers[0];
            worker.run_delay_ns = Some(if ms == 0 { SECOND } else { 2 * SECOND });
            let begun = OpenPoll {
                since: START + 240 * MS,
                ..OpenPoll::default()
            };
            worker.poll = (ms == 250 && in_progress).then_some(begun);
        }
    };
    let (none, polls) = (
        "long poll 150ms: the kernel did not run the worker; app::write, 3 polls > 10ms",
        "long poll 150ms: app::write, 3 polls > 10ms",
    );
    check(
        one_worker,
        500,
        delayed_before(true),
        &[&format!("500 + note {none}")],
    );
    check(
        one_worker,
        500,
        delayed_before(false),
        &[&format!("500 + warning {polls}")],
    );
    // Of another worker, or the system tells none.
    let elsewhere = |delay: Option<u64>| {
        move |stage: &mut SituationBuilder, ms: u64| {
            turns(&Turn {
                polls: 3,
                each_ms: 20,
                delay_ms: 0,
            })(stage, ms);
            stage.situation.workers[0].run_delay_ns = delay;
            stage.situation.workers[1].run_delay_ns = Some((ms + 250) * MS);
        }
    };
    let two = |stage: &mut SituationBuilder| {
        workers(stage, 2);
        proc(stage);
    };
    let polls = "0 + warning long poll 20.0ms: app::write, 3 polls > 10ms";
    check(two, 500, elsewhere(Some(0)), &[polls]);
    check(two, 500, elsewhere(None), &[polls]);
}

#[test]
fn thresholds_can_be_set() {
    let mut stage = SituationBuilder::new();
    let proc = proc(&mut stage);
    (proc.slow, proc.polls, proc.longest_ns) = (2, 2, 15 * MS);
    let limits = Limits::default().with(Limit::LongPollCount, 2);
    let mut play = Play::with(limits, stage);
    play.until(0, |_, _| ());
    assert_eq!(
        play.log,
        ["0 + warning long poll 15.0ms: app::write, 2 polls > 10ms"]
    );
}

/// A task is busy for so many parts in a hundred of the time, in polls of a length.
fn busy(percent: u64, poll_ns: u64) -> impl FnMut(&mut SituationBuilder, u64) {
    move |stage, ms| {
        let task = stage.get("busy");
        task.busy_ns = ms * MS / 100 * percent;
        task.polls = 1 + task.busy_ns / poll_ns;
        task.since = START + ms * MS;
    }
}

#[test]
fn a_task_that_hardly_waits() {
    let build = |stage: &mut SituationBuilder| {
        stage.task("busy", "busy.rs:1 sleep(tick)");
    };
    check(
        build,
        30_000,
        busy(96, 5 * MS),
        &["10000 + warning yields rarely 10.0 s: busy spent 96.0% of it in polls, 5.00ms per poll"],
    );
    check(build, 30_000, busy(90, 5 * MS), &[]);
    check(build, 30_000, busy(96, MS), &[]);
    // One poll that lasts is not this.
    check(build, 30_000, busy(96, 2 * SECOND), &[]);
}

#[test]
fn a_task_that_was_busy_long_ago_is_not_now() {
    check(
        |stage| {
            let task = stage.task("busy", "busy.rs:1 sleep(tick)");
            (task.busy_ns, task.polls) = (600 * SECOND, 100_000);
            task.created = START - 600 * SECOND;
        },
        60_000,
        |stage, ms| {
            // It rests for a minute, but for one short poll.
            if ms == 40_000 {
                let task = stage.get("busy");
                task.polls += 1;
                task.since = START + ms * MS;
            }
        },
        &[],
    );
}

/// A quarter of a second after its first sighting, there are too few polls to prove it.
#[test]
fn a_starved_task_that_an_extra_scan_does_not_see() {
    let mut stage = SituationBuilder::new();
    stage.task("ready", "r.rs:1 rx.recv()").state = TaskState::Ready;
    stage.task("other", "o.rs:1 rx.recv()");
    let mut play = Play::every(1_000, stage);
    play.until(2_000, |stage, ms| {
        let other = stage.get("other");
        other.polls = 100 + ms / 50;
        other.since = START + ms * MS;
    });
    assert_eq!(
        play.log,
        ["2000 + warning starvation 2.00 s+: ready ready but not polled"]
    );
    assert_eq!(play.extra, [1_250]);
}

#[test]
fn ready_tasks_that_others_are_polled_before() {
    let build = |stage: &mut SituationBuilder| {
        stage.task("ready-1", "r.rs:1 rx.recv()").state = TaskState::Ready;
        stage.task("ready-2", "r.rs:1 rx.recv()").state = TaskState::Ready;
        stage.get("ready-2").since = START + 50 * MS;
        stage.task("other", "o.rs:1 rx.recv()");
    };
    let others = |polls: u64| {
        move |stage: &mut SituationBuilder, ms: u64| {
            let other = stage.get("other");
            other.polls += polls;
            other.since = START + ms * MS;
        }
    };
    check(
        build,
        2_000,
        others(10),
        &["500 + warning starvation 500ms+: ready-1 ready but not polled, and 1 more task"],
    );
    check(build, 2_000, others(9), &[]);
    // Each is polled in the end, but late.
    check(
        build,
        2_000,
        |stage, ms| {
            others(1_000)(stage, ms);
            for name in ["ready-1", "ready-2"] {
                stage.get(name).since = START + ms.saturating_sub(300) * MS;
            }
        },
        &["500 + warning starvation 300ms+: ready-1 ready but not polled, and 1 more task"],
    );
    // They are polled in between.
    check(
        build,
        5_000,
        |stage, ms| {
            others(1_000)(stage, ms);
            for name in ["ready-1", "ready-2"] {
                stage.get(name).since = START + ms * MS - 99 * MS;
            }
        },
        &[],
    );
    // Whether the others were polled before it was ready is not known.
    check(
        build,
        5_000,
        |stage, ms| {
            others(1_000)(stage, ms);
            for name in ["ready-1", "ready-2"] {
                stage.get(name).since = START + ms * MS - 200 * MS;
            }
        },
        &[],
    );
    // All stand still: that is another matter.
    check(build, 5_000, |_, _| (), &[]);
    // A worker that does not return is the reason.
    check(
        |stage| {
            build(stage);
            hog(stage, 2, 7);
        },
        2_000,
        others(10),
        &[
            "250 + alert long poll 250ms+: app::write",
            "500 + warning starvation 500ms+: ready-1 ready but not polled, and 1 more task",
            "1000 + alert blocked worker w0 1.00 s+: app::write in one poll",
            "1000 - long_poll",
            "1000 - starvation",
        ],
    );
}
