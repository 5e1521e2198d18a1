//! Alerts that are over: what is kept of them, for how long, and how many.

use turbowish_model::account::resource::Role;
use turbowish_model::diagnose::alert::{PAST_KEPT, PAST_NS};
use turbowish_model::diagnose::situation::{Proc, Wake};
use turbowish_model::snapshot::TaskState;
use turbowish_model::snapshot::alert::{Alert, PartyKind, RECENT_KEPT};
use turbowish_model::snapshot::column::cell;
use turbowish_model::snapshot::pitfall::Pitfall;

use crate::play::{Play, UNIX};
use crate::polls::{hog, polls};
use turbowish_testing::situations::{MS, SECOND, START, SituationBuilder};

/// `hog` is in a poll from an instant on, and waits again from another one on; in milliseconds.
fn stall(stage: &mut SituationBuilder, ms: u64, (begin, end): (u64, u64)) {
    if (begin..end).contains(&ms) {
        polls(stage, 0, "hog", START + begin * MS);
        stage.get("hog").polls = 7 + begin;
    } else {
        stage.situation.workers[0].poll = None;
        let hog = stage.get("hog");
        hog.state = TaskState::Waiting;
        hog.since = START + end.min(ms) * MS;
    }
}

fn stage() -> SituationBuilder {
    let mut stage = SituationBuilder::new();
    hog(&mut stage, 2, 7);
    stage
}

/// `hog` has a lock that `locked` waits for.
fn stage_with_lock() -> SituationBuilder {
    let mut stage = stage();
    stage.task("locked", "conn.rs:2 db.lock()");
    stage.mutex("db");
    stage.locks("hog", "db");
    stage.waits("locked", Role::Lock, "db");
    stage
}

fn behind(alert: &Alert) -> Vec<&str> {
    let tasks = alert.behind.tasks.iter();
    tasks.map(|task| task.name.as_str()).collect()
}

fn only(play: &mut Play) -> Alert {
    let past = play.past();
    let [alert]: &[Alert] = &past else {
        panic!("{past:#?}");
    };
    alert.clone()
}

fn titles(play: &mut Play) -> Vec<String> {
    let past = play.past().into_iter();
    past.map(|alert| alert.title).collect()
}

#[test]
fn a_stall_is_kept_as_it_was() {
    let mut stage = stage_with_lock();
    stage.task("woken", "conn.rs:1 read()");
    stage.task("idle", "conn.rs:3 read()");
    let mut play = Play::new(stage);
    play.until(60_000, |stage, ms| {
        stall(stage, ms, (0, 1_480));
        if ms > 1_480 {
            stage.on("db").holders.clear();
        }
        let woken = stage.get("woken");
        woken.state = if ms < 1_480 {
            TaskState::Ready
        } else {
            TaskState::Waiting
        };
        woken.since = START + ms.min(300) * MS;
    });
    assert_eq!(play.last, []);
    let alert = only(&mut play);
    assert_eq!(
        alert.title,
        "blocked worker w0 1.48 s: app::write in one poll"
    );
    assert_eq!(alert.held_ns, 1_480 * MS);
    assert_eq!(alert.began_unix_ns, UNIX);
    assert_eq!(alert.ended_unix_ns, Some(UNIX + 1_480 * MS));
    assert_eq!(alert.last_unix_ns, alert.ended_unix_ns);
    assert_eq!(
        (alert.times, alert.holds, alert.is_over()),
        (1, false, true)
    );
    assert_eq!(alert.named(PartyKind::Worker), ["w0"]);
    assert_eq!(alert.named(PartyKind::Task), ["hog"]);
    let at = alert.at.as_ref().expect("where it was");
    let place = at.place.as_ref().expect("an await point");
    assert_eq!(place.expr, "self.db.lock()");
    assert_eq!(behind(&alert), ["locked", "woken"]);
    // The other one is about the poll in progress.
    let [fix] = &alert.fixes[..] else {
        panic!("{:?}", alert.fixes);
    };
    assert!(fix.contains("use spawn_blocking"), "{fix}");
    assert_eq!(alert.summary, "one poll took too long");
}

/// A lock that is let go while the situation is read: its poll is still in progress, without
/// waiters.
#[test]
fn who_waited_is_kept_if_the_last_look_came_too_late() {
    let mut play = Play::new(stage_with_lock());
    play.until(60_000, |stage, ms| {
        stall(stage, ms, (0, 1_480));
        if ms > 1_240 {
            stage.on("db").holders.clear();
        }
    });
    let alert = only(&mut play);
    assert_eq!(alert.held_ns, 1_480 * MS);
    assert_eq!(behind(&alert), ["locked"]);
}

/// The same of a lock that nobody waits for: it is named, and so is what the thread did.
#[test]
fn what_it_held_is_kept_if_the_last_look_came_too_late() {
    let mut stage = stage();
    stage.mutex("db");
    stage.locks("hog", "db");
    let mut play = Play::new(stage);
    play.until(60_000, |stage, ms| {
        stall(stage, ms, (0, 1_480));
        let worker = &mut stage.situation.workers[0];
        worker.cpu_ns = Some(SECOND);
        // At 1.25 s it has just let go of the lock, and runs.
        worker.sleeps = ms < 1_250;
        if ms > 1_240 {
            stage.on("db").holders.clear();
        }
    });
    let alert = only(&mut play);
    assert_eq!(alert.held_ns, 1_480 * MS);
    assert_eq!(alert.named(PartyKind::Resource), ["mutex db"]);
    assert!(alert.why.contains(": it slept or waited"), "{}", alert.why);
    assert!(alert.why.contains(" It held mutex db."), "{}", alert.why);
    assert!(
        alert.fixes[0].contains("a blocking call?"),
        "{:?}",
        alert.fixes
    );
}

/// Another worker is in a poll: who else was woken may wait for that one.
#[test]
fn what_another_worker_may_poll_is_not_behind() {
    let behind = |by: &str, blocked: bool| {
        let mut stage = stage();
        stage.task("other", "other.rs:1 run()").polls = 3;
        stage.task("woken", "conn.rs:1 read()").state = TaskState::Ready;
        let wakes = stage.get("woken").wakes.as_mut().expect("wakes");
        wakes.last = Some(Wake {
            at: START,
            by: by.to_owned(),
        });
        let mut play = Play::new(stage);
        play.until(1_250, |stage, ms| {
            stall(stage, ms, (0, 9_000));
            let since = if blocked { 0 } else { ms };
            polls(stage, 1, "other", START + since * MS);
        });
        play.last[0].behind_count()
    };
    assert_eq!(behind("other", false), 0);
    assert_eq!(behind("hog", false), 1);
    // If all are blocked, none polls it.
    assert_eq!(behind("other", true), 1);
}

/// The threads are read before the tasks.
#[test]
fn a_poll_that_ends_while_a_situation_is_read_has_an_end() {
    let mut play = Play::new(stage());
    play.until(5_000, |stage, ms| {
        stall(stage, ms, (0, 1_500));
        if ms == 1_500 {
            let waits = (TaskState::Waiting, START + 1_499 * MS);
            polls(stage, 0, "hog", START);
            let task = stage.get("hog");
            (task.state, task.since) = waits;
        }
    });
    let alert = only(&mut play);
    let expected = "blocked worker w0 1.50 s: app::write in one poll";
    assert_eq!(
        (alert.title.as_str(), alert.held_ns),
        (expected, 1_500 * MS)
    );
}

#[test]
fn an_end_that_nothing_tells_is_a_lower_bound() {
    let check = |longest_ns: u64, expected: &str, held_ns: u64| {
        let mut play = Play::new(stage());
        play.until(1_250, |stage, ms| stall(stage, ms, (0, 9_000)));
        play.until(5_000, |stage, _| {
            stage.situation.workers[0].poll = None;
            stage.situation.tasks.clear();
            stage.situation.procs = vec![Proc {
                path: "app::hog".to_owned(),
                polls: 8,
                longest_ns,
                ..Proc::default()
            }];
        });
        let alert = only(&mut play);
        assert_eq!((alert.title.as_str(), alert.held_ns), (expected, held_ns));
    };
    let bound = "blocked worker w0 1.25 s+: app::write in one poll";
    check(0, bound, 1_250 * MS);
    // An earlier poll of that proc was longer.
    check(3 * SECOND, bound, 1_250 * MS);
    check(
        1_400 * MS,
        "blocked worker w0 1.40 s: app::write in one poll",
        1_400 * MS,
    );
}

#[test]
fn what_comes_again_is_one_entry() {
    let mut play = Play::new(stage());
    for (begin, end) in [(0, 1_480), (20_000, 22_490), (40_000, 41_230)] {
        play.until(begin + 19_750, |stage, ms| stall(stage, ms, (begin, end)));
    }
    let alert = only(&mut play);
    assert_eq!(
        alert.title,
        "blocked worker w0 1.23 s: app::write in one poll"
    );
    assert_eq!(alert.times, 3);
    assert_eq!(alert.held_ns, 1_230 * MS);
    assert_eq!(alert.began_unix_ns, UNIX + 40_000 * MS);
    assert_eq!(alert.ended_unix_ns, Some(UNIX + 41_230 * MS));
    assert_eq!(alert.last_unix_ns, Some(UNIX + 41_230 * MS));
    assert_eq!(
        times(&alert),
        [(0, 1_480), (20_000, 2_490), (40_000, 1_230)]
    );
    assert_eq!(alert.last_time(), None);
    assert_eq!(alert.lasted_ns(), 1_230 * MS);
    assert_eq!(alert.began_at(0), UNIX + 40_000 * MS);
}

/// It is one row, whichever worker it is.
#[test]
fn what_is_active_again_is_not_also_over() {
    let mut play = Play::new(stage());
    play.until(19_750, |stage, ms| stall(stage, ms, (0, 1_480)));
    assert_eq!(titles(&mut play).len(), 1);
    play.until(21_500, |stage, ms| {
        if ms >= 20_000 {
            polls(stage, 1, "hog", START + 20_000 * MS);
            stage.get("hog").polls = 20_007;
        }
    });
    assert_eq!(titles(&mut play), [""; 0]);
    let [alert]: &[Alert] = &play.last else {
        panic!("{:?}", play.last);
    };
    assert_eq!((alert.times, alert.is_over()), (2, false));
    assert_eq!(times(alert), [(0, 1_480)]);
}

/// Beginning and length of the last times, in milliseconds.
fn times(alert: &Alert) -> Vec<(u64, u64)> {
    let recent = alert.recent.iter();
    recent
        .map(|time| ((time.began_unix_ns - UNIX) / MS, time.held_ns / MS))
        .collect()
}

#[test]
fn the_last_times_are_kept_and_the_longest() {
    let more = 3;
    let mut play = Play::new(stage());
    for n in 0..RECENT_KEPT as u64 + more {
        let (begin, long) = (n * 5_000, if n == 1 { 2_490 } else { 1_480 });
        play.until(begin + 4_750, |stage, ms| {
            stall(stage, ms, (begin, begin + long));
        });
    }
    let alert = only(&mut play);
    assert_eq!(alert.times, RECENT_KEPT as u64 + more);
    let mut expected = vec![(5_000, 2_490)];
    expected.extend((more + 1..RECENT_KEPT as u64 + more).map(|n| (n * 5_000, 1_480)));
    assert_eq!(times(&alert), expected);
}

/// No other thread had an event: nobody can have been woken, so nobody is known to wait.
#[test]
fn a_stall_in_which_nothing_else_was_polled_says_so() {
    let check = |last_ms: Option<u64>, expected_ms: u64, title: &str| {
        let mut play = Play::new(stage());
        play.until(5_000, |stage, ms| {
            stall(stage, ms, (0, 1_480));
            let last = if ms < 1_480 { last_ms } else { Some(ms) };
            stage.situation.workers[1].last_event = last.map(|ms| START + ms * MS);
        });
        let alert = only(&mut play);
        assert_eq!(
            (alert.unpolled_ns, alert.title.as_str()),
            (expected_ms * MS, title)
        );
        let unknown = cell(&alert, "behind") == "?";
        assert_eq!(unknown, expected_ms > 0, "{title}");
    };
    let title = "blocked worker w0 1.48 s: app::write in one poll";
    let alone = "blocked worker w0 1.48 s: app::write in one poll; nothing else was polled";
    check(Some(0), 1_250, alone);
    check(Some(100), 1_150, alone);
    check(Some(1_200), 0, title);
    // Unknown.
    check(None, 0, title);
}

/// Tasks that stood still and were woken once it was over: one that was polled, one that has ended.
#[test]
fn those_that_were_woken_when_a_stall_had_ended_are_told() {
    let mut stage = stage_with_lock();
    stage.task("polled", "conn.rs:5 sleep()").polls = 3;
    stage.task("ended", "conn.rs:5 sleep()").polls = 4;
    stage.task("idle", "conn.rs:6 read()").polls = 5;
    stage.mutex("pool");
    stage.locks("ended", "pool");
    for name in ["polled", "ended", "idle"] {
        stage.get(name).since = START + 200 * MS;
    }
    let mut at_rest = None;
    let mut play = Play::new(stage);
    play.until(5_000, |stage, ms| {
        stall(stage, ms, (0, 1_480));
        stage.situation.workers[1].last_event = Some(START);
        if ms == 500 {
            // At rest: nothing has happened to it since the situation before.
            let tasks = &mut stage.situation.tasks;
            let at = tasks.iter().position(|task| task.name == "polled");
            at_rest = at.map(|at| tasks.remove(at));
        }
        if ms == 1_500 {
            stage.on("db").holders.clear();
            stage.on("pool").holders.clear();
            stage.situation.tasks.retain(|task| task.name != "ended");
            let mut polled = at_rest.take().expect("it was removed");
            polled.polls += 1;
            stage.situation.tasks.push(polled);
        }
    });
    let mut past = play.past().into_iter();
    let alert = past.find(|alert| alert.pitfall == Pitfall::BlockedWorker);
    let alert = alert.expect("it is over");
    let waits: Vec<_> = alert
        .behind
        .waits
        .iter()
        .map(|wait| {
            let place = wait.at.place.as_ref().expect("a place");
            (place.line, wait.tasks, wait.longest_ns / MS, wait.asleep)
        })
        .collect();
    let asleep = (5, 1, 1_280, true);
    assert_eq!(waits, [(2, 1, 1_250, false), asleep, asleep]);
    assert!(
        alert.why.contains(" No other task was woken meanwhile"),
        "{}",
        alert.why
    );
}

/// A worker that is free comes to what is woken: then it is not the timers that stand still.
#[test]
fn what_is_woken_and_not_polled_does_not_wait_for_a_timer() {
    let mut stage = stage();
    let woken = stage.task("woken", "conn.rs:1 read()");
    (woken.state, woken.since) = (TaskState::Ready, START + 100 * MS);
    let mut play = Play::new(stage);
    play.until(1_250, |stage, ms| {
        stall(stage, ms, (0, 9_000));
        stage.situation.workers[1].last_event = Some(START);
    });
    let alert = &play.last[0];
    assert!(alert.unpolled_ns > 0);
    assert!(!alert.why.contains("woken"), "{}", alert.why);
    assert_eq!(alert.behind.waits.len(), 1);
}

/// It says so while the poll lasts, too; not if another worker is in a short poll.
#[test]
fn while_another_worker_polls_it_is_not_alone() {
    let unpolled = |other: Option<u64>| {
        let mut stage = stage();
        stage.task("other", "other.rs:1 run()").polls = 3;
        let mut play = Play::new(stage);
        play.until(1_250, |stage, ms| {
            stall(stage, ms, (0, 9_000));
            stage.situation.workers[1].last_event = Some(START);
            if let Some(long) = other {
                polls(stage, 1, "other", START + ms.saturating_sub(long) * MS);
            }
        });
        play.last[0].unpolled_ns
    };
    assert_eq!(unpolled(None), 1_250 * MS);
    assert_eq!(unpolled(Some(100)), 0);
    // It is blocked, too.
    assert_eq!(unpolled(Some(1_100)), 1_100 * MS);
}

#[test]
fn what_a_blocked_task_holds_is_named() {
    let mut play = Play::new(stage_with_lock());
    play.until(1_250, |stage, ms| stall(stage, ms, (0, 1_480)));
    let live = play.last[0].clone();
    play.until(5_000, |stage, ms| {
        stall(stage, ms, (0, 1_480));
        if ms > 1_480 {
            stage.on("db").holders.clear();
        }
    });
    let (now, then) = (
        " It holds mutex db; 1 task waits for it.",
        " It held mutex db; 1 task waited for it.",
    );
    for (alert, held) in [(live, now), (only(&mut play), then)] {
        assert_eq!(alert.named(PartyKind::Resource), ["mutex db"]);
        assert!(alert.why.ends_with(held), "{}", alert.why);
    }
}

#[test]
fn tasks_that_wait_and_are_not_listed_are_counted() {
    let mut play = Play::new(stage_with_lock());
    play.until(5_000, |stage, ms| {
        stall(stage, ms, (0, 1_480));
        // As of 300 waiters, of which a reading lists 256.
        stage.on("db").waiting = 45;
        if ms > 1_480 {
            stage.on("db").holders.clear();
        }
    });
    let alert = only(&mut play);
    let held = " It held mutex db; 45 tasks waited for it.";
    assert!(alert.why.ends_with(held), "{}", alert.why);
    assert_eq!((alert.behind.unlisted, alert.behind_count()), (44, 45));
    assert_eq!(alert.recent[0].behind_count, 45);
}

#[test]
fn an_active_alert_is_not_over() {
    let mut play = Play::new(stage());
    // Gone for less than it takes to clear it.
    play.until(1_500, |stage, ms| stall(stage, ms, (0, 1_480)));
    assert_eq!(titles(&mut play), [""; 0]);
    assert_eq!(play.last.len(), 1);
    assert_eq!((play.last[0].times, play.last[0].is_over()), (1, false));
    assert_eq!(play.last[0].began_unix_ns, UNIX);
}

#[test]
fn after_ten_minutes_it_is_forgotten() {
    let mut play = Play::new(stage());
    play.until(5_000, |stage, ms| stall(stage, ms, (0, 1_480)));
    let end = START + 1_480 * MS;
    assert_eq!(play.past_at(end + PAST_NS - 1).len(), 1);
    assert_eq!(play.past_at(end + PAST_NS).len(), 0);
}

#[test]
fn there_is_room_for_so_many() {
    let more = 7;
    let mut play = Play::new(stage());
    let step = 3_000;
    for n in 0..PAST_KEPT as u64 + more {
        play.until((n + 1) * step - 250, |stage, ms| {
            stall(stage, ms, (n * step, n * step + 1_480));
            if let Some(poll) = &mut stage.situation.workers[0].poll {
                poll.passed.as_mut().expect("a place").line = n as u32;
            }
        });
    }
    let past = play.past();
    assert_eq!((past.len(), play.forgotten()), (PAST_KEPT, more));
    // The first ones are forgotten, and the last one comes first.
    let lines = past.iter().map(|alert| {
        let place = alert.at.as_ref().and_then(|at| at.place.as_ref());
        u64::from(place.expect("a place").line)
    });
    let lines: Vec<u64> = lines.collect();
    assert_eq!(
        lines,
        (more..PAST_KEPT as u64 + more).rev().collect::<Vec<_>>()
    );
    let _ = play.past_at(START + step * 1_000 * MS + PAST_NS);
    assert_eq!(play.forgotten(), 0);
}

#[test]
fn what_is_active_when_accounting_stops_is_not_over() {
    let mut play = Play::new(stage());
    play.until(5_000, |stage, ms| stall(stage, ms, (0, 1_480)));
    play.until(8_000, |stage, ms| stall(stage, ms, (6_000, 9_000)));
    assert_eq!(play.last.len(), 1);
    play.stop();
    let alert = only(&mut play);
    assert_eq!((alert.times, alert.held_ns), (1, 1_480 * MS));
}
