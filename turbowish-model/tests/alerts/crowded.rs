//! Tasks that poll many futures of a stream on their own, and how near one can come without it.

use turbowish_model::diagnose::situation::StreamFutures;
use turbowish_model::snapshot::TaskState;
use turbowish_testing::situations::{MS, START, SituationBuilder, place};

use crate::play::check;

const ALERT: &str =
    "10000 + warning crowded task 231ms+: importer polls 64 futures, 40 of them ready, 96.0% busy";

const RARELY: &str =
    "10000 + warning yields rarely 10.0 s: importer spent 96.0% of it in polls, 240ms per poll";

/// The task `importer` polls 64 futures, of which 40 are ready for up to 231 ms, and is busy.
fn importer(stage: &mut SituationBuilder) {
    stage.task("importer", "import.rs:9 pages.next()").polls = 100;
    let task = stage.id("importer");
    stage.situation.streams.push(StreamFutures {
        task,
        proc: "app::importer".to_owned(),
        place: Some(place("import.rs:9 pages.next()")),
        live: 64,
        woken: 40,
        woken_at: None,
    });
}

/// A poll of 240 ms in each 250 ms; `ready` is the age of the first wake, in milliseconds.
fn busy(ready: u64) -> impl FnMut(&mut SituationBuilder, u64) {
    move |stage, ms| {
        let now = START + ms * MS;
        let task = stage.get("importer");
        task.polls = 100 + ms / 250;
        task.busy_ns = ms * MS / 25 * 24;
        task.state = TaskState::Polling;
        task.since = now - 5 * MS;
        for stream in &mut stage.situation.streams {
            stream.woken_at = Some(now - ready * MS);
        }
    }
}

#[test]
fn a_task_that_polls_all_of_them() {
    check(importer, 30_000, busy(231), &[ALERT]);
    // After each round, all of them wait for a while.
    let rounds = |stage: &mut SituationBuilder, ms| {
        busy(if ms % 750 == 250 { 231 } else { 20 })(stage, ms);
    };
    check(importer, 14_000, rounds, &[ALERT]);
}

#[test]
fn a_task_that_keeps_up() {
    let near = |change: fn(&mut SituationBuilder, u64), expected: &[&str]| {
        let change = move |stage: &mut SituationBuilder, ms| {
            busy(231)(stage, ms);
            change(stage, ms);
        };
        check(importer, 14_000, change, expected);
    };
    let rarely = [RARELY];
    near(|stage, _| stage.situation.streams[0].live = 31, &rarely);
    near(
        |stage, _| stage.situation.streams[0].woken_at = None,
        &rarely,
    );
    let soon = |stage: &mut SituationBuilder, ms| {
        stage.situation.streams[0].woken_at = Some(START + ms * MS - 99 * MS);
    };
    near(soon, &rarely);
    near(|stage, _| stage.situation.streams.clear(), &rarely);
    near(
        |stage, ms| stage.get("importer").busy_ns = ms * MS / 10 * 9,
        &[],
    );
    near(|stage, _| stage.get("importer").paused = true, &[]);
}
