//! Timers that are late, and how near one can come without it.

use turbowish_model::diagnose::situation::{Proc, TimerWaits, WorkerLook, WorkerThread};
use turbowish_testing::situations::{MS, SECOND, START, SituationBuilder, place};

use crate::play::{Play, check};

const ALERT: &str = "2500 + warning late timers 40.0ms: 3 of 90 at tick.rs:7 > 10ms late";

fn timers(stage: &mut SituationBuilder) {
    stage.situation.timers.push(TimerWaits {
        proc: "app::tick".to_owned(),
        place: Some(place("tick.rs:7 sleep_until(next)")),
        ..TimerWaits::default()
    });
    stage.situation.workers.push(WorkerThread {
        name: "w0".to_owned(),
        run_delay_ns: Some(0),
        ..WorkerThread::default()
    });
}

/// Ten timers in each 250 ms. Of the thirty of each 750 ms one is late, by so many milliseconds.
fn late(by: u64) -> impl FnMut(&mut SituationBuilder, u64) {
    move |stage, ms| {
        let timers = &mut stage.situation.timers[0];
        timers.completed = ms / 25;
        timers.late = ms / 750;
        timers.late_ns = timers.late * by * MS;
        timers.worst_ns = if ms % 750 == 0 { by * MS } else { 0 };
        timers.polling_ns = 0;
    }
}

#[test]
fn timers_that_are_late() {
    check(timers, 2_500, late(40), &[ALERT]);
    // Those before the first scan may be old.
    let mut late = late(40);
    let late_attach = |stage: &mut SituationBuilder, ms| late(stage, ms + 750);
    check(timers, 2_000, late_attach, &[]);
}

#[test]
fn a_few_of_very_many() {
    let mut few = late(40);
    let share = |stage: &mut SituationBuilder, ms| {
        few(stage, ms);
        stage.situation.timers[0].completed *= 10;
    };
    check(timers, 30_000, share, &[]);
    // Two within ten windows, and one of them is only just seen.
    let rare = |stage: &mut SituationBuilder, ms: u64| {
        let timers = &mut stage.situation.timers[0];
        timers.completed = ms / 2_000;
        timers.late = ms / 11_000;
        timers.late_ns = timers.late * 40 * MS;
    };
    check(timers, 120_000, rare, &[]);
}

/// A thread that the machine does not run comes late to everything.
#[test]
fn a_machine_that_has_no_time() {
    let delayed = |by: u64| {
        let mut late = late(40);
        move |stage: &mut SituationBuilder, ms| {
            late(stage, ms);
            stage.situation.workers[0].run_delay_ns = Some(ms / 250 * by * MS);
        }
    };
    // Twice that since the scan before the last one.
    check(timers, 30_000, delayed(10), &[]);
    let log = played(delayed(9));
    assert_eq!(log.len(), 1, "{log:?}");
}

/// Scans may be a second apart. What the machine did in all that time is no excuse for a timer.
#[test]
fn a_machine_that_is_a_little_busy() {
    let alerts = |by: u64| {
        let mut stage = SituationBuilder::new();
        timers(&mut stage);
        let mut play = Play::every(1_000, stage);
        let mut late = late(40);
        play.until(20_000, |stage, ms| {
            late(stage, ms / 750 * 750);
            let delay = |ms: u64| Some(ms / 250 * by * MS);
            let worker = &mut stage.situation.workers[0];
            worker.run_delay_ns = delay(ms);
            let looks = (1..=4).map(|nth| ms.saturating_sub(1_000) + nth * 250);
            let look = |at: u64| WorkerLook {
                from: START + at * MS,
                to: START + at * MS,
                run_delay_ns: delay(at),
                ..WorkerLook::default()
            };
            worker.looks = looks.map(look).collect();
        });
        play.log
    };
    let log = alerts(9);
    assert!(
        log.len() == 1 && log[0].contains(" late timers "),
        "{log:?}"
    );
    assert_eq!(alerts(10), [""; 0]);
}

/// Urgent scans come 50 ms apart, just when the machine has no time.
#[test]
fn a_machine_that_has_no_time_and_is_scanned_often() {
    for tick in [50, 60, 90, 110] {
        let mut stage = SituationBuilder::new();
        timers(&mut stage);
        let mut play = Play::every(tick, stage);
        let mut late = late(40);
        play.until(20_000, |stage, ms| {
            late(stage, ms / 750 * 750);
            stage.situation.workers[0].run_delay_ns = Some(ms * 30 * MS / 100);
        });
        assert_eq!(play.log, [""; 0], "{tick} ms");
    }
}

fn played(change: impl FnMut(&mut SituationBuilder, u64)) -> Vec<String> {
    let mut stage = SituationBuilder::new();
    timers(&mut stage);
    let mut play = Play::new(stage);
    play.until(10_000, change);
    play.log
}

/// Where the time went is told as far as it is known.
#[test]
fn why_they_are_late() {
    let why = |polling_ns, longest_ns| {
        let mut stage = SituationBuilder::new();
        timers(&mut stage);
        stage.situation.procs.push(Proc {
            path: "app::digest".to_owned(),
            longest_ns,
            ..Proc::default()
        });
        let mut play = Play::new(stage);
        let mut late = late(40);
        play.until(10_000, |stage, ms| {
            late(stage, ms);
            stage.situation.timers[0].polling_ns = polling_ns;
        });
        play.last[0].why.clone()
    };
    let text = why(0, 39 * MS);
    assert!(
        text.contains("Of the worst 40.0ms, 40.0ms passed before its task was polled."),
        "{text}"
    );
    assert!(
        text.ends_with("A recent poll of app::digest took 39.0ms."),
        "{text}"
    );
    let text = why(30 * MS, 0);
    assert!(
        text.contains("its task was in a poll for 30.0ms before it came to the timer."),
        "{text}"
    );
    assert!(
        text.contains("No recent poll of a known function was that long"),
        "{text}"
    );
}

/// A worker that is held is late with all timers: that is the alert.
#[test]
fn a_consequence_is_no_alert_of_its_own() {
    let mut late = late(4_000);
    let held = |stage: &mut SituationBuilder, ms| {
        late(stage, ms);
        stage.situation.procs.clear();
        stage.situation.procs.push(Proc {
            path: "app::digest".to_owned(),
            polls: ms,
            slow: ms / 25,
            longest_ns: 4 * SECOND,
            ..Proc::default()
        });
    };
    let mut stage = SituationBuilder::new();
    timers(&mut stage);
    let mut play = Play::new(stage);
    play.until(10_000, held);
    assert!(
        play.log.iter().all(|line| line.contains("long poll")),
        "{:?}",
        play.log
    );
}
