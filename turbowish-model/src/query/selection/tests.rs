//! Tests of filters, orders and limits as tables of cases over one small snapshot.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use crate::account::resource::{Kind, Role};
use crate::query::{Budget, Filter, LONGEST_WINDOW_NS, Plan, Query, QueryError, Rows, Selection};
use crate::snapshot::column::{Context, Row};
use crate::snapshot::quantile::Distribution;
use crate::snapshot::{
    AwaitRow, Claim, HolderRow, Page, Place, ProcRow, ResourceRow, Snapshot, Spot, StackRow,
    TaskRow, TaskState, WaiterRow, WakerRow,
};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

fn proc(name: &str, file: &str, running_ms: u64, holds: &[u64]) -> ProcRow {
    ProcRow {
        proc: name.to_string(),
        file: file.to_string(),
        line: 44,
        running_ns: running_ms * MS,
        max_poll_ns: holds.iter().copied().max().unwrap_or(0) * MS,
        polls: holds.len() as u64,
        ready: holds.len() as u64,
        calls: holds.len() as u64,
        poll_hold: Distribution {
            n: holds.len() as u64,
            sum_ns: holds.iter().sum::<u64>() * MS,
            max_ns: holds.iter().copied().max().unwrap_or(0) * MS,
            buckets: holds.iter().map(|ms| (ms * MS, 1)).collect(),
        },
        ..ProcRow::default()
    }
}

fn task(name: &str, state: TaskState, since_ms: u64, at: Option<(&str, u32, &str)>) -> TaskRow {
    TaskRow {
        id: since_ms,
        name: name.to_string(),
        state,
        since_ns: since_ms * MS,
        root: "kv::conn::serve".to_string(),
        future_bytes: 2_048,
        stack: vec![StackRow {
            proc: "kv::conn::serve".to_string(),
            place: at.map(|(file, line, expr)| Place {
                file: file.to_string(),
                line,
                expr: expr.to_string(),
                ..Place::default()
            }),
            ..StackRow::default()
        }],
        ..TaskRow::default()
    }
}

/// A task that has waited that long for a resource and holds another one.
fn held_up(name: &str, since_ms: u64, (on, role): (&str, Role), holds: &str) -> TaskRow {
    let claim = |resource: &str, role| Claim {
        resource: resource.to_string(),
        role,
        ..Claim::default()
    };
    TaskRow {
        id: since_ms,
        name: name.to_string(),
        state: TaskState::Waiting,
        since_ns: since_ms * MS,
        waits_on: vec![claim("notify stop", Role::Wait), claim(on, role)],
        holds: vec![claim(holds, Role::Lock)],
        attributes: vec![("user".to_string(), "ann".to_string())],
        ..TaskRow::default()
    }
}

fn resource(
    kind: Kind,
    name: &str,
    (level, capacity): (u64, u64),
    held: &[&str],
    waits: &[(&str, Role, u64)],
) -> ResourceRow {
    let holder = |task: &&str| HolderRow {
        task: Some(task.to_string()),
        ..HolderRow::default()
    };
    let waiter = |(task, role, since_ms): &(&str, Role, u64)| WaiterRow {
        task: Some(task.to_string()),
        role: *role,
        since_ns: since_ms * MS,
        ..WaiterRow::default()
    };
    ResourceRow {
        kind,
        name: name.to_string(),
        level: (capacity > 0).then_some(level),
        capacity: (capacity > 0).then_some(capacity),
        made_at: Spot {
            file: "src/main.rs".to_string(),
            line: 33,
            column: 26,
        },
        holders: held.iter().map(holder).collect(),
        holder_count: held.len() as u64,
        waiters: waits.iter().map(waiter).collect(),
        waiter_count: waits.len() as u64,
        ..ResourceRow::default()
    }
}

fn resources() -> Vec<ResourceRow> {
    use Kind::{Mpsc, Mutex, Notify, Semaphore, Watch};
    use Role::{Lock, Receive, Send, Wait};
    vec![
        resource(Watch, "watch config", (0, 0), &[], &[]),
        resource(Semaphore, "semaphore conns", (50, 1_000), &["a", "b"], &[]),
        resource(
            Notify,
            "notify stop",
            (0, 0),
            &[],
            &[("main", Wait, 842_000)],
        ),
        resource(
            Mutex,
            "mutex db",
            (1, 1),
            &["conn:1"],
            &[("snapshot", Lock, 41_200), ("expiry", Lock, 41_400)],
        ),
        resource(
            Mpsc,
            "mpsc repl",
            (64, 64),
            &[],
            &[("conn:1", Send, 41_400)],
        ),
        resource(Mpsc, "mpsc idle", (0, 8), &[], &[("idle", Receive, 60_000)]),
        resource(
            Mutex,
            "mutex log",
            (1, 1),
            &["snapshot"],
            &[("repl-1", Lock, 41_600)],
        ),
    ]
}

fn page<R>(rows: Vec<R>) -> Page<R> {
    Page {
        total: rows.len() as u64,
        matched: rows.len() as u64,
        rows,
    }
}

fn snapshot() -> Snapshot {
    Snapshot {
        window_ns: 10 * S,
        procs: page(vec![
            proc("kv::db::get", "src/db.rs", 1_310, &[1]),
            proc("kv::snapshot::write", "src/snapshot.rs", 830, &[17, 38]),
            proc("kv::Wal::flush", "src/wal.rs", 0, &[]),
            proc("kv::conn::serve", "src/conn.rs", 2_490, &[2]),
            proc("kv::db::set", "src/db.rs", 1_310, &[3]),
        ]),
        tasks: page(vec![
            task(
                "conn:1",
                TaskState::Waiting,
                400,
                Some(("src/conn.rs", 84, "self.db.lock()")),
            ),
            task(
                "conn:2",
                TaskState::Waiting,
                41_000,
                Some(("src/conn.rs", 88, "self.repl.send(cmd, 1)")),
            ),
            task("sweep", TaskState::Polling, 6_400, None),
            task("brief", TaskState::Polling, 1, None),
            task("late", TaskState::Ready, 6_000, None),
        ]),
        resources: page(resources()),
        awaits: page(vec![
            AwaitRow {
                waited_ns: 1,
                ..AwaitRow::default()
            },
            AwaitRow {
                waited_ns: 2,
                ..AwaitRow::default()
            },
        ]),
        ..Snapshot::default()
    }
}

fn rows(filter: &str, sort: &str) -> Rows {
    Rows {
        filter: filter.to_string(),
        sort: sort.to_string(),
        ..Rows::default()
    }
}

fn select(table: &str, rows: Rows) -> Result<Snapshot, String> {
    let mut query = Query::default();
    match table {
        "procs" => query.procs = Some(rows),
        "tasks" => query.tasks = Some(rows),
        "resources" => query.resources = Some(rows),
        "alerts" => query.alerts = Some(rows),
        _ => query.awaits = Some(rows),
    }
    let mut snapshot = snapshot();
    Selection::parse(&query)
        .and_then(|selection| selection.apply(&mut snapshot, &Budget::unlimited()))
        .map_err(|e| e.to_string())?;
    Ok(snapshot)
}

fn names<R: Row>(page: &Page<R>) -> Vec<&str> {
    page.rows.iter().map(|row| row.name().0).collect()
}

/// The last words of the names that a filter keeps.
fn check(table: &str, filter: &str, expected: &[&str]) {
    let snapshot = select(table, rows(filter, "")).unwrap_or_else(|e| panic!("{filter}: {e}"));
    let (names, matched) = match table {
        "procs" => (names(&snapshot.procs), snapshot.procs.matched),
        "resources" => (names(&snapshot.resources), snapshot.resources.matched),
        _ => (names(&snapshot.tasks), snapshot.tasks.matched),
    };
    let short: Vec<&str> = names
        .iter()
        .map(|name| name.rsplit("::").next().unwrap_or(name))
        .collect();
    assert_eq!(short, expected, "{filter}");
    assert_eq!(matched, expected.len() as u64, "{filter}");
}

#[test]
fn filters_of_procs() {
    for (filter, expected) in [
        ("", &["serve", "get", "set", "write", "flush"][..]),
        ("  ", &["serve", "get", "set", "write", "flush"]),
        ("snapshot", &["write"]),
        ("kv::db", &["get", "set"]),
        ("wal", &["flush"]),
        ("Wal", &["flush"]),
        ("WAL", &[]),
        ("db.rs", &["get", "set"]),
        ("kv::*::s*", &["serve", "set"]),
        ("kv::db::?et", &["get", "set"]),
        ("-db", &["serve", "write", "flush"]),
        ("db -get", &["set"]),
        ("get | set", &["get", "set"]),
        ("get|snapshot", &["get", "write"]),
        ("-(get | set)", &["serve", "write", "flush"]),
        ("db (get | write)", &["get"]),
        ("proc:get,flush", &["get", "flush"]),
        ("proc:\"db::get\"", &["get"]),
        ("\"db::g\"", &["get"]),
        ("\"kv::*\"", &[]),
        ("run>10%", &["serve", "get", "set"]),
        ("run>=13.1%", &["serve", "get", "set"]),
        ("run>13.1", &["serve"]),
        ("run=0", &["flush"]),
        ("hold_p99>=10ms", &["write"]),
        ("hold_p99>10ms", &["write"]),
        ("hold_p50<18ms run<9%", &["write"]),
        ("hold_p99.9<=2ms", &["serve", "get"]),
        ("-hold_p99>10ms", &["serve", "get", "set", "flush"]),
        ("hold_p99:-", &["flush"]),
        ("polls<1/s polls>0.1/s", &["write"]),
        ("calls<1k/s run>20%", &["serve"]),
        ("size:?", &["serve", "get", "set", "write", "flush"]),
        ("size>1KiB", &[]),
        ("-size>1KiB", &[]),
        ("size>1KiB | get", &["get"]),
        ("live:0 get", &["get"]),
        ("get,set", &[]),
        ("where:db.rs:44", &["get", "set"]),
        // Spaces around an operator.
        ("run > 10%", &["serve", "get", "set"]),
        ("run >10 %", &["serve", "get", "set"]),
        ("run>  13.1", &["serve"]),
        ("hold_p99 >= 10 ms", &["write"]),
        ("hold_p50 < 18ms run < 9 %", &["write"]),
        ("proc : get, flush", &["get", "flush"]),
        ("db run", &[]),
        // Titles as on the screen, and keys in uppercase.
        ("RUN%>13.1", &["serve"]),
        ("run% > 13.1", &["serve"]),
        ("RUN > 13.1", &["serve"]),
        ("POLp99>=10ms", &["write"]),
        ("holp99.9 <= 2ms", &["serve", "get"]),
        ("LONGEST > 5ms", &["write"]),
        ("POLL/s<1 POLL/s>0.1/s", &["write"]),
        ("LAST 60 s:-", &[]),
        ("PROC:get", &["get"]),
        ("WHERE:db.rs:44", &["get", "set"]),
        // Not, and, or as in programming languages.
        ("!db", &["serve", "write", "flush"]),
        ("! db", &["serve", "write", "flush"]),
        ("!!db", &["get", "set"]),
        ("!-db", &["get", "set"]),
        ("!(get || set)", &["serve", "write", "flush"]),
        ("db && !get", &["set"]),
        ("db&&get||write", &["get", "write"]),
        ("(db && get) || write", &["get", "write"]),
        ("run>20%&&calls<1k/s", &["serve"]),
        ("/^kv::db/&&!set", &["get"]),
        ("run != 0", &["serve", "get", "set", "write"]),
        ("run == 0", &["flush"]),
        ("hold_p99!=1ms", &["serve", "set", "write", "flush"]),
        ("size!=1KiB", &[]),
        ("proc=get", &[]),
        ("proc = kv::db::get", &["get"]),
        ("proc=*::get,kv::db::set", &["get", "set"]),
        ("proc != kv::db::get", &["serve", "set", "write", "flush"]),
        ("where=db.rs:44", &["get", "set"]),
        ("\"run > 10%\"", &[]),
    ] {
        check("procs", filter, expected);
    }
}

#[test]
fn filters_of_tasks() {
    for (filter, expected) in [
        ("state:waiting since>1s", &["conn:2"][..]),
        ("state:polling,ready -sweep", &["late", "brief"]),
        ("at:conn.rs:88", &["conn:2"]),
        ("at:conn.rs:*", &["conn:2", "conn:1"]),
        ("at:?", &["sweep", "late", "brief"]),
        ("-at:conn", &[]),
        ("self.db.lock()", &["conn:1"]),
        (
            "(self.db.lock() | expr:send(cmd, 1))",
            &["conn:2", "conn:1"],
        ),
        ("expr:\"send(cmd,\"", &["conn:2"]),
        ("\"conn:1\"", &["conn:1"]),
        ("conn::serve brief", &["brief"]),
        ("size>=2KiB brief", &["brief"]),
        ("STATE:waiting SINCE > 1 s", &["conn:2"]),
        ("state!=waiting && !sweep", &["late", "brief"]),
        ("at = ?", &["sweep", "late", "brief"]),
        ("AT != conn.rs:88", &["conn:1"]),
        ("task:/x/", &[]),
    ] {
        check("tasks", filter, expected);
    }
}

#[test]
fn filters_of_resources() {
    for (filter, expected) in [
        (
            "",
            &[
                "mutex log",
                "mpsc repl",
                "mutex db",
                "notify stop",
                "mpsc idle",
                "semaphore conns",
                "watch config",
            ][..],
        ),
        ("mutex", &["mutex log", "mutex db"]),
        ("kind:mpsc", &["mpsc repl", "mpsc idle"]),
        ("fill>90%", &["mutex log", "mpsc repl", "mutex db"]),
        ("fill:50/1000", &["semaphore conns"]),
        ("waiters>1", &["mutex db"]),
        (
            "oldest>41.3s",
            &[
                "mutex log",
                "mpsc repl",
                "mutex db",
                "notify stop",
                "mpsc idle",
            ],
        ),
        ("by:conn", &["mutex db"]),
        ("by:?", &["notify stop"]),
        ("waiting:expiry", &["mutex db"]),
        ("snapshot", &["mutex log", "mutex db"]),
        ("site:main.rs:33 idle", &["mpsc idle"]),
    ] {
        check("resources", filter, expected);
    }
}

#[test]
fn words_that_are_known_of_a_row_are_found_as_its_own_are() {
    let row = proc("kv::db::get", "src/db.rs", 1, &[]);
    let context = Context {
        window_ns: S,
        ..Context::default()
    };
    for (filter, words, expected) in [
        ("muted", &["muted"][..], true),
        ("muted", &[], false),
        ("-muted", &["muted"], false),
        ("-muted", &[], true),
        ("get -muted", &[], true),
        ("set | muted", &["muted"], true),
        ("proc:muted", &["muted"], false),
        ("MUTED", &["muted"], false),
    ] {
        let parsed = Filter::<ProcRow>::parse(filter).unwrap();
        let kept = parsed.keeps_with(&row, &context, words);
        assert_eq!(kept, expected, "{filter} {words:?}");
    }
}

/// What blocks a task ranks above what it merely waits for, however long.
#[test]
fn tasks_that_are_held_up_come_before_those_without_work() {
    let mut snapshot = snapshot();
    snapshot.tasks = page(vec![
        held_up("idle", 90_000, ("mpsc jobs", Role::Receive), "mutex log"),
        held_up("locked", 400, ("mutex db", Role::Lock), "mutex log"),
        task("late", TaskState::Ready, 6_000, None),
        task("soon", TaskState::Ready, 60, None),
        task("sweep", TaskState::Polling, 2_000, None),
        task("held", TaskState::Paused, 1, None),
    ]);
    let check = |filter: &str, expected: &[&str]| {
        let mut snapshot = snapshot.clone();
        let query = Query {
            tasks: Some(rows(filter, "")),
            ..Query::default()
        };
        let selection = Selection::parse(&query).expect("a filter");
        let applied = selection.apply(&mut snapshot, &Budget::unlimited());
        assert_eq!(applied, Ok(()));
        assert_eq!(names(&snapshot.tasks), expected, "{filter}");
    };
    check("", &["held", "sweep", "late", "locked", "idle", "soon"]);
    check("state:paused", &["held"]);
    check("on:db", &["locked"]);
    check("on:stop", &["locked", "idle"]);
    check("-on:db state:waiting", &["idle"]);
    check("holds:log", &["locked", "idle"]);
    check("jobs", &["idle"]);
    check("attr.user:ann", &["locked", "idle"]);
    check("attr.other:ann", &[]);
    check("-attr.user:ann", &["held", "sweep", "late", "soon"]);
}

#[test]
fn mistakes_are_named() {
    for (table, filter, expected) in [
        (
            "procs",
            "hold_p98>1ms",
            "no field hold_p98 in procs; did you mean hold_p99?",
        ),
        (
            "procs",
            "hold_p98:?",
            "no field hold_p98 in procs; did you mean hold_p99?",
        ),
        (
            "tasks",
            "conn:51022",
            "no field conn in tasks; to search for a text with a colon, quote it",
        ),
        (
            "procs",
            "run_p99>5",
            "filter of procs: run_p99 is a duration and needs a unit: ns us ms s m h",
        ),
        (
            "procs",
            "run>5ms",
            "filter of procs: run takes no unit ms; it is a share: %",
        ),
        (
            "procs",
            "run>many",
            "filter of procs: run takes no unit many; it is a share: %",
        ),
        (
            "procs",
            "run>",
            "filter of procs: run is compared with a number, not \"\"",
        ),
        (
            "procs",
            "live>1..2",
            "filter of procs: live is compared with a number, not \"1..2\"",
        ),
        (
            "procs",
            "proc>5",
            "filter of procs: proc is text; write proc:WORD",
        ),
        ("procs", "(get", "filter of procs: unmatched ("),
        ("procs", "get)", "filter of procs: unmatched )"),
        (
            "procs",
            "get |",
            "filter of procs: a word is missing beside | or inside ( )",
        ),
        (
            "procs",
            "- get",
            "filter of procs: - (not) stands directly before a word, as in -conn",
        ),
        ("procs", "\"get", "filter of procs: unmatched \""),
        ("procs", "proc:", "filter of procs: a value is missing"),
        (
            "procs",
            "?",
            "filter of procs: ? alone needs a field, as in size:?",
        ),
    ] {
        assert_eq!(
            select(table, rows(filter, "")).err().as_deref(),
            Some(expected),
            "{filter}"
        );
    }
    let sorted = select("procs", rows("", "lognest")).err();
    assert_eq!(
        sorted.as_deref(),
        Some("no field lognest in procs; did you mean longest?")
    );
    let deep = "(".repeat(5_000);
    assert_eq!(
        select("procs", rows(&deep, "")).err().as_deref(),
        Some("filter of procs: longer than 4096 bytes")
    );
    let deep = "(".repeat(40);
    let expected = "filter of procs: more than 32 nested parentheses";
    assert_eq!(
        select("procs", rows(&deep, "")).err().as_deref(),
        Some(expected)
    );
}

#[test]
fn mistakes_in_comparisons_and_signs_are_named() {
    let unknown = "no field hold_p98 in procs; did you mean hold_p99?";
    let column = |sign| {
        format!(
            "write a column before {sign}, as in size{sign}1KiB; put a text with {sign} in quotes"
        )
    };
    let is_text = "proc is text; write proc:WORD";
    let beside = "a word is missing beside | or inside ( )";
    let beside_and = "a word is missing beside &&";
    for (filter, expected) in [
        ("longest >", "longest is compared with a number, not \"\""),
        ("> 5ms", &column(">")),
        ("get != set", &column("!=")),
        ("RUN% > 5ms", "run takes no unit ms; it is a share: %"),
        ("proc < 5", is_text),
        ("proc =", "a value is missing"),
        ("get &&", beside_and),
        ("&& get", beside_and),
        ("get && || set", beside_and),
        ("get ||", beside),
        ("get | | set", beside),
        ("db !", "! (not) stands before a word, as in !conn"),
    ] {
        let fault = select("procs", rows(filter, "")).err();
        let expected = format!("filter of procs: {expected}");
        assert_eq!(fault, Some(expected), "{filter}");
    }
    for (filter, expected) in [
        ("hold_p98>", unknown),
        ("hold_p98 > 1ms", unknown),
        (
            "lognest > 5ms",
            "no field lognest in procs; did you mean longest?",
        ),
    ] {
        let fault = select("procs", rows(filter, "")).err();
        assert_eq!(fault.as_deref(), Some(expected), "{filter}");
    }
}

#[test]
fn mistakes_in_regular_expressions_are_named() {
    let check = |filter: &str, expected: &str| {
        let fault = select("procs", rows(filter, "")).err();
        let expected = alloc::format!("filter of procs: {expected}");
        assert_eq!(fault, Some(expected), "{filter}");
    };
    check("/^kv", "unmatched /; put a path in quotes");
    let path = "/regex/ ends at its second /; put a path in quotes";
    check("/var/kv/src", path);
    check("/a(/", "found open group without closing ')' inside / /");
    check(
        "/a{9999}{9999}/",
        "compiled regex exceeded size limit inside / /",
    );
}

#[test]
fn orders() {
    for (sort, invert, expected) in [
        (
            "",
            false,
            [
                "kv::conn::serve",
                "kv::db::get",
                "kv::db::set",
                "kv::snapshot::write",
                "kv::Wal::flush",
            ],
        ),
        (
            "run",
            false,
            [
                "kv::conn::serve",
                "kv::db::get",
                "kv::db::set",
                "kv::snapshot::write",
                "kv::Wal::flush",
            ],
        ),
        (
            "run",
            true,
            [
                "kv::Wal::flush",
                "kv::snapshot::write",
                "kv::db::get",
                "kv::db::set",
                "kv::conn::serve",
            ],
        ),
        (
            "proc",
            false,
            [
                "kv::Wal::flush",
                "kv::conn::serve",
                "kv::db::get",
                "kv::db::set",
                "kv::snapshot::write",
            ],
        ),
        // Rows without a sample come last in both directions.
        (
            "hold_p99",
            false,
            [
                "kv::snapshot::write",
                "kv::db::set",
                "kv::conn::serve",
                "kv::db::get",
                "kv::Wal::flush",
            ],
        ),
        (
            "hold_p99",
            true,
            [
                "kv::db::get",
                "kv::conn::serve",
                "kv::db::set",
                "kv::snapshot::write",
                "kv::Wal::flush",
            ],
        ),
    ] {
        let snapshot = select(
            "procs",
            Rows {
                invert,
                ..rows("", sort)
            },
        )
        .expect("a good query");
        assert_eq!(names(&snapshot.procs), expected, "{sort} {invert}");
    }
    let worst = select("tasks", rows("", "")).expect("a good query");
    assert_eq!(
        names(&worst.tasks),
        ["sweep", "late", "conn:2", "conn:1", "brief"]
    );
    let awaits = select("awaits", rows("", "")).expect("a good query");
    assert_eq!(awaits.awaits.rows[0].waited_ns, 2);
}

#[test]
fn limits_count_what_they_leave_out() {
    let snapshot = select(
        "procs",
        Rows {
            limit: 1,
            ..rows("db", "")
        },
    )
    .expect("a good query");
    assert_eq!(names(&snapshot.procs), ["kv::db::get"]);
    assert_eq!((snapshot.procs.matched, snapshot.procs.total), (2, 5));
    assert_eq!(
        (
            snapshot.tasks.rows.len(),
            snapshot.tasks.matched,
            snapshot.tasks.total
        ),
        (0, 5, 5)
    );
}

proptest! {
    #[test]
    fn any_text_is_a_filter_or_a_mistake(text in "[-a-zA-Z_:.,<>=!&0-9%|()\"*? /]{0,40}") {
        for table in ["procs", "tasks", "awaits", "alerts"] {
            match select(table, rows(&text, "")) {
                Ok(snapshot) => prop_assert!(snapshot.procs.matched <= snapshot.procs.total),
                Err(message) => prop_assert!(!message.is_empty()),
            }
        }
    }

    #[test]
    fn any_unicode_is_a_filter_or_a_mistake(text: String) {
        let _ = select("tasks", rows(&text, &text));
    }

    #[test]
    fn not_is_the_complement_where_all_is_known(word in "[a-z]{1,3}") {
        let kept = select("procs", rows(&word, "")).map(|s| s.procs.matched);
        let others = select("procs", rows(&(String::from("-") + &word), "")).map(|s| s.procs.matched);
        prop_assert_eq!(kept.unwrap_or(9) + others.unwrap_or(9), 5);
    }
}

/// Tasks by root: the number of each, and how many are returned.
#[test]
fn tasks_that_are_not_sent_are_told_in_groups() {
    let snapshot = || {
        let task = |id: u64| TaskRow {
            id,
            name: format!("task-{id}"),
            root: format!("app::{}", if id.is_multiple_of(3) { "few" } else { "many" }),
            since_ns: id,
            polls: id,
            waker: Some(WakerRow {
                wakes: 10 * id,
                ..WakerRow::default()
            }),
            ..TaskRow::default()
        };
        Snapshot {
            tasks: Page {
                rows: (1..=9).map(task).collect(),
                ..Page::default()
            },
            ..Snapshot::default()
        }
    };
    let check = |group: &str, limit, filter: &str, expected: &[(&str, u64, u64, u64, u64)]| {
        let query = Query {
            tasks: Some(Rows {
                limit,
                filter: filter.to_string(),
                group: group.to_string(),
                ..Rows::default()
            }),
            ..Query::default()
        };
        let mut snapshot = snapshot();
        let selection = Selection::parse(&query).expect("fine");
        let applied = selection.apply(&mut snapshot, &Budget::unlimited());
        assert_eq!(applied, Ok(()));
        let found: Vec<_> = snapshot
            .task_groups
            .iter()
            .map(|group| {
                let TaskRow {
                    since_ns, polls, ..
                } = group.row;
                let wakes = group.row.waker.as_ref().map_or(0, |waker| waker.wakes);
                (group.key.as_str(), group.tasks, since_ns, polls, wakes)
            })
            .collect();
        assert_eq!(found, expected, "{group:?} {limit} {filter:?}");
    };
    let all = [("app::many", 6, 8, 27, 270), ("app::few", 3, 9, 18, 180)];
    check("root", 2, "", &all);
    // The largest groups, and at most as many as rows.
    check("root", 1, "", &all[..1]);
    // A reader with all rows can compute the sums.
    check("root", 9, "", &[]);
    check("root", 0, "", &[]);
    check("", 2, "", &[]);
    check("root", 1, "root:few", &[("app::few", 3, 9, 18, 180)]);
    check("spawn site", 8, "", &[("?", 9, 9, 45, 450)]);
}

#[test]
fn a_grouping_that_is_none_is_named() {
    let query = Query {
        tasks: Some(Rows {
            group: "colour".to_string(),
            ..Rows::default()
        }),
        ..Query::default()
    };
    let error = Selection::parse(&query).expect_err("there is none");
    let expected = "tasks cannot be grouped by \"colour\", only by: root, await point, spawn site";
    assert_eq!(error.to_string(), expected);
}

/// Rows that are otherwise equal are ordered by name, in natural order.
#[test]
fn names_with_numbers_stand_as_people_count() {
    let mut snapshot = snapshot();
    let named = |name| proc(name, "src/db.rs", 1, &[]);
    snapshot.procs = page(
        ["shard-10", "shard-2", "shard-1", "other"]
            .map(named)
            .to_vec(),
    );
    let check = |sort: &str, invert: bool, expected: [&str; 4]| {
        let mut snapshot = snapshot.clone();
        let query = Query {
            procs: Some(Rows {
                invert,
                ..rows("", sort)
            }),
            ..Query::default()
        };
        let selection = Selection::parse(&query).expect("an order");
        let applied = selection.apply(&mut snapshot, &Budget::unlimited());
        assert_eq!(applied, Ok(()));
        assert_eq!(names(&snapshot.procs), expected, "{sort} {invert}");
    };
    check("", false, ["other", "shard-1", "shard-2", "shard-10"]);
    check("proc", false, ["other", "shard-1", "shard-2", "shard-10"]);
    check("proc", true, ["shard-10", "shard-2", "shard-1", "other"]);
}

#[test]
fn a_window_is_no_longer_than_what_is_kept() {
    let parse = |window_ns| {
        let query = Query {
            window_ns,
            ..Query::default()
        };
        Selection::parse(&query)
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    for window in [None, Some(0), Some(LONGEST_WINDOW_NS)] {
        assert_eq!(parse(window), Ok(()), "{window:?}");
    }
    let refused = parse(Some(5 * 60 * S));
    let expected = "a window is at most 1m00s, not 5m00s; start reaches back to the start";
    assert_eq!(refused, Err(expected.to_string()));
}

/// Steps are counted: the cost of a filter depends only on the filter and the rows.
#[test]
fn a_query_that_is_too_much_says_what_was() {
    let run = |table: &str, filter: &str, steps: u64| {
        let mut query = Query::default();
        match table {
            "procs" => query.procs = Some(rows(filter, "")),
            _ => query.tasks = Some(rows(filter, "")),
        }
        let mut snapshot = snapshot();
        let selection = Selection::parse(&query).expect("a filter");
        selection.apply(&mut snapshot, &Budget::new(steps, &|| None))
    };
    let expected = "filter of tasks: too much work: 4 steps were used up by 1 of 5 rows; use fewer words, or words of one column";
    for (table, filter) in [
        ("procs", "zz"),
        ("procs", "-kv"),
        ("procs", "get | set"),
        ("procs", "/zz/"),
        ("procs", "zz*"),
        ("procs", "proc:zz"),
        ("tasks", "task:conn"),
        ("tasks", "since>1s since>2s"),
    ] {
        assert_eq!(run(table, filter, 1_000), Ok(()), "{filter}");
        let fault = run(table, filter, 4).expect_err(filter);
        assert!(matches!(fault, QueryError::TooMuch { .. }), "{filter}");
    }
    let fault = run("tasks", "zz", 4).expect_err("too few");
    assert_eq!(fault.to_string(), expected);
    // Nothing is requested of the rows.
    assert_eq!(run("tasks", "", 0), Ok(()));
}

/// Filters that once took twelve seconds, and a minute, for 100,000 tasks: far below the steps of
/// one query.
#[test]
fn many_words_take_few_steps() {
    let words: Vec<String> = (0..200).map(|n| format!("word{n}")).collect();
    let classes = format!("/^{}!$/", "[a-z:_]?".repeat(100));
    let row = task(
        "conn:51022",
        TaskState::Waiting,
        400,
        Some(("src/conn.rs", 84, "self.db.lock()")),
    );
    let context = Context {
        window_ns: S,
        ..Context::default()
    };
    for (filter, most) in [
        (words.join(" | "), 2_000),
        (format!("task:{}", words.join(",")), 1_000),
        (classes, 1_000),
        ("/x/|".repeat(800) + "x", 100_000),
    ] {
        let asked = Rows {
            filter,
            ..Rows::default()
        };
        let plan = Plan::<TaskRow>::parse(&asked).expect("a filter");
        let budget = Budget::new(most, &|| None);
        assert!(!plan.keeps(&row, &context, &budget));
        assert_eq!(budget.overrun(), None);
    }
}
