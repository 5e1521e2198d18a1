//! Wake-ups: lost, made by oneself, for nothing, and wakers cloned too often.

use turbowish_model::diagnose::situation::{NodeKind, Proc, Wake};
use turbowish_model::snapshot::TaskState;

use crate::play::{Play, check, check_still};
use turbowish_testing::situations::{MS, START, SituationBuilder, place, spot};

/// A task that nothing can wake.
fn lost(stage: &mut SituationBuilder) {
    stage.task("t", "leaf.rs:12 Broken { done: false }");
    stage.get("t").tree[0].proc = "app::leaf".to_owned();
    alive(stage, "t", Some(0));
}

fn alive(stage: &mut SituationBuilder, task: &str, live: Option<u64>) {
    let wakes = stage.get(task).wakes.as_mut().expect("observed");
    wakes.live = live;
}

const LOST: &str =
    "1000 + alert lost waker 1.00 s+: t waits at leaf.rs:12, and nothing can wake it";

#[test]
fn a_waker_that_nobody_has() {
    let mut stage = SituationBuilder::new();
    lost(&mut stage);
    let mut play = Play::new(stage);
    play.until(12_500, |_, _| ());
    assert_eq!(play.log, [LOST]);
    let alert = &play.last[0];
    assert_eq!(
        alert.why,
        "t returned Pending from Broken { done: false }, but nothing holds its waker: no clone of it is alive, and the task was not woken."
    );
    let at = alert.at.clone().expect("a place");
    assert_eq!(at.proc, "app::leaf");
    assert_eq!(at.place, Some(place("leaf.rs:12 Broken { done: false }")));
    play.until(20_000, |stage, _| alive(stage, "t", Some(1)));
    assert_eq!(play.log, [LOST, "13500 - lost_waker"]);
}

#[test]
fn many_tasks_at_one_place_are_one_alert() {
    let build = |stage: &mut SituationBuilder| {
        for n in 0..16 {
            let name = format!("conn-{n}");
            stage.task(&name, "leaf.rs:12 Broken { done: false }");
            alive(stage, &name, Some(0));
        }
    };
    check_still(
        build,
        2_000,
        &[
            "1000 + alert lost waker 1.00 s+: 16 tasks wait at leaf.rs:12, and nothing can wake them",
        ],
    );
}

#[test]
fn what_can_still_wake_it_is_enough() {
    let near = |change: fn(&mut SituationBuilder)| {
        check_still(
            |stage| {
                lost(stage);
                change(stage);
            },
            20_000,
            &[],
        );
    };
    near(|stage| alive(stage, "t", Some(1)));
    near(|stage| alive(stage, "t", None));
    near(|stage| stage.get("t").wakes = None);
    near(|stage| stage.get("t").polls = 0);
    near(|stage| stage.get("t").state = TaskState::Ready);
    near(|stage| stage.get("t").state = TaskState::Polling);
    near(|stage| stage.get("t").tree.clear());
    near(|stage| {
        let wakes = stage.get("t").wakes.as_mut().expect("observed");
        wakes.last = Some(Wake {
            at: START,
            by: "w0".to_owned(),
        });
    });
    // Futures that are polled side by side have wakers of their own.
    near(|stage| stage.get("t").tree[0].kind = NodeKind::Join);
    near(|stage| stage.get("t").tree[0].kind = NodeKind::Select);
    near(|stage| stage.get("t").tree[0].kind = NodeKind::Unordered);
    check_still(lost, 750, &[]);
}

#[test]
fn what_a_function_awaits_is_not_seen() {
    let check = |expr: &str, expected: &str, certain: bool| {
        let mut stage = SituationBuilder::new();
        lost(&mut stage);
        stage.get("t").tree[0].place = Some(place(&format!("main.rs:9 {expr}")));
        let mut play = Play::new(stage);
        play.until(2_000, |_, _| ());
        let alert = &play.last[0];
        assert_eq!(
            (alert.severity.word(), alert.certain),
            (expected, certain),
            "{expr}"
        );
        let says = alert
            .why
            .ends_with("it waits forever on purpose, and this is not a lost waker.");
        assert_eq!(says, !certain, "{}", alert.why);
    };
    check("wait_for_ever()", "warning", false);
    check("self.server.closed(1)", "warning", false);
    check("app::signals::stop(&tx).fuse()", "warning", false);
    check("poll_fn(|_| state.poll())", "alert", true);
    check("std::future::poll_fn(|_| state.poll())", "alert", true);
    check("self.done", "alert", true);
}

#[test]
fn to_wait_for_ever_may_be_meant() {
    for expr in [
        "std::future::pending::<()>()",
        "future::pending()",
        "pending::<Result<(), Error>>()",
        "futures::future::pending::<()>()",
    ] {
        check_still(
            |stage| {
                lost(stage);
                stage.get("t").tree[0].place = Some(place(&format!("main.rs:9 {expr}")));
            },
            20_000,
            &[],
        );
    }
    let warning = LOST.replace("alert", "warning");
    for (expr, expected) in [
        ("pending", LOST),
        ("self.pending_reply()", &warning),
        ("Pending::new()", &warning),
    ] {
        check_still(
            |stage| {
                lost(stage);
                stage.get("t").tree[0].place = Some(place(&format!("leaf.rs:12 {expr}")));
            },
            1_000,
            &[expected],
        );
    }
}

/// Wake-ups a second, own ones among them, and polls that changed nothing.
fn wakes(total: u64, own: u64, idle: Option<u64>) -> impl FnMut(&mut SituationBuilder, u64) {
    move |stage, ms| {
        let task = stage.get("t");
        let so_far = |rate: u64| rate * ms / 1_000;
        task.polls = so_far(total);
        task.idle_polls = idle.map(so_far);
        task.since = START + ms * MS;
        let wakes = task.wakes.as_mut().expect("observed");
        (wakes.total, wakes.by_itself) = (so_far(total), so_far(own));
    }
}

#[test]
fn a_task_that_wakes_itself_and_gets_nowhere() {
    let build = |stage: &mut SituationBuilder| {
        stage.task("t", "spin.rs:3 Ready { flag }");
    };
    check(
        build,
        5_000,
        wakes(8_000, 8_000, Some(7_900)),
        &[
            "1250 + warning self-wake spin: t wakes itself 8.00k times a second and makes no progress",
        ],
    );
    check(
        build,
        5_000,
        wakes(100, 60, Some(100)),
        &["1250 + warning self-wake spin: t wakes itself 100 times a second and makes no progress"],
    );
    check(build, 20_000, wakes(96, 96, Some(96)), &[]);
    check(build, 20_000, wakes(8_000, 4_000, Some(8_000)), &[]);
    // yield_now in a loop: each poll passes an await.
    check(build, 20_000, wakes(8_000, 8_000, Some(0)), &[]);
    // Polls that take time do something, seen or not.
    check(
        build,
        20_000,
        |stage, ms| {
            wakes(8_000, 8_000, Some(8_000))(stage, ms);
            stage.get("t").busy_ns = stage.get("t").polls * 10_001;
        },
        &[],
    );
}

#[test]
fn a_task_that_stands_still_gets_nowhere() {
    let build = |stage: &mut SituationBuilder| {
        stage.task("t", "spin.rs:3 Ready { flag }");
    };
    let spin = [
        "1250 + warning self-wake spin: t wakes itself 8.00k times a second and makes no progress",
    ];
    check(build, 20_000, wakes(8_000, 8_000, None), &spin);
    // Now and then it is seen in a poll, which does not show where.
    let tree = {
        let mut stage = SituationBuilder::new();
        build(&mut stage);
        stage.get("t").tree.clone()
    };
    check(
        build,
        20_000,
        |stage, ms| {
            wakes(8_000, 8_000, None)(stage, ms);
            let (state, tree) = match ms / 250 % 7 {
                0 => (TaskState::Waiting, tree.clone()),
                _ => (TaskState::Polling, Vec::new()),
            };
            (stage.get("t").state, stage.get("t").tree) = (state, tree);
        },
        &spin,
    );
    // It passes an await now and then.
    check(
        build,
        20_000,
        |stage, ms| {
            wakes(8_000, 8_000, None)(stage, ms);
            stage.get("t").tree[0].since = START + ms / 1_000 * 1_000 * MS;
        },
        &[],
    );
}

#[test]
fn polls_that_change_nothing() {
    let build = |stage: &mut SituationBuilder| {
        stage.situation.procs.push(Proc {
            path: "app::join".to_owned(),
            spot: spot("join.rs:3"),
            ..Proc::default()
        });
    };
    let polls = |polls: u64, spurious: Option<u64>| {
        move |stage: &mut SituationBuilder, ms: u64| {
            let proc = &mut stage.situation.procs[0];
            proc.polls = polls * ms / 1_000;
            proc.spurious = spurious.map(|spurious| spurious * ms / 1_000);
        }
    };
    check(
        build,
        2_000,
        polls(400, Some(392)),
        &["250 + warning spurious polls: app::join, 98.0% of 100 polls changed nothing"],
    );
    check(build, 20_000, polls(400, Some(360)), &[]);
    check(build, 20_000, polls(4, Some(4)), &[]);
    check(build, 20_000, polls(400, None), &[]);
}

#[test]
fn wakers_that_are_cloned_again_and_again() {
    let build = |stage: &mut SituationBuilder| {
        stage.task("t", "join.rs:3 join_all(reads)");
    };
    let clones = |per_poll: u64| {
        move |stage: &mut SituationBuilder, ms: u64| {
            let task = stage.get("t");
            task.polls = ms;
            task.since = START + ms * MS;
            task.wakes.as_mut().expect("observed").clones = ms * per_poll;
        }
    };
    check(
        build,
        2_000,
        clones(24),
        &["1000 + note waker churn: the waker of t is cloned 24 times per poll"],
    );
    check(build, 20_000, clones(10), &[]);
}
