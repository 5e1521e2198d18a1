//! Alerts that are over: where they are told, how, and which key opens them.

use turbowish_model::snapshot::alert::{Alert, Occurrence};
use turbowish_model::snapshot::pitfall::Pitfall;

use super::alerts::{deadlock, long_poll, stall};
use super::fixture::{AT, SECOND, alarmed, arrives, attached, press, screen, until, with};
use super::screens::{LARGE, SMALL, check};
use crate::tui::state::State;

/// Over since five minutes.
fn earlier() -> Alert {
    let ended = Some(AT - 300 * SECOND);
    Alert {
        began_unix_ns: AT - 800 * SECOND,
        ended_unix_ns: ended,
        last_unix_ns: ended,
        times: 1,
        ..long_poll()
    }
}

fn check_sizes(name: &str, alerts: &[Alert], keys: &str) {
    for size in [SMALL, LARGE] {
        let mut state = alarmed(size, alerts.to_vec());
        press(&mut state, keys);
        check(name, &state);
    }
}

#[test]
fn screens() {
    let over = [earlier(), stall(AT)];
    check_sizes("past_procs", &over, "1");
    check_sizes("past_alerts", &over, "5");
    check_sizes("past_record", &over, "!");
    let all = [stall(AT), deadlock(), earlier()];
    check_sizes("past_and_active", &all, "5 j");
    check_sizes("past_worst", &[worst(), long_poll()], "5");
    check_sizes("past_worst_record", &[worst(), long_poll()], "!");
    check_sizes("past_again", &[again()], "!");
}

/// It came once more, and that time was less severe. More tasks waited than are listed.
fn worst() -> Alert {
    let mut alert = stall(AT);
    alert.times += 1;
    alert.last_unix_ns = Some(AT - 8 * SECOND);
    alert.recent.push(Occurrence {
        began_unix_ns: AT - 9 * SECOND,
        held_ns: SECOND,
        behind_count: 0,
    });
    alert.behind.unlisted = 44;
    alert
}

/// The stall, before it ends.
fn active() -> Alert {
    Alert {
        holds: true,
        summary: "one poll has not returned".to_owned(),
        why: "A poll must return quickly: w1 runs no other task until this one returns.".to_owned(),
        ended_unix_ns: None,
        last_unix_ns: None,
        ..stall(AT)
    }
}

/// It is active for the third time.
fn again() -> Alert {
    let mut alert = active();
    alert.recent.pop();
    alert
}

/// A function that slept in a poll is among the first by its time. The line below the table says
/// that it slept, as long as that poll is in the window.
#[test]
fn the_row_of_a_function_tells_of_its_long_poll() {
    let told = |alert: Alert, width| {
        let mut state = alarmed((width, 24), vec![alert]);
        let keys = "/ s n a p s h o t Enter";
        press(&mut state, keys);
        let screen = screen(&state);
        let line = screen
            .lines()
            .find(|line| line.contains("off the processor"));
        line.map(|line| line.trim().to_owned())
    };
    let slept = |ago: u64| Alert {
        on_cpu_ns: Some(12 * SECOND / 1000),
        on_cpu_of_ns: 1_250 * SECOND / 1000,
        ended_unix_ns: Some(AT - ago * SECOND),
        last_unix_ns: Some(AT - ago * SECOND),
        times: 1,
        recent: Vec::new(),
        at: long_poll().at,
        ..stall(AT)
    };
    let check = |alert: Alert, width, expected: Option<&str>| {
        assert_eq!(told(alert, width).as_deref(), expected);
    };
    let line = "blocked worker w1 1.50 s, 4.00 s ago, off the processor: ! opens it";
    check(slept(4), 80, Some(line));
    let wide =
        format!("{line}  kv::snapshot::write  src/snapshot.rs:90  called by kv::snapshot::run");
    check(slept(4), 200, Some(&wide));
    check(slept(11), 200, None);
    let computed = Alert {
        on_cpu_ns: Some(1_200 * SECOND / 1000),
        ..slept(4)
    };
    check(computed.clone(), 200, None);
    let open = Alert {
        ended_unix_ns: None,
        last_unix_ns: None,
        ..slept(4)
    };
    let line = "blocked worker w1 1.50 s, off the processor: ! opens it";
    check(open.clone(), 80, Some(line));

    // The row itself has a mark.
    let mark = |alert: Alert| {
        let screen = screen(&alarmed((80, 24), vec![alert]));
        let row = screen
            .lines()
            .find(|line| line.contains("kv::snapshot::write "));
        row.and_then(|row| row.chars().nth(1))
    };
    assert_eq!(mark(slept(4)), Some('z'));
    assert_eq!(mark(open), Some('X'), "an alert that is active comes first");
    assert_eq!(mark(slept(11)), Some(' '));
    assert_eq!(mark(computed), Some(' '));
}

fn line(state: &State, at: usize) -> String {
    screen(state).lines().nth(at).unwrap_or_default().to_owned()
}

/// That there is nothing to open is not said any longer than it is true.
#[test]
fn a_key_that_finds_no_alert_is_answered_until_there_is_one() {
    let mut state = alarmed(SMALL, Vec::new());
    press(&mut state, "!");
    assert_eq!(state.notice.as_deref(), Some("no alerts"));
    until(&mut state, 10);
    arrives(&mut state, with(vec![stall(AT)]));
    assert_eq!(state.notice, None);
    assert!(line(&state, 1).contains("blocked worker"));
}

/// A demo says what is to come until it has come.
#[test]
#[cfg(feature = "demo")]
fn the_alert_line_has_a_forecast() {
    let check = |alerts: &[Alert], expected: &str| {
        let mut state = alarmed(SMALL, alerts.to_vec());
        state.visit.forecast = Some(crate::top::TROUBLES);
        assert_eq!(line(&state, 1).trim_end(), expected);
    };
    check(
        &[],
        " no alerts; soon: a slow lock, a blocked worker, a task leak; ! opens the worst",
    );
    check(
        &[earlier()],
        " no alerts, 1 resolved  5m00s ago: long poll 38.4ms: ..write, 44 polls > 10ms",
    );
    check(
        &[long_poll()],
        "! 1 warning  long poll 38.4ms: kv::snapshot::write, 44 polls > 10ms",
    );
}

#[test]
fn the_alert_line_counts_them_apart() {
    let check = |alerts: &[Alert], expected: &str| {
        let state = alarmed(SMALL, alerts.to_vec());
        let line = line(&state, 1);
        assert_eq!(line.trim_end(), expected);
        assert!(line.chars().count() <= 80, "{line}");
    };
    check(
        &[earlier()],
        " no alerts, 1 resolved  5m00s ago: long poll 38.4ms: ..write, 44 polls > 10ms",
    );
    check(
        &[earlier(), stall(AT)],
        " no alerts, 2 resolved  42.0 s ago: blocked worker w1 1.50 s: ..run in one poll",
    );
    check(
        &[stall(AT), deadlock()],
        "X 1 active, 1 resolved  deadlock 41.2 s+: conn:51022, repl-1, snapshot wait in..",
    );
    // What is over was worse than what is active.
    check(
        &[stall(AT), long_poll()],
        "! 1 active: long poll  42.0 s ago: blocked worker w1 1.50 s: ..run in one poll",
    );
    check(
        &[stall(AT), earlier(), long_poll(), long_poll()],
        "! 2 active: long poll +1  42.0 s ago: blocked worker w1 1.50 s: ..run in one p..",
    );
    check(
        &[earlier(), long_poll()],
        "! 1 active, 1 resolved  long poll 38.4ms: kv::snapshot::write, 44 polls > 10ms",
    );
}

#[test]
fn one_key_opens_what_the_alert_line_names() {
    let open = |alerts: &[Alert], keys: &str| {
        let mut state = alarmed(SMALL, alerts.to_vec());
        press(&mut state, keys);
        let open = state.record.as_ref().and_then(|open| open.alert());
        open.map(|alert| alert.title.clone())
    };
    let over = [earlier(), stall(AT)];
    assert_eq!(open(&over, "!"), Some(stall(AT).title));
    assert_eq!(open(&over, "5 j Enter"), Some(earlier().title));
    // What is wrong now comes first.
    let all = [stall(AT), deadlock()];
    assert_eq!(open(&all, "!"), Some(deadlock().title));
    assert_eq!(open(&all, "5 j Enter"), Some(stall(AT).title));
    // Unless what is over was worse; the table has the same order, and so has `n`.
    let worse = [long_poll(), earlier(), stall(AT)];
    assert_eq!(open(&worse, "!"), Some(stall(AT).title));
    assert_eq!(open(&worse, "n"), Some(stall(AT).title));
    assert_eq!(open(&worse, "n n"), Some(long_poll().title));
    assert_eq!(open(&worse, "5 Enter"), Some(stall(AT).title));
    assert_eq!(open(&worse, "5 j Enter"), Some(long_poll().title));
    assert_eq!(open(&worse, "5 j j Enter"), Some(earlier().title));
}

/// An open record stays when its alert ends, and says so.
#[test]
fn an_alert_ends_while_its_record_is_open() {
    let mut state = alarmed(SMALL, vec![active()]);
    press(&mut state, "!");
    assert!(!screen(&state).contains(" RESOLVED "), "{}", screen(&state));
    until(&mut state, 2);
    arrives(&mut state, with(vec![stall(AT)]));
    let screen = screen(&state);
    assert!(
        screen.contains(" RESOLVED  42.0 s ago; active 3 times:"),
        "{screen}"
    );
    assert!(screen.contains("1 of 10 problems   n next"), "{screen}");
}

/// The next time of an alert replaces the last one in the table: the open record goes with it, and
/// `n` goes on to another problem.
#[test]
fn an_alert_that_was_replaced_is_not_the_next_problem() {
    let mut state = alarmed(SMALL, vec![stall(AT), long_poll()]);
    press(&mut state, "!");
    let mut again = stall(AT);
    let earlier = again.began_unix_ns;
    again.since += 20 * SECOND;
    again.began_unix_ns += 20 * SECOND;
    again.times = 4;
    assert_eq!(
        again.recent.last().map(|time| time.began_unix_ns),
        Some(earlier)
    );
    until(&mut state, 2);
    arrives(&mut state, with(vec![again.clone(), long_poll()]));
    assert!(
        screen(&state).contains("active 4 times"),
        "{}",
        screen(&state)
    );
    let open = |state: &State| state.record.as_ref()?.alert().cloned();
    assert_eq!(open(&state).map(|alert| alert.since), Some(again.since));
    press(&mut state, "n");
    assert_eq!(
        open(&state).map(|alert| alert.title),
        Some(long_poll().title)
    );
}

/// A long poll becomes a blocked worker: the open record goes with it, and is not resolved before
/// the poll ends.
#[test]
fn the_record_of_a_long_poll_follows_it() {
    let blocked = active();
    let mut long = long_poll();
    long.began_unix_ns = blocked.began_unix_ns;
    let mut state = alarmed(SMALL, vec![long]);
    press(&mut state, "!");
    let open = |state: &State| state.record.as_ref()?.alert().cloned();
    assert_eq!(
        open(&state).map(|alert| alert.pitfall),
        Some(Pitfall::LongPoll)
    );
    for (second, alert) in [(2, blocked.clone()), (4, stall(AT))] {
        until(&mut state, second);
        let title = alert.title.clone();
        let is_over = alert.is_over();
        arrives(&mut state, with(vec![alert]));
        assert_eq!(open(&state).map(|alert| alert.title), Some(title));
        assert_eq!(screen(&state).contains(" RESOLVED "), is_over);
        assert!(
            !screen(&state).contains("problems: resolved"),
            "{}",
            screen(&state)
        );
    }
}

#[test]
fn what_is_over_is_neither_muted_nor_counted() {
    let mut state = alarmed(SMALL, vec![stall(AT)]);
    press(&mut state, "5 m");
    assert!(screen(&state).contains("this alert is resolved"));
    assert!(screen(&state).contains("[5 Alerts 0]"));
    let mut state = attached(SMALL);
    let mut snapshot = with(vec![stall(AT)]);
    snapshot.alerts_forgotten = 12;
    arrives(&mut state, snapshot);
    press(&mut state, "5");
    assert!(screen(&state).contains(" ... 12 more are forgotten"));
}
