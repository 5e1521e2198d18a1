//! The source location that `e` opens.

use super::alerts::deadlock;
use super::fixture::{alarmed, attached, press, screen};
use super::screens::SMALL;
use crate::tui::message::Effect;

/// The locations that are tried after these keys, the best first.
fn check(keys: &str, expected: &[&str]) {
    let mut state = alarmed(SMALL, vec![deadlock()]);
    let spots = match press(&mut state, &format!("{keys} e")) {
        Some(Effect::Edit(spots)) => spots,
        other => panic!("{keys}: {other:?}"),
    };
    let places: Vec<String> = spots
        .iter()
        .map(|spot| format!("{}:{}:{}", spot.file, spot.line, spot.column))
        .collect();
    assert_eq!(places, expected, "{keys}");
}

#[test]
fn the_selected_row_has_a_place() {
    check("1", &["src/conn.rs:128:1"]);
    check("2", &["src/repl.rs:51:27"]);
    check("3", &["src/repl.rs:18:18"]);
    check("4", &["src/conn.rs:131:13"]);
    check("5", &["src/conn.rs:88:9"]);
}

#[test]
fn a_group_has_none() {
    let mut state = attached(SMALL);
    assert_eq!(press(&mut state, "t e"), None);
    let told = screen(&state).lines().nth(1).map(str::to_owned);
    let expected = "! the source location is unknown";
    assert_eq!(told.as_deref(), Some(expected));
}

#[test]
fn in_a_record_it_is_that_of_the_line_then_of_the_link_then_of_the_record() {
    // What it waits for, made elsewhere; its place is told in short, and is written out again.
    let log = [
        "src/repl.rs:51:27",
        "src/repl.rs:18:18",
        "src/repl.rs:51:27",
    ];
    check("2 Enter", &log);
    check("1 Enter", &["src/conn.rs:57:1", "src/conn.rs:128:1"]);
}
