//! Records: the effects of Enter and clicks, back and forward, and the display of ended rows.

use turbowish_model::snapshot::{Page, ResourceRow, Spot, TaskRow};

use super::alerts::{deadlock, futurelock, long_poll};
use super::fixture::{
    SECOND, alarmed, arrives, attached, kv, kv_without, press, screen, tell, until, with,
};
use crate::tui::message::{Message, Mouse};
use crate::tui::record::crumbs;
use crate::tui::state::State;

const SIZE: (u16, u16) = (80, 24);

fn path(state: &State) -> String {
    let words = crumbs(state).into_iter().map(|(word, _)| word);
    words.collect::<Vec<_>>().join(" > ")
}

fn line(state: &State, at: usize) -> String {
    screen(state).lines().nth(at).unwrap_or_default().to_owned()
}

/// A call that waits at an await point may request a lock there; else its function is opened.
#[test]
fn an_await_leads_to_what_it_waits_for() {
    let check = |keys: &str, expected: &str, holder: &str| {
        let mut state = alarmed(SIZE, vec![deadlock()]);
        press(&mut state, keys);
        assert_eq!(path(&state), expected, "after {keys:?}");
        assert!(screen(&state).contains(holder), "{}", screen(&state));
    };
    check("4 Enter", "Awaits > kv::conn::read_frame", "src/conn.rs");
    check("4 j j j Enter", "Awaits > mutex db", "conn:51022");
}

/// Nobody waits any more: an await leads to the lock whose longest wait was there, else to the one
/// that was taken there, else to its function; and a line says which.
#[test]
fn an_await_leads_to_what_was_waited_for_there() {
    let await_at = |line| Spot {
        file: "src/snapshot.rs".to_owned(),
        line,
        column: 26,
    };
    let check = |change: &dyn Fn(&mut ResourceRow), expected: &str, told: &str| {
        let mut kv = with(vec![]);
        let rows = &mut kv.resources.rows;
        rows.iter_mut().for_each(|row| row.waiters.clear());
        let db = rows.iter_mut().find(|row| row.name == "mutex db");
        change(db.expect("the lock"));
        let mut state = attached(SIZE);
        until(&mut state, 2);
        arrives(&mut state, kv);
        press(&mut state, "4 j j j Enter");
        assert_eq!(path(&state), expected);
        assert_eq!(line(&state, 1).trim(), told);
    };
    check(
        &|db| db.longest_wait.as_mut().expect("a wait").at = Some(await_at(97)),
        "Awaits > mutex db",
        "nobody waits at snapshot.rs:97 now; the longest wait there was for mutex db",
    );
    check(
        &|db| db.holders[0].at = await_at(97),
        "Awaits > mutex db",
        "nobody waits at snapshot.rs:97 now; mutex db was taken there",
    );
    check(
        &|db| db.longest_hold.as_mut().expect("a hold").at = Some(await_at(97)),
        "Awaits > mutex db",
        "nobody waits at snapshot.rs:97 now; mutex db was taken there",
    );
    check(
        &|db| db.longest_wait.as_mut().expect("a wait").at = Some(await_at(98)),
        "Awaits > kv::snapshot::write",
        "no lock or channel is known at snapshot.rs:97; this is its function",
    );
}

#[test]
fn links_lead_from_record_to_record() {
    let check = |keys: &str, expected: &str| {
        let mut state = alarmed(SIZE, vec![deadlock()]);
        press(&mut state, keys);
        assert_eq!(path(&state), expected, "after {keys:?}");
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
    assert_eq!(line(&state, 1), "! no further history in this direction");
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
    // A key was pressed just now, so this waits.
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
    assert_eq!(line(&state, 3), " ended; as last seen at 17:04:31:");
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
fn rows_from_before_a_record_say_of_when_they_are_until_new_ones_come() {
    let later = |seconds| {
        let mut snapshot = kv();
        snapshot.at_unix_ns += seconds * SECOND;
        snapshot
    };
    let told = |state: &State| {
        let screen = screen(state);
        let told = screen
            .lines()
            .find_map(|line| line.split_once("the rows are of "));
        told.map(|(_, at)| at.trim().to_owned())
    };
    let mut state = attached(SIZE);
    assert_eq!(told(&state), None);
    press(&mut state, "2 Enter");
    until(&mut state, 2);
    arrives(&mut state, later(20));
    press(&mut state, "Esc");
    assert_eq!(told(&state).as_deref(), Some("17:04:31"));
    until(&mut state, 4);
    arrives(&mut state, later(21));
    assert_eq!(told(&state), None);
}

#[test]
fn what_has_no_row_says_so() {
    let mut state = attached(SIZE);
    press(&mut state, "2 j j Enter j j");
    // Woken by a task that is none of the rows.
    press(&mut state, "Enter");
    assert_eq!(path(&state), "Tasks > repl-1 > repl-2");
    assert_eq!(line(&state, 3), " loading task repl-2");
    until(&mut state, 2);
    arrives(&mut state, kv());
    let told = " task repl-2 has ended or has no row";
    assert_eq!(line(&state, 3), told);
    press(&mut state, "Enter");
    assert_eq!(line(&state, 1), "! no link here");
    press(&mut state, "H Space Enter");
    assert!(
        line(&state, 3).contains("not in the frozen rows"),
        "{}",
        line(&state, 3)
    );
}

#[test]
fn two_tasks_of_one_name_are_two() {
    let mut state = attached(SIZE);
    let namesake = |id, polls| TaskRow {
        id,
        polls,
        name: "same".to_owned(),
        ..TaskRow::default()
    };
    let mut snapshot = kv();
    snapshot.tasks = Page {
        rows: vec![namesake(7, 11), namesake(8, 22)],
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

/// What the breadcrumb says at its end.
fn standing(state: &State) -> String {
    let line = line(state, 2);
    line.rsplit_once("      ")
        .map_or(line.clone(), |(_, end)| end.trim().to_owned())
}

#[test]
fn the_worst_things_are_stepped_through() {
    let mut state = alarmed((120, 40), vec![deadlock(), long_poll()]);
    let mut told = Vec::new();
    for _ in 0..9 {
        press(&mut state, "n");
        told.push(standing(&state));
    }
    let expected = [
        "1 of 11 problems   n next",
        "2 of 11 problems   n next",
        "3 of 11 problems: polling for 2.10 s   n next",
        "4 of 11 problems: ready 1.40 s   n next",
        "5 of 11 problems: full, 1 waiting   n next",
        "6 of 11 problems: waiting 41.6 s on mutex log   n next",
        "7 of 11 problems: waiting 41.4 s on mpsc repl   n next",
        "8 of 11 problems: waiting 41.4 s on mutex db   n next",
        "9 of 11 problems: runs 96.4%   n next",
    ];
    assert_eq!(told, expected);
    press(&mut state, "N");
    assert_eq!(standing(&state), expected[7]);
    assert_eq!(path(&state), "Functions > expiry");
    // Stepping is one visit.
    press(&mut state, "Esc");
    assert_eq!(path(&state), "");
}

/// The line of alerts is of now, whatever is open.
#[test]
fn stepping_leaves_the_line_of_alerts_alone() {
    let mut state = alarmed(SIZE, vec![long_poll()]);
    press(&mut state, "n n");
    assert!(line(&state, 1).starts_with("! 1 warning  long poll 38.4ms: "));
    until(&mut state, 2);
    arrives(&mut state, with(vec![deadlock()]));
    assert!(line(&state, 1).starts_with("X 1 alert  deadlock 41.2 s+: "));
    until(&mut state, 79);
    arrives(&mut state, with(Vec::new()));
    assert_eq!(line(&state, 1), " no alerts");
}

/// The tables are not asked for while a record is open: what stands out comes beside it.
#[test]
fn the_worst_things_are_those_of_now_while_a_record_is_open() {
    let mut state = attached((120, 40));
    assert_eq!(state.wanted().survey, None);
    press(&mut state, "n");
    assert_eq!(path(&state), "Functions > stats");
    assert_eq!(
        standing(&state),
        "1 of 9 problems: polling for 2.10 s   n next"
    );
    let survey = state.wanted().survey.unwrap();
    assert!(survey.procs.is_some() && survey.tasks.is_some() && survey.resources.is_some());
    let later = |name: &str, since_ns| {
        let mut survey = kv();
        survey.procs.rows.clear();
        survey.resources.rows.clear();
        survey
            .tasks
            .rows
            .retain(|row| ["stats", "wal"].contains(&&*row.name));
        for row in &mut survey.tasks.rows {
            if row.name == name {
                row.since_ns = since_ns;
            }
        }
        survey
    };
    tell(
        &mut state,
        Message::Survey(Box::new(later("stats", 9 * SECOND))),
    );
    assert_eq!(
        standing(&state),
        "1 of 9 problems: polling for 9.00 s   n next"
    );
    // It has ended its poll: its place stays, and the others have theirs.
    tell(&mut state, Message::Survey(Box::new(later("stats", 0))));
    assert_eq!(standing(&state), "1 of 9 problems: no longer one   n next");
    press(&mut state, "n");
    assert_eq!(path(&state), "Functions > wal");
    assert_eq!(standing(&state), "2 of 9 problems: ready 1.40 s   n next");
    // A display that is frozen stands.
    press(&mut state, "Space");
    tell(
        &mut state,
        Message::Survey(Box::new(later("wal", 5 * SECOND))),
    );
    assert_eq!(standing(&state), "2 of 9 problems: ready 1.40 s   n next");
    press(&mut state, "Esc");
    assert_eq!(state.wanted().survey, None);
}

#[test]
fn two_histograms_stand_side_by_side_or_one_below_the_other() {
    let shown = |size| {
        let mut state = attached(size);
        let mut snapshot = kv();
        for row in &mut snapshot.procs.rows {
            row.max_poll_open = true;
            row.poll_hold.n = 99_999;
            row.call_running.n = 99_999;
        }
        until(&mut state, 2);
        arrives(&mut state, snapshot);
        press(&mut state, "1 Enter");
        screen(&state)
    };
    let beside = shown((80, 40));
    let lines: Vec<&str> = beside.lines().collect();
    let first = lines
        .iter()
        .position(|line| line.contains("POLL length"))
        .unwrap();
    let bar = lines[first].find('|').unwrap();
    let last = lines
        .iter()
        .position(|line| line.contains("one is in progress, for 1.61ms+"));
    for line in &lines[first..=last.unwrap()] {
        assert_eq!(line.find('|'), Some(bar), "{beside}");
    }
    let below = shown((64, 40));
    assert!(!below.contains('|'), "{below}");
    assert!(
        below.contains("\n   RUN per call, 99999 calls ended\n"),
        "{below}"
    );
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
    assert_eq!(path(&state), "Tasks > expiry");
    click(&mut state, "mutex db");
    assert_eq!(path(&state), "Tasks > expiry > mutex db");
    click(&mut state, "expiry >");
    tell(&mut state, Message::Mouse(Mouse::Click(9, 2)));
    assert_eq!(path(&state), "Tasks > expiry");
    tell(&mut state, Message::Mouse(Mouse::Right));
    assert_eq!(path(&state), "");
    click(&mut state, "2 alerts");
    assert_eq!(path(&state), "Alerts > deadlock conn:51022 repl-1 snapshot");
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
    assert_eq!(path(&state), "Alerts > deadlock > conn:51022");
    press(&mut state, "H");
    until(&mut state, 4);
    arrives(&mut state, with(vec![futurelock()]));
    assert!(line(&state, 2).ends_with("resolved   n next"));
}

#[test]
fn a_longest_poll_that_passed_no_await_is_explained() {
    let mut state = attached(SIZE);
    let mut snapshot = kv();
    for row in &mut snapshot.procs.rows {
        row.max_ever_ago_ns = Some(SECOND);
        row.max_ever_after = None;
    }
    arrives(&mut state, snapshot);
    press(&mut state, "Enter");
    let screen = screen(&state);
    let told = "from its beginning on, or from an await that is not known";
    assert!(screen.contains(told), "{screen}");
}
