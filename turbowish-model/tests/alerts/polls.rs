//! Long polls, blocked workers, tasks that hardly wait, and those that are not served.

use turbowish_model::alert::{Alert, Limit, Limits};
use turbowish_model::scene::{OpenPoll, Proc, Worker};
use turbowish_model::snapshot::TaskState;

use crate::play::{Play, check, check_still};
use crate::scenes::{MS, SECOND, START, Stage, place, spot};

fn workers(stage: &mut Stage, count: usize) {
    for n in 0..count {
        stage.scene.workers.push(Worker {
            name: format!("w{n}"),
            poll: None,
        });
    }
}

/// A task is polled by a worker since an instant.
fn polls(stage: &mut Stage, worker: usize, task: &str, since: u64) {
    let task = stage.get(task);
    task.state = TaskState::Polling;
    task.since = since;
    let (id, root) = (task.id, task.root.clone());
    stage.scene.workers[worker].poll = Some(OpenPoll {
        task: Some(id),
        since,
        stack: vec![(root, since), ("app::write".to_owned(), since)],
        passed: Some(place("write.rs:97 self.db.lock()")),
    });
}

fn hog(stage: &mut Stage, count: usize, number: u64) {
    workers(stage, count);
    stage.task("hog", "hog.rs:1 write()").polls = number;
    polls(stage, 0, "hog", START);
}

#[test]
fn a_poll_that_does_not_return_is_seen_while_it_lasts() {
    let mut stage = Stage::new();
    hog(&mut stage, 2, 7);
    let mut play = Play::new(stage);
    play.until(6_000, |_, _| ());
    assert_eq!(
        play.log,
        [
            "250 + alert long poll: app::write, in one poll for 250ms+",
            "1000 + alert blocked worker w0: app::write in one poll for 1.00 s+",
            "1000 - long_poll",
        ]
    );
    let [alert]: &[Alert] = &play.last else {
        panic!("{:?}", play.last);
    };
    assert_eq!(
        alert.title,
        "blocked worker w0: app::write in one poll for 6.00 s+"
    );
    assert_eq!(
        alert.fixes,
        [
            "between write.rs:97 and the next await: file I/O or a loop? use spawn_blocking, or yield_now().await every few ms",
            "see it now: turbowish debug --gdb hog, or D in the console, stands in this poll",
        ]
    );
    play.until(20_000, |stage, _| {
        stage.scene.workers[0].poll = None;
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
            "250 + alert long poll: app::write, in one poll for 250ms+",
            "1000 + alert never yields: hog is in its first poll for 1.00 s+, in app::write",
            "1000 - long_poll",
        ],
    );
}

#[test]
fn all_workers_at_once_are_one_alert() {
    let build = |stage: &mut Stage, number| {
        hog(stage, 2, number);
        stage.task("pig", "pig.rs:1 write()").polls = 7;
        polls(stage, 1, "pig", START + 100 * MS);
        stage.scene.heartbeat = Some(START);
    };
    let all = [
        "250 + alert long poll: app::write, in one poll for 250ms+",
        "1000 + alert blocked worker w0: app::write in one poll for 1.00 s+",
        "1000 - long_poll",
        "1250 + alert blocked workers: all 2 are in one poll each, app::write for 1.25 s+",
        "2000 - blocked_worker",
    ];
    check_still(|stage| build(stage, 7), 5_000, &all);
}

#[test]
fn polls_that_are_not_covered_show_at_the_heartbeat() {
    let build = |stage: &mut Stage| {
        workers(stage, 2);
        stage.scene.heartbeat = Some(START);
    };
    check_still(
        build,
        3_000,
        &["1000 + alert blocked executor: it has polled nothing that was woken for 1.00 s"],
    );
    let beats = |stage: &mut Stage, ms| stage.scene.heartbeat = Some(START + ms * MS);
    check(build, 3_000, beats, &[]);
    check(build, 3_000, |stage, _| stage.scene.heartbeat = None, &[]);
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

fn proc(stage: &mut Stage) -> &mut Proc {
    stage.scene.procs.push(Proc {
        path: "app::write".to_owned(),
        spot: spot("write.rs:9"),
        ..Proc::default()
    });
    stage.scene.procs.last_mut().expect("a proc")
}

#[test]
fn finished_polls_that_were_long() {
    let grows = |by: u64, longest: u64| {
        move |stage: &mut Stage, ms: u64| {
            let proc = &mut stage.scene.procs[0];
            if ms < 2_000 {
                proc.slow += by;
                proc.polls += by * 100;
                proc.longest_ns = longest;
            }
        }
    };
    let build = |stage: &mut Stage| {
        proc(stage);
    };
    check(
        build,
        30_000,
        grows(11, 38_400_000),
        &[
            "0 + warning long poll: app::write, 11 polls > 10ms, longest 38.4ms",
            "21000 - long_poll",
        ],
    );
    // Very few of very many.
    check(
        build,
        9_000,
        |stage, ms| {
            grows(11, 38_400_000)(stage, ms);
            stage.scene.procs[0].polls += 1;
        },
        &[],
    );
    // Below the count, however long; and very long ones.
    let polls = |slow: u64, longest: u64| {
        move |stage: &mut Stage| {
            let proc = proc(stage);
            (proc.slow, proc.polls, proc.longest_ns) = (slow, slow, longest);
        }
    };
    check_still(polls(2, 150 * MS), 9_000, &[]);
    check_still(
        polls(3, 100 * MS),
        9_000,
        &["0 + alert long poll: app::write, 3 polls > 10ms, longest 100ms"],
    );
}

#[test]
fn thresholds_can_be_set() {
    let mut stage = Stage::new();
    let proc = proc(&mut stage);
    (proc.slow, proc.polls, proc.longest_ns) = (2, 2, 15 * MS);
    let limits = Limits::default().with(Limit::LongPollCount, 2);
    let mut play = Play::with(limits, stage);
    play.until(0, |_, _| ());
    assert_eq!(
        play.log,
        ["0 + warning long poll: app::write, 2 polls > 10ms, longest 15.0ms"]
    );
}

/// A task is busy for so many parts in a hundred of the time, in polls of a length.
fn busy(percent: u64, poll_ns: u64) -> impl FnMut(&mut Stage, u64) {
    move |stage, ms| {
        let task = stage.get("busy");
        task.busy_ns = ms * MS / 100 * percent;
        task.polls = 1 + task.busy_ns / poll_ns;
        task.since = START + ms * MS;
    }
}

#[test]
fn a_task_that_hardly_waits() {
    let build = |stage: &mut Stage| {
        stage.task("busy", "busy.rs:1 sleep(tick)");
    };
    check(
        build,
        30_000,
        busy(96, 5 * MS),
        &["10000 + warning yields rarely: busy was in polls 96.0% of 10.0 s, 5.00ms a poll"],
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

#[test]
fn ready_tasks_that_others_are_polled_before() {
    let build = |stage: &mut Stage| {
        stage.task("ready-1", "r.rs:1 rx.recv()").state = TaskState::Ready;
        stage.task("ready-2", "r.rs:1 rx.recv()").state = TaskState::Ready;
        stage.get("ready-2").since = START + 50 * MS;
        stage.task("other", "o.rs:1 rx.recv()");
    };
    let others = |polls: u64| {
        move |stage: &mut Stage, ms: u64| {
            let other = stage.get("other");
            other.polls += polls;
            other.since = START + ms * MS;
        }
    };
    check(
        build,
        2_000,
        others(10),
        &["500 + warning starvation: 2 tasks ready and not polled, ready-1 for 500ms"],
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
        &["500 + warning starvation: 2 tasks ready and not polled, ready-1 for 300ms"],
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
            "250 + alert long poll: app::write, in one poll for 250ms+",
            "500 + warning starvation: 2 tasks ready and not polled, ready-1 for 500ms",
            "1000 + alert blocked worker w0: app::write in one poll for 1.00 s+",
            "1000 - long_poll",
            "1000 - starvation",
        ],
    );
}
