//! What tokio-console's tracker knows of warnings that were wrong: the same situations, and no
//! alert.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::diagnose::situation::{
    FutureRef, OpenPoll, TaskKind, Wake, Wakes, WorkerThread,
};
use turbowish_model::snapshot::TaskState;

use crate::play::{check, check_still};
use turbowish_testing::situations::{MS, START, SituationBuilder};

/// A task without a living waker, that last woke at an instant.
fn wakerless<'a>(
    stage: &'a mut SituationBuilder,
    name: &str,
    at: &str,
    woken: u64,
) -> &'a mut turbowish_model::diagnose::situation::Task {
    let task = stage.task(name, at);
    task.wakes = Some(Wakes {
        total: 5,
        by_itself: 5,
        clones: 5,
        live: Some(0),
        last: Some(Wake {
            at: woken,
            by: name.to_owned(),
        }),
    });
    task
}

/// console 149: woken by value, which takes the last waker, within the poll or right after it.
#[test]
fn a_waker_that_was_used_up_is_not_lost() {
    check_still(
        |stage| {
            wakerless(stage, "yields", "y.rs:1 yield_now()", START).state = TaskState::Ready;
            wakerless(stage, "raced", "y.rs:2 oneshot_rx", START + MS);
        },
        20_000,
        &[],
    );
    // It flickers: seen without a waker now and then, between polls.
    check(
        |stage| {
            wakerless(stage, "t", "y.rs:1 yield_now()", 0);
        },
        20_000,
        |stage, ms| {
            let task = stage.get("t");
            task.since = START + ms * MS - 2 * MS;
            task.polls += 10;
        },
        &[],
    );
}

/// console 149 and 160: a task that waits for its first poll has had no chance to give its waker
/// away.
#[test]
fn a_task_that_was_never_polled_lost_nothing() {
    check_still(
        |stage| {
            let task = wakerless(stage, "new", "n.rs:1 rx.recv()", 0);
            task.polls = 0;
            task.tree.clear();
        },
        20_000,
        &[],
    );
}

/// console 345 and 380: a task that has ended, while something that it made lives on.
#[test]
fn what_has_ended_is_not_judged() {
    check_still(
        |stage| {
            // Its children, its channel with the handle that it used, its place in a queue: the
            // task itself is gone.
            stage.task("child", "c.rs:1 sleep(day)");
            stage.task("main", "m.rs:9 std::future::pending::<()>()");
            stage.get("main").wakes = Some(Wakes {
                live: Some(0),
                ..Wakes::default()
            });
            let channel = stage.resource(Kind::Mpsc, "weak", Some(1));
            channel
                .ends
                .push(turbowish_model::diagnose::situation::End {
                    role: Role::Send,
                    user: Some(4_711),
                    number: None,
                });
            stage.waits("?", Role::Receive, "weak").task = Some(4_711);
            stage.mutex("left");
            stage.locks("?", "left").task = Some(4_711);
            stage.waits("?", Role::Lock, "left").task = Some(4_712);
        },
        20_000,
        &[],
    );
}

/// console 308: wake-ups and wakers that were counted wrongly. A task that others wake while it is
/// polled does not wake itself; clones that were used up are no clones that live, and as many as
/// were made may have been dropped.
#[test]
fn wakes_by_others_and_wakers_used_up_are_counted_right() {
    check(
        |stage| {
            let task = stage.task("t", "t.rs:1 stream.next()");
            task.idle_polls = Some(0);
        },
        20_000,
        |stage, ms| {
            let task = stage.get("t");
            task.polls += 2_000;
            task.since = START + ms * MS;
            task.idle_polls = Some(task.polls);
            let wakes = task.wakes.as_mut().expect("observed");
            wakes.total += 2_000;
            wakes.clones += 2_000;
            wakes.by_itself = 3;
            // Each wake-up uses the clone up, and the next poll makes another one.
            wakes.live = Some(if ms % 500 == 0 { 0 } else { 1 });
            wakes.last = Some(Wake {
                at: START + ms * MS,
                by: "w1".to_owned(),
            });
        },
        &[],
    );
}

/// console 516: `block_on`, whose waker is a thread, and `spawn_blocking`, which cannot yield.
#[test]
fn block_on_and_blocking_tasks_are_no_mistakes() {
    check_still(
        |stage| {
            stage.task("main", "m.rs:9 handle").kind = TaskKind::BlockOn;
            let task = stage.task("hash", "h.rs:1 digest()");
            task.kind = TaskKind::Blocking;
            task.state = TaskState::Polling;
            let id = task.id;
            stage.situation.workers.push(WorkerThread {
                name: "w0".to_owned(),
                ..WorkerThread::default()
            });
            // Its thread is no worker; a runtime that lists it anyway says so by the kind of the
            // task.
            stage.get("hash").busy_ns = 3_600_000 * MS;
            stage.resource(Kind::Mutex, "m", Some(1));
            stage.locks("hash", "m").task = Some(id);
        },
        20_000,
        &[],
    );
}

/// Wakers inside of a task: a `join!` or `FuturesUnordered` polls its futures with wakers of its
/// own, which wake the task's.
#[test]
fn wakers_between_futures_of_one_task() {
    check(
        |stage| {
            stage.task("t", "t.rs:1 stream.next()").idle_polls = Some(0);
        },
        20_000,
        |stage, ms| {
            let task = stage.get("t");
            task.polls += 2_000;
            task.since = START + ms * MS;
            let wakes = task.wakes.as_mut().expect("observed");
            wakes.total += 2_000;
            // It wakes itself for the next of its futures, and each poll ends one of them.
            wakes.by_itself += 2_000;
        },
        &[],
    );
}

/// A permit that the accept loop takes goes to the task that it spawns: an owned guard is of nobody
/// that is known.
#[test]
fn permits_that_are_handed_on_come_back() {
    check_still(
        |stage| {
            stage.task("accept", "main.rs:9 sem.clone().acquire_owned()");
            stage.task("conn", "conn.rs:1 socket.read(buf)");
            stage.resource(Kind::Semaphore, "conns", Some(1));
            stage.holds("?", Role::Acquire, 1, "conns");
            stage.waits("accept", Role::Acquire, "conns");
        },
        20_000,
        &[],
    );
}

/// `timeout(second, db.lock())` ends without the lock: the await is not of the lock itself.
#[test]
fn a_timeout_around_a_lock_ends() {
    check_still(
        |stage| {
            stage.task("a", "a.rs:2 timeout(second, db.lock())");
            stage.mutex("db");
            stage.locks("a", "db").since = START + 3_600_000 * MS;
            stage.waits("a", Role::Lock, "db").future = FutureRef::Unknown;
        },
        20_000,
        &[],
    );
}

/// A poll on a thread that is no task of ours, and short.
#[test]
fn polls_of_nobody_are_only_timed() {
    check(
        |stage| {
            stage.situation.workers.push(WorkerThread {
                name: "w0".to_owned(),
                poll: Some(OpenPoll::default()),
                ..WorkerThread::default()
            });
        },
        5_000,
        |stage, ms| {
            if let Some(poll) = &mut stage.situation.workers[0].poll {
                poll.since = START + ms * MS;
            }
        },
        &[],
    );
}
