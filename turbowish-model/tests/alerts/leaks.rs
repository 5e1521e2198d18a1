//! Tasks that are spawned and do not end, and those of a load that only rises for a while.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::diagnose::situation::NodeKind;
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_testing::situations::{MS, START, SituationBuilder, place, spot};

use crate::play::{Play, check};

/// Never, in milliseconds.
const NEVER: u64 = u64::MAX / 2;

/// Tasks that come, do something now and then, and go. Times in milliseconds.
struct Load {
    spawns: Vec<u64>,
    /// How long a task lives.
    lives: u64,
    /// How many of ten tasks live for 50 ms only.
    short: u64,
    /// Tasks that wait from the beginning.
    before: u64,
    /// Time between two polls of a task.
    polled: u64,
}

impl Load {
    /// Spawns at a steady rate, from the beginning until some time.
    fn steady(every: u64, until: u64) -> Self {
        Self {
            spawns: (0..until).step_by(every as usize).collect(),
            lives: NEVER,
            short: 0,
            before: 0,
            polled: NEVER,
        }
    }

    /// Spawns at a rate that rises to `rate` a second within `rise`, and stays.
    fn rising(rate: u64, rise: u64, until: u64) -> Self {
        let (mut due, mut spawns) = (0, Vec::new());
        for ms in 0..until {
            due += rate * ms.min(rise) / rise;
            if due >= 1_000 {
                due -= 1_000;
                spawns.push(ms);
            }
        }
        Self {
            spawns,
            lives: NEVER,
            short: 0,
            before: 0,
            polled: NEVER,
        }
    }

    fn that_live(self, lives: u64) -> Self {
        Self { lives, ..self }
    }

    fn polled_every(self, polled: u64) -> Self {
        Self { polled, ..self }
    }

    /// Counts the tasks at an instant.
    fn count(&self, stage: &mut SituationBuilder, ms: u64) {
        let root = stage.tasks_of("handle");
        (root.live, root.idle, root.ended) = (self.before, self.before, 0);
        let spawns = (0..).zip(&self.spawns);
        for (number, spawned) in spawns.take_while(|(_, spawned)| **spawned <= ms) {
            let age = ms - spawned;
            let lives = if number % 10 < self.short {
                50
            } else {
                self.lives
            };
            if age >= lives {
                root.ended += 1;
            } else {
                root.live += 1;
                root.idle += u64::from(age % self.polled >= 10_000);
            }
        }
    }

    fn play(self, until: u64) -> Play {
        let mut play = Play::new(SituationBuilder::new());
        play.until(until, |stage, ms| self.count(stage, ms));
        play
    }

    fn check(self, until: u64, expected: &[&str]) {
        assert_eq!(self.play(until).log, expected);
    }
}

#[test]
fn tasks_that_never_end() {
    Load::steady(200, 40_000).check(
        40_000,
        &["20000 + warning task leak 20.0 s+: 101 tasks of app::handle, +5.00/s"],
    );
    // It is over when no more are spawned, although all of them live.
    Load::steady(200, 30_000).check(
        60_000,
        &[
            "20000 + warning task leak 20.0 s+: 101 tasks of app::handle, +5.00/s",
            "34250 - task_leak",
        ],
    );
}

/// Windows are as long as a number of spawns takes.
#[test]
fn a_fast_leak_and_a_slow_one() {
    Load::steady(10, 30_000).check(
        30_000,
        &["20000 + warning task leak 20.0 s+: 2001 tasks of app::handle, +100/s"],
    );
    Load::steady(60_000, 4_000_000).check(
        4_000_000,
        &["3000250 + warning task leak 50m00s+: 51 tasks of app::handle, +0.02/s"],
    );
    // Twenty at a time.
    let mut bursts = Load::steady(10_000, 200_000);
    bursts.spawns = bursts.spawns.iter().flat_map(|&at| [at; 20]).collect();
    bursts.check(
        190_000,
        &["100250 + warning task leak 1m40s+: 220 tasks of app::handle, +2.00/s"],
    );
}

/// Some of the tasks do not leak.
#[test]
fn some_of_them_end() {
    let some = |of_ten| Load {
        short: of_ten,
        ..Load::steady(100, 60_000)
    };
    some(4).check(
        40_000,
        &["20500 + warning task leak 20.3 s+: 122 tasks of app::handle, +6.02/s"],
    );
    some(6).check(60_000, &[]);
}

#[test]
fn a_load_that_rises_and_stays() {
    let silent = |load: Load| load.check(180_000, &[]);
    let rising = |rise| Load::rising(50, rise, 180_000);
    for lives in [50, 500, 5_000, 30_000] {
        for rise in [5_000, 20_000, 60_000] {
            silent(rising(rise).that_live(lives).polled_every(900));
        }
    }
    // They wait for long, and come and go.
    silent(rising(20_000).that_live(5_000));
    // As many connections as there are clients: they come, and stay.
    silent(Load::steady(20, 50_000).polled_every(2_000));
    // They come at once, and say nothing.
    silent(Load::steady(2, 9_000));
}

/// Tasks that are polled may be connections: they have more time.
#[test]
fn a_leak_of_tasks_that_are_polled() {
    Load::steady(200, 90_000).polled_every(1_000).check(
        80_000,
        &["60250 + warning task leak 1m00s+: 302 tasks of app::handle, +5.00/s"],
    );
}

#[test]
fn tasks_that_waited_before() {
    let mut load = Load::steady(20, 60_000).polled_every(1_000);
    load.before = 5_000;
    load.check(55_000, &[]);
    let mut load = Load::steady(200, 60_000);
    load.before = 5_000;
    load.check(
        40_000,
        &["20000 + warning task leak 20.0 s+: 5101 tasks of app::handle, +5.00/s"],
    );
}

/// Four tasks that wait, of which three do so at one place.
fn sample(stage: &mut SituationBuilder) {
    for name in ["handle-1", "handle-2", "handle-3"] {
        stage.task(name, "conn.rs:88 replies.recv()").spawned = Some(spot("main.rs:31"));
    }
    stage.task("handle-4", "conn.rs:90 stop.notified()");
    // It was polled just now.
    stage.task("handle-5", "conn.rs:91 socket.read()");
}

fn explain(change: impl FnOnce(&mut SituationBuilder)) -> Alert {
    let load = Load::steady(200, 40_000);
    let mut stage = SituationBuilder::new();
    sample(&mut stage);
    change(&mut stage);
    let mut play = Play::new(stage);
    play.until(25_000, |stage, ms| {
        stage.get("handle-5").since = START + ms * MS;
        load.count(stage, ms);
    });
    let leak = play
        .last
        .iter()
        .find(|alert| alert.pitfall == Pitfall::TaskLeak);
    leak.expect("the alert").clone()
}

#[test]
fn where_they_wait() {
    let alert = explain(|_| ());
    assert_eq!(
        alert.why,
        "125 tasks spawned in 25.0 s, 0 ended. 3 of the 4 looked at wait at conn.rs:88 for replies.recv()."
    );
    assert_eq!(
        alert.fixes,
        [
            "conn.rs:88: let the wait end, with a timeout or a select! with a shutdown signal",
            "main.rs:31: keep the JoinHandle, or use a JoinSet, and abort the tasks with their owner",
            "if they are meant to live, bound their number: a Semaphore permit for each task",
        ]
    );
    let at = alert.at.expect("the await point");
    assert_eq!(
        (at.proc.as_str(), at.place),
        ("app::handle", Some(place("conn.rs:88 replies.recv()")))
    );
    // One resource, if it is the same one.
    let alert = explain(|stage| {
        stage.resource(Kind::Notify, "replies", None);
        for name in ["handle-1", "handle-2", "handle-3"] {
            stage.waits(name, Role::Wait, "replies");
        }
    });
    assert!(
        alert.why.ends_with(
            " 3 of the 4 looked at wait at conn.rs:88 for notify replies: replies.recv()."
        ),
        "{}",
        alert.why
    );
    // A `select!` is where a task waits, not one of its branches.
    let alert = explain(|stage| {
        for name in ["handle-1", "handle-2", "handle-3"] {
            stage.get(name).tree[0].kind = NodeKind::Select;
            stage.node(
                name,
                Some(0),
                NodeKind::Call,
                "app::read",
                "conn.rs:12 socket.read()",
            );
        }
    });
    assert!(alert.why.contains(" at conn.rs:88 "), "{}", alert.why);
}

#[test]
fn where_they_wait_is_not_known() {
    let alert = explain(|stage| stage.situation.tasks.retain(|task| task.name == "handle-5"));
    assert!(
        alert
            .why
            .ends_with(" 0 ended. It is not known where they wait."),
        "{}",
        alert.why
    );
    assert_eq!(alert.fixes.len(), 2);
    assert!(
        alert.fixes[0].starts_with("keep the JoinHandle"),
        "{:?}",
        alert.fixes
    );
    let alert = explain(|stage| {
        stage
            .situation
            .tasks
            .retain(|task| task.name.as_str() > "handle-3")
    });
    let expected = "1 of the 1 looked at wait at conn.rs:90 for stop.notified().";
    assert!(alert.why.ends_with(expected), "{}", alert.why);
    let alert = explain(|stage| {
        stage.get("handle-2").tree.clear();
        stage.get("handle-3").tree.clear();
    });
    assert!(
        alert
            .why
            .ends_with(" Most of them do not wait at the same place."),
        "{}",
        alert.why
    );
}

/// Scans are a second apart where reading all counters takes long. Each is a window, although none
/// comes to the millisecond.
#[test]
fn scans_that_are_a_second_apart() {
    for tick in [985, 1_000, 1_015] {
        let load = Load::steady(200, 40_000);
        let mut play = Play::every(tick, SituationBuilder::new());
        play.until(40_000, |stage, ms| load.count(stage, ms));
        let [alert] = &play.log[..] else {
            panic!("{tick}: {:?}", play.log);
        };
        let (at, _) = alert.split_once(" + warning task leak ").expect("a leak");
        let at: u64 = at.parse().expect("milliseconds");
        assert!((20_000..22_000).contains(&at), "{tick}: {alert}");
    }
}

/// Tasks that a deadlock keeps are the deadlock's.
#[test]
fn tasks_behind_a_deadlock() {
    let load = Load::steady(200, 60_000);
    check(
        |stage| {
            for (task, has, wants) in [("there", "a", "b"), ("back", "b", "a")] {
                stage.task(task, "transfer.rs:9 to.lock()");
                if task == "there" {
                    stage.mutex("a");
                    stage.mutex("b");
                }
                stage.locks(task, has);
                stage.waits(task, Role::Lock, wants);
            }
            for name in ["handle-1", "handle-2"] {
                stage.task(name, "conn.rs:88 db.lock()");
                stage.waits(name, Role::Lock, "a");
            }
        },
        40_000,
        |stage, ms| load.count(stage, ms),
        &["250 + alert deadlock 250ms+: there, back wait in a cycle"],
    );
}
