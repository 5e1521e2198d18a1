//! Muted alerts: silent, but still visible.

use turbowish_model::snapshot::alert::{Alert, Severity};

use super::alerts::{deadlock, futurelock, long_poll};
use super::fixture::{alarmed, arrives, attached, listed, press, screen, tell, until, with};
use super::screens::{LARGE, MIDDLE, SMALL, check};
use crate::tui::message::Message;
use crate::tui::state::State;

fn line(state: &State, at: usize) -> String {
    screen(state).lines().nth(at).unwrap_or_default().to_owned()
}

/// The alert line after a mute was reported and a key pressed.
fn banner(state: &mut State) -> String {
    press(state, "k");
    line(state, 1)
}

#[test]
fn a_muted_alert_leaves_the_banner_and_comes_last() {
    let mut state = alarmed(SMALL, vec![deadlock(), long_poll()]);
    press(&mut state, "5 m");
    assert_eq!(
        line(&state, 1),
        "! deadlock: muted 10m00s, or until it gets worse; m unmutes"
    );
    // The selection goes with it: m once more is for the same alert.
    let screen_of = screen(&state);
    assert!(screen_of.contains("\n>  muted 10m00s"), "{screen_of}");
    let told = banner(&mut state);
    assert!(
        told.starts_with("! 1 warning, 1 muted  long poll 38.4ms: "),
        "{told}"
    );
    let rows: Vec<String> = (7..9).map(|at| line(&state, at)).collect();
    assert!(rows[0].contains("long poll"), "{rows:?}");
    assert!(
        rows[1].contains("muted 10m00s") && rows[1].contains("deadlock"),
        "{rows:?}"
    );
    // It is not the worst one, and its rows have no mark.
    press(&mut state, "!");
    let open = state.record.as_ref().map(|open| open.name());
    assert_eq!(open.as_deref(), Some("long poll"));
    press(&mut state, "Esc 2");
    assert!(!screen(&state).contains("\n X "), "{}", screen(&state));
}

#[test]
fn it_is_heard_again_by_m_and_after_ten_minutes() {
    let mut state = alarmed(SMALL, vec![deadlock()]);
    press(&mut state, "! m");
    assert_eq!(banner(&mut state), " no alerts, 1 muted");
    press(&mut state, "m");
    assert_eq!(line(&state, 1), "! deadlock: unmuted");
    assert!(banner(&mut state).starts_with("X 1 alert  "));
    press(&mut state, "m k");
    until(&mut state, 599);
    arrives(&mut state, with(vec![deadlock()]));
    assert_eq!(line(&state, 1), " no alerts, 1 muted");
    press(&mut state, "5");
    assert!(line(&state, 7).contains("muted 1 s"), "{}", line(&state, 7));
    until(&mut state, 600);
    arrives(&mut state, with(vec![deadlock()]));
    assert!(
        line(&state, 1).starts_with("X 1 alert  "),
        "{}",
        line(&state, 1)
    );
    assert!(!screen(&state).contains("muted"));
}

#[test]
fn the_end_of_ten_minutes_needs_no_data() {
    let mut state = alarmed(SMALL, vec![deadlock()]);
    press(&mut state, "5 m Space k");
    assert!(screen(&state).contains("muted"));
    until(&mut state, 600);
    assert!(!screen(&state).contains("muted"));
}

#[test]
fn it_is_heard_again_when_it_is_worse() {
    let warning = Alert {
        severity: Severity::Warning,
        ..deadlock()
    };
    let mut state = alarmed(SMALL, vec![warning.clone()]);
    press(&mut state, "! m k");
    until(&mut state, 2);
    arrives(&mut state, with(vec![warning.clone()]));
    assert_eq!(line(&state, 1), " no alerts, 1 muted");
    until(&mut state, 3);
    arrives(&mut state, with(vec![deadlock()]));
    assert!(line(&state, 1).starts_with("X 1 alert  "));
    // And stays so when it is better again.
    until(&mut state, 4);
    arrives(&mut state, with(vec![warning]));
    assert!(line(&state, 1).starts_with("! 1 warning  "));
}

#[test]
fn a_filter_knows_which_are_muted() {
    let names = |filter: &str| {
        let mut state = alarmed(SMALL, vec![deadlock(), long_poll(), futurelock()]);
        press(&mut state, "5 m");
        press(&mut state, &format!("/ {filter} Enter"));
        let held = state.table().counts().held;
        let rows = (7..7 + held).map(|at| line(&state, at).contains("deadlock"));
        rows.collect::<Vec<bool>>()
    };
    assert_eq!(names("m u t e d"), [true]);
    assert_eq!(names("- m u t e d"), [false, false]);
    assert_eq!(names("a l e r t : * Space - m u t e d"), [false, false]);
}

#[test]
fn only_alerts_are_muted_and_each_process_has_its_own() {
    let mut state = attached(SMALL);
    press(&mut state, "m");
    assert_eq!(line(&state, 1), "! m mutes an alert; 5 lists them");
    let mut state = alarmed(SMALL, vec![deadlock()]);
    press(&mut state, "! m");
    let both = || vec![listed(4242, |_| ()), listed(4300, |_| ())];
    press(&mut state, "0");
    tell(&mut state, Message::Listed(both()));
    press(&mut state, "j Enter");
    arrives(&mut state, with(vec![deadlock()]));
    assert!(line(&state, 1).starts_with("X 1 alert  "));
    press(&mut state, "0");
    tell(&mut state, Message::Listed(both()));
    press(&mut state, "k Enter");
    arrives(&mut state, with(vec![deadlock()]));
    until(&mut state, 1);
    assert_eq!(line(&state, 1), " no alerts, 1 muted");
}

#[test]
fn screens() {
    for size in [SMALL, MIDDLE, LARGE] {
        let mut state = alarmed(size, vec![deadlock(), long_poll(), futurelock()]);
        press(&mut state, "5 m");
        until(&mut state, 20);
        let alerts = vec![deadlock(), long_poll(), futurelock()];
        arrives(&mut state, with(alerts));
        check("muted", &state);
        press(&mut state, "G");
        check("muted_selected", &state);
        press(&mut state, "Enter");
        check("muted_record", &state);
    }
}
