//! Tests of the JSON document: it parses, agrees with the snapshot, and escapes text where needed.

use alloc::string::ToString;
use alloc::vec;

use serde_json::{Value, json};

use super::*;
use crate::account::resource::{Kind, Role};
use crate::snapshot::combinator::Combinator;
use crate::snapshot::{
    AwaitRow, Caller, Claim, HolderRow, LongestRow, Page, PauseRow, PollRow, Polling, ProcRow,
    ResourceRow, Spot, TaskRow, TaskState, TasksByState, WaiterRow, WakerRow,
};

fn place() -> Place {
    Place {
        file: "src\\a \"b\".rs".to_string(),
        line: 97,
        column: 18,
        end_line: 98,
        end_column: 37,
        expr: "self\n\t.send(\"\u{1}é\")".to_string(),
    }
}

fn snapshot() -> Snapshot {
    Snapshot {
        process: Process {
            name: "kv".to_string(),
            pid: 4242,
            command: "kv --port 7379".to_string(),
            uptime_ns: u64::MAX,
            accounting: Accounting::Armed,
            ..Process::default()
        },
        window_ns: 10_000_000_000,
        workers: vec![
            Worker {
                name: "w0".to_string(),
                busy_ns: 5,
                polling: None,
            },
            Worker {
                name: "w1".to_string(),
                busy_ns: 6,
                polling: Some(Polling {
                    proc: "kv::run".to_string(),
                    since_ns: 1,
                    root_since_ns: 2,
                }),
            },
        ],
        tasks_by_state: TasksByState {
            polling: 1,
            ready: None,
            waiting: 2,
            paused: 3,
        },
        procs: Page {
            rows: vec![ProcRow {
                proc: "kv::snapshot::write".to_string(),
                file: "src/snapshot.rs".to_string(),
                line: 90,
                running_ns: 830_112_407,
                occupancy_ppm: 83_011,
                calls: 16,
                poll_hold: Distribution {
                    n: 48,
                    sum_ns: 900,
                    max_ns: 40,
                    buckets: vec![(17, 40), (40, 8)],
                },
                callers: vec![Caller {
                    proc: "kv::snapshot::run".to_string(),
                    polls: 48,
                    hold_ns: 900,
                }],
                ..ProcRow::default()
            }],
            total: 17,
            matched: 4,
        },
        tasks: Page {
            rows: vec![TaskRow {
                id: 7,
                name: "conn:1".to_string(),
                state: TaskState::Waiting,
                since_ns: 41,
                stack: vec![
                    StackRow {
                        depth: 0,
                        proc: "kv::serve".to_string(),
                        place: None,
                        since_ns: 50,
                        fork: Some(Combinator::Select),
                        ..StackRow::default()
                    },
                    StackRow {
                        depth: 1,
                        proc: "kv::get".to_string(),
                        place: Some(place()),
                        since_ns: 41,
                        woken_ns: Some(9),
                        aside: true,
                        ..StackRow::default()
                    },
                ],
                ..TaskRow::default()
            }],
            total: 1,
            matched: 1,
        },
        awaits: Page {
            rows: vec![AwaitRow {
                proc: "kv::get".to_string(),
                place: place(),
                waited_ns: 3,
                ..AwaitRow::default()
            }],
            total: 1,
            matched: 1,
        },
        ..Snapshot::default()
    }
}

fn parsed(tables: &[Table], shape: &Options) -> Value {
    let text = document(&snapshot(), tables, shape);
    assert_eq!(text.find('\n'), Some(text.len() - 1), "one line");
    serde_json::from_str(&text).expect("the document is JSON")
}

fn spot(line: u32) -> Spot {
    Spot {
        file: "src/db.rs".to_string(),
        line,
        column: 9,
    }
}

fn claim(role: Role, line: u32) -> Claim {
    Claim {
        resource_id: 3,
        resource: "mutex db".to_string(),
        role,
        amount: 1,
        since_ns: 41,
        at: spot(line),
    }
}

fn waiting() -> TaskRow {
    TaskRow {
        id: 9,
        name: "conn:2".to_string(),
        waker: Some(WakerRow {
            woken_by: None,
            woken_in: None,
            wakes: 5,
            own_wakes: 1,
            clones: 6,
            live: 2,
        }),
        pause: Some(PauseRow {
            by: "console pid 7".to_string(),
            left_ns: None,
            woken: true,
            address: 4_096,
        }),
        last_poll: Some(PollRow {
            ago_ns: 70,
            took_ns: Some(8),
            thread: Some("tokio-rt-worker".to_string()),
            worker: Some(3),
            ready_ns: None,
            ready_by: None,
            ready_in: None,
        }),
        os_thread_id: Some(4_711),
        waits_on: vec![claim(Role::Lock, 44)],
        holds: vec![claim(Role::Write, 31), claim(Role::Read, 32)],
        parent: Some("main-1".to_string()),
        spawned_in: Some("main src/main.rs:7 > accept".to_string()),
        spawned_at: Some(spot(12)),
        attributes: vec![
            ("user".to_string(), "ann".to_string()),
            ("n".to_string(), "1".to_string()),
            ("n".to_string(), "2".to_string()),
        ],
        ..TaskRow::default()
    }
}

fn resource() -> ResourceRow {
    ResourceRow {
        id: 3,
        kind: Kind::Semaphore,
        name: "semaphore conns".to_string(),
        made_at: spot(21),
        age_ns: 900,
        capacity: Some(8),
        level: None,
        holders: vec![HolderRow {
            task: Some("conn:1".to_string()),
            role: Role::Acquire,
            amount: 2,
            since_ns: 50,
            at: spot(31),
        }],
        holder_count: 1,
        waiters: vec![WaiterRow {
            task: None,
            role: Role::Acquire,
            amount: 7,
            since_ns: 41,
            at: spot(44),
            woken_ns: Some(0),
        }],
        waiter_count: 1,
        senders: vec![Some("a".to_string()), None],
        put: 7,
        took: 6,
        waits: 5,
        kept: Distribution {
            n: 6,
            sum_ns: 60,
            max_ns: 20,
            buckets: vec![(20, 6)],
        },
        longest_hold: Some(LongestRow {
            took_ns: 20,
            ago_ns: 5,
            role: Role::Acquire,
            task: Some("conn:2".to_string()),
            proc: "kv::serve".to_string(),
            at: Some(spot(31)),
            on: Some("w1".to_string()),
            behind: None,
        }),
        ..ResourceRow::default()
    }
}

#[test]
fn a_task_says_what_it_waits_for_and_holds() {
    let mut snapshot = snapshot();
    snapshot.tasks.rows = vec![waiting(), TaskRow::default()];
    let text = document(&snapshot, &[Table::Tasks], &Options::default());
    let value: Value = serde_json::from_str(&text).expect("the document is JSON");
    let task = &value["tasks"][0];
    assert_eq!(
        task["waker"],
        json!({"woken_by": null, "woken_in": null, "wakes": 5, "own_wakes": 1, "clones": 6, "live": 2})
    );
    assert_eq!(
        task["pause"],
        json!({"by": "console pid 7", "left_ns": null, "woken": true, "address": 4096})
    );
    assert_eq!(
        task["last_poll"],
        json!({
            "ago_ns": 70, "took_ns": 8, "thread": "tokio-rt-worker", "worker": 3,
            "ready_ns": null, "ready_by": null, "ready_in": null,
        })
    );
    assert_eq!(task["os_thread_id"], 4_711);
    assert_eq!(
        task["waits_on"],
        json!([{
            "resource_id": 3, "resource": "mutex db", "role": "lock", "amount": 1, "since_ns": 41,
            "at": {"file": "src/db.rs", "line": 44, "column": 9},
        }])
    );
    assert_eq!(task["holds"][1]["role"], "read");
    assert_eq!(task["parent"], "main-1");
    assert_eq!(task["spawned_at"]["line"], 12);
    assert_eq!(task["attributes"], json!({"user": "ann", "n": "2"}));
    let unknown = &value["tasks"][1];
    for name in ["waker", "pause", "last_poll", "parent", "spawned_at"] {
        assert_eq!(unknown[name], Value::Null, "{name}");
    }
    assert_eq!(unknown["attributes"], json!({}));
}

#[test]
fn a_resource_says_who_has_it_and_who_waits() {
    let mut snapshot = snapshot();
    snapshot.lost.resources = 4;
    snapshot.resources = Page {
        rows: vec![resource()],
        total: 2,
        matched: 1,
    };
    let text = document(&snapshot, &[Table::Resources], &Options::default());
    let value: Value = serde_json::from_str(&text).expect("the document is JSON");
    let row = &value["resources"][0];
    assert_eq!(row["kind"], "semaphore");
    assert_eq!(row["capacity"], 8);
    assert_eq!(row["level"], Value::Null);
    assert_eq!(row["oldest_wait_ns"], 41);
    assert_eq!(
        row["holders"],
        json!([{
            "task": "conn:1", "role": "acquire", "amount": 2, "since_ns": 50,
            "at": {"file": "src/db.rs", "line": 31, "column": 9},
        }])
    );
    assert_eq!(row["waiters"][0]["task"], Value::Null);
    assert_eq!(row["waiters"][0]["woken_ns"], 0);
    assert_eq!(row["senders"], json!(["a", null]));
    assert_eq!(row["kept"]["p99"], 20);
    assert_eq!(value["lost"]["resources"], 4);
    assert_eq!(
        value["counts"],
        json!({"resources": {"total": 2, "matched": 1, "left_out": 0}})
    );
}

#[test]
fn flat_rows_name_what_lists_hold() {
    fn cells<R: Record>(row: &R) -> impl Fn(&str) -> String + use<R> {
        let shape = Options::default();
        let (header, row) = (flat_header::<R>(&shape), flat_row(row, &shape));
        assert_eq!(header.len(), row.len());
        move |name| {
            let at = header.iter().position(|known| known == name);
            at.map_or_else(|| "no such cell".to_string(), |at| row[at].clone())
        }
    }
    let task = cells(&waiting());
    for (name, expected) in [
        ("waits_on", "mutex db"),
        ("holds", "mutex db, mutex db"),
        ("waker.woken_by", ""),
        ("waker.woken_in", ""),
        ("waker.own_wakes", "1"),
        ("pause.by", "console pid 7"),
        ("pause.left_ns", ""),
        ("last_poll.took_ns", "8"),
        ("last_poll.worker", "3"),
        ("last_poll.ready_by", ""),
        ("last_poll.ready_in", ""),
        ("parent", "main-1"),
        ("spawned_in", "main src/main.rs:7 > accept"),
        ("spawned_at.line", "12"),
        ("attributes", "user=ann, n=1, n=2"),
    ] {
        assert_eq!(task(name), expected, "{name}");
    }
    let row = cells(&resource());
    for (name, expected) in [
        ("made_at.file", "src/db.rs"),
        ("capacity", "8"),
        ("level", ""),
        ("holders", "conn:1"),
        ("waiters", "?"),
        ("senders", "a, ?"),
        ("receivers", ""),
        ("oldest_wait_ns", "41"),
        ("kept.n", "6"),
        ("longest_wait.took_ns", ""),
        ("longest_hold.took_ns", "20"),
        ("longest_hold.role", "acquire"),
        ("longest_hold.task", "conn:2"),
        ("longest_hold.at.line", "31"),
        ("longest_hold.behind", ""),
    ] {
        assert_eq!(row(name), expected, "{name}");
    }
    assert_eq!(cells(&TaskRow::default())("waker.wakes"), "");
}

#[test]
fn the_frame_says_whose_numbers_these_are() {
    let value = parsed(&[Table::Procs], &Options::default());
    assert_eq!(value["schema"], 1);
    assert_eq!(value["process"]["name"], "kv");
    assert_eq!(value["process"]["pid"], 4242);
    assert_eq!(value["process"]["uptime_ns"], u64::MAX);
    assert_eq!(value["process"]["accounting"], "armed");
    assert_eq!(value["process"]["runtime_tasks"], Value::Null);
    assert_eq!(
        value["process"]["tasks_by_state"],
        json!({"polling": 1, "ready": null, "waiting": 2, "paused": 3})
    );
    assert_eq!(
        value["process"]["workers"],
        json!([
            {"name": "w0", "busy_ns": 5, "polling": null},
            {"name": "w1", "busy_ns": 6, "polling": {"proc": "kv::run", "since_ns": 1, "root_since_ns": 2}},
        ])
    );
    assert_eq!(value["window_ns"], 10_000_000_000u64);
    assert_eq!(
        value["counts"],
        json!({"procs": {"total": 17, "matched": 4, "left_out": 3}})
    );
    assert_eq!(value["lost"]["procs"], 0);
    assert!(value.get("tasks").is_none(), "only the tables asked for");
}

#[test]
fn a_proc_has_the_vectors_names_and_its_percentiles() {
    let value = parsed(&[Table::Procs], &Options::default());
    let proc = &value["procs"][0];
    assert_eq!(proc["running_ns"], 830_112_407);
    assert_eq!(proc["occupancy_ppm"], 83_011);
    assert_eq!(proc["line"], 90);
    assert_eq!(
        proc["poll_hold"],
        json!({"n": 48, "sum_ns": 900, "max_ns": 40, "p50": 17, "p90": 40, "p99": 40, "p99.9": 40, "buckets": [[17, 40], [40, 8]]})
    );
    assert_eq!(proc["call_running"]["n"], 0);
    assert_eq!(proc["call_running"]["p50"], Value::Null);
    assert_eq!(
        proc["callers"],
        json!([{"proc": "kv::snapshot::run", "polls": 48, "hold_ns": 900}])
    );
}

#[test]
fn a_stack_keeps_unknown_places_and_odd_texts() {
    let value = parsed(&[Table::Tasks, Table::Awaits], &Options::default());
    let stack = &value["tasks"][0]["stack"];
    assert_eq!(stack[0]["proc"], "kv::serve");
    assert_eq!(stack[0]["file"], Value::Null);
    assert_eq!(stack[0]["expr"], Value::Null);
    assert_eq!(stack[0]["since_ns"], 50);
    assert_eq!(stack[0]["fork"], "select!");
    assert_eq!(stack[0]["woken_ns"], Value::Null);
    assert_eq!(
        stack[1],
        json!({
            "proc": "kv::get", "file": place().file, "line": 97, "column": 18, "end_line": 98,
            "end_column": 37, "expr": place().expr, "since_ns": 41, "depth": 1,
            "fork": null, "woken_ns": 9, "aside": true, "cut": false,
        })
    );
    assert_eq!(value["awaits"][0]["expr"], place().expr);
    assert_eq!(value["awaits"][0]["waited_ns"], 3);
}

#[test]
fn a_shape_chooses_fields_and_percentiles() {
    let shape = Options {
        percentiles: vec![Percentile::whole(75)],
        fields: Some(vec!["proc", "poll_hold"]),
        buckets: false,
    };
    let value = parsed(&[Table::Procs], &shape);
    let expected = json!([{
        "proc": "kv::snapshot::write", "poll_hold": {"n": 48, "sum_ns": 900, "max_ns": 40, "p75": 17},
    }]);
    assert_eq!(value["procs"], expected);
    assert_eq!(
        flat_header::<ProcRow>(&shape),
        [
            "proc",
            "poll_hold.n",
            "poll_hold.sum_ns",
            "poll_hold.max_ns",
            "poll_hold.p75"
        ]
    );
    let row = &snapshot().procs.rows[0];
    assert_eq!(
        flat_row(row, &shape),
        ["kv::snapshot::write", "48", "900", "40", "17"]
    );
}

#[test]
fn flat_rows_stand_under_their_header() {
    let shape = Options::default();
    let snapshot = snapshot();
    let header = flat_header::<TaskRow>(&shape);
    let row = flat_row(&snapshot.tasks.rows[0], &shape);
    assert_eq!(header.len(), row.len());
    let at = |name: &str| {
        header
            .iter()
            .position(|known| known == name)
            .map(|at| row[at].as_str())
    };
    assert_eq!(at("at.proc"), Some("kv::get"));
    assert_eq!(at("at.line"), Some("97"));
    assert_eq!(at("state"), Some("waiting"));
    assert_eq!(at("stack"), None);
    let header = flat_header::<ProcRow>(&shape);
    assert_eq!(
        header.len(),
        flat_row(&snapshot.procs.rows[0], &shape).len()
    );
}

#[test]
fn columns_name_fields_that_exist() {
    fn check<R: Record>() {
        for column in R::columns() {
            for name in column.fields {
                assert!(R::field_names().contains(name), "{}: {name}", column.key);
            }
        }
    }
    check::<ProcRow>();
    check::<TaskRow>();
    check::<AwaitRow>();
    check::<ResourceRow>();
    check::<crate::snapshot::alert::Alert>();
}
