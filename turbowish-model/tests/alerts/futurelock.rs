//! Futurelock and snoozed futures: the shape of RFD 609, and loops that only look like it.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::diagnose::situation::{FutureRef, NodeKind, NodeWake};
use turbowish_model::snapshot::TaskState;

use crate::play::{Play, check, check_still};
use turbowish_testing::situations::{MS, START, SituationBuilder, place};

/// `save` was given the lock at 100 ms; the arm of the select that awaits the lock itself is
/// polled, and waits behind it.
fn locked(stage: &mut SituationBuilder) {
    stage.task("snapshot", "snapshot.rs:40 select!");
    stage.get("snapshot").since = START + 101 * MS;
    stage.get("snapshot").polls = 4;
    stage.task("conn", "conn.rs:84 self.db.lock()");
    stage.mutex("db");
    let first = stage.waits("snapshot", Role::Lock, "db");
    first.future = FutureRef::Aside;
    first.proc = Some("app::save".to_owned());
    first.place = Some(place("snapshot.rs:97 self.db.lock()"));
    first.woken = Some(START + 100 * MS);
    first.woken_poll = Some(3);
    let second = stage.waits("snapshot", Role::Lock, "db");
    second.proc = Some("app::report".to_owned());
    second.place = Some(place("snapshot.rs:61 self.db.lock()"));
    second.since = START + 50 * MS;
    stage.waits("conn", Role::Lock, "db");
}

const RAISED: &str =
    "1250 + alert futurelock 1.15 s+: snapshot got mutex db, but does not poll save";

#[test]
fn both_futures_are_named() {
    let mut stage = SituationBuilder::new();
    locked(&mut stage);
    let mut play = Play::new(stage);
    play.until(12_500, |_, _| ());
    assert_eq!(play.log, [RAISED]);
    let [alert] = &play.last[..] else {
        panic!("{:?}", play.last);
    };
    assert_eq!(
        alert.title,
        "futurelock 12.4 s+: snapshot got mutex db, but does not poll save"
    );
    assert!(alert.certain);
    let at = alert.at.clone().expect("a place");
    assert_eq!(
        (at.proc.as_str(), at.place),
        ("app::save", Some(place("snapshot.rs:97 self.db.lock()")))
    );
    let steps: Vec<String> = alert
        .steps
        .iter()
        .map(|step| {
            let line = step.point.place.as_ref().map_or(0, |place| place.line);
            format!("{} {}:{line} {}", step.task.name, step.point.proc, step.how)
        })
        .collect();
    assert_eq!(
        steps,
        [
            "snapshot app::save:97 granted 12.4 s ago, not polled since",
            "snapshot app::report:61 waits 12.5 s, behind it",
        ]
    );
    assert_eq!(alert.behind_count(), 1);
    assert_eq!(alert.behind.tasks[0].name, "conn");
    assert_eq!(
        alert.fixes,
        [
            "spawn save, or poll both in one join! or select!",
            "or drop save before snapshot.rs:61: `drop(save)`",
        ]
    );
}

#[test]
fn the_task_may_be_about_to_poll_it() {
    let near = |change: fn(&mut SituationBuilder)| {
        check_still(
            |stage| {
                locked(stage);
                change(stage);
            },
            20_000,
            &[],
        );
    };
    near(|stage| stage.on("db").waiters[0].woken = None);
    near(|stage| stage.on("db").waiters[0].woken_poll = Some(4));
    near(|stage| stage.get("snapshot").since = START + 99 * MS);
    near(|stage| stage.get("snapshot").paused = true);
    near(|stage| stage.on("db").waiters[0].task = None);
}

/// It is woken and not polled, and nobody waits behind it.
#[test]
fn a_turn_that_nobody_waits_for_is_only_snoozed() {
    let snoozed = |change: fn(&mut SituationBuilder)| {
        check_still(
            |stage| {
                locked(stage);
                change(stage);
            },
            3_000,
            &[
                "1250 + warning snoozed future 1.15 s+: snapshot does not poll app::save at snapshot.rs:97, which was woken",
            ],
        );
    };
    snoozed(|stage| stage.on("db").waiters.truncate(1));
    // Nor does another one that is left aside.
    snoozed(|stage| {
        stage.on("db").waiters.truncate(2);
        stage.on("db").waiters[1].future = FutureRef::Aside;
    });
    // A signal is no turn, and neither is an item that could be received.
    snoozed(|stage| {
        stage.on("db").kind = Kind::Notify;
        for waiter in &mut stage.on("db").waiters {
            waiter.role = Role::Wait;
        }
    });
    snoozed(|stage| {
        stage.on("db").kind = Kind::Mpsc;
        stage.on("db").waiters[0].role = Role::Receive;
        stage.on("db").waiters[1].role = Role::Send;
    });
}

#[test]
fn it_is_said_after_a_second_only() {
    check(
        locked,
        5_000,
        |stage, ms| {
            // A busy select! loop: the future is polled, and woken again, faster than that.
            let waiter = &mut stage.on("db").waiters[0];
            waiter.woken = (ms % 1_000 != 0).then(|| START + (ms / 1_000 * 1_000 + 100) * MS);
        },
        &[],
    );
    check_still(locked, 1_000, &[]);
}

#[test]
fn other_tasks_are_victims_too() {
    let mut stage = SituationBuilder::new();
    locked(&mut stage);
    stage.on("db").waiters.remove(1);
    let mut play = Play::new(stage);
    play.until(2_000, |_, _| ());
    assert_eq!(play.log, [RAISED]);
    assert!(!play.last[0].certain);
    assert!(
        play.last[0]
            .why
            .ends_with("this is resolved only if snapshot polls the future again.")
    );
}

#[test]
fn a_victim_that_gives_up_and_comes_again_is_the_same() {
    check(
        locked,
        5_000,
        |stage, ms| {
            let waiter = &mut stage.on("db").waiters[1];
            waiter.since = START + ms / 500 * 500 * MS;
        },
        &[RAISED],
    );
}

#[test]
fn a_place_in_a_bounded_channel_is_a_turn_as_well() {
    check_still(
        |stage| {
            stage.task("t", "t.rs:1 select!").since = START + 10 * MS;
            stage.get("t").polls = 4;
            stage.resource(Kind::Mpsc, "jobs", Some(1));
            let first = stage.waits("t", Role::Send, "jobs");
            first.future = FutureRef::Aside;
            first.woken = Some(START);
            first.woken_poll = Some(3);
            stage.waits("t", Role::Send, "jobs");
        },
        1_500,
        &["1000 + alert futurelock 1.00 s+: t got mpsc jobs, but does not poll t"],
    );
}

#[test]
fn a_guard_in_a_future_that_is_left_aside() {
    let build = |stage: &mut SituationBuilder, future| {
        stage.task("t", "t.rs:9 db.lock()");
        stage.mutex("db");
        let holder = stage.locks("t", "db");
        holder.future = future;
        holder.proc = Some("app::save".to_owned());
        stage.waits("t", Role::Lock, "db");
    };
    check_still(
        |stage| build(stage, FutureRef::Aside),
        2_000,
        &["1000 + alert futurelock 1.00 s+: t holds mutex db, but does not poll save"],
    );
    check_still(
        |stage| build(stage, FutureRef::Unknown),
        2_000,
        &["250 + alert self deadlock 250ms+: t waits on mutex db, which it holds"],
    );
}

/// A stream of futures, one of which was woken at 100 ms, in a task that waits elsewhere since 101
/// ms.
fn stalled(stage: &mut SituationBuilder, kind: NodeKind) {
    stage.task("t", "t.rs:1 work(item)");
    stage.get("t").since = START + 101 * MS;
    stage.get("t").polls = 9;
    let stream = stage.node("t", None, kind, "app::t", "t.rs:5 stream.next()");
    let child = stage.node(
        "t",
        Some(stream),
        NodeKind::Call,
        "app::fetch",
        "f.rs:7 socket.read(buf)",
    );
    for id in [stream, child] {
        stage.get("t").tree[id as usize].aside = true;
    }
    stage.get("t").tree[child as usize].wake = Some(NodeWake {
        polled: 7,
        woken: Some(START + 100 * MS),
    });
}

#[test]
fn a_future_that_was_woken_and_is_not_polled() {
    check_still(
        |stage| stalled(stage, NodeKind::Unordered),
        2_000,
        &[
            "1250 + warning stream stall 1.15 s+: t does not poll app::fetch while it waits at t.rs:1",
        ],
    );
    check_still(
        |stage| stalled(stage, NodeKind::Select),
        2_000,
        &[
            "1250 + warning snoozed future 1.15 s+: t does not poll app::fetch at f.rs:7, which was woken",
        ],
    );
}

#[test]
fn a_future_with_a_node_and_a_wait_is_told_once() {
    check_still(
        |stage| {
            stalled(stage, NodeKind::Select);
            stage.resource(Kind::Notify, "stop", None);
            let waiter = stage.waits_in("t", 2, Role::Wait, 1, "stop");
            waiter.future = FutureRef::Aside;
            waiter.proc = Some("app::fetch".to_owned());
            waiter.woken = Some(START + 100 * MS);
        },
        2_000,
        &[
            "1250 + warning snoozed future 1.15 s+: t does not poll app::fetch at f.rs:7, which was woken",
        ],
    );
}

#[test]
fn a_future_that_will_be_polled_is_not_snoozed() {
    let near = |change: fn(&mut SituationBuilder)| {
        check_still(
            |stage| {
                stalled(stage, NodeKind::Unordered);
                change(stage);
            },
            20_000,
            &[],
        );
    };
    near(|stage| stage.get("t").state = TaskState::Polling);
    near(|stage| stage.get("t").since = START + 99 * MS);
    near(|stage| stage.get("t").tree[2].wake = None);
    near(|stage| {
        stage.get("t").tree[2].wake = Some(NodeWake {
            polled: 9,
            woken: None,
        });
    });
    // A stream under load: each is passed over for a while, and none for a second.
    check(
        |stage| stalled(stage, NodeKind::Unordered),
        20_000,
        |stage, ms| {
            let task = stage.get("t");
            task.polls += 50;
            task.since = START + ms * MS;
            let polled = task.polls - 3;
            let woken =
                (ms % 1_000 < 750).then(|| START + (ms / 1_000 * 1_000).saturating_sub(10) * MS);
            task.tree[2].wake = Some(NodeWake { polled, woken });
        },
        &[],
    );
}

/// `save` was woken at `there`, and is not polled; its task waits at `here`, and neither is of
/// turbowish::sync.
fn unseen(stage: &mut SituationBuilder, there: &str, here: &str) {
    stage.task("runner", here);
    stage.get("runner").since = START + 101 * MS;
    stage.get("runner").polls = 4;
    stage.get("runner").tree[0].kind = NodeKind::Unknown;
    let save = stage.node("runner", Some(0), NodeKind::Unknown, "app::save", there);
    let save = &mut stage.get("runner").tree[save as usize];
    save.aside = true;
    save.branch = 7;
    save.fork = NodeKind::Select;
    save.wake = Some(NodeWake {
        polled: 3,
        woken: Some(START + 100 * MS),
    });
}

#[test]
fn two_that_wait_at_the_same_text_are_a_futurelock_in_all_likelihood() {
    let both = |there: &'static str, here: &'static str, expected: &'static str| {
        check_still(|stage| unseen(stage, there, here), 2_000, &[expected]);
    };
    const LOCKED: &str = "1250 + alert futurelock 1.15 s+: runner does not poll save, which was woken, and waits at self.db.lock() itself";
    const SNOOZED: &str = "1250 + warning snoozed future 1.15 s+: runner does not poll app::save at a.rs:1, which was woken";
    both("a.rs:1 self.db.lock()", "b.rs:2 self.db.lock()", LOCKED);
    both("a.rs:1 self.db.lock()", "b.rs:2 self.log.lock()", SNOOZED);
    // Nobody is given a turn there.
    both("a.rs:1 sleep(second)", "b.rs:2 sleep(second)", SNOOZED);
    both("a.rs:1 rx.recv()", "b.rs:2 rx.recv()", SNOOZED);
}

/// The wait may be one for a resource, of whose waiters not all are listed.
#[test]
fn a_wait_that_may_be_known_is_no_futurelock_by_its_text() {
    check_still(
        |stage| {
            unseen(stage, "a.rs:1 self.db.lock()", "b.rs:2 self.db.lock()");
            stage.mutex("db").waiting = 939;
        },
        2_000,
        &[
            "1250 + warning snoozed future 1.15 s+: runner does not poll app::save at a.rs:1, which was woken",
        ],
    );
}

#[test]
fn what_is_known_of_a_resource_goes_before_the_text() {
    check_still(
        |stage| {
            unseen(stage, "a.rs:1 lock.lock()", "b.rs:2 lock.lock()");
            stage.mutex("other");
            stage.waits("runner", Role::Lock, "other");
        },
        2_000,
        &[
            "1250 + warning snoozed future 1.15 s+: runner does not poll app::save at a.rs:1, which was woken",
        ],
    );
}

#[test]
fn what_is_inside_of_a_snoozed_future_is_not_told_again() {
    check_still(
        |stage| {
            unseen(stage, "a.rs:1 join!(..)", "b.rs:2 sleep(second)");
            let inner = stage.node(
                "runner",
                Some(1),
                NodeKind::Unknown,
                "app::part",
                "c.rs:3 part",
            );
            let inner = &mut stage.get("runner").tree[inner as usize];
            inner.aside = true;
            inner.branch = 8;
            inner.wake = Some(NodeWake {
                polled: 3,
                woken: Some(START + 100 * MS),
            });
        },
        2_000,
        &[
            "1250 + warning snoozed future 1.15 s+: runner does not poll app::save at a.rs:1, which was woken",
        ],
    );
}
