//! Tests of the report: it looks as in screens.md, from a scripted snapshot.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::{span, text};
use crate::snapshot::quantile::Distribution;
use crate::snapshot::{
    Accounting, Claim, Lost, Overhead, Page, Place, ProcRow, Process, Snapshot, StackRow, TaskRow,
    TaskState, TasksByState, Worker,
};

const S: u64 = 1_000_000_000;

/// Two values, so that p50 and p99 differ.
fn population(p50: u64, p99: u64) -> Distribution {
    if p99 == 0 {
        return Distribution::default();
    }
    Distribution {
        n: 100,
        sum_ns: 0,
        max_ns: p99,
        buckets: vec![(p50, 90), (p99, 10)],
    }
}

fn proc(
    name: &str,
    running_ms: u64,
    counts: [u64; 2],
    run: [u64; 2],
    hold: [u64; 2],
    longest: u64,
) -> ProcRow {
    ProcRow {
        proc: name.to_string(),
        running_ns: running_ms * 1_000_000,
        calls: counts[0],
        cancelled: counts[1],
        polls: 1,
        call_running: population(run[0], run[1]),
        poll_hold: population(hold[0], hold[1]),
        max_poll_ns: longest,
        ..ProcRow::default()
    }
}

fn snapshot() -> Snapshot {
    let mut rows = vec![
        proc(
            "kv::conn::read_frame",
            595_543,
            [50_900_000, 301],
            [10_800, 31_200],
            [3_110, 33_000],
            4_020_000,
        ),
        proc(
            "kv::conn::serve",
            153_955,
            [50, 0],
            [0, 0],
            [23_900, 71_400],
            5_870_000,
        ),
        proc(
            "kv::snapshot::write",
            9_760,
            [193, 1],
            [50_300_000, 71_200_000],
            [17_100_000, 38_400_000],
            41_000_000,
        ),
    ];
    rows[2].max_poll_open = true;
    rows.extend((0..9).map(|n| {
        proc(
            &alloc::format!("kv::small{n}"),
            10,
            [1, 0],
            [1, 1],
            [1, 1],
            1,
        )
    }));
    let worker = |busy_ns| Worker {
        busy_ns,
        ..Worker::default()
    };
    Snapshot {
        process: Process {
            name: "kv".to_string(),
            pid: 4242,
            uptime_ns: 751 * S,
            runtime_tasks: Some(57),
            ..Process::default()
        },
        window_ns: 751 * S,
        workers: vec![
            worker(400 * S),
            worker(359_348_000_000),
            worker(0),
            worker(0),
        ],
        tasks_by_state: TasksByState {
            waiting: 55,
            ..TasksByState::default()
        },
        procs: Page {
            total: rows.len() as u64,
            matched: rows.len() as u64,
            rows,
        },
        ..Snapshot::default()
    }
}

fn check(snapshot: &Snapshot, saved: Option<&str>, expected: &[&str]) {
    let text = text(snapshot, saved);
    assert!(text.ends_with('\n'));
    assert_eq!(text.lines().collect::<Vec<_>>(), expected, "\n{text}");
}

#[test]
fn a_report() {
    check(
        &snapshot(),
        Some("kv-4242.json"),
        &[
            "turbowish: kv pid 4242 ran 12m31s; in polls 101.1% of 400%; 57 tasks alive, 55 covered; lost 0",
            "PROC                     RUN%    RUN  CALLS  CANC PANIC  RUNp50 RUNp99 POLp50 POLp99 LONGEST",
            "kv::conn::read_frame     79.3  9m56s  50.9M   301     0  10.8µs 31.2µs 3.11µs 33.0µs 4.02ms",
            "kv::conn::serve          20.5  2m34s     50     0     0       -      - 23.9µs 71.4µs 5.87ms",
            "kv::snapshot::write       1.3 9.76 s    193     1     0  50.3ms 71.2ms 17.1ms 38.4ms 41.0ms+",
            "kv::small0               <0.1 10.0ms      1     0     0     1ns    1ns    1ns    1ns    1ns",
            "kv::small1               <0.1 10.0ms      1     0     0     1ns    1ns    1ns    1ns    1ns",
            "kv::small2               <0.1 10.0ms      1     0     0     1ns    1ns    1ns    1ns    1ns",
            "kv::small3               <0.1 10.0ms      1     0     0     1ns    1ns    1ns    1ns    1ns",
            "kv::small4               <0.1 10.0ms      1     0     0     1ns    1ns    1ns    1ns    1ns",
            "kv::small5               <0.1 10.0ms      1     0     0     1ns    1ns    1ns    1ns    1ns",
            "3 more                   <0.1 30.0ms",
            "total in polls          101.1 12m39s",
            "stuck at exit: nothing (no covered task was alive)",
            "full report: kv-4242.json    to watch it live: turbowish top",
        ],
    );
}

/// Header and sum, first with the runtime's threads and then without.
#[test]
fn the_head_says_what_the_table_says_although_threads_have_ended() {
    let check = |snapshot: &Snapshot, head: &str, sum: &str| {
        let text = text(snapshot, None);
        assert!(text.contains(head), "{text}");
        assert!(text.contains(sum), "{text}");
    };
    let mut snapshot = snapshot();
    let sum = "total in polls          101.1 12m39s";
    check(&snapshot, "; in polls 101.1% of 400%; ", sum);
    snapshot.workers.remove(1);
    check(&snapshot, "; in polls 101.1% of one core; ", sum);
    snapshot.workers.clear();
    check(&snapshot, "; in polls 101.1% of one core; ", sum);
}

#[test]
fn extremely_long_names_and_hostile_ones_are_lines() {
    let mut snapshot = snapshot();
    snapshot.process.name = "kv\u{1b}]52;c;aGk=\u{7}\n".to_string();
    snapshot.procs.rows[1].proc = "p".repeat(70_000);
    let mut rows: Vec<TaskRow> = (0..5)
        .map(|n| task(&alloc::format!("t{n}"), TaskState::Waiting, S, None))
        .collect();
    rows[0].name = "n".repeat(70_000);
    rows[1].root = "r".repeat(70_000);
    snapshot.tasks.matched = 5;
    snapshot.tasks.rows = rows;
    let text = text(&snapshot, Some("/tmp/a\u{1b}[2J.json"));
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
    assert_eq!(text.lines().filter(|line| line.len() > 70_000).count(), 3);
    assert_eq!(text.lines().filter(|line| line.len() > 200).count(), 3);
}

/// A task that waited before accounting was armed has no row until it is polled: the report states
/// how many tasks may be affected.
#[test]
fn tasks_that_may_not_have_been_polled_since_arming_are_told() {
    let line = |since_s: u64, runtime_tasks| {
        let mut snapshot = snapshot();
        snapshot.process.accounting = Accounting::Armed;
        snapshot.at_unix_ns = 10_000 * S;
        snapshot.process.runtime_tasks = runtime_tasks;
        snapshot.process.accounting_since_unix_ns = snapshot.at_unix_ns - since_s * S;
        let text = text(&snapshot, None);
        let first = text.lines().next().unwrap_or_default();
        let alive = first.split("; ").find(|part| part.contains("alive"));
        alive.unwrap_or_default().to_string()
    };
    assert_eq!(line(751, Some(92)), "92 tasks alive, 55 covered");
    assert_eq!(
        line(30, Some(92)),
        "92 tasks alive, 55 covered, up to 37 not polled since accounting was switched on"
    );
    assert_eq!(line(30, Some(55)), "55 tasks alive, 55 covered");
    assert_eq!(line(30, None), "55 covered tasks alive");
}

fn task(name: &str, state: TaskState, since_ns: u64, at: Option<(u32, &str)>) -> TaskRow {
    let place = at.map(|(end_line, expr)| Place {
        file: "src/conn.rs".to_string(),
        line: 88,
        column: 9,
        end_line,
        end_column: 33,
        expr: expr.to_string(),
    });
    TaskRow {
        name: name.to_string(),
        root: "kv::conn::serve".to_string(),
        state,
        since_ns,
        stack: vec![StackRow {
            place,
            ..StackRow::default()
        }],
        ..TaskRow::default()
    }
}

#[test]
fn who_had_not_ended() {
    let mut rows = vec![
        task("hog", TaskState::Polling, 6_410_000_000, None),
        task(
            "conn:51022",
            TaskState::Waiting,
            41_400_000_000,
            Some((88, "self.repl.send(cmd)")),
        ),
        task(
            "sweep",
            TaskState::Waiting,
            3 * S,
            Some((90, "self.db\n        .lock()")),
        ),
    ];
    rows[1].waits_on = vec![Claim {
        resource: "mpsc repl".to_string(),
        ..Claim::default()
    }];
    rows.extend((0..3).map(|n| task(&alloc::format!("t{n}"), TaskState::Waiting, S, None)));
    let snapshot = Snapshot {
        process: Process {
            name: "kv".to_string(),
            pid: 7,
            uptime_ns: 60 * S,
            ..Process::default()
        },
        window_ns: 60 * S,
        tasks_by_state: TasksByState {
            polling: 1,
            ready: None,
            waiting: 5,
            paused: 0,
        },
        tasks: Page {
            total: 6,
            matched: 6,
            rows,
        },
        ..Snapshot::default()
    };
    check(
        &snapshot,
        None,
        &[
            "turbowish: kv pid 7 ran 1m00s; in polls 0% of 0%; 6 covered tasks alive; lost 0",
            "no annotated function was called: put #[turbowish::instrument] on one",
            "stuck at exit: 6 tasks had not ended, worst first",
            "  hog        polling 6.41 s+ in kv::conn::serve",
            "  conn:51022 waiting  41.4 s src/conn.rs:88:9-33    self.repl.send(cmd) mpsc repl",
            "  sweep      waiting  3.00 s src/conn.rs:88:9-90:33 self.db .lock()",
            "  t0         waiting  1.00 s in kv::conn::serve",
            "  t1         waiting  1.00 s in kv::conn::serve",
            "  ... 1 more",
            "to watch it live: turbowish top",
        ],
    );
}

#[test]
fn the_json_report_has_all_five_tables() {
    let value: serde_json::Value =
        serde_json::from_str(&super::json(&snapshot())).expect("it is JSON");
    let keys: Vec<&String> = ["procs", "awaits", "tasks", "resources", "alerts"]
        .iter()
        .filter_map(|key| {
            value
                .as_object()
                .and_then(|object| object.get_key_value(*key))
                .map(|(key, _)| key)
        })
        .collect();
    assert_eq!(keys.len(), 5);
    assert_eq!(value["procs"].as_array().map(Vec::len), Some(12));
}

#[test]
fn spans_of_what_is_known() {
    let check = |place: (u32, u32, u32, u32), expected: &str| {
        let (line, column, end_line, end_column) = place;
        let place = Place {
            file: "src/conn.rs".to_string(),
            line,
            column,
            end_line,
            end_column,
            ..Place::default()
        };
        assert_eq!(span(&place), expected);
    };
    check((88, 9, 88, 33), "src/conn.rs:88:9-33");
    check((88, 9, 90, 4), "src/conn.rs:88:9-90:4");
    // Tasks that were spawned without a macro, and expressions that a macro hides.
    check((88, 0, 88, 0), "src/conn.rs:88");
    check((88, 0, 0, 0), "src/conn.rs:88");
}

#[test]
fn the_headline_says_what_was_lost_and_what_the_monitor_took() {
    let mut snapshot = snapshot();
    snapshot.lost = Lost {
        late_attach: 152,
        forced_pop: 1,
        last_ago_ns: Some(252 * S),
        ..Lost::default()
    };
    snapshot.process.own_cost = Some(Overhead {
        ppm: 14_000,
        monitor_ppm: Some(2_100),
        ..Overhead::default()
    });
    let expected = "lost 153 (152 calls began before accounting, 1 poll did not end in order, \
                    last 4m12s ago); overhead ~1.4% + monitor 0.2%";
    let text = text(&snapshot, None);
    let headline = text.lines().next().unwrap_or_default();
    assert!(headline.ends_with(expected), "{headline}");
}
