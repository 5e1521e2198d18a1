//! The key-value server of the screens, its numbers written down.

use turbowish_model::snapshot::quantile::Distribution;
use turbowish_model::snapshot::{
    Accounting, AwaitRow, CounterRow, DelayRow, MetricKind, Overhead, Page, Place, ProcRow,
    Process, Snapshot, Spot, StackRow, TaskRow, TaskState, TasksByState, Worker,
};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const S: u64 = 1_000 * MS;

/// `2026-11-20 17:04:31` UTC.
const AT: u64 = 1_795_194_271 * S;

/// Half of the values at p50, the rest at p99; no value at all if both are 0.
fn population(n: u64, p50: u64, p99: u64) -> Distribution {
    if p99 == 0 {
        return Distribution::default();
    }
    let low = n - n / 2;
    Distribution {
        n,
        sum_ns: low * p50 + (n / 2) * p99,
        max_ns: p99,
        buckets: vec![(p50, low), (p99, n / 2)],
    }
}

/// Running and inclusive in ms of a window of 10 s, calls ended, polls.
struct Sums(u64, u64, u64, u64);

fn proc(
    name: &str,
    place: (&str, u32),
    sums: Sums,
    run: (u64, u64),
    hold: (u64, u64),
    longest: u64,
) -> ProcRow {
    let Sums(running_ms, inclusive_ms, calls, polls) = sums;
    ProcRow {
        proc: format!("kv::{name}"),
        file: format!("src/{}.rs", place.0),
        line: place.1,
        running_ns: running_ms * MS,
        inclusive_ns: inclusive_ms * MS,
        hold_ns: inclusive_ms * MS,
        occupancy_ppm: running_ms * 100,
        calls,
        ready: calls,
        polls,
        max_poll_ns: longest,
        future_bytes: 568,
        call_running: population(calls, run.0, run.1),
        call_wall: population(calls, run.0 * 2, run.1 * 3),
        poll_hold: population(polls, hold.0, hold.1),
        ..ProcRow::default()
    }
}

#[rustfmt::skip]
fn procs() -> Vec<ProcRow> {
    let mut rows = vec![
        proc("conn::read_frame", ("conn", 128), Sums(9_640, 9_640, 824_000, 1_650_000), (10_800, 31_200), (3_110, 33_000), 1_610 * US),
        proc("conn::write_reply", ("conn", 156), Sums(6_170, 6_170, 824_000, 824_000), (6_920, 19_400), (6_920, 19_400), 1_220 * US),
        proc("conn::serve", ("conn", 57), Sums(2_490, 21_310, 0, 829_000), (0, 0), (23_900, 71_400), 1_920 * US),
        proc("db::get", ("db", 44), Sums(1_310, 1_310, 491_000, 491_000), (2_410, 8_100), (2_410, 8_100), 402 * US),
        proc("db::set", ("db", 61), Sums(1_260, 1_260, 248_000, 253_000), (4_120, 21_700), (4_050, 21_500), 831 * US),
        proc("snapshot::write", ("snapshot", 90), Sums(830, 830, 16, 48), (50_300 * US, 71_200 * US), (17_100 * US, 38_400 * US), 38_400 * US),
        proc("expiry::sweep", ("expiry", 29), Sums(390, 390, 100, 100), (3_710 * US, 6_020 * US), (3_710 * US, 6_020 * US), 6_410 * US),
        proc("snapshot::run", ("snapshot", 34), Sums(1, 831, 0, 50), (0, 0), (17_100 * US, 38_400 * US), 38_400 * US),
        proc("snapshot::report", ("snapshot", 58), Sums(0, 0, 0, 0), (0, 0), (0, 0), 0),
    ];
    rows[2].max_poll_open = true;
    rows[2].live = 50;
    rows
}

fn place(file: &str, line: u32, columns: (u32, u32), expr: &str) -> Place {
    Place {
        file: format!("src/{file}.rs"),
        line,
        column: columns.0,
        end_line: line,
        end_column: columns.1,
        expr: expr.to_owned(),
    }
}

fn task(
    id: u64,
    name: &str,
    state: (TaskState, u64),
    stack: Vec<(&str, Option<Place>)>,
) -> TaskRow {
    let calls = stack
        .into_iter()
        .enumerate()
        .map(|(depth, (proc, place))| StackRow {
            depth: u32::try_from(depth).unwrap(),
            proc: format!("kv::{proc}"),
            place,
            since_ns: state.1,
            ..StackRow::default()
        });
    let stack: Vec<StackRow> = calls.collect();
    TaskRow {
        id,
        name: name.to_owned(),
        state: state.0,
        since_ns: state.1,
        age_ns: 751 * S,
        polls: 689,
        running_ns: 10_900 * MS,
        max_poll_ns: 38_400 * US,
        root: stack[0].proc.clone(),
        future_bytes: 12 << 10,
        stack,
        stack_truncated: false,
        ..TaskRow::default()
    }
}

fn tasks() -> Vec<TaskRow> {
    use TaskState::{Polling, Waiting};
    vec![
        task(
            3,
            "conn:51022",
            (Waiting, 41_400 * MS),
            vec![
                (
                    "conn::serve",
                    Some(place("conn", 61, (21, 44), "self.execute(command)")),
                ),
                (
                    "conn::forward",
                    Some(place("conn", 88, (9, 33), "self.repl.send(cmd)")),
                ),
            ],
        ),
        task(
            7,
            "repl-1",
            (Waiting, 41_600 * MS),
            vec![(
                "repl::push",
                Some(place("repl", 51, (27, 47), "self.log.lock()")),
            )],
        ),
        task(
            9,
            "snapshot",
            (Polling, 6_410 * MS),
            vec![("snapshot::run", None), ("snapshot::write", None)],
        ),
        task(
            11,
            "expiry",
            (Waiting, 18 * MS),
            vec![(
                "expiry::run",
                Some(place("expiry", 22, (9, 30), "interval.tick()")),
            )],
        ),
    ]
}

fn awaits() -> Vec<AwaitRow> {
    vec![
        AwaitRow {
            proc: "kv::snapshot::write".to_owned(),
            place: place("snapshot", 112, (9, 30), "file.sync_data()"),
            idle: String::new(),
            waits: 16,
            now: 0,
            waited_ns: 1_940 * MS,
            max_wait_ns: 141 * MS,
            max_wait_ago_ns: Some(4 * S),
            max_wait_task: Some("snapshot".to_owned()),
            share_ppm: 901_000,
            cancelled: 1,
            await_wait: population(16, 121 * MS, 141 * MS),
            wait_max_ns: Some(141 * MS),
            wait_max_ago_ns: Some(4 * S),
            wait_max_task: Some("snapshot".to_owned()),
        },
        AwaitRow {
            proc: "kv::conn::read_frame".to_owned(),
            place: place(
                "conn",
                131,
                (19, 60),
                "self.stream.read_buf(&mut self.buffer)",
            ),
            idle: String::new(),
            waits: 824_000,
            now: 50,
            waited_ns: 478_600 * MS,
            max_wait_ns: 12 * S,
            max_wait_ago_ns: None,
            max_wait_task: None,
            share_ppm: 1_000_000,
            cancelled: 0,
            await_wait: population(824_000, 211 * US, 6_410 * US),
            wait_max_ns: None,
            wait_max_ago_ns: None,
            wait_max_task: None,
        },
    ]
}

/// A counter that many times went up by so much, or a gauge; the last one belongs to no proc.
fn counters() -> Vec<CounterRow> {
    let at = |file: &str, line| Spot {
        file: format!("src/{file}.rs"),
        line,
        column: 13,
    };
    let counter = |name: &str, proc: &str, line, updates, added, total| CounterRow {
        name: name.to_owned(),
        proc: Some(format!("kv::conn::{proc}")),
        at: at("conn", line),
        updates,
        added: Some(added),
        total: Some(total),
        ..CounterRow::default()
    };
    let gauge =
        |name: &str, proc: Option<&str>, at, updates, [value, min, max]: [i64; 3]| CounterRow {
            name: name.to_owned(),
            kind: MetricKind::Gauge,
            proc: proc.map(str::to_owned),
            at,
            updates,
            value: Some(value),
            min: Some(min),
            max: Some(max),
            ..CounterRow::default()
        };
    vec![
        counter("commands", "serve", 73, 824_000, 824_000, 61_884_120),
        counter(
            "bytes sent",
            "write_reply",
            115,
            824_000,
            41_206_400,
            3_094_206_512,
        ),
        gauge(
            "clients",
            Some("kv::server::accept"),
            at("server", 160),
            2,
            [50, 0, 64],
        ),
        gauge("drift", None, at("clock", 12), 10, [-120, -4_500, 80]),
    ]
}

/// What connections were behind.
fn delays() -> Vec<DelayRow> {
    let behind = |behind: &str, time_ns, polls| DelayRow {
        victim: "kv::conn::serve".to_owned(),
        behind: behind.to_owned(),
        time_ns,
        ready_ns: 1_200 * MS,
        share_ppm: time_ns * 1_000_000 / (1_200 * MS),
        polls,
    };
    vec![
        behind("kv::snapshot::write", 1_100 * MS, 940),
        behind(turbowish_model::snapshot::delays::IDLE, 72 * MS, 1_310),
    ]
}

fn page<R>(rows: Vec<R>) -> Page<R> {
    Page {
        total: rows.len() as u64,
        matched: rows.len() as u64,
        rows,
    }
}

/// A busy process with a task stuck in a poll.
pub(crate) fn kv() -> Snapshot {
    let worker = |ms| Worker {
        name: "tokio-rt-worker".to_owned(),
        busy_ns: ms * MS,
        polling: None,
    };
    Snapshot {
        process: Process {
            name: "kv".to_owned(),
            pid: 4242,
            command: "kv --port 7379 --dir data".to_owned(),
            uptime_ns: 751 * S,
            accounting: Accounting::Armed,
            accounting_since_unix_ns: AT - 751 * S,
            procs_known: 9,
            runtime_tasks: Some(57),
            own_cost: Some(Overhead {
                ppm: 14_000,
                monitor_ppm: Some(2_100),
                poll_ps: 31_400,
                wake_ps: 52_000,
                counter_ps: 4_100,
                resource_ps: 38_000,
            }),
        },
        at_unix_ns: AT,
        window_ns: 10 * S,
        since_start: false,
        workers: [6_120, 5_870, 5_510, 5_240].map(worker).to_vec(),
        tasks_by_state: TasksByState {
            polling: 2,
            ready: Some(3),
            waiting: 50,
            paused: 0,
        },
        procs: page(procs()),
        tasks: page(tasks()),
        awaits: page(awaits()),
        counters: page(counters()),
        delays: page(delays()),
        ..Snapshot::default()
    }
}

/// A process whose accounting is off.
pub(crate) fn gate() -> Snapshot {
    Snapshot {
        process: Process {
            name: "gate".to_owned(),
            pid: 5120,
            command: "gate --config gate.toml".to_owned(),
            uptime_ns: 7_260 * S,
            accounting: Accounting::Disarmed,
            accounting_since_unix_ns: AT - 60 * S,
            ..Process::default()
        },
        at_unix_ns: AT,
        window_ns: 10 * S,
        ..Snapshot::default()
    }
}
