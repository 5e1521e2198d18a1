//! Deadlocks: two scans, the order of the cycle, what is behind it, and no word of what follows
//! from it.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::diagnose::situation::{NodeKind, Strength};
use turbowish_model::snapshot::TaskState;
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::pitfall::Pitfall;

use crate::play::{Play, check, check_still};
use turbowish_testing::situations::{MS, SECOND, START, SituationBuilder, place, spot};

/// The key-value server of the screens: three tasks, two mutexes and a bounded channel.
fn server(stage: &mut SituationBuilder) {
    stage.task("conn:51022", "conn.rs:88 self.repl.send(cmd)");
    stage.task("repl-1", "repl.rs:51 self.log.lock()");
    stage.task("snapshot", "snapshot.rs:97 self.db.lock()");
    stage.task("expiry", "expiry.rs:33 db.lock()");
    stage.task("conn:51019", "conn.rs:84 self.db.lock()");
    stage.mutex("db");
    stage.mutex("log");
    stage.resource(Kind::Mpsc, "repl", Some(64)).length = 64;
    stage.locks("conn:51022", "db").spot = Some(spot("conn.rs:84"));
    stage.locks("snapshot", "log").spot = Some(spot("snapshot.rs:92"));
    stage.waits("conn:51022", Role::Send, "repl").since = START - 200 * MS;
    stage.waits("repl-1", Role::Lock, "log").since = START - 400 * MS;
    stage.waits("snapshot", Role::Lock, "db");
    stage.waits("conn:51019", Role::Lock, "db");
    stage.waits("expiry", Role::Lock, "db");
    stage.uses("repl-1", Role::Receive, "repl");
    stage.means_to("repl-1", Strength::Will, Role::Receive, "repl");
    stage.on("db").waiting += 45;
}

fn one(play: &Play) -> &Alert {
    assert_eq!(play.last.len(), 1, "{:?}", play.log);
    &play.last[0]
}

#[test]
fn the_cycle_is_told_in_its_order() {
    let mut stage = SituationBuilder::new();
    server(&mut stage);
    let mut play = Play::new(stage);
    play.until(41_000, |_, _| ());
    // Raised in the second scan, and nothing else: not the guard that is held, not the sender that
    // is blocked, not the full channel.
    assert_eq!(
        play.log,
        ["250 + alert deadlock 250ms+: conn:51022, repl-1, snapshot wait in a cycle"]
    );
    let alert = one(&play);
    assert_eq!(
        alert.title,
        "deadlock 41.0 s+: conn:51022, repl-1, snapshot wait in a cycle"
    );
    assert_eq!(alert.summary, "3 tasks and 3 resources wait in a cycle");
    assert_eq!(
        (alert.since, alert.held_ns, alert.holds),
        (START, 41_000 * MS, true)
    );
    let names: Vec<&str> = alert
        .parties
        .iter()
        .map(|party| party.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "conn:51022",
            "mpsc repl",
            "repl-1",
            "mutex log",
            "snapshot",
            "mutex db"
        ]
    );
    let point = alert.at.clone().expect("a place");
    assert_eq!(point.proc, "app::conn:");
    assert_eq!(point.place, Some(place("conn.rs:88 self.repl.send(cmd)")));
    let steps: Vec<String> = alert
        .steps
        .iter()
        .map(|step| format!("{} on {} {}", step.task.name, step.on.name, step.how))
        .collect();
    assert_eq!(
        steps,
        [
            "conn:51022 on mpsc repl 64/64, full; only this task intends to receive",
            "repl-1 on mutex log held 42.0 s, taken at snapshot.rs:92, by",
            "snapshot on mutex db held 42.0 s, taken at conn.rs:84, by",
        ]
    );
    let behind: Vec<&str> = alert
        .behind
        .tasks
        .iter()
        .map(|party| party.name.as_str())
        .collect();
    assert_eq!(behind, ["conn:51019", "expiry"]);
    assert_eq!(alert.behind_count(), 47);
    assert!(alert.certain);
    assert_eq!(
        alert.why,
        "No task in the cycle can run until another one in it does. None was woken."
    );
    assert_eq!(
        alert.fixes,
        [
            "conn.rs:88 sends while it holds mutex db: drop the guard first",
            "snapshot.rs:97 locks while it holds mutex log: drop the guard first",
            "take mutex db before mutex log in app::snapshot (it takes mutex log, then mutex db)",
            "do not wait for mutex log in app::repl, a receiver of mpsc repl",
        ]
    );
    assert_eq!(alert.pitfall.docs(), "turbowish explain deadlock");
}

#[test]
fn an_end_that_was_only_used_is_no_proof() {
    let mut stage = SituationBuilder::new();
    server(&mut stage);
    stage.on("repl").intents.clear();
    stage.on("repl").intending = 0;
    let mut play = Play::new(stage);
    play.until(500, |_, _| ());
    let alert = one(&play);
    assert!(!alert.certain);
    assert!(
        alert
            .why
            .ends_with("if it has moved to another task since, this is not a deadlock.")
    );
    assert_eq!(
        alert.steps[0].how,
        "64/64, full; only this task was seen to receive"
    );
}

fn crossed(stage: &mut SituationBuilder) {
    stage.task("a", "a.rs:2 y.lock()");
    stage.task("b", "b.rs:2 x.lock()");
    stage.mutex("x");
    stage.mutex("y");
    stage.locks("a", "x");
    stage.locks("b", "y");
    stage.waits("a", Role::Lock, "y");
    stage.waits("b", Role::Lock, "x");
}

const CROSSED: &str = "250 + alert deadlock 250ms+: a, b wait in a cycle";

#[test]
fn it_is_seen_twice_before_it_is_said() {
    check_still(crossed, 0, &[]);
    check_still(crossed, 60_000, &[CROSSED]);
    // Seen once, and over.
    check(
        crossed,
        5_000,
        |stage, ms| {
            let odd = ms / 250 % 2 == 1;
            stage.get("a").state = if odd {
                TaskState::Ready
            } else {
                TaskState::Waiting
            };
        },
        &["250 + warning lock order: a takes mutex x then mutex y, b the other way round"],
    );
}

#[test]
fn it_goes_when_it_has_been_gone_for_a_second() {
    check(
        crossed,
        3_750,
        |stage, ms| {
            // One lock is given back for a moment, and then for good.
            let free = (1_000..1_750).contains(&ms) || ms >= 3_000;
            stage.get("a").state = if free {
                TaskState::Polling
            } else {
                TaskState::Waiting
            };
        },
        &[CROSSED, "3750 - deadlock"],
    );
}

#[test]
fn it_is_the_same_one_while_more_come_to_it() {
    let mut stage = SituationBuilder::new();
    crossed(&mut stage);
    let mut play = Play::new(stage);
    play.until(500, |_, _| ());
    // A third one enters, with a smaller id, and makes another cycle that is as short.
    play.until(2_000, |stage, ms| {
        if ms == 750 {
            let task = stage.task("c", "c.rs:2 x.lock()");
            task.id = 1;
            stage.on("y").kind = Kind::Semaphore;
            stage.on("y").capacity = Some(2);
            stage.locks("c", "y").role = Role::Acquire;
            stage.waits("c", Role::Lock, "x");
        }
    });
    assert_eq!(play.log, [CROSSED]);
    assert_eq!(one(&play).since, START);
}

#[test]
fn what_was_raised_before_gives_way_to_its_cause() {
    check(
        |stage| {
            crossed(stage);
            stage.on("x").waiters.clear();
            stage.get("b").tree[0].place = Some(place("b.rs:1 sleep(second)"));
        },
        3_000,
        |stage, ms| {
            if ms == 1_500 {
                let waiter = stage.waits("b", Role::Lock, "x");
                waiter.since = START + 1_500 * MS;
                stage.get("b").since = START + 1_500 * MS;
            }
        },
        &[
            // `a` waits for y, which `b` holds while it sleeps.
            "250 + warning guard across await 1.25 s+: b holds mutex y while it waits at b.rs:1; 1 task waits for it",
            "1750 + alert deadlock 250ms+: a, b wait in a cycle",
            "1750 - guard_across_await",
        ],
    );
}

#[test]
fn one_task_alone() {
    let mut stage = SituationBuilder::new();
    stage.task("a", "a.rs:2 x.lock()");
    stage.mutex("x");
    stage.locks("a", "x").spot = Some(spot("a.rs:1"));
    stage.waits("a", Role::Lock, "x");
    let mut play = Play::new(stage);
    play.until(1_000, |_, _| ());
    assert_eq!(
        play.log,
        ["250 + alert self deadlock 250ms+: a waits on mutex x, which it holds"]
    );
    let alert = one(&play);
    assert_eq!(alert.pitfall, Pitfall::SelfDeadlock);
    assert_eq!(
        alert.why,
        "Only a could end this wait, and it cannot run until the wait ends."
    );
    assert_eq!(
        alert.fixes,
        ["a.rs:2 locks while it holds mutex x: drop the guard first"]
    );
    assert_eq!(alert.steps[0].how, "held 2.00 s, taken at a.rs:1, by");
    // The guard may be in a future that is not polled.
    play.until(1_250, |stage, _| {
        stage.on("x").holders[0].proc = Some("app::step".to_owned());
    });
    let hint = "if app::step is alive but not polled now, it keeps the guard: spawn it, or drop it first (see futurelock)";
    assert_eq!(one(&play).fixes[1..], [hint]);
}

#[test]
fn what_may_have_gone_to_another_task_is_a_possibility() {
    let mut stage = SituationBuilder::new();
    stage.task("main", "m.rs:4 LOCK.lock()");
    stage.task("child", "c.rs:2 sleep(day)");
    stage.mutex("x");
    stage.locks("main", "x").spot = Some(spot("m.rs:2"));
    stage.waits("main", Role::Lock, "x");
    stage.candidate("main", "child", START - 10 * MS);
    let mut play = Play::new(stage);
    play.until(1_000, |_, _| ());
    let alert = one(&play);
    assert!(!alert.certain);
    assert_eq!(
        alert.why,
        "Only main could end this wait, and it cannot run until the wait ends. child was created since and may have received the guard or channel end in question: if it did, this is not a deadlock."
    );
    assert_eq!(
        alert.steps[0].how,
        "not released for 2.00 s, taken at m.rs:2, by"
    );
    // The child ends, and it is known.
    play.until(1_500, |stage, _| stage.situation.candidates.clear());
    assert!(one(&play).certain);
    assert_eq!(
        one(&play).title,
        "self deadlock 1.50 s+: main waits on mutex x, which it holds"
    );
    assert_eq!(one(&play).severity.word(), "alert");
    assert_eq!(
        play.log,
        ["250 + warning possible self deadlock 250ms+: main waits on mutex x, which it took"]
    );
}

#[test]
fn one_task_at_both_ends_of_a_channel() {
    let build = |stage: &mut SituationBuilder| {
        stage.task("a", "a.rs:2 rx.recv()");
        stage.resource(Kind::Mpsc, "q", None);
        stage.uses("a", Role::Send, "q");
        stage.uses("a", Role::Receive, "q");
        stage.waits("a", Role::Receive, "q");
    };
    check_still(
        build,
        500,
        &["250 + alert self deadlock 250ms+: a waits on mpsc q, whose only senders it holds"],
    );
    let another = |stage: &mut SituationBuilder| {
        build(stage);
        stage.uses("?", Role::Send, "q");
    };
    check_still(another, 10_000, &[]);
    let closed = |stage: &mut SituationBuilder| {
        build(stage);
        stage.on("q").closed = true;
    };
    check_still(closed, 10_000, &[]);
}

#[test]
fn a_deadlock_stays_one_while_a_task_of_it_is_paused() {
    check_still(
        |stage| {
            crossed(stage);
            stage.get("b").paused = true;
        },
        10_000,
        &["250 + alert deadlock 250ms+: a, b wait in a cycle"],
    );
}

#[test]
fn a_timer_in_a_select_ends_it() {
    let build = |stage: &mut SituationBuilder, branches| {
        crossed(stage);
        stage.get("a").tree[0].kind = NodeKind::Select;
        stage.get("a").tree[0].branches = branches;
        let child = stage.node(
            "a",
            Some(0),
            NodeKind::Call,
            "app::a::lock",
            "a.rs:2 y.lock()",
        );
        stage.on("y").waiters[0].future =
            turbowish_model::diagnose::situation::FutureRef::Node(child);
        // Not long enough to be another matter.
        for name in ["x", "y"] {
            stage.on(name).holders[0].since = START + 60 * SECOND;
        }
    };
    check_still(|stage| build(stage, Some(2)), 10_000, &[]);
    check_still(|stage| build(stage, None), 10_000, &[]);
    check_still(|stage| build(stage, Some(1)), 500, &[CROSSED]);
}
