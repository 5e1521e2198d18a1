//! Alerts on the screen: the effects of `!`, `n`, Enter and Esc, the marks, and the display of
//! resolved alerts.

use turbowish_model::snapshot::alert::{Alert, Severity};

use super::alerts::{deadlock, futurelock, long_poll};
use super::fixture::{alarmed, arrives, attached, press, screen, tell, until, with};
use crate::tui::message::Message;
use crate::tui::state::State;

const SIZE: (u16, u16) = (80, 24);

fn line(state: &State, at: usize) -> String {
    screen(state).lines().nth(at).unwrap().to_owned()
}

/// The title of the open alert.
fn open(state: &State) -> Option<&str> {
    let open = state.record.as_ref()?;
    Some(open.alert()?.pitfall.title())
}

fn check_open(keys: &str, expected: Option<&str>) {
    let mut state = alarmed(SIZE, vec![long_poll(), futurelock(), deadlock()]);
    press(&mut state, keys);
    assert_eq!(open(&state), expected, "after {keys:?}");
}

#[test]
fn keys_open_alerts_and_close_them() {
    check_open("", None);
    check_open("!", Some("deadlock"));
    check_open("n", Some("deadlock"));
    check_open("N", Some("deadlock"));
    check_open("! n", Some("futurelock"));
    check_open("! n n", Some("long poll"));
    // After the alerts come other things that stand out.
    check_open("! n n n", None);
    check_open("! n n n N", Some("long poll"));
    check_open("! N", None);
    check_open("! n !", Some("deadlock"));
    check_open("! Esc", None);
    check_open("! n Esc", None);
    check_open("! 2", None);
    check_open("! 2 H", Some("deadlock"));
    check_open("! Tab", None);
    check_open("! ? Esc", Some("deadlock"));
    check_open("! w Space", Some("deadlock"));
    // A row of the table of alerts is itself; others name those that they are part of.
    check_open("5 j Enter", Some("futurelock"));
    check_open("5 G Enter", Some("long poll"));
    check_open("2 Enter", None);
    check_open("2 Enter j j j j j Enter", Some("deadlock"));
}

#[test]
fn the_source_is_asked_for_once_and_stands_at_the_end() {
    let mut state = alarmed(SIZE, vec![deadlock(), futurelock()]);
    press(&mut state, "!");
    let source = |state: &State| {
        let source = state.record.as_ref().unwrap().source.clone();
        source.map(|(_, lines)| lines)
    };
    assert_eq!(source(&state), None);
    let lines = vec!["conn.rs:88 |  self.repl.send(cmd).await?;".to_owned()];
    let excerpt = state.record.as_ref().unwrap().excerpt().unwrap();
    tell(&mut state, Message::Source(excerpt, lines.clone()));
    press(&mut state, "G");
    assert!(screen(&state).contains(&format!("\n {}\n", lines[0])));
    until(&mut state, 2);
    arrives(&mut state, with(vec![deadlock(), futurelock()]));
    assert_eq!(source(&state), Some(lines));
    press(&mut state, "n");
    assert_eq!(source(&state), None);
}

#[test]
fn without_alerts_the_keys_say_so() {
    let mut state = attached(SIZE);
    assert_eq!(line(&state, 1), " no alerts");
    press(&mut state, "!");
    assert_eq!(
        (open(&state), line(&state, 1).as_str()),
        (None, "! no alerts")
    );
}

#[test]
fn the_alert_line_counts_and_names_the_worst() {
    let check = |alerts: Vec<Alert>, expected: &str| {
        assert_eq!(line(&alarmed(SIZE, alerts), 1), expected);
    };
    check(
        vec![long_poll(), futurelock(), deadlock()],
        "X 2 alerts, 1 warning  deadlock 41.2 s+: conn:51022, repl-1, snapshot wait in ..",
    );
    check(
        vec![long_poll()],
        "! 1 warning  long poll 38.4ms: kv::snapshot::write, 44 polls > 10ms",
    );
    let note = Alert {
        severity: Severity::Note,
        ..long_poll()
    };
    check(
        vec![note],
        "- 1 note  long poll 38.4ms: kv::snapshot::write, 44 polls > 10ms",
    );
}

#[test]
fn a_new_alert_shows_while_the_display_is_frozen() {
    let mut state = attached(SIZE);
    press(&mut state, "Space");
    until(&mut state, 2);
    arrives(&mut state, with(vec![deadlock()]));
    assert!(line(&state, 1).starts_with("X 1 alert  deadlock 41.2 s+: "));
    press(&mut state, "!");
    assert_eq!(open(&state), Some("deadlock"));
}

#[test]
fn an_open_alert_is_told_as_it_is_now_and_stays_when_it_goes() {
    let mut state = alarmed(SIZE, vec![deadlock()]);
    press(&mut state, "!");
    let later = Alert {
        held_ns: deadlock().held_ns + 10_000_000_000,
        ..deadlock()
    };
    until(&mut state, 2);
    arrives(&mut state, with(vec![futurelock(), later]));
    assert!(line(&state, 3).ends_with("51.2 s"), "{}", line(&state, 3));
    // What came later does not change its place.
    assert!(line(&state, 2).ends_with("1 of 10 problems   n next"));
    until(&mut state, 4);
    arrives(&mut state, with(vec![futurelock()]));
    assert_eq!(open(&state), Some("deadlock"));
    assert!(line(&state, 2).ends_with("1 of 10 problems: resolved   n next"));
    press(&mut state, "n n n n n n n n n n");
    assert_eq!(open(&state), Some("futurelock"));
    assert!(line(&state, 2).ends_with("11 of 11 problems   n next"));
    // Then it begins anew, with the problems of now.
    press(&mut state, "n");
    assert_eq!(open(&state), Some("futurelock"));
    assert!(line(&state, 2).ends_with("1 of 10 problems   n next"));
}

#[test]
fn a_cycle_that_takes_in_another_task_is_the_same_alert() {
    let mut state = alarmed(SIZE, vec![deadlock()]);
    press(&mut state, "!");
    let mut other = deadlock();
    other.parties.rotate_left(2);
    until(&mut state, 2);
    arrives(&mut state, with(vec![other]));
    assert!(line(&state, 2).ends_with("1 of 10 problems   n next"));
}

#[test]
fn what_is_part_of_an_alert_is_marked_and_goes_first() {
    let marked = |view: &str, alerts: Vec<Alert>| {
        let mut state = alarmed((80, 40), alerts);
        press(&mut state, view);
        let screen = screen(&state);
        let rows = screen.lines().skip(7);
        rows.filter(|line| line.len() > 1 && "X!".contains(&line[1..2]))
            .map(|line| {
                let name: Vec<&str> = line[3..].split_whitespace().take(2).collect();
                format!("{} {}", &line[1..2], name.join(" "))
            })
            .collect::<Vec<_>>()
    };
    let all = || vec![long_poll(), deadlock()];
    let tasks = [
        "X repl-1 waiting",
        "X conn:51022 waiting",
        "X snapshot waiting",
        "! wal ready",
    ];
    assert_eq!(marked("2", all()), tasks);
    let resources = ["X mutex log", "X mpsc repl", "X mutex db"];
    assert_eq!(marked("3", all()), resources);
    let procs = ["X kv::conn::serve 24.9", "! kv::snapshot::write 8.3"];
    assert_eq!(marked("1", all()), procs);
    assert_eq!(marked("2", Vec::new()), ["! wal ready"]);
    let alerts = ["X alert deadlock", "! warning long"];
    assert_eq!(marked("5", all()), alerts);
}

#[test]
fn the_table_of_alerts_is_filtered_and_the_line_is_not() {
    let mut state = alarmed(SIZE, vec![long_poll(), futurelock(), deadlock()]);
    press(&mut state, "5 / a l e r t : d e a d Enter");
    assert!(line(&state, 1).starts_with("X 2 alerts, 1 warning"));
    assert!(
        line(&state, 5).contains("5 Alerts 1 of 3"),
        "{}",
        line(&state, 5)
    );
    until(&mut state, 2);
    arrives(
        &mut state,
        with(vec![long_poll(), futurelock(), deadlock()]),
    );
    assert!(
        line(&state, 5).contains("5 Alerts 1 of 3"),
        "{}",
        line(&state, 5)
    );
    let asked = state.wanted().watch.map(|(_, query)| query).unwrap();
    assert_eq!(asked.alerts, None);
}
