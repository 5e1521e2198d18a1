//! Every view, overlay and empty state at three sizes, next to the mock-ups of the screens'
//! specification.

use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::{Accounting, Page, Snapshot};

use super::alerts::{deadlock, futurelock, long_poll};
use super::fixture::{
    AT, SECOND, alarmed, arrives, attached, kv, listed, looking, peer, press, screen, tell, until,
    with,
};
use crate::tui::glyphs::GlyphSet;
use crate::tui::layout;
use crate::tui::message::Message;
use crate::tui::state::{PeerState, State};

pub(super) const SMALL: (u16, u16) = (80, 24);
pub(super) const MIDDLE: (u16, u16) = (120, 40);
pub(super) const LARGE: (u16, u16) = (200, 50);

pub(super) fn check(name: &str, state: &State) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let (width, height) = state.size;
    settings.bind(|| insta::assert_snapshot!(format!("{name}_{width}x{height}"), screen(state)));
}

/// The same keys on a console of each size.
fn check_sizes(name: &str, keys: &str) {
    for size in [SMALL, MIDDLE, LARGE] {
        let mut state = attached(size);
        press(&mut state, keys);
        check(name, &state);
    }
}

#[test]
fn procs() {
    check_sizes("procs", "j j j j j");
}

#[test]
fn tasks() {
    check_sizes("tasks", "2");
}

#[test]
fn resources() {
    check_sizes("resources", "3");
}

/// Nobody has the lock any more: the line below the table says who had it the longest.
#[test]
fn a_free_lock() {
    for size in [SMALL, LARGE] {
        let mut state = attached(size);
        press(&mut state, "3");
        let mut snapshot = kv();
        for row in &mut snapshot.resources.rows {
            if row.name == "mutex db" {
                (row.holders, row.holder_count) = (Vec::new(), 0);
                (row.waiters, row.waiter_count) = (Vec::new(), 0);
            }
        }
        until(&mut state, 1);
        arrives(&mut state, snapshot);
        press(&mut state, "j j j");
        check("free_lock", &state);
    }
}

/// The same keys on a console of each size, of a server with these alerts.
fn check_alarmed(name: &str, alerts: &[Alert], keys: &str) {
    for size in [SMALL, MIDDLE, LARGE] {
        let mut state = alarmed(size, alerts.to_vec());
        press(&mut state, keys);
        check(name, &state);
    }
}

#[test]
fn alerts() {
    let all = [long_poll(), futurelock(), deadlock()];
    check_alarmed("alerts", &all, "5");
    check_alarmed("alerts_tasks", &[deadlock()], "2");
    check_alarmed("alerts_resources", &[deadlock()], "3");
    check_alarmed("alerts_procs", &[long_poll()], "1");
    check_sizes("alerts_none", "5");
}

#[test]
fn problems() {
    check_alarmed("problem_deadlock", &[deadlock(), long_poll()], "!");
    check_alarmed("problem_futurelock", &[futurelock()], "!");
    check_alarmed("problem_long_poll", &[long_poll()], "!");
    for size in [(80, 12), (59, 24), (64, 9)] {
        let mut state = alarmed(size, vec![deadlock()]);
        press(&mut state, "! j j j");
        check("problem_small", &state);
    }
}

#[test]
fn preview() {
    let all = [deadlock(), long_poll()];
    for size in [(160, 40), LARGE] {
        for (name, keys) in [
            ("preview_procs", "j j j j j"),
            ("preview_tasks", "2 v j j"),
            ("preview_resources", "3 j"),
            ("preview_alerts", "5"),
            ("preview_group", "2 t j"),
        ] {
            let mut state = alarmed(size, all.to_vec());
            press(&mut state, keys);
            check(name, &state);
        }
    }
    let mut state = attached(SMALL);
    press(&mut state, "v");
    check("preview_no_room", &state);
}

/// A minute of a channel that fills up, a second at a time.
#[test]
fn length() {
    for size in [SMALL, MIDDLE, (59, 24)] {
        let mut state = alarmed(size, vec![deadlock()]);
        press(&mut state, "3 j Enter");
        for second in 1..=60 {
            until(&mut state, second);
            let mut snapshot = with(vec![deadlock()]);
            snapshot.process.uptime_ns += second * SECOND;
            for row in &mut snapshot.resources.rows {
                let grown = (second * second / 20).min(64);
                row.level = row.level.map(|level| level.min(grown));
            }
            arrives(&mut state, snapshot);
        }
        check("length", &state);
        press(&mut state, "3 G k Enter");
        check("length_in_use", &state);
    }
}

#[test]
fn records() {
    let all = [deadlock(), long_poll()];
    check_alarmed("record_task", &all, "2 j j Enter j");
    check_alarmed("record_resource", &all, "3 j Enter");
    check_alarmed("record_lock", &all, "3 Enter");
    check_alarmed("record_proc", &all, "1 j j j j j Enter j j");
    check_alarmed("record_proc_callers", &all, "1 / s e r v e Enter Enter");
    for size in [(80, 12), (59, 24), (64, 9)] {
        let mut state = alarmed(size, all.to_vec());
        press(&mut state, "2 j j Enter j j");
        check("record_small", &state);
    }
}

#[test]
fn no_resources() {
    let mut state = attached(SMALL);
    let mut snapshot = kv();
    snapshot.resources = Page::default();
    press(&mut state, "3");
    until(&mut state, 1);
    arrives(&mut state, snapshot);
    check("no_resources", &state);
}

#[test]
fn awaits() {
    check_sizes("awaits", "4");
}

#[test]
fn help() {
    check_sizes("help_keys", "?");
    check_sizes("help_columns", "? ?");
}

#[test]
fn sort_menu() {
    check_sizes("menu", "s Dn Dn");
    let mut state = attached(SMALL);
    press(&mut state, "2 s w o r");
    check("menu_narrowed", &state);
}

#[test]
fn column_chooser() {
    check_sizes("columns", "c j j Space");
}

#[test]
fn groups() {
    check_sizes("groups_procs", "t");
    check_alarmed("groups_tasks", &[deadlock()], "2 t l");
}

#[test]
fn filter_line() {
    let mut state = attached(SMALL);
    press(&mut state, "/ s n a p");
    check("filter", &state);
    press(&mut state, "Enter");
    check("filter_kept", &state);
    press(&mut state, "/ Space h o l d _ p 9 > 1 m s");
    check("filter_mistaken", &state);
}

#[test]
fn question() {
    let mut state = attached(SMALL);
    press(&mut state, "a");
    check("question", &state);
}

#[test]
fn unicode() {
    for keys in ["j j", "?", "s"] {
        let mut state = attached(SMALL);
        state.look.glyphs = GlyphSet::Unicode.glyphs();
        press(&mut state, keys);
        check(
            &format!("unicode_{}", keys.replace(' ', "").replace('?', "help")),
            &state,
        );
    }
}

/// A screen writes microseconds in one way, whoever has written the sentence.
#[test]
fn microseconds_are_written_in_one_way() {
    let is_ascii = |word: &str| {
        let number = word.trim_matches(|c: char| !c.is_alphanumeric());
        number
            .strip_suffix("us")
            .is_some_and(|digits| digits.ends_with(|c: char| c.is_ascii_digit()))
    };
    let mut alert = long_poll();
    alert.title = "spins: kv::conn::serve, 1.20us a poll (10µs)".to_owned();
    alert.why = "A poll took 999µs.".to_owned();
    let mut seen = 0;
    for size in [SMALL, LARGE] {
        for set in [GlyphSet::Ascii, GlyphSet::Unicode] {
            let mut state = attached(size);
            state.look.glyphs = set.glyphs();
            let mut snapshot = with(vec![alert.clone()]);
            snapshot.process.uptime_ns = 900_000;
            for row in &mut snapshot.tasks.rows {
                (row.since_ns, row.age_ns) = (40_000, 41_000);
                (row.running_ns, row.max_poll_ns) = (42_000, 43_000);
            }
            until(&mut state, 2);
            arrives(&mut state, snapshot);
            for keys in [
                "1", "2", "3", "4", "5", "!", "1 Enter", "2 Enter", "3 Enter", "4 Enter", "1 v",
            ] {
                press(&mut state, keys);
                let shown = screen(&state);
                let ascii = shown
                    .split_whitespace()
                    .filter(|word| is_ascii(word))
                    .count();
                let micro = shown.matches("µs").count();
                match set {
                    GlyphSet::Ascii => assert_eq!(micro, 0, "{keys} {size:?}\n{shown}"),
                    GlyphSet::Unicode => assert_eq!(ascii, 0, "{keys} {size:?}\n{shown}"),
                }
                seen += micro;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

/// The mark of the order takes no title's blank away.
#[test]
fn titles_stand_apart_whichever_the_rows_are_sorted_by() {
    for size in [SMALL, (100, 30), MIDDLE, LARGE] {
        let mut state = alarmed(size, vec![deadlock(), long_poll()]);
        state.look.glyphs = GlyphSet::Unicode.glyphs();
        for view in ["1", "2", "3", "4", "5"] {
            press(&mut state, view);
            let mut marks = 0;
            for _ in 0..layout::columns(state.table(), size.0).len() {
                press(&mut state, ">");
                let at = usize::from(layout::of(&state).titles.y);
                let shown = screen(&state);
                let line = shown.lines().nth(at).unwrap_or_default();
                marks += line.matches(['▼', '▲']).count();
                // Without the mark there are as many words.
                let words = |with: &str| line.replace(['▼', '▲'], with).split_whitespace().count();
                assert_eq!(words(" "), words(""), "{size:?} {view}: {line}");
            }
            assert!(marks > 1, "{size:?} {view}");
        }
    }
}

#[test]
fn picker() {
    for size in [SMALL, LARGE] {
        let mut state = looking(size);
        let gate = listed(5120, |snapshot| {
            snapshot.process.name = "gateway-eu".to_owned();
            snapshot.process.command = "gateway-eu --config gate.toml".to_owned();
            snapshot.process.uptime_ns = 7_260 * SECOND;
        });
        let kv = listed(4242, |snapshot| {
            snapshot.alerts.rows = vec![long_poll(), deadlock(), futurelock()];
        });
        let off = listed(4377, |snapshot| {
            snapshot.process.accounting = Accounting::Disarmed;
            snapshot.process.command = "/opt/kv/bin/kv --port 7380 --dir b".to_owned();
        });
        let mut silent = listed(6001, |_| ());
        silent.answer = Err("process 6001 does not answer within 300ms".to_owned());
        tell(&mut state, Message::Listed(vec![kv, off, gate, silent]));
        press(&mut state, "j");
        check("picker", &state);
    }
}

#[test]
fn no_process() {
    let mut state = looking(SMALL);
    check("looking", &state);
    tell(&mut state, Message::Listed(Vec::new()));
    check("no_process", &state);
}

#[test]
fn connecting() {
    let mut state = looking(SMALL);
    state.link.peer = Some(peer(4243));
    let reason =
        "there is no process 4243: `turbowish ps` lists those you can attach to".to_owned();
    tell(
        &mut state,
        Message::Silent {
            tries: 3,
            fate: PeerState::Refused(reason),
        },
    );
    check("connecting", &state);
}

#[test]
fn nothing_annotated() {
    let mut state = looking(SMALL);
    tell(&mut state, Message::Listed(vec![listed(4242, |_| ())]));
    let mut empty = kv();
    empty.process.procs_known = 0;
    empty.procs = Default::default();
    empty.tasks = Default::default();
    empty.awaits = Default::default();
    empty.workers.clear();
    empty.tasks_by_state = Default::default();
    arrives(&mut state, empty);
    check("unannotated", &state);
}

#[test]
fn disarmed() {
    let mut state = attached(SMALL);
    let mut off = kv();
    off.process.accounting = Accounting::Disarmed;
    off.process.accounting_since_unix_ns = AT - 91 * SECOND;
    for row in &mut off.procs.rows {
        row.polls = 0;
        row.running_ns = 0;
    }
    arrives(&mut state, off);
    check("disarmed", &state);
}

#[test]
fn stale() {
    let mut state = attached(SMALL);
    until(&mut state, 7);
    tell(
        &mut state,
        Message::Silent {
            tries: 0,
            fate: PeerState::Stopped,
        },
    );
    check("stale_stopped", &state);
    let reason = "kv 4242 is gone (broken pipe)".to_owned();
    tell(
        &mut state,
        Message::Silent {
            tries: 3,
            fate: PeerState::Refused(reason),
        },
    );
    check("stale_refused", &state);
}

#[test]
fn gone() {
    let mut state = attached(SMALL);
    tell(
        &mut state,
        Message::Silent {
            tries: 1,
            fate: PeerState::Ended {
                unix_ns: AT + 2 * SECOND,
            },
        },
    );
    until(&mut state, 11);
    check("gone", &state);
}

#[test]
fn frozen() {
    let mut state = attached(SMALL);
    press(&mut state, "Space");
    until(&mut state, 12);
    let mut later = kv();
    later.procs.rows.clear();
    later.at_unix_ns = AT + 12 * SECOND;
    arrives(&mut state, later);
    check("frozen", &state);
}

#[test]
fn lost_rows_are_told() {
    let mut state = attached(SMALL);
    let mut snapshot = kv();
    snapshot.lost.tasks = 12;
    snapshot.lost.clock_backwards = 1;
    snapshot.process.runtime_tasks = None;
    snapshot.tasks_by_state.ready = None;
    snapshot.window_ns = 4 * SECOND;
    snapshot.procs.matched = 400;
    snapshot.procs.total = 400;
    arrives(&mut state, snapshot);
    check("lost", &state);
}

/// The end of the header's line with the coverage, at a width.
fn coverage(width: u16, change: impl FnOnce(&mut Snapshot)) -> String {
    let mut state = attached((width, 30));
    let mut snapshot = kv();
    change(&mut snapshot);
    arrives(&mut state, snapshot);
    let text = screen(&state);
    let line = text.lines().find(|line| line.contains("covered"));
    let line = line.expect("the coverage").trim_end();
    line[line.find("lost").expect("what was lost")..].to_owned()
}

#[test]
fn losses_and_costs_are_told_in_full_where_there_is_room() {
    let check = |width, lost: u64, expected: &str| {
        let line = coverage(width, |snapshot| {
            snapshot.lost.late_attach = lost;
            snapshot.lost.last_ago_ns = (lost > 0).then_some(252 * SECOND);
            let cost = snapshot.process.own_cost.as_mut().expect("a cost");
            cost.monitor_ppm = Some(2_100);
        });
        assert_eq!(line, expected, "{width} columns");
    };
    check(80, 0, "lost 0   overhead ~1.6%");
    check(100, 0, "lost 0   overhead ~1.4% + monitor 0.2%");
    check(80, 152, "lost 152   overhead ~1.6%");
    check(100, 152, "lost 152   overhead ~1.4% + monitor 0.2%");
    let why = "(152 calls began before accounting, last 4m12s ago)";
    check(140, 152, &format!("lost 152 {why}   overhead ~1.6%"));
    check(
        150,
        152,
        &format!("lost 152 {why}   overhead ~1.4% + monitor 0.2%"),
    );
}

#[test]
fn many_workers() {
    for count in [1, 6, 8, 16] {
        let mut state = attached(SMALL);
        let mut snapshot = kv();
        let worker = snapshot.workers[0].clone();
        snapshot.workers = (0..count).map(|_| worker.clone()).collect();
        for (at, worker) in snapshot.workers.iter_mut().enumerate() {
            worker.busy_ns = at as u64 * 700_000_000;
        }
        arrives(&mut state, snapshot);
        let text = screen(&state);
        let line = text.lines().nth(2).unwrap();
        insta::allow_duplicates! {
            let mut settings = insta::Settings::clone_current();
            settings.set_prepend_module_to_snapshot(false);
            settings.bind(|| insta::assert_snapshot!(format!("workers_{count}"), line));
        }
    }
}

#[test]
fn small_terminals() {
    for size in [(80, 19), (59, 24), (80, 9), (64, 24), (100, 30), (30, 4)] {
        check("small", &attached(size));
    }
}

#[test]
fn hidden_columns_scroll_into_view() {
    let mut state = attached(SMALL);
    press(&mut state, "l l l");
    check("scrolled", &state);
}

#[test]
fn no_screen_is_too_small() {
    for width in 0..12 {
        for height in 0..8 {
            for keys in [
                "",
                "?",
                "s",
                "/ x",
                "a",
                "0",
                "2 j",
                "5",
                "! j PgDn",
                "3 Enter G",
                "c",
                "t l",
                ": s",
                ": x Enter",
                "? ? ?",
                "5 m",
            ] {
                let mut state = alarmed((width, height), vec![deadlock()]);
                press(&mut state, keys);
                let lines = screen(&state).split('\n').count();
                assert_eq!(
                    lines,
                    usize::from(height).max(1),
                    "{width}x{height} after {keys:?}"
                );
            }
        }
    }
}

#[test]
fn a_terminal_that_shrank_before_its_message_is_survived() {
    for keys in ["", "?", "s", "/ x", ": s", "a", "0", "!"] {
        let mut state = alarmed(LARGE, vec![deadlock()]);
        press(&mut state, keys);
        let mut terminal =
            ratatui::Terminal::new(ratatui::backend::TestBackend::new(40, 10)).unwrap();
        terminal
            .draw(|frame| crate::tui::view::view(&state, frame))
            .unwrap();
        let drawn = terminal
            .backend()
            .buffer()
            .content()
            .iter()
            .any(|cell| cell.symbol() != " ");
        assert!(!drawn, "nothing is drawn for a size that is gone");
    }
}
