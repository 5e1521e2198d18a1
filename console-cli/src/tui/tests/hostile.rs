//! Whatever the process calls its things, the screen stays the screen.

use turbowish_model::printable;

use super::fixture::{alarmed, arrives, attached, kv, press, screen, until};
use crate::tui::state::State;
use crate::tui::tests::alerts::deadlock;

const NAMES: [&str; 6] = [
    "",
    "a\u{1b}[2J\u{7}\r\n\tb",
    "\u{9b}31m\u{202e}live",
    "\n",
    "kv::conn::serve",
    "日本語 ﷽ e\u{301}",
];

#[test]
fn names_cannot_do_anything() {
    let long = "x\u{1b}é".repeat(5_000);
    for name in NAMES.into_iter().chain([long.as_str()]) {
        let mut snapshot = kv();
        snapshot.process.name = name.to_owned();
        for row in &mut snapshot.procs.rows {
            row.proc = name.to_owned();
            row.attributes = vec![(name.to_owned(), name.to_owned()); 2];
        }
        for row in &mut snapshot.tasks.rows {
            row.name = name.to_owned();
            row.attributes = vec![(name.to_owned(), name.to_owned()); 2];
        }
        for row in &mut snapshot.resources.rows {
            row.name = name.to_owned();
        }
        let mut alert = deadlock();
        alert.title = name.to_owned();
        alert.summary = name.to_owned();
        for party in &mut alert.parties {
            party.name = name.to_owned();
        }
        for size in [(80, 24), (200, 50), (64, 12)] {
            let mut state = alarmed(size, vec![alert.clone()]);
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
                "1 t",
                "v",
                "2 v",
                "c",
                "Esc ?",
            ] {
                press(&mut state, keys);
                let shown = screen(&state);
                assert_eq!(printable::lines(&shown), shown, "{name:?} {size:?} {keys}");
                assert_eq!(
                    shown.lines().count(),
                    usize::from(size.1),
                    "{name:?} {keys}"
                );
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
