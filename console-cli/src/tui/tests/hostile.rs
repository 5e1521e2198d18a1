//! Hostile names: no name from the process corrupts the screen.

use super::alerts::{deadlock, long_poll};
use super::fixture::{alarmed, arrives, attached, kv, press, screen, until};
use super::taint::{controls, is_obeyed, taint};
use crate::tui::message::Effect;
use crate::tui::state::State;

const NAMES: [&str; 5] = [
    "",
    "\n",
    "kv::conn::serve",
    "日本語 ﷽ e\u{301}",
    "a\u{200d}b 👩\u{200d}🚒 \u{200c}",
];

/// Wider than any screen, and longer than the maximal padding of a formatter.
fn long() -> [String; 5] {
    [
        "a::".repeat(25_000),
        "x\u{1b}é".repeat(25_000),
        "x".repeat(70_000),
        // One letter, and many words.
        format!("e{}", "\u{301}".repeat(70_000)),
        "ab ".repeat(25_000),
    ]
}

#[test]
fn names_cannot_do_anything() {
    let names = NAMES.into_iter().map(str::to_owned);
    for name in names.chain(long()).chain([controls()]) {
        let mut snapshot = kv();
        let is_long = name.len() > 10_000;
        let sizes = [(80, 24), (200, 50), (64, 12)];
        if is_long {
            // Some rows say as much as all of them.
            snapshot.tasks.rows.truncate(3);
            snapshot.procs.rows.truncate(3);
        }
        snapshot.alerts.rows = vec![deadlock(), long_poll()];
        let mut snapshot = taint(snapshot, &name);
        let alerts = std::mem::take(&mut snapshot.alerts.rows);
        snapshot.alerts.rows.clone_from(&alerts);
        for size in sizes.into_iter().take(if is_long { 1 } else { 3 }) {
            let mut state = alarmed(size, alerts.clone());
            arrives(&mut state, snapshot.clone());
            for keys in [
                "1",
                "2",
                "3",
                "4",
                "5",
                "!",
                "1 Enter",
                "2 Enter",
                "3 Enter j Enter",
                "n",
                "n n",
                "1 t",
                "2 t t",
                "v",
                "2 v",
                "c",
                "Esc D",
                "Esc p",
                "Esc :",
                "Esc ?",
            ] {
                press(&mut state, keys);
                let shown = screen(&state);
                let what: String = name.chars().take(20).collect();
                let bad = shown.chars().find(|c| *c != '\n' && is_obeyed(*c));
                assert_eq!(bad, None, "{what:?} {size:?} {keys}");
                assert_eq!(
                    shown.lines().count(),
                    usize::from(size.1),
                    "{what:?} {keys}"
                );
            }
            for keys in ["1 y", "2 y", "2 Enter y", "! y", "2 Y"] {
                if let Some(Effect::Copy(text)) = press(&mut state, keys) {
                    let bad = text.chars().find(|c| *c != '\n' && is_obeyed(*c));
                    assert_eq!(bad, None, "{size:?} {keys}");
                    assert!(!text.lines().any(|line| line.starts_with("FORGED")));
                }
            }
        }
    }
}

#[test]
fn the_badge_stays_on_a_narrow_terminal() {
    let long = "a-server-whose-name-leaves-no-room-for-anything-else-in-a-title-line";
    for width in 60..=80 {
        for name in ["kv", long] {
            let mut state = attached((width, 24));
            state.shown.as_mut().expect("data").process.name = name.to_owned();
            let check = |state: &State, badge: &str| {
                let screen = screen(state);
                let title = screen.lines().next().unwrap_or_default();
                assert!(title.contains(badge), "{width} {name}: {title}");
                assert!(title.contains(&name[..2]), "{width} {name}: {title}");
                title.to_owned()
            };
            check(&state, "LIVE");
            press(&mut state, "Space");
            let title = check(&state, "FROZEN");
            assert_eq!(title.contains("window 10 s"), name == "kv", "{title}");
            press(&mut state, "Space");
            until(&mut state, 80);
            check(&state, "STALE ");
        }
    }
}
