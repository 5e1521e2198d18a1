//! Changes of a table's shape: columns chosen, rows grouped, hidden and copied.

use turbowish_model::snapshot::{PauseRow, Snapshot, TaskGroup, TaskRow};

use super::alerts::{deadlock, long_poll};
use super::fixture::{SECOND, alarmed, arrives, attached, kv, press, screen, until};
use crate::tui::message::Effect;
use crate::tui::state::State;

const SIZE: (u16, u16) = (80, 24);

fn line(state: &State, at: usize) -> String {
    screen(state).lines().nth(at).unwrap_or_default().to_owned()
}

/// The first word of each line of the table.
fn names(state: &State) -> Vec<String> {
    let screen = screen(state);
    let lines = screen.lines().skip(7).take(15);
    let names = lines.filter_map(|line| line.get(3..)?.split("  ").next().map(str::to_owned));
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn columns_are_chosen_and_moved() {
    let check = |keys: &str, expected: &str| {
        let mut state = attached(SIZE);
        press(&mut state, keys);
        let titles = line(&state, 6);
        let titles: Vec<&str> = titles.split_whitespace().collect();
        assert_eq!(titles.join(" "), expected, "after {keys:?}");
    };
    let all = "FUNCTION RUN%v CALL/s WALp99 RUNp99 POLp99 LONGEST";
    check("", all);
    check("c Esc", all);
    check(
        "c Space Esc",
        "FUNCTION CALL/s WALp99 RUNp99 POLp99 LONGEST",
    );
    check(
        "c J Esc",
        "FUNCTION CALL/s RUN%v WALp99 RUNp99 POLp99 LONGEST",
    );
    check(
        "c j j K K Esc",
        "FUNCTION WALp99 RUN%v CALL/s RUNp99 POLp99 LONGEST",
    );
    check("c K Esc", all);
    check("c Space Space = Esc", all);
    // What was hidden and shown again stands at the end.
    check(
        "c Space j j j j j Space c",
        "FUNCTION CALL/s WALp99 RUNp99 POLp99 LONGEST RUN%v",
    );
}

#[test]
fn groups_add_up_and_unfold() {
    let mut state = alarmed((120, 40), vec![deadlock()]);
    press(&mut state, "2 t j");
    assert!(line(&state, 6).contains("by root"), "{}", line(&state, 6));
    let of_conn = screen(&state);
    let of_conn = of_conn
        .lines()
        .find(|line| line.contains("50x conn:*"))
        .unwrap();
    assert!(of_conn.starts_with(">X+50x conn:*"), "{of_conn}");
    assert!(of_conn.contains(" 41.4 s "), "{of_conn}");
    // They do not wait for the same thing, nor at the same place.
    assert!(of_conn.contains(".."), "{of_conn}");
    press(&mut state, "l");
    let unfolded = screen(&state);
    assert!(unfolded.contains("\n>X-50x conn:*"), "{unfolded}");
    assert!(unfolded.contains("\n X conn:51022"), "{unfolded}");
    press(&mut state, "h");
    assert!(screen(&state).contains("\n>X+50x conn:*"));
    press(&mut state, "Enter");
    assert!(screen(&state).contains("\n>X-50x conn:*"));
    press(&mut state, "Enter t");
    assert!(
        line(&state, 6).contains("by await point"),
        "{}",
        line(&state, 6)
    );
    assert!(screen(&state).contains("49x conn:*"), "{}", screen(&state));
    press(&mut state, "t t");
    assert!(!line(&state, 6).contains("by "), "{}", line(&state, 6));
}

/// The server with more tasks than it sends, which it has added up by their roots.
fn crowded() -> Snapshot {
    let mut snapshot = kv();
    let sum = |key: &str, tasks, polls| TaskGroup {
        key: key.to_owned(),
        tasks,
        row: TaskRow {
            name: "request-1".to_owned(),
            root: key.to_owned(),
            polls,
            since_ns: 7 * SECOND,
            ..TaskRow::default()
        },
    };
    snapshot.task_groups = vec![
        sum("kv::conn::serve", 60_000, 800_000_000),
        sum("kv::ttl::run", 30_000, 300_000),
    ];
    (snapshot.tasks.total, snapshot.tasks.matched) = (90_005, 90_005);
    snapshot
}

#[test]
fn groups_are_of_all_tasks_whether_they_were_sent_or_not() {
    let row = |state: &State, key: &str| {
        let screen = screen(state);
        let mut lines = screen.lines().skip(7);
        let found = lines.find(|line| line.contains(key)).unwrap_or_default();
        found.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut state = attached((120, 40));
    press(&mut state, "2 t");
    let query = state.wanted().watch.map(|(_, query)| query).unwrap();
    assert_eq!(query.tasks.unwrap().group, "root");
    assert!(row(&state, "50x conn:*").starts_with("+50x conn:* waiting 41.4 s"));
    until(&mut state, 2);
    arrives(&mut state, crowded());
    let told = row(&state, "60000x");
    assert!(told.starts_with("+60000x serve .. 7.00 s .."), "{told}");
    assert!(told.contains(" 800M "), "{told}");
    assert!(
        row(&state, "30000x run").starts_with('+'),
        "{}",
        screen(&state)
    );
    // A group of which all were sent is what it was.
    assert!(row(&state, "2x kv::").is_empty());
    assert!(screen(&state).contains("90.0k not sent") || screen(&state).contains("89950 not sent"));
    // What was sent of it can be unfolded.
    press(&mut state, "g");
    while !line(&state, 38).contains("kv::conn::serve") {
        press(&mut state, "j");
    }
    let told = line(&state, 38);
    assert!(
        told.contains("60000 tasks of kv::conn::serve, 50 of them sent; l unfolds"),
        "{told}"
    );
    press(&mut state, "l");
    assert!(screen(&state).contains("conn:51022"));
    // Of another grouping, of another filter, and of a group without its hidden rows these sums say
    // nothing.
    for keys in ["t", "/ k v Enter", "l j x"] {
        let mut state = at_a_large_group();
        press(&mut state, keys);
        assert!(!screen(&state).contains("60000x"), "{keys}");
    }
}

/// A process with many tasks in groups, the largest of them selected.
fn at_a_large_group() -> State {
    let mut state = attached((120, 40));
    press(&mut state, "2 t");
    until(&mut state, 2);
    arrives(&mut state, crowded());
    assert!(screen(&state).contains("60000x"));
    select(&mut state, "kv::conn::serve");
    state
}

/// Goes down to the group.
fn select(state: &mut State, key: &str) {
    press(state, "g");
    while !line(state, 38).contains(&format!(" of {key}")) {
        press(state, "j");
    }
}

#[test]
fn a_group_with_rows_that_were_not_sent_tells_of_all() {
    let mut state = attached((120, 40));
    press(&mut state, "2 t");
    until(&mut state, 2);
    let mut snapshot = crowded();
    snapshot.task_groups[0].row.pause = Some(PauseRow::default());
    arrives(&mut state, snapshot);
    select(&mut state, "kv::conn::serve");
    let at = state.table().selected().unwrap();
    assert!(state.table().is_paused(at));
    let Some(Effect::Copy(json)) = press(&mut state, "Y") else {
        panic!("nothing is copied");
    };
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = json["tasks"].as_array().map(Vec::len);
    let of = &json["counts"]["tasks"];
    let counts = (of["total"].as_u64(), of["left_out"].as_u64());
    assert_eq!((rows, counts), (Some(50), (Some(60_000), Some(59_950))));
    // A row that is hidden makes its own group one of what is left, and no other.
    press(&mut state, "l j x");
    select(&mut state, "kv::conn::serve");
    let told = line(&state, 38);
    let expected = "49 tasks of kv::conn::serve, without those hidden or not sent; l unfolds";
    assert!(told.contains(expected), "{told}");
    press(&mut state, "h");
    let shown = screen(&state);
    assert!(
        !shown.contains("60000x") && shown.contains("30000x"),
        "{shown}"
    );
}

#[test]
fn a_group_of_procs_that_were_not_all_sent_says_so() {
    let mut state = attached((120, 40));
    press(&mut state, "t");
    let told = |state: &mut State| {
        select(state, "kv::conn");
        let at = state.table().selected().unwrap();
        state.table().detail(at, state.style())
    };
    assert_eq!(
        told(&mut state),
        "3 procs of kv::conn::*; l unfolds, h folds"
    );
    let mut some = kv();
    some.procs.total += 1;
    some.procs.matched += 1;
    until(&mut state, 2);
    arrives(&mut state, some);
    let expected = "3 procs of kv::conn::*, without those hidden or not sent; l unfolds, h folds";
    assert_eq!(told(&mut state), expected);
}

#[test]
fn a_group_of_procs_is_the_sum_of_them() {
    let mut state = attached((200, 50));
    press(&mut state, "t");
    let screen = screen(&state);
    let conn = screen
        .lines()
        .find(|line| line.contains("3x kv::conn::*"))
        .unwrap();
    // 96.4 + 61.7 + 24.9
    assert!(conn.contains(" 183.0 "), "{conn}");
    // The longest is that of the longest; none is added.
    assert!(conn.contains("1.92ms"), "{conn}");
}

#[test]
fn the_group_stays_selected_and_open_when_data_come() {
    let mut state = alarmed(SIZE, vec![deadlock(), long_poll()]);
    press(&mut state, "2 t j l");
    let before: Vec<String> = names(&state);
    until(&mut state, 2);
    arrives(&mut state, kv());
    let selected = screen(&state);
    let selected = selected.lines().find(|line| line.starts_with('>')).unwrap();
    let was = before.iter().find(|name| selected.contains(name.as_str()));
    assert!(was.is_some(), "{selected} is not one of {before:?}");
    assert_eq!(&selected[2..3], "-");
}

#[test]
fn hidden_rows_are_counted_and_come_back() {
    let mut state = attached(SIZE);
    press(&mut state, "x");
    assert_eq!(names(&state)[0], "kv::conn::write_reply");
    let counted = |state: &State| {
        let screen = screen(state);
        screen
            .lines()
            .find(|line| line.contains("hidden"))
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        counted(&state),
        " ... 2 more below, 1 hidden (X shows them)"
    );
    press(&mut state, "j j x");
    assert_eq!(names(&state)[1..3], ["kv::conn::serve", "kv::db::set"]);
    until(&mut state, 2);
    arrives(&mut state, kv());
    assert_eq!(
        counted(&state),
        " ... 1 more below, 2 hidden (X shows them)"
    );
    press(&mut state, "X g");
    assert_eq!(
        (counted(&state).as_str(), names(&state)[0].as_str()),
        ("", "kv::conn::read_frame")
    );
    press(&mut state, "X");
    assert_eq!(
        line(&state, 1),
        "! nothing is hidden; x hides the selected row"
    );
    // A group is hidden with all of its rows.
    press(&mut state, "t x");
    assert!(counted(&state).contains("3 hidden"), "{}", counted(&state));
    press(&mut state, "t");
    assert!(counted(&state).contains("3 hidden"), "{}", counted(&state));
}

/// Also of tasks that were not sent, and of those that come later.
#[test]
fn a_hidden_group_stays_hidden() {
    let mut state = at_a_large_group();
    press(&mut state, "x");
    assert!(!screen(&state).contains("60000x"), "{}", screen(&state));
    let mut later = crowded();
    for row in &mut later.tasks.rows {
        row.id += 1_000_000;
    }
    until(&mut state, 4);
    arrives(&mut state, later);
    assert!(!screen(&state).contains("60000x"), "{}", screen(&state));
    assert!(screen(&state).contains("30000x"));
    press(&mut state, "X");
    assert!(screen(&state).contains("60000x"));
}

#[test]
fn rows_and_records_are_copied() {
    let copied = |keys: &str| {
        let mut state = alarmed(SIZE, vec![deadlock()]);
        match press(&mut state, keys) {
            Some(Effect::Copy(text)) => text,
            other => panic!("{keys}: {other:?}"),
        }
    };
    let expected = "\
TASK   STATE    SINCE ON        AT             EXPRESSION
repl-1 waiting 41.6 s mutex log src/repl.rs:51 self.log.lock()
repl-1  kv::repl::run > kv::repl::push  src/repl.rs:51:27  polls 649k  ran 12.0 s";
    assert_eq!(copied("2 y"), expected);
    let record = copied("2 Enter y");
    assert!(
        record.starts_with("repl-1  waiting 41.6 s on mutex log"),
        "{record}"
    );
    let alert = copied("! y");
    assert!(alert.starts_with("DEADLOCK "), "{alert}");
    let json = |keys: &str| -> serde_json::Value { serde_json::from_str(&copied(keys)).unwrap() };
    assert_eq!(
        json("2 Y")["tasks"][0]["task"],
        json("2 Enter Y")["tasks"][0]["task"]
    );
    assert_eq!(json("1 t Y")["procs"].as_array().unwrap().len(), 3);
    assert_eq!(json("! Y")["alerts"][0]["kind"], "deadlock");
    let mut state = attached(SIZE);
    assert_eq!(press(&mut state, "5 y"), None);
    assert_eq!(line(&state, 1), "! there is nothing to copy");
}

#[test]
fn a_regular_expression_filters() {
    let check = |filter: &str, expected: &[&str]| {
        let mut state = attached(SIZE);
        press(&mut state, &format!("/ {filter} Enter"));
        assert_eq!(names(&state), expected, "{filter}");
    };
    check(
        "/ ^ k v : : ( d b | w a l ) : : /",
        &[
            "kv::db::get",
            "kv::db::set",
            "kv::db::incr",
            "kv::wal::flush",
        ],
    );
    check("- / : : . * _ / Space r u n > 2 0 %", &["kv::conn::serve"]);
}
