//! Locks: kept across an await, wanted by all at once, taken in both orders.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::diagnose::situation::{FutureRef, LockOrder, Taken};
use turbowish_model::snapshot::TaskState;

use crate::play::{Play, check, check_still};
use turbowish_testing::situations::{MS, START, SituationBuilder, spot};

/// A task holds a lock while it waits elsewhere; another wants it.
fn held(stage: &mut SituationBuilder) {
    stage.task("save", "save.rs:9 file.sync_data()");
    stage.task("get", "get.rs:3 db.lock()");
    stage.mutex("db");
    stage.locks("save", "db").since = START - MS;
    stage.waits("get", Role::Lock, "db");
}

#[test]
fn a_guard_that_is_kept_while_its_task_waits() {
    check_still(
        held,
        2_000,
        &[
            "250 + warning guard across await 251ms+: save holds mutex db while it waits at save.rs:9; 1 task waits for it",
        ],
    );
    // Nobody is the worse for it.
    check_still(
        |stage| {
            held(stage);
            stage.on("db").waiters.clear();
            stage.on("db").waiting = 0;
        },
        2_000,
        &["250 + note guard across await 251ms+: save holds mutex db while it waits at save.rs:9"],
    );
}

#[test]
fn a_guard_that_is_given_back_soon() {
    let near = |change: fn(&mut SituationBuilder, u64)| check(held, 5_000, change, &[]);
    near(|stage, ms| stage.on("db").holders[0].since = START + ms * MS - 99 * MS);
    near(|stage, _| stage.get("save").state = TaskState::Polling);
    // Taken in the poll that is in progress, or by nobody that is known.
    near(|stage, _| stage.on("db").holders[0].since = START + MS);
    near(|stage, _| stage.on("db").holders[0].task = None);
    near(|stage, _| stage.on("db").holders[0].role = Role::Read);
    near(|stage, _| stage.on("db").kind = Kind::Semaphore);
    near(|stage, _| stage.get("save").paused = true);
}

/// So many tasks came to a lock within so many microseconds, and are served one by one.
fn convoy(stage: &mut SituationBuilder, count: u64, spread_us: u64) {
    stage.mutex("db");
    for n in 0..count {
        let name = format!("conn-{n}");
        stage.task(&name, "conn.rs:84 db.lock()");
        stage.waits(&name, Role::Lock, "db").since = START + n * spread_us * 1_000 / (count - 1);
    }
}

#[test]
fn many_come_to_a_lock_at_once() {
    let serve = |stage: &mut SituationBuilder, _: u64| stage.on("db").flow.took += 1;
    check(
        |stage| convoy(stage, 8, 1_000),
        2_000,
        serve,
        &[
            "500 + warning lock convoy: 8 tasks requested mutex db at once, and are served one by one",
        ],
    );
    // A new one at each tick.
    check(
        |stage| convoy(stage, 8, 1_000),
        2_000,
        |stage, ms| {
            serve(stage, ms);
            for waiter in &mut stage.on("db").waiters {
                waiter.since = START + ms * MS - 10 * MS;
            }
        },
        &[
            "500 + warning lock convoy: 8 tasks requested mutex db at once, and are served one by one",
        ],
    );
    // They are served as soon as they come.
    check(
        |stage| convoy(stage, 8, 1_000),
        2_000,
        |stage, ms| {
            serve(stage, ms);
            for waiter in &mut stage.on("db").waiters {
                waiter.since = START + ms * MS - 9 * MS;
            }
        },
        &[],
    );
    // Not all that wait are listed.
    check(
        |stage| {
            convoy(stage, 8, 1_000);
            stage.on("db").waiting = 939;
        },
        2_000,
        serve,
        &[
            "500 + warning lock convoy: 8 tasks or more requested mutex db at once, and are served one by one",
        ],
    );
    check(|stage| convoy(stage, 7, 1_000), 5_000, serve, &[]);
    check(|stage| convoy(stage, 8, 1_200), 5_000, serve, &[]);
    // Nobody is served: not a convoy.
    check(|stage| convoy(stage, 8, 1_000), 5_000, |_, _| (), &[]);
    // They came before the first scan, and their holder got it when the last of them came.
    let held = |since: u64| {
        move |stage: &mut SituationBuilder| {
            convoy(stage, 8, 1_000);
            for waiter in &mut stage.on("db").waiters {
                waiter.since -= 20 * MS;
            }
            stage.task("first", "conn.rs:85 db.query()").state = TaskState::Polling;
            stage.locks("first", "db").since = since;
        }
    };
    let convoy =
        "lock convoy: 8 tasks requested mutex db at once, and are served one by one".to_owned();
    check_still(held(START - 19 * MS), 5_000, &[]);
    let second = "500 + warning ".to_owned() + &convoy;
    check(held(START - 19 * MS), 2_000, serve, &[&second]);
    // It got it later, from one of them.
    let first = "250 + warning ".to_owned() + &convoy;
    check(held(START - 19 * MS + 1), 2_000, serve, &[&first]);
}

/// Many come to a lock 700 ms before a tick, and are served for two seconds.
#[test]
fn a_convoy_that_is_over_before_the_second_tick() {
    let mut stage = SituationBuilder::new();
    convoy(&mut stage, 24, 1_000);
    stage.task("holder", "conn.rs:85 db.query()").state = TaskState::Polling;
    stage.locks("holder", "db");
    let all = stage.on("db").waiters.clone();
    let mut play = Play::every(1_000, stage);
    play.until(2_000, |stage, ms| {
        let since = ms + 700;
        let served = (since / 100).min(24);
        let db = stage.on("db");
        db.flow.took = served;
        db.waiters = all[usize::try_from(served).unwrap()..].to_vec();
        db.waiting = 24 - served;
        for waiter in &mut db.waiters {
            waiter.since = START - 700 * MS;
        }
        db.holders[0].since = START + ms * MS - since % 100 * MS;
    });
    let convoy = "lock convoy: 15 tasks requested mutex db at once, and are served one by one";
    let raised = "250 + warning ".to_owned() + convoy;
    assert_eq!(play.log, [&raised, "2000 - lock_convoy"]);
}

/// The scan that follows a quarter of a second after the first sighting sees nobody served, and is
/// no proof of the contrary.
#[test]
fn a_convoy_that_moves_only_between_other_scans() {
    let mut stage = SituationBuilder::new();
    convoy(&mut stage, 24, 1_000);
    let mut play = Play::every(1_000, stage);
    play.until(2_000, |stage, ms| {
        // Served 300 and 800 ms after each tick.
        let db = stage.on("db");
        db.flow.took =
            2 * (ms / 1_000) + u64::from(ms % 1_000 >= 300) + u64::from(ms % 1_000 >= 800);
    });
    let convoy = "lock convoy: 24 tasks requested mutex db at once, and are served one by one";
    assert_eq!(play.log, ["2000 + warning ".to_owned() + convoy]);
    assert_eq!(play.extra, [1_250]);
}

/// It is over before the next tick. At the tick it is too short for an alert; a quarter of a second
/// later it is not.
#[test]
fn a_guard_that_is_seen_before_it_is_held_for_long() {
    for (before_ms, held_ms) in [(100, 350), (60, 310)] {
        let mut stage = SituationBuilder::new();
        held(&mut stage);
        let mut play = Play::every(1_000, stage);
        play.until(2_000, |stage, ms| {
            let db = stage.on("db");
            if ms < 900 {
                db.holders[0].since = START - before_ms * MS;
            } else {
                db.holders.clear();
            }
        });
        let held = format!("{held_ms}ms+: save holds mutex db while it waits at save.rs:9");
        let raised = format!("250 + warning guard across await {held}; 1 task waits for it");
        assert_eq!(play.log, [&raised, "2000 - guard_across_await"]);
        assert_eq!(play.extra, [250]);
    }
}

/// At each situation, another task holds another lock.
#[test]
fn an_extra_scan_is_followed_by_a_regular_one() {
    let mut play = Play::every(1_000, SituationBuilder::new());
    play.until(3_500, |stage, ms| {
        for lock in &mut stage.situation.resources {
            lock.holders.clear();
        }
        let (task, lock) = (format!("save-{ms}"), format!("db-{ms}"));
        stage.task(&task, "save.rs:9 file.sync_data()").since = START + ms * MS - 100 * MS;
        stage.mutex(&lock);
        stage.locks(&task, &lock).since = START + ms * MS - 200 * MS;
    });
    assert_eq!(play.log, [""; 0]);
    assert_eq!(play.extra, [250, 1_250, 2_250, 3_250]);
}

/// A task held one lock and asked for another.
fn order(task: u64, first: (u64, Role), second: (u64, Role), gates: &[u64]) -> LockOrder {
    let taken = |(resource, role): (u64, Role), at: &str| Taken {
        resource,
        role: Some(role),
        spot: Some(spot(at)),
    };
    LockOrder {
        first: taken(first, "first.rs:1"),
        second: taken(second, &format!("second.rs:{task}")),
        task,
        name: format!("t{task}"),
        gates: gates.to_vec(),
    }
}

fn orders(orders: Vec<LockOrder>, expected: &[&str]) {
    check_still(
        |stage| {
            stage.mutex("a");
            stage.mutex("b");
            stage.mutex("c");
            stage.situation.orders = orders;
        },
        2_000,
        expected,
    );
}

const INVERTED: &str =
    "250 + warning lock order: t1 takes mutex a then mutex b, t2 the other way round";

#[test]
fn two_locks_in_both_orders() {
    use Role::{Lock, Read, Write};
    let ab = |role| order(1, (1, role), (2, role), &[]);
    let ba = |role| order(2, (2, role), (1, role), &[]);
    orders(vec![ab(Lock), ba(Lock)], &[INVERTED]);
    orders(vec![ab(Lock)], &[]);
    orders(vec![ab(Read), ba(Read)], &[]);
    orders(vec![ab(Read), ba(Write)], &[INVERTED]);
    // One task cannot do both at once.
    orders(vec![ab(Lock), order(1, (2, Lock), (1, Lock), &[])], &[]);
    // Both do it only under a third lock, or one of them did it without.
    let gated = |task, first, second| order(task, (first, Lock), (second, Lock), &[3]);
    orders(vec![gated(1, 1, 2), gated(2, 2, 1)], &[]);
    orders(vec![gated(1, 1, 2), gated(2, 2, 1), ba(Lock)], &[INVERTED]);
    // One of the locks is gone.
    orders(
        vec![
            order(1, (1, Lock), (9, Lock), &[]),
            order(2, (9, Lock), (1, Lock), &[]),
        ],
        &[],
    );
}

#[test]
fn situations_show_orders_themselves() {
    check(
        |stage| {
            stage.task("x", "x.rs:2 b.lock()");
            stage.task("y", "y.rs:2 a.lock()");
            stage.mutex("a");
            stage.mutex("b");
        },
        3_000,
        |stage, ms| {
            for name in ["a", "b"] {
                let lock = stage.on(name);
                (lock.held, lock.waiting) = (0, 0);
                lock.holders.clear();
                lock.waiters.clear();
            }
            // One after the other, and never at the same time.
            let (task, first, second) = match ms {
                500 => ("x", "a", "b"),
                1_500 => ("y", "b", "a"),
                _ => return,
            };
            stage.locks(task, first).since = START + ms * MS - 2;
            stage.locks(task, second).since = START + ms * MS - 1;
        },
        &["1750 + warning lock order: x takes mutex a then mutex b, y the other way round"],
    );
}

#[test]
fn to_wait_for_two_locks_is_to_hold_neither() {
    check_still(
        |stage| {
            stage.task("x", "x.rs:2 b.lock()");
            stage.task("y", "y.rs:2 a.lock()");
            stage.mutex("a");
            stage.mutex("b");
            for (task, first, second) in [("x", "a", "b"), ("y", "b", "a")] {
                stage.waits(task, Role::Lock, first).future = FutureRef::Aside;
                stage.waits(task, Role::Lock, second).since = START + MS;
            }
        },
        3_000,
        &[],
    );
}
