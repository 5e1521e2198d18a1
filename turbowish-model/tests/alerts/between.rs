//! Polls that begin or end between two scans: what the looks at the workers tell of them.

use turbowish_model::diagnose::situation::{FinishedPoll, Proc, WorkerLook};
use turbowish_model::snapshot::TaskState;
use turbowish_model::snapshot::alert::{Alert, PartyKind, Severity, headline};
use turbowish_model::snapshot::column::cell;
use turbowish_model::snapshot::pitfall::Pitfall;

use crate::play::{Play, UNIX};
use crate::polls::{hog, polls};
use turbowish_testing::situations::{MS, SECOND, START, SituationBuilder, place};

/// Scans come so often, in milliseconds: as with many tasks.
const APART: u64 = 5_000;

/// End of WHY.
const UNKNOWN: &str = " No scan told who waited for this poll, so that is not known.";

/// What happened on w0 between two scans. All times are in milliseconds.
#[derive(Clone, Copy, Default)]
struct Between<'a> {
    /// A poll of `hog` that ended: its start and end.
    poll: (u64, u64),
    /// Looks: the instant, run delay and processor time since the start.
    looks: &'a [(u64, u64, u64)],
}

fn stage() -> SituationBuilder {
    let mut stage = SituationBuilder::new();
    hog(&mut stage, 2, 7);
    let worker = &mut stage.situation.workers[0];
    worker.poll = None;
    (worker.run_delay_ns, worker.cpu_ns) = (Some(SECOND), Some(SECOND));
    let hog = stage.get("hog");
    hog.state = TaskState::Waiting;
    stage
}

fn ended((since, until): (u64, u64)) -> FinishedPoll {
    FinishedPoll {
        task: 1,
        name: Some("hog".to_owned()),
        since: START + since * MS,
        until: START + until * MS,
        stack: vec!["app::hog".to_owned(), "app::write".to_owned()],
        passed: Some(place("write.rs:97 self.db.lock()")),
    }
}

fn times((at, run_delay, cpu): (u64, u64, u64)) -> WorkerLook {
    WorkerLook {
        from: START + at * MS,
        to: START + at * MS,
        run_delay_ns: Some(SECOND + run_delay * MS),
        cpu_ns: Some(SECOND + cpu * MS),
        sleeps: false,
    }
}

/// Shows what was between the last scan and the one at `ms`.
fn tell(stage: &mut SituationBuilder, ms: u64, between: Between<'_>) {
    let (from, id) = (ms.saturating_sub(APART), stage.get("hog").id);
    let worker = &mut stage.situation.workers[0];
    let is_new = |at: u64| (from..ms).contains(&at) && ms > 0;
    let looks = between.looks.iter().filter(|look| is_new(look.0));
    worker.looks = looks.copied().map(times).collect();
    if let Some(last) = worker.looks.last() {
        (worker.run_delay_ns, worker.cpu_ns) = (last.run_delay_ns, last.cpu_ns);
    }
    let is_told = is_new(between.poll.1) && between.poll.1 > 0;
    worker.ended_polls = match is_told {
        true => vec![FinishedPoll {
            task: id,
            ..ended(between.poll)
        }],
        false => Vec::new(),
    };
}

/// The alerts that are over after scans at 0, 5 and 10 s; none is ever active.
fn after(between: Between<'_>) -> Vec<Alert> {
    let mut play = Play::every(APART, stage());
    play.until(2 * APART, |stage, ms| tell(stage, ms, between));
    assert_eq!(play.log, [""; 0]);
    play.past()
}

fn only(between: Between<'_>) -> Alert {
    let past = after(between);
    let [alert]: &[Alert] = &past else {
        panic!("{past:#?}");
    };
    alert.clone()
}

/// The poll of 1.5 s is told as the program's own trouble.
fn is_its_own(alert: &Alert) {
    let told = (alert.title.as_str(), alert.severity);
    let title = "blocked worker w0 1.50 s: app::write in one poll";
    assert_eq!(told, (title, Severity::Alert));
}

/// A look every 250 ms, at which the thread has had the run delay and processor time that `used`
/// tells.
fn looks(used: impl Fn(u64) -> (u64, u64)) -> Vec<(u64, u64, u64)> {
    let instants = (1..2 * APART / 250).map(|nth| nth * 250);
    instants
        .map(|at| {
            let (run_delay, cpu) = used(at);
            (at, run_delay, cpu)
        })
        .collect()
}

/// A stall that sleeps from 1.1 s to 2.6 s. Around it the worker is kept waiting for most of the
/// time, on a machine with too few processors.
#[test]
fn a_stall_between_two_scans_is_told_as_it_was() {
    let busy = |from: u64, until: u64| (until - from) * 8 / 10;
    let used = |at: u64| {
        let awake = at.min(1_100) + at.saturating_sub(2_600);
        (busy(0, awake), awake / 10)
    };
    let looks = looks(used);
    let alert = only(Between {
        poll: (1_100, 2_600),
        looks: &looks,
    });
    is_its_own(&alert);
    assert_eq!(alert.pitfall, Pitfall::BlockedWorker);
    assert_eq!(alert.began_unix_ns, UNIX + 1_100 * MS);
    assert_eq!(alert.ended_unix_ns, Some(UNIX + 2_600 * MS));
    assert_eq!(alert.held_ns, 1_500 * MS);
    assert_eq!(alert.named(PartyKind::Worker), ["w0"]);
    assert_eq!(alert.named(PartyKind::Task), ["hog"]);
    let at = alert.at.as_ref().expect("where it was");
    assert_eq!(at.proc, "app::write");
    assert_eq!(
        at.place.as_ref().expect("an await point").expr,
        "self.db.lock()"
    );
    assert!(
        alert
            .why
            .contains("w0 was not on the processor in the last 1.25 s: it slept"),
        "{}",
        alert.why
    );
    assert!(alert.why.ends_with(UNKNOWN), "{}", alert.why);
    assert_eq!(cell(&alert, "behind"), "?");
    let [fix] = &alert.fixes[..] else {
        panic!("{:?}", alert.fixes);
    };
    assert!(fix.contains("a blocking call?"), "{fix}");
}

/// The machine kept the thread waiting for most of the poll.
#[test]
fn a_poll_that_the_machine_did_not_run_is_a_note() {
    let looks = looks(|at| (at * 8 / 10, at / 10));
    let alert = only(Between {
        poll: (1_100, 2_600),
        looks: &looks,
    });
    assert_eq!(alert.severity, Severity::Note);
    assert_eq!(
        alert.title,
        "blocked worker w0 1.50 s: the kernel did not run it for 1.00 s+ of one poll, in app::write"
    );
}

/// Half of the poll or more is certainly not run delay: it is the program's own trouble, and the
/// delay is told.
#[test]
fn a_poll_that_is_partly_the_machines_is_told_with_its_delay() {
    let looks = looks(|at| (at * 4 / 10, at * 6 / 10));
    let alert = only(Between {
        poll: (1_000, 2_500),
        looks: &looks,
    });
    is_its_own(&alert);
    let told = " The kernel did not run w0 for 600ms+ of this poll.";
    assert!(alert.why.contains(told), "{}", alert.why);
}

/// What is counted after the last look in the poll may be of after its end. If the thread slept at
/// that look, no wait was in progress then.
#[test]
fn a_delay_after_the_end_of_a_sleep_is_not_the_polls() {
    let between = |sleeps: bool| {
        let mut play = Play::every(APART, stage());
        play.until(2 * APART, |stage, ms| {
            let poll = (1_000, 2_100);
            let looks = [
                (900, 0, 0),
                (1_250, 200, 0),
                (2_000, 200, 0),
                (4_000, 1_500, 0),
            ];
            tell(
                stage,
                ms,
                Between {
                    poll,
                    looks: &looks,
                },
            );
            let looks = stage.situation.workers[0].looks.iter_mut();
            looks.for_each(|look| look.sleeps = sleeps);
        });
        play.past().remove(0)
    };
    assert_eq!(between(true).severity, Severity::Alert);
    assert_eq!(between(false).severity, Severity::Note);
}

/// No look was made for so long that the delay may be in the poll or beside it.
#[test]
fn what_the_looks_cannot_tell_is_not_told() {
    let looks = [(500, 0, 0), (4_500, 2_000, 100)];
    let alert = only(Between {
        poll: (1_000, 2_500),
        looks: &looks,
    });
    assert_eq!((alert.severity, alert.certain), (Severity::Note, false));
    assert_eq!(
        alert.title,
        "blocked worker w0 1.50 s: the kernel may not have run it, in app::write"
    );
    assert!(
        alert.why.contains("for up to 1.50 s of this poll"),
        "{}",
        alert.why
    );
    // It may have had 400 ms of the delay: the rest is its own.
    let looks = [(500, 0, 0), (4_500, 400, 100)];
    let alert = only(Between {
        poll: (1_000, 2_500),
        looks: &looks,
    });
    is_its_own(&alert);
}

/// A scan sees the poll, and it ends before the next one: its length is known.
#[test]
fn a_poll_that_a_scan_saw_has_its_end() {
    let mut play = Play::every(APART, stage());
    play.until(3 * APART, |stage, ms| {
        tell(
            stage,
            ms,
            Between {
                poll: (3_800, 5_300),
                looks: &[],
            },
        );
        stage.situation.workers[0].poll = None;
        stage.situation.workers[0].sleeps = true;
        if ms == APART {
            polls(stage, 0, "hog", START + 3_800 * MS);
        } else {
            // It has been polled again since.
            let hog = stage.get("hog");
            (hog.state, hog.polls) = (TaskState::Waiting, hog.polls + 1);
            hog.since = START + ms * MS;
        }
    });
    let title = "5000 + alert blocked worker w0 1.20 s+: app::write in one poll";
    assert_eq!(play.log, [title, "10000 - blocked_worker"]);
    let past = play.past();
    let told: Vec<_> = past
        .iter()
        .map(|alert| (alert.title.as_str(), alert.times))
        .collect();
    assert_eq!(
        told,
        [("blocked worker w0 1.50 s: app::write in one poll", 1)]
    );
}

/// It was a long poll when it was seen, and a blocked worker when it ended: one trouble.
#[test]
fn a_long_poll_that_becomes_a_blocked_worker_is_one_alert() {
    let mut play = Play::new(stage());
    play.until(5_000, |stage, ms| {
        // Three looks see it, then none does until it has ended.
        let worker = &mut stage.situation.workers[0];
        worker.ended_polls.clear();
        worker.poll = None;
        match ms {
            0..=750 => polls(stage, 0, "hog", START),
            1_500 => {
                let id = stage.get("hog").id;
                stage.situation.workers[0].ended_polls = vec![FinishedPoll {
                    task: id,
                    passed: None,
                    ..ended((0, 1_480))
                }];
            }
            _ => {}
        }
        if ms > 750 {
            stage.get("hog").state = TaskState::Waiting;
        }
    });
    let past = play.past();
    let [alert]: &[Alert] = &past else {
        panic!("{past:#?}");
    };
    assert_eq!(
        (alert.title.as_str(), alert.times, alert.began_unix_ns),
        ("blocked worker w0 1.48 s: app::write in one poll", 1, UNIX)
    );
    // The scans saw it, but not who waited for it: that is not told of a long poll.
    assert!(alert.why.ends_with(UNKNOWN), "{}", alert.why);
    assert_eq!(cell(alert, "behind"), "?");
    // Its await point is that of the look.
    let at = alert.at.as_ref().and_then(|at| at.place.as_ref());
    assert_eq!(at.expect("an await point").expr, "self.db.lock()");
}

/// The record of a long poll follows it: to the blocked worker that it becomes, while it lasts and
/// when it is over.
#[test]
fn a_blocked_worker_takes_the_place_of_its_long_poll() {
    let mut play = Play::new(stage());
    let mut seen = Vec::new();
    for until in [500, 1_500, 4_000] {
        play.until(until, |stage, ms| {
            if ms <= 1_500 {
                polls(stage, 0, "hog", START + 100 * MS);
            } else {
                stage.situation.workers[0].poll = None;
                stage.get("hog").state = TaskState::Waiting;
                stage.get("hog").since = START + 1_600 * MS;
            }
        });
        let now = play.last.first().cloned();
        seen.push(now.unwrap_or_else(|| play.past().remove(0)));
    }
    let kinds: Vec<_> = seen
        .iter()
        .map(|alert| (alert.pitfall, alert.is_over()))
        .collect();
    let expected = [
        (Pitfall::LongPoll, false),
        (Pitfall::BlockedWorker, false),
        (Pitfall::BlockedWorker, true),
    ];
    assert_eq!(kinds, expected);
    assert!(seen[1].has_replaced(&seen[0]));
    assert!(seen[2].has_replaced(&seen[0]) && seen[2].has_replaced(&seen[1]));
    // Another poll does not.
    let another = Alert {
        began_unix_ns: seen[1].began_unix_ns + 1,
        ..seen[1].clone()
    };
    assert!(!another.has_replaced(&seen[0]));
}

/// Two stalls of one place, of which a scan sees the first: one entry, described by what was seen.
#[test]
fn a_stall_that_was_seen_and_one_that_was_not_are_one_entry() {
    let mut play = Play::new(stage());
    play.until(20_000, |stage, ms| {
        let id = stage.get("hog").id;
        let worker = &mut stage.situation.workers[0];
        (worker.poll, worker.ended_polls) = (None, Vec::new());
        let told = |poll, passed| FinishedPoll {
            task: id,
            passed,
            ..ended(poll)
        };
        match ms {
            0..=1_250 => polls(stage, 0, "hog", START),
            1_500 => worker.ended_polls = vec![told((0, 1_480), None)],
            10_000 => worker.ended_polls = vec![told((8_000, 9_600), None)],
            _ => {}
        }
        if ms > 1_250 {
            stage.get("hog").state = TaskState::Waiting;
        }
    });
    let past = play.past();
    let [alert]: &[Alert] = &past else {
        panic!("{past:#?}");
    };
    assert_eq!((alert.times, alert.behind_unknown), (2, false));
    let times = alert.recent.iter().map(|time| time.held_ns / MS);
    assert_eq!(times.collect::<Vec<_>>(), [1_480, 1_600]);
    assert_eq!(
        alert.title,
        "blocked worker w0 1.48 s: app::write in one poll"
    );
}

/// What is certainly the program's own trouble is named first: before older long polls, and, when
/// it is over, before what the machine may have made long.
#[test]
fn a_blocked_worker_is_named_before_a_poll_that_was_only_delayed() {
    let alert = |pitfall, severity, since| Alert {
        pitfall,
        severity,
        since,
        ..Alert::default()
    };
    let long = alert(Pitfall::LongPoll, Severity::Alert, 1);
    let blocked = alert(Pitfall::BlockedWorker, Severity::Alert, 5);
    let delayed = alert(Pitfall::LongPoll, Severity::Note, 1);
    let over = Alert {
        ended_unix_ns: Some(9),
        ..blocked.clone()
    };
    let first = |alerts: [&Alert; 3]| {
        let alerts = alerts.map(Clone::clone);
        headline(&alerts).cloned()
    };
    assert_eq!(first([&long, &delayed, &blocked]), Some(blocked));
    assert_eq!(first([&delayed, &delayed, &over]), Some(over));
}

/// Polls one after another hold one worker: each is an alert of its own.
#[test]
fn a_worker_that_is_held_by_one_poll_after_another() {
    let mut play = Play::new(stage());
    play.until(6_000, |stage, ms| {
        let id = stage.get("hog").id;
        stage.situation.workers[0].ended_polls = match ms {
            2_000 => vec![FinishedPoll {
                task: id,
                ..ended((0, 1_900))
            }],
            _ => Vec::new(),
        };
        // No scan is made for a second.
        if ms < 2_000 {
            polls(stage, 0, "hog", START);
        } else if ms < 4_000 {
            polls(stage, 0, "hog", START + 950 * MS);
        } else {
            stage.situation.workers[0].poll = None;
            stage.get("hog").state = TaskState::Waiting;
        }
    });
    let titles: Vec<String> = play.past().into_iter().map(|alert| alert.title).collect();
    assert_eq!(titles.len(), 1, "{titles:?}");
    assert_eq!(play.past()[0].times, 2);
}

/// The number of long polls has none that is a blocked worker; the other way around, a blocked
/// worker says nothing of them.
#[test]
fn a_blocked_worker_is_not_also_a_number_of_long_polls() {
    let mut stage = stage();
    stage.situation.procs = vec![Proc {
        path: "app::write".to_owned(),
        ..Proc::default()
    }];
    let mut play = Play::new(stage);
    play.until(9_000, |stage, ms| {
        let id = stage.get("hog").id;
        let begin = ms.saturating_sub(1_600);
        stage.situation.workers[0].ended_polls = match ms % 2_000 {
            0 if ms > 0 => vec![FinishedPoll {
                task: id,
                ..ended((begin, ms - 100))
            }],
            _ => Vec::new(),
        };
        let proc = &mut stage.situation.procs[0];
        (proc.polls, proc.longest_ns) = (1 + ms / 2_000, 1_500 * MS);
    });
    assert_eq!(play.log, [""; 0]);
    let past = play.past();
    let told: Vec<_> = past
        .iter()
        .map(|alert| (alert.pitfall, alert.times))
        .collect();
    assert_eq!(told, [(Pitfall::BlockedWorker, 4)]);
}

/// A function that runs an executor holds its thread. A poll in it is an alert of its own, though
/// the scans have raised the function.
#[test]
fn a_poll_within_one_that_goes_on_is_an_alert_of_its_own() {
    let mut play = Play::new(stage());
    play.until(8_000, |stage, ms| {
        polls(stage, 0, "hog", START);
        let id = stage.get("hog").id;
        let worker = &mut stage.situation.workers[0];
        let poll = worker.poll.as_mut().expect("the outer poll");
        (poll.task, poll.passed) = (None, None);
        poll.stack = vec![("app::serve".to_owned(), START)];
        worker.ended_polls = match ms {
            7_000 => vec![FinishedPoll {
                task: id,
                ..ended((5_000, 6_500))
            }],
            _ => Vec::new(),
        };
    });
    let titles = |alerts: &[Alert]| -> Vec<String> {
        alerts.iter().map(|alert| alert.title.clone()).collect()
    };
    assert_eq!(
        titles(&play.last),
        ["blocked worker w0 8.00 s+: app::serve in one poll"]
    );
    assert_eq!(
        titles(&play.past()),
        ["blocked worker w0 1.50 s: app::write in one poll"]
    );
}
