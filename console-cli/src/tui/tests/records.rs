//! Records: what Enter and clicks open, the way back and forward, and what becomes of what ended.

use turbowish_model::snapshot::{Page, TaskRow};

use super::alerts::{deadlock, futurelock, long_poll};
use super::fixture::{
    alarmed, arrives, attached, kv, kv_without, press, screen, tell, until, with,
};
use crate::tui::message::{Message, Mouse};
use crate::tui::record::crumbs;
use crate::tui::state::State;

const SIZE: (u16, u16) = (80, 24);

fn trail(state: &State) -> String {
    let words = crumbs(state).into_iter().map(|(word, _)| word);
    words.collect::<Vec<_>>().join(" > ")
}

fn line(state: &State, at: usize) -> String {
    screen(state).lines().nth(at).unwrap_or_default().to_owned()
}

#[test]
fn links_lead_from_record_to_record() {
    let check = |keys: &str, expected: &str| {
        let mut state = alarmed(SIZE, vec![deadlock()]);
        press(&mut state, keys);
        assert_eq!(trail(&state), expected, "after {keys:?}");
    };
    check("", "");
    check("2 Enter", "Tasks > repl-1");
    check("2 Enter Enter", "Tasks > repl-1 > mutex log");
    check("3 j Enter", "Resources > mpsc repl");
    check("4 Enter", "Awaits > kv::conn::read_frame");
    check("! Enter", "Alerts > deadlock > conn:51022");
    check("! j Enter", "Alerts > deadlock > kv::conn::serve");
    check("! j j Enter", "Alerts > deadlock > mpsc repl");
    check(
        "! j j Enter Enter",
        "Alerts > deadlock > mpsc repl > conn:51022",
    );
    check("! k Enter", "Alerts > deadlock > conn:51022");
    check(
        "! Enter Esc",
        "Alerts > deadlock conn:51022 repl-1 snapshot",
    );
    check("! Enter H H", "");
    check("! Enter H H L L", "Alerts > deadlock > conn:51022");
    check("! Enter Esc Esc", "");
    check("! Enter 2", "");
    check("! Enter 2 H", "Alerts > deadlock > conn:51022");
    check("2 Enter q", "Tasks > repl-1");
}

#[test]
fn the_same_link_and_line_are_found_again() {
    let mut state = alarmed((80, 16), vec![deadlock()]);
    press(&mut state, "! j j j j j j j");
    let before = screen(&state);
    press(&mut state, "Enter j j H");
    assert_eq!(screen(&state), before);
    press(&mut state, "H");
    assert_eq!(
        line(&state, 1),
        line(&alarmed((80, 16), vec![deadlock()]), 1)
    );
    press(&mut state, "H");
    assert_eq!(line(&state, 1), "! there is nothing further that way");
}

#[test]
fn a_record_asks_for_its_own_rows_and_the_tables_keep_theirs() {
    let asked = |state: &State| state.wanted().watch.map(|(_, query)| query).unwrap();
    let mut state = attached(SIZE);
    press(&mut state, "2 / e x p i r y Enter Enter");
    let query = asked(&state);
    assert_eq!(query.tasks.unwrap().filter, "task:\"expiry\"");
    assert_eq!(query.resources.unwrap().filter, "");
    assert_eq!((query.procs, query.alerts), (None, None));
    until(&mut state, 2);
    let mut only = kv();
    only.tasks.rows.retain(|row| row.name == "expiry");
    only.tasks.rows[0].polls = 77;
    arrives(&mut state, only);
    assert!(screen(&state).contains("  polls 77 "), "{}", screen(&state));
    press(&mut state, "Esc Esc");
    assert!(
        line(&state, 5).contains("[2 Tasks 55]"),
        "{}",
        line(&state, 5)
    );
    press(&mut state, "1 j Enter");
    let query = asked(&state);
    assert_eq!(query.procs.unwrap().filter, "");
    assert_eq!(
        query.awaits.unwrap().filter,
        "proc:\"kv::conn::write_reply\""
    );
    assert_eq!(
        query.tasks.unwrap().filter,
        "root:\"kv::conn::write_reply\""
    );
}

#[test]
fn what_was_sent_for_another_place_is_not_shown() {
    let mut state = attached(SIZE);
    press(&mut state, "2 j j");
    // A key was pressed just now: this waits.
    let mut empty = kv();
    empty.tasks = Page::default();
    arrives(&mut state, empty);
    press(&mut state, "Enter");
    until(&mut state, 1);
    assert!(screen(&state).contains("repl-1  waiting 41.6 s"));
    press(&mut state, "Esc");
    assert!(
        line(&state, 5).contains("[2 Tasks 55]"),
        "{}",
        line(&state, 5)
    );
}

#[test]
fn a_proc_has_at_least_the_tasks_that_were_sent() {
    let mut state = attached((200, 50));
    press(&mut state, "1 / s e r v e Enter Enter");
    let more = |state: &State| {
        let screen = screen(state);
        let (before, _) = screen.split_once(" more\n").unwrap();
        before.rsplit_once(", ").unwrap().1.trim().to_owned()
    };
    for (unsent, expected) in [(0, "42"), (95_000, "at least 42")] {
        let mut some = kv();
        some.tasks.matched += unsent;
        until(&mut state, 2);
        arrives(&mut state, some);
        assert_eq!(more(&state), expected);
    }
}

#[test]
fn a_task_that_ends_while_it_is_open_stays_until_one_leaves_it() {
    let mut state = attached(SIZE);
    press(&mut state, "2 j j Enter");
    until(&mut state, 2);
    arrives(&mut state, kv_without("repl-1"));
    assert!(screen(&state).contains("repl-1  waiting 41.6 s"));
    assert!(
        line(&state, 2).ends_with("task, ended"),
        "{}",
        line(&state, 2)
    );
    // Where not all were sent that have such a name, it may be one of the others.
    let mut some = kv_without("repl-1");
    some.tasks.matched += 1;
    arrives(&mut state, some);
    assert!(
        line(&state, 2).ends_with("task, not sent"),
        "{}",
        line(&state, 2)
    );
    arrives(&mut state, kv());
    assert!(line(&state, 2).ends_with(" task"), "{}", line(&state, 2));
}

#[test]
fn what_has_no_row_says_so() {
    let mut state = attached(SIZE);
    press(&mut state, "2 j j Enter j j");
    // Woken by a task that is none of the rows.
    press(&mut state, "Enter");
    assert_eq!(trail(&state), "Tasks > repl-1 > repl-2");
    assert_eq!(line(&state, 3), " asking for task repl-2");
    until(&mut state, 2);
    arrives(&mut state, kv());
    let told = " there is no task repl-2 any more, or it has no row";
    assert_eq!(line(&state, 3), told);
    press(&mut state, "Enter");
    assert_eq!(line(&state, 1), "! nothing here leads further");
    press(&mut state, "H Space Enter");
    assert!(
        line(&state, 3).contains("not among the rows at hand"),
        "{}",
        line(&state, 3)
    );
}

#[test]
fn two_tasks_of_one_name_are_two() {
    let mut state = attached(SIZE);
    let twin = |id, polls| TaskRow {
        id,
        polls,
        name: "same".to_owned(),
        ..TaskRow::default()
    };
    let mut snapshot = kv();
    snapshot.tasks = Page {
        rows: vec![twin(7, 11), twin(8, 22)],
        total: 2,
        matched: 2,
    };
    until(&mut state, 2);
    arrives(&mut state, snapshot.clone());
    press(&mut state, "2 j Enter");
    assert!(screen(&state).contains("polls 22 "));
    until(&mut state, 4);
    arrives(&mut state, snapshot);
    assert!(screen(&state).contains("polls 22 "));
}

#[test]
fn the_worst_things_are_stepped_through() {
    let mut state = alarmed(SIZE, vec![deadlock(), long_poll()]);
    let mut told = Vec::new();
    for _ in 0..9 {
        press(&mut state, "n");
        told.push(line(&state, 1));
    }
    let expected = [
        "! 1 of 11 worst: deadlock: conn:51022, repl-1, snapshot wait in a cycle, 41.2 s",
        "! 2 of 11 worst: long poll: kv::snapshot::write, 44 polls > 10ms, longest 38.4ms",
        "! 3 of 11 worst: stats polls for 2.10 s",
        "! 4 of 11 worst: wal ready 1.40 s",
        "! 5 of 11 worst: mpsc repl is full, 1 wait",
        "! 6 of 11 worst: repl-1 waits 41.6 s on mutex log",
        "! 7 of 11 worst: conn:51022 waits 41.4 s on mpsc repl",
        "! 8 of 11 worst: expiry waits 41.4 s on mutex db",
        "! 9 of 11 worst: kv::conn::read_frame runs 96.4%",
    ];
    assert_eq!(told, expected);
    press(&mut state, "N");
    assert_eq!(line(&state, 1), expected[7]);
    // Stepping is one visit.
    press(&mut state, "Esc");
    assert_eq!(trail(&state), "");
}

/// Where a text stands on the screen.
fn find(state: &State, text: &str) -> (u16, u16) {
    let screen = screen(state);
    let mut lines = screen.lines().enumerate();
    let (y, x) = lines
        .find_map(|(y, line)| Some((y, line.find(text)?)))
        .unwrap();
    (u16::try_from(x).unwrap(), u16::try_from(y).unwrap())
}

fn click(state: &mut State, text: &str) {
    let (x, y) = find(state, text);
    tell(state, Message::Mouse(Mouse::Click(x, y)));
}

#[test]
fn the_mouse_selects_opens_sorts_scrolls_and_goes_back() {
    let mut state = alarmed(SIZE, vec![deadlock(), futurelock()]);
    click(&mut state, "2 Tasks");
    click(&mut state, "expiry ");
    assert!(
        screen(&state).contains("\n>  expiry "),
        "{}",
        screen(&state)
    );
    click(&mut state, "expiry ");
    assert_eq!(trail(&state), "Tasks > expiry");
    click(&mut state, "mutex db");
    assert_eq!(trail(&state), "Tasks > expiry > mutex db");
    click(&mut state, "expiry >");
    tell(&mut state, Message::Mouse(Mouse::Click(9, 2)));
    assert_eq!(trail(&state), "Tasks > expiry");
    tell(&mut state, Message::Mouse(Mouse::Right));
    assert_eq!(trail(&state), "");
    click(&mut state, "2 alerts");
    assert_eq!(
        trail(&state),
        "Alerts > deadlock conn:51022 repl-1 snapshot"
    );
    tell(&mut state, Message::Mouse(Mouse::Right));
    click(&mut state, "SINCE");
    assert!(screen(&state).contains("SINCEv"), "{}", screen(&state));
    click(&mut state, "SINCE");
    assert!(screen(&state).contains("SINCE^"), "{}", screen(&state));
    press(&mut state, "g");
    tell(&mut state, Message::Mouse(Mouse::WheelDown));
    assert_eq!(state.table().selected(), Some(3));
    tell(&mut state, Message::Mouse(Mouse::WheelUp));
    assert_eq!(state.table().selected(), Some(0));
    // What is nothing does nothing.
    for (x, y) in [(79, 0), (0, 2), (79, 23), (0, 6), (200, 200)] {
        let before = screen(&state);
        tell(&mut state, Message::Mouse(Mouse::Click(x, y)));
        assert_eq!(screen(&state), before, "{x} {y}");
    }
}

#[test]
fn a_record_of_an_alert_that_is_new_follows_it() {
    let mut state = alarmed(SIZE, vec![deadlock()]);
    press(&mut state, "! Enter");
    until(&mut state, 2);
    arrives(&mut state, with(vec![futurelock()]));
    // It is open still, and the alert that led to it is over.
    assert_eq!(trail(&state), "Alerts > deadlock > conn:51022");
    press(&mut state, "H");
    until(&mut state, 4);
    arrives(&mut state, with(vec![futurelock()]));
    assert!(line(&state, 2).ends_with("it is over   n next"));
}
