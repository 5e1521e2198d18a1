//! Alerts as rows: what the table shows, what filters and orders keep, and what JSON, CSV and the
//! report say.

use serde_json::{Value, json};
use turbowish_model::query::{Budget, Query, Rows, Selection};
use turbowish_model::snapshot::alert::{
    Alert, Behind, BehindWait, Occurrence, Party, PartyKind, Point, Severity, Step, headline,
};
use turbowish_model::snapshot::column::{
    Context, Involved, Style, Value as CellValue, find, severity_counts, worst, worst_first,
};
use turbowish_model::snapshot::json::{Options, document, flat_header, flat_row};
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::report;
use turbowish_model::snapshot::units::Micro;
use turbowish_model::snapshot::{Page, Place, ProcRow, Snapshot, Table, TaskRow};

const S: u64 = 1_000_000_000;

fn party(kind: PartyKind, id: u64, name: &str) -> Party {
    Party {
        kind,
        id,
        name: name.to_owned(),
    }
}

fn task(id: u64, name: &str) -> Party {
    party(PartyKind::Task, id, name)
}

fn resource(id: u64, name: &str) -> Party {
    party(PartyKind::Resource, id, name)
}

fn point(proc: &str, line: u32, expr: &str) -> Point {
    Point {
        proc: proc.to_owned(),
        place: Some(Place {
            file: "src/conn.rs".to_owned(),
            line,
            column: 9,
            end_line: line,
            end_column: 33,
            expr: expr.to_owned(),
        }),
    }
}

fn deadlock() -> Alert {
    let step = |task, line, since, on, how: &str| Step {
        task,
        point: point("kv::conn::serve", line, "self.db.lock()"),
        since,
        on,
        how: how.to_owned(),
    };
    Alert {
        pitfall: Pitfall::Deadlock,
        severity: Severity::Alert,
        since: 100 * S,
        held_ns: 41 * S,
        holds: true,
        certain: true,
        title: "deadlock 41.0 s+: there, back wait in a cycle".to_owned(),
        summary: "2 tasks and 2 resources wait in a cycle".to_owned(),
        parties: vec![
            task(7, "there"),
            resource(1, "mutex bob"),
            task(8, "back"),
            resource(2, "mutex alice"),
        ],
        at: Some(point("kv::conn::serve", 88, "self.db.lock()")),
        steps: vec![
            step(
                task(7, "there"),
                88,
                99 * S,
                resource(1, "mutex bob"),
                "held 42 s, by",
            ),
            step(
                task(8, "back"),
                90,
                100 * S,
                resource(2, "mutex alice"),
                "held, by",
            ),
        ],
        behind: Behind {
            tasks: vec![task(9, "expiry")],
            unlisted: 2,
            waits: vec![BehindWait {
                at: Point {
                    proc: "kv::serve".to_owned(),
                    place: None,
                },
                tasks: 3,
                longest_ns: 40 * S,
                asleep: false,
            }],
        },
        why: "No task of the cycle can run.".to_owned(),
        fixes: vec!["drop the guard first".to_owned(), "or not".to_owned()],
        began_unix_ns: 1_000 * S,
        times: 1,
        ..Alert::default()
    }
}

fn long_poll() -> Alert {
    Alert {
        pitfall: Pitfall::LongPoll,
        severity: Severity::Warning,
        since: 20 * S,
        held_ns: 5 * S,
        title: "long poll: kv::snapshot::write".to_owned(),
        parties: vec![
            party(PartyKind::Proc, 0, "kv::snapshot::write"),
            task(3, "snapshot"),
            task(4, "snapshot"),
        ],
        ..Alert::default()
    }
}

fn lost_waker() -> Alert {
    Alert {
        pitfall: Pitfall::LostWaker,
        severity: Severity::Alert,
        since: 90 * S,
        held_ns: 51 * S,
        title: "lost waker: server".to_owned(),
        parties: vec![task(5, "server")],
        at: Some(Point {
            proc: "kv::serve".to_owned(),
            place: None,
        }),
        ..Alert::default()
    }
}

fn snapshot() -> Snapshot {
    let rows = vec![long_poll(), deadlock(), lost_waker()];
    Snapshot {
        alerts: Page {
            total: 3,
            matched: 3,
            rows,
        },
        ..Snapshot::default()
    }
}

#[test]
fn cells() {
    let check = |alert: &Alert, key: &str, expected: &str| {
        let column = find::<Alert>(key).expect("a column");
        let cell = column.cell(
            alert,
            &Context {
                window_ns: S,
                ..Context::default()
            },
            Style::default(),
        );
        assert_eq!(cell, expected, "{key}");
    };
    let alert = deadlock();
    check(&alert, "severity", "alert");
    check(&alert, "alert", "deadlock");
    check(&alert, "who", "there, mutex bob, back, mutex alice");
    check(&alert, "for", "41.0 s");
    check(&alert, "behind", "3");
    check(&alert, "docs", "turbowish explain deadlock");
    check(&alert, "at", "src/conn.rs:88");
    check(&alert, "proc", "kv::conn::serve");
    check(&alert, "sure", "certain");
    check(&lost_waker(), "at", "?");
    check(&lost_waker(), "alert", "lost waker");
    check(&lost_waker(), "kind", "lost_waker");
    check(&lost_waker(), "sure", "probable");
    check(&long_poll(), "who", "kv::snapshot::write, snapshot");
    check(&long_poll(), "proc", "");
}

fn select(alerts: Option<Rows>) -> Snapshot {
    let mut snapshot = snapshot();
    let query = Query {
        alerts,
        ..Query::default()
    };
    Selection::parse(&query)
        .expect("a query")
        .apply(&mut snapshot, &Budget::unlimited())
        .expect("no limit");
    snapshot
}

fn kinds(snapshot: &Snapshot) -> Vec<&'static str> {
    let rows = snapshot.alerts.rows.iter();
    rows.map(|alert| alert.pitfall.id()).collect()
}

#[test]
fn filters_and_orders() {
    let check = |filter: &str, sort: &str, expected: &[&str]| {
        let rows = Rows {
            filter: filter.to_owned(),
            sort: sort.to_owned(),
            ..Rows::default()
        };
        let found = select(Some(rows));
        assert_eq!(kinds(&found), expected, "{filter} {sort}");
        let counts = (found.alerts.matched, found.alerts.total);
        assert_eq!(counts, (expected.len() as u64, 3), "{filter}");
    };
    // By severity, and of one severity what has held longest.
    check("", "", &["deadlock", "lost_waker", "long_poll"]);
    check("", "worst", &["deadlock", "lost_waker", "long_poll"]);
    check("", "for", &["lost_waker", "deadlock", "long_poll"]);
    check("", "alert", &["deadlock", "long_poll", "lost_waker"]);
    check("", "behind", &["deadlock", "lost_waker", "long_poll"]);
    check("", "severity", &["deadlock", "lost_waker", "long_poll"]);
    check("severity:warn", "", &["long_poll"]);
    check("severity:alert,note", "", &["deadlock", "lost_waker"]);
    check("alert:deadlock", "", &["deadlock"]);
    check("severity:alert", "", &["deadlock", "lost_waker"]);
    check("who:\"mutex bob\"", "", &["deadlock"]);
    check(
        "kind:lost_waker,long_poll",
        "",
        &["lost_waker", "long_poll"],
    );
    check("for>40s", "", &["deadlock", "lost_waker"]);
    check("behind>0", "", &["deadlock"]);
    check("at:?", "", &["lost_waker", "long_poll"]);
    // A bare word: names of all involved and of those behind, procs, places, expressions.
    check("alice", "", &["deadlock"]);
    check("expiry", "", &["deadlock"]);
    check("\"conn.rs:88\"", "", &["deadlock"]);
    check("db.lock()", "", &["deadlock"]);
    check("kv::serve", "", &["lost_waker"]);
    check("at:conn.rs:88", "", &["deadlock"]);
    check("snapshot", "", &["long_poll"]);
    check("gridlock", "", &[]);
}

#[test]
fn whoever_asks_for_anything_is_told_of_alerts() {
    let found = select(None);
    assert_eq!(kinds(&found), ["long_poll", "deadlock", "lost_waker"]);
    let one = select(Some(Rows {
        limit: 1,
        ..Rows::default()
    }));
    assert_eq!((kinds(&one).len(), one.alerts.matched), (1, 3));
}

#[test]
fn counts_of_each_severity() {
    assert_eq!(
        severity_counts(&snapshot().alerts.rows),
        "2 alerts, 1 warning"
    );
    assert_eq!(severity_counts(&[]), "");
    let note = Alert {
        severity: Severity::Note,
        ..Alert::default()
    };
    assert_eq!(severity_counts(&[note.clone(), note]), "2 notes");
}

#[test]
fn json_says_it_all() {
    let text = document(&snapshot(), &[Table::Alerts], &Options::default());
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        value["counts"],
        json!({"alerts": {"total": 3, "matched": 3, "left_out": 0}})
    );
    let at = |line: u32| {
        json!({
            "proc": "kv::conn::serve", "file": "src/conn.rs", "line": line, "column": 9,
            "end_line": line, "end_column": 33, "expr": "self.db.lock()",
        })
    };
    let party = |kind: &str, id: u64, name: &str| json!({"kind": kind, "id": id, "name": name});
    let expected = json!({
        "kind": "deadlock", "severity": "alert",
        "title": "deadlock 41.0 s+: there, back wait in a cycle",
        "summary": "2 tasks and 2 resources wait in a cycle",
        "since_ns": 41 * S, "began_ns": 100 * S, "holds": true, "over": false,
        "began_unix_ns": 1_000 * S, "ended_unix_ns": null, "times": 1, "last_unix_ns": null,
        "recent": [], "unpolled_ns": 0,
        "on_cpu_ns": null, "on_cpu_of_ns": 0, "certain": true,
        "tasks": ["there", "back"], "resources": ["mutex bob", "mutex alice"],
        "parties": [
            party("task", 7, "there"), party("resource", 1, "mutex bob"),
            party("task", 8, "back"), party("resource", 2, "mutex alice"),
        ],
        "at": at(88),
        "steps": [
            {"task": party("task", 7, "there"), "at": at(88), "since_ns": 42 * S,
             "on": party("resource", 1, "mutex bob"), "how": "held 42 s, by"},
            {"task": party("task", 8, "back"), "at": at(90), "since_ns": 41 * S,
             "on": party("resource", 2, "mutex alice"), "how": "held, by"},
        ],
        "behind": [party("task", 9, "expiry")], "behind_count": 3, "behind_unknown": false,
        "behind_waits": [
            {"at": {"proc": "kv::serve", "file": null, "line": null, "column": null,
                    "end_line": null, "end_column": null, "expr": null},
             "tasks": 3, "longest_ns": 40 * S, "asleep": false},
        ],
        "why": "No task of the cycle can run.", "fixes": ["drop the guard first", "or not"],
        "docs": "turbowish explain deadlock",
    });
    assert_eq!(value["alerts"][1], expected);
    assert_eq!(value["alerts"][0]["at"], Value::Null);
    assert_eq!(value["alerts"][0]["parties"][0]["id"], Value::Null);
    assert_eq!(value["alerts"][2]["at"]["line"], Value::Null);
    assert_eq!(value["alerts"][2]["at"]["proc"], "kv::serve");
}

/// Two stalls; the last one, of 1.5 s, is over since 42 s.
fn stall() -> Alert {
    Alert {
        pitfall: Pitfall::BlockedWorker,
        since: 10 * S,
        held_ns: 1_500_000_000,
        title: "blocked worker w1 1.50 s: app::write in one poll".to_owned(),
        parties: vec![party(PartyKind::Worker, 0, "w1"), task(7, "there")],
        began_unix_ns: 61_458 * S + 500_000_000,
        ended_unix_ns: Some(61_460 * S),
        times: 2,
        last_unix_ns: Some(61_460 * S),
        ..Alert::default()
    }
}

#[test]
fn what_is_over_comes_last_and_counts_for_nothing() {
    let mut all = snapshot();
    all.at_unix_ns = 61_502 * S;
    all.alerts_forgotten = 3;
    let older = Alert {
        title: "older".to_owned(),
        last_unix_ns: Some(61_459 * S),
        ..stall()
    };
    let milder = Alert {
        severity: Severity::Warning,
        title: "milder".to_owned(),
        last_unix_ns: Some(61_461 * S),
        ..stall()
    };
    all.alerts.rows.splice(0..0, [milder, older, stall()]);
    let mut rows = all.alerts.rows.clone();
    rows.sort_by_key(worst_first);
    let titles: Vec<&str> = rows.iter().map(|row| row.title.as_str()).collect();
    let (lost, dead, long) = (lost_waker().title, deadlock().title, long_poll().title);
    let expected = [&*dead, &*lost, &*stall().title, "older", &*long, "milder"];
    assert_eq!(titles, expected);
    assert_eq!(severity_counts(&rows), "2 alerts, 1 warning");
    assert_eq!(worst(&rows).map(Alert::is_over), Some(false));
    assert_eq!(worst(&[stall()]), None);
    let involved = [stall()];
    let involved = Involved::of(&involved);
    let there = TaskRow {
        id: 7,
        ..TaskRow::default()
    };
    assert_eq!(involved.severity(&there), None);
    let said = stall().sentence(61_502 * S, Micro::Unicode);
    let expected = "resolved 42.0 s ago: blocked worker w1 1.50 s: app::write in one poll";
    assert_eq!(said, expected);
    assert_eq!(
        long_poll().sentence(61_502 * S, Micro::Unicode),
        long_poll().title
    );
    // It tells the worst time, and when the last one was: everywhere.
    let mut again = stall();
    let time = |began_unix_ns, held_ns| Occurrence {
        began_unix_ns,
        held_ns,
        behind_count: 0,
    };
    again.times = 2;
    again.last_unix_ns = Some(61_490 * S);
    again.recent = vec![
        time(again.began_unix_ns, again.held_ns),
        time(61_489 * S, S),
    ];
    let said = again.dated_title(61_502 * S, Micro::Unicode);
    assert_eq!(said, format!("12.0 s ago, worst of 2: {}", stall().title));
    let context = Context {
        at_unix_ns: 61_502 * S,
        ..Context::default()
    };
    let value = |key: &str| {
        let column = find::<Alert>(key).expect("known");
        column.value(&again, &context)
    };
    assert_eq!(value("ended"), CellValue::Duration(12 * S));
    assert_eq!(value("for"), CellValue::Duration(S));
    assert_eq!(value("began"), CellValue::Clock(61_489 * S));
    // Only what is worse comes before what is active.
    let first = |alerts: &[Alert]| headline(alerts).map(|alert| alert.title.clone());
    assert_eq!(first(&rows), Some(deadlock().title));
    assert_eq!(first(&[long_poll(), stall()]), Some(stall().title));
    let milder = Alert {
        severity: Severity::Warning,
        ..stall()
    };
    assert_eq!(first(&[milder, long_poll()]), Some(long_poll().title));
    assert_eq!(first(&[]), None);
    let text = document(&all, &[Table::Alerts], &Options::default());
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["alerts_forgotten"], 3);
    assert_eq!(value["alerts"][2]["over"], true);
    assert_eq!(value["alerts"][2]["last_unix_ns"], 61_460 * S);
    all.alerts.rows = rows;
    let text = report::text(&all, None);
    let past = text.lines().find(|line| line.starts_with("ended:"));
    assert_eq!(
        past,
        Some(
            "ended:  blocked worker w1 1.50 s: app::write in one poll   2 times, the last one 1.50 s, ended 42.0 s before the end   turbowish explain blocked-worker"
        )
    );
    assert!(text.contains("\n        ... 3 more\n"), "{text}");
}

#[test]
fn cells_of_what_is_over() {
    let context = Context {
        at_unix_ns: 61_502 * S,
        ..Context::default()
    };
    let check = |alert: &Alert, key: &str, expected: &str| {
        let column = find::<Alert>(key).expect("a column");
        let style = Style {
            utc_offset_s: 3_600,
            ..Style::default()
        };
        assert_eq!(
            column.value(alert, &context).print(style),
            expected,
            "{key}"
        );
    };
    check(&stall(), "began", "18:04:18");
    check(&stall(), "for", "1.50 s");
    check(&stall(), "ended", "42.0 s");
    check(&stall(), "times", "2");
    // A process that does not tell when it began.
    check(&long_poll(), "began", "18:04:57");
    check(&long_poll(), "ended", "");
    check(&long_poll(), "times", "1");
}

#[test]
fn flat_rows_name_what_lists_hold() {
    let shape = Options::default();
    let header = flat_header::<Alert>(&shape);
    let check = |alert: &Alert, name: &str, expected: &str| {
        let row = flat_row(alert, &shape);
        assert_eq!(header.len(), row.len());
        let at = header.iter().position(|known| known == name);
        assert_eq!(at.map(|at| row[at].as_str()), Some(expected), "{name}");
    };
    let alert = deadlock();
    check(&alert, "tasks", "there, back");
    check(&alert, "parties", "there, mutex bob, back, mutex alice");
    check(&alert, "at.proc", "kv::conn::serve");
    check(&alert, "at.line", "88");
    check(&alert, "behind", "expiry");
    check(&alert, "fixes", "drop the guard first; or not");
    check(&long_poll(), "at.proc", "");
    check(&long_poll(), "at.file", "");
    assert!(!header.contains(&"steps".to_owned()));
}

#[test]
fn the_report_names_what_holds_at_the_end() {
    let mut snapshot = select(Some(Rows::default()));
    let row = |id, name: &str| TaskRow {
        id,
        name: name.to_owned(),
        ..TaskRow::default()
    };
    snapshot.tasks = Page {
        rows: vec![row(8, "back"), row(1, "idle")],
        total: 2,
        matched: 2,
    };
    let text = report::text(&snapshot, None);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.iter().position(|line| line.starts_with("stuck"));
    assert_eq!(
        lines[from.expect("who is stuck")..],
        [
            "stuck at exit: 2 tasks had not ended, worst first",
            "  back waiting 0 in    (deadlock)",
            "  idle waiting 0 in",
            "alerts: deadlock 41.0 s+: there, back wait in a cycle   turbowish explain deadlock",
            "        lost waker: server   turbowish explain lost-waker",
            "        long poll: kv::snapshot::write   turbowish explain long-poll",
            "to watch it live: turbowish top",
        ]
    );
    let document: Value = serde_json::from_str(&report::json(&snapshot)).expect("JSON");
    assert_eq!(document["alerts"].as_array().map(Vec::len), Some(3));
    snapshot.alerts.rows = (0..7).map(|_| long_poll()).collect();
    let text = report::text(&snapshot, None);
    assert!(text.contains("\n        ... 2 more\n"), "{text}");
}

#[test]
fn what_is_part_of_an_alert_comes_first() {
    let row = |id, since_ns| TaskRow {
        id,
        since_ns,
        name: id.to_string(),
        ..TaskRow::default()
    };
    let check = |alerts: Vec<Alert>, invert: bool, expected: &[u64]| {
        let rows: Vec<TaskRow> = (1..=9).map(|id| row(id, (10 - id) * S)).collect();
        let mut snapshot = Snapshot {
            tasks: Page {
                total: 9,
                matched: 9,
                rows,
            },
            ..Snapshot::default()
        };
        snapshot.alerts.rows = alerts;
        let query = Query {
            tasks: Some(Rows {
                limit: 4,
                invert,
                ..Rows::default()
            }),
            ..Query::default()
        };
        Selection::parse(&query)
            .expect("a query")
            .apply(&mut snapshot, &Budget::unlimited())
            .expect("no limit");
        let found: Vec<u64> = snapshot.tasks.rows.iter().map(|row| row.id).collect();
        assert_eq!(found, expected);
    };
    check(Vec::new(), false, &[1, 2, 3, 4]);
    check(vec![deadlock()], false, &[7, 8, 1, 2]);
    check(vec![long_poll(), deadlock()], false, &[7, 8, 3, 4]);
    check(vec![long_poll(), lost_waker()], false, &[5, 3, 4, 1]);
    check(vec![deadlock()], true, &[9, 6, 5, 4]);
    let proc = |proc: &str, running_ns| ProcRow {
        proc: proc.to_owned(),
        running_ns,
        ..ProcRow::default()
    };
    let rows = vec![proc("kv::conn::serve", 1), proc("kv::db::get", 2)];
    let mut snapshot = snapshot();
    snapshot.procs.rows = rows;
    let query = Query {
        procs: Some(Rows::default()),
        ..Query::default()
    };
    let selection = Selection::parse(&query).expect("a query");
    selection
        .apply(&mut snapshot, &Budget::unlimited())
        .expect("no limit");
    assert_eq!(snapshot.procs.rows[0].proc, "kv::db::get");
}
