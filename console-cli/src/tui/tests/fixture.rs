//! The key-value server of the mock-ups, as the snapshots that it would send.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::quantile::Distribution;
use turbowish_model::snapshot::{
    Accounting, AwaitRow, Caller, Claim, HolderRow, LongestRow, Overhead, Page, Place, PollRow,
    ProcRow, Process, ResourceRow, Snapshot, Spot, StackRow, TaskRow, TaskState, TasksByState,
    WaiterRow, WakerRow, Worker,
};
use turbowish_wire::client::Target;

use crate::theme::Palette;
use crate::tui::clock::Now;
use crate::tui::glyphs::GlyphSet;
use crate::tui::keys::Key;
use crate::tui::message::{Effect, Message};
use crate::tui::state::{Appearance, Listed, Peer, State, Window};
use crate::tui::update::update;
use crate::tui::view::view;

pub(super) const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
const US: u64 = 1_000;
/// 2026-11-20 17:04:31 UTC.
pub(super) const AT: u64 = 1_795_194_271 * SECOND;

/// Path, line of `src/MODULE.rs`, caller; run and inclusive share in hundredths of a percent, live
/// calls, ended calls and polls in the window; run p50 p90 p99, hold p50 p99 and longest in ns;
/// yielded share in tenths of a percent, cancelled.
type Scripted = (
    (&'static str, u32, &'static str),
    [u64; 5],
    [u64; 3],
    [u64; 3],
    [u64; 2],
);

#[rustfmt::skip]
const PROCS: [Scripted; 17] = [
    (("kv::conn::read_frame", 128, "kv::conn::serve"), [9640, 9640, 50, 824_000, 1_650_000], [10_800, 17_900, 31_200], [3_110, 33_000, 1_610 * US], [47_860, 4]),
    (("kv::conn::write_reply", 156, "kv::conn::serve"), [6170, 6170, 0, 824_000, 824_000], [6_920, 9_870, 19_400], [6_920, 19_400, 1_220 * US], [0, 0]),
    (("kv::conn::serve", 57, ""), [2490, 21_310, 50, 0, 829_000], [0, 0, 0], [23_900, 71_400, 1_920 * US], [47_870, 0]),
    (("kv::db::get", 44, "kv::conn::serve"), [1310, 1310, 0, 491_000, 491_000], [2_410, 4_020, 8_100], [2_410, 8_100, 402 * US], [0, 0]),
    (("kv::db::set", 61, "kv::conn::serve"), [1260, 1260, 0, 248_000, 253_000], [4_120, 8_770, 21_700], [4_050, 21_500, 831 * US], [5, 0]),
    (("kv::snapshot::write", 90, "kv::snapshot::run"), [830, 830, 0, 16, 48], [50_300 * US, 68_800 * US, 71_200 * US], [17_100 * US, 38_400 * US, 38_400 * US], [215, 0]),
    (("kv::db::incr", 83, "kv::conn::serve"), [440, 440, 0, 85_000, 85_000], [4_020, 8_910, 20_100], [4_020, 20_100, 517 * US], [0, 3]),
    (("kv::expiry::sweep", 29, "kv::expiry::run"), [390, 390, 0, 100, 100], [3_710 * US, 5_100 * US, 6_020 * US], [3_710 * US, 6_020 * US, 6_410 * US], [0, 0]),
    (("kv::repl::push", 44, "kv::repl::run"), [160, 160, 2, 4_000, 8_100], [36_800, 71_000, 112_000], [35_100, 109_000, 655 * US], [1983, 0]),
    (("kv::stats::sample", 20, ""), [40, 40, 1, 0, 380], [0, 0, 0], [96_200, 188_000, 240_000], [996, 0]),
    (("kv::main::run", 22, ""), [10, 50, 1, 0, 380], [0, 0, 0], [98_000, 190_000, 243_000], [995, 0]),
    (("kv::repl::run", 38, ""), [4, 160, 2, 0, 8_120], [0, 0, 0], [35_400, 110_000, 657 * US], [1984, 0]),
    (("kv::snapshot::run", 34, ""), [3, 830, 1, 0, 50], [0, 0, 0], [17_100 * US, 38_400 * US, 38_400 * US], [917, 0]),
    (("kv::wal::flush", 70, "kv::snapshot::run"), [3, 3, 0, 1, 8], [902 * US, 902 * US, 902 * US], [118_000, 164_000, 164_000], [31, 0]),
    (("kv::expiry::run", 18, ""), [2, 390, 1, 0, 100], [0, 0, 0], [3_720 * US, 6_030 * US, 6_420 * US], [961, 0]),
    (("kv::snapshot::tick", 118, "kv::snapshot::run"), [1, 1, 0, 1, 50], [12_100, 12_100, 12_100], [210, 1_900, 1_900], [296, 0]),
    (("kv::snapshot::report", 58, ""), [0, 0, 0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0]),
];

fn distribution(n: u64, p50: u64, p90: u64, p99: u64, max: u64) -> Distribution {
    if n == 0 {
        return Distribution::default();
    }
    let mut merged = Distribution::default();
    for (upper, count) in [(p50, 500), (p90, 400), (p99, 90), (max, 10)] {
        merged.merge(&Distribution {
            n: count,
            sum_ns: upper * count,
            max_ns: upper,
            buckets: vec![(upper, count)],
        });
    }
    merged
}

fn file(proc: &str) -> String {
    format!("src/{}.rs", proc.split("::").nth(1).unwrap())
}

/// The last minute of a proc that runs at this share now: up and down by a third, what runs seldom
/// only now.
fn seldom(path: &str) -> bool {
    path.starts_with("kv::snapshot") || path.starts_with("kv::wal")
}

fn trend(path: &str, ppm: u64) -> Vec<u64> {
    let cell = |at: u64| match at {
        19 => ppm,
        _ if seldom(path) => 0,
        at => ppm * (70 + (at * 7 + path.len() as u64) % 4 * 9) / 100,
    };
    (0..20).map(cell).collect()
}

fn proc(scripted: &Scripted) -> ProcRow {
    let (
        (path, line, caller),
        [run, incl, live, calls, polls],
        [p50, p90, p99],
        [hold, hold99, longest],
        [yielded, cancelled],
    ) = *scripted;
    let callers = if caller.is_empty() {
        Vec::new()
    } else {
        vec![Caller {
            proc: caller.to_owned(),
            polls,
            hold_ns: incl * MS,
        }]
    };
    let wait = yielded * 10 * MS / calls.max(1);
    let wall99 = p99 + 2 * wait;
    ProcRow {
        proc: path.to_owned(),
        file: file(path),
        line,
        future_bytes: 3_174,
        running_ns: run * MS,
        trend_ppm: trend(path, run * 100),
        inclusive_ns: incl * MS,
        hold_ns: incl * MS,
        yielded_ns: yielded * 10 * MS,
        max_poll_ns: longest,
        max_poll_ago_ns: seldom(path).then_some(2 * SECOND),
        max_poll_on: Some("w0".to_owned()),
        max_poll_task: Some("snapshot-3".to_owned()),
        max_poll_after: Some(spot(("src/snapshot.rs", 105, 13))),
        max_ever_ns: longest + longest / 4,
        max_ever_ago_ns: seldom(path).then_some(302 * SECOND),
        max_ever_on: Some("w1".to_owned()),
        max_ever_task: Some("snapshot-1".to_owned()),
        max_ever_after: Some(spot(("src/snapshot.rs", 97, 18))),
        calls,
        polls,
        live,
        ready: calls - cancelled,
        cancelled,
        occupancy_ppm: run * 100,
        call_running: distribution(calls, p50, p90, p99, p99),
        call_inclusive: distribution(calls, p50, p90, p99, p99),
        call_wall: distribution(calls, p50 + wait / 2, p90 + wait, wall99, wall99),
        poll_hold: distribution(polls, hold, hold99, hold99, longest),
        poll_running: distribution(polls, hold, hold99, hold99, longest),
        callers,
        ..ProcRow::default()
    }
}

fn place(file: &str, line: u32, columns: (u32, u32), expr: &str) -> Place {
    Place {
        file: file.to_owned(),
        line,
        column: columns.0,
        end_line: line,
        end_column: columns.1,
        expr: expr.to_owned(),
    }
}

/// A waiting task, its root proc, where its innermost call waits, and since when, in tenths of a
/// second.
fn task(id: u64, name: &str, chain: &[&str], at: Place, tenths: u64) -> TaskRow {
    let since_ns = tenths * SECOND / 10;
    let stack = chain
        .iter()
        .enumerate()
        .map(|(depth, proc)| StackRow {
            depth: u32::try_from(depth).unwrap(),
            proc: (*proc).to_owned(),
            place: Some(at.clone()),
            since_ns,
            ..StackRow::default()
        })
        .collect();
    TaskRow {
        id,
        name: name.to_owned(),
        state: TaskState::Waiting,
        since_ns,
        age_ns: 842 * SECOND,
        polls: 649_000,
        running_ns: 12 * SECOND,
        max_poll_ns: 38 * MS,
        root: chain[0].to_owned(),
        future_bytes: 12_288,
        stack,
        stack_truncated: false,
        waker: Some(WakerRow {
            woken_by: Some("repl-2".to_owned()),
            woken_in: Some("repl src/repl.rs:40 > apply".to_owned()),
            wakes: 650_000,
            own_wakes: 12,
            clones: 650_010,
            live: 1,
        }),
        last_poll: Some(PollRow {
            ago_ns: since_ns + 17_300_000,
            took_ns: Some(17_300_000),
            thread: Some("tokio-rt-worker".to_owned()),
            worker: Some(1),
            ready_ns: Some(11_200),
            ready_by: Some("repl-2".to_owned()),
            ready_in: Some("repl src/repl.rs:40 > apply".to_owned()),
        }),
        ..TaskRow::default()
    }
}

fn spot(at: (&str, u32, u32)) -> Spot {
    Spot {
        file: at.0.to_owned(),
        line: at.1,
        column: at.2,
    }
}

/// Resources of the mock-up by their number.
const LOG: (u64, &str) = (1, "mutex log");
const REPL: (u64, &str) = (2, "mpsc repl");
const DB: (u64, &str) = (3, "mutex db");

fn claim((id, name): (u64, &str), role: Role, tenths: u64, at: (&str, u32, u32)) -> Claim {
    Claim {
        resource_id: id,
        resource: name.to_owned(),
        role,
        amount: 1,
        since_ns: tenths * SECOND / 10,
        at: spot(at),
    }
}

/// What each task waits for, as its await says, and who holds what.
fn entangle(tasks: &mut [TaskRow]) {
    for task in tasks {
        let Some(place) = task.stack.last().and_then(|call| call.place.clone()) else {
            continue;
        };
        let (on, role) = match &*place.expr {
            "self.log.lock()" => (LOG, Role::Lock),
            "self.repl.send(cmd)" => (REPL, Role::Send),
            _ => (DB, Role::Lock),
        };
        let at = (&*place.file, place.line, place.column + 9);
        task.waits_on = vec![claim(on, role, task.since_ns * 10 / SECOND, at)];
        match &*task.name {
            "conn:51022" => {
                task.holds = vec![claim(DB, Role::Lock, 414, ("src/conn.rs", 84, 30))];
            }
            "snapshot" => {
                task.holds = vec![claim(LOG, Role::Lock, 416, ("src/snapshot.rs", 92, 23))];
            }
            _ => {}
        }
    }
}

fn holder(task: &str, role: Role, tenths: u64, at: (&str, u32, u32)) -> HolderRow {
    HolderRow {
        task: Some(task.to_owned()),
        role,
        amount: 1,
        since_ns: tenths * SECOND / 10,
        at: spot(at),
    }
}

fn waiters(name: &str, tasks: &[TaskRow]) -> Vec<WaiterRow> {
    let mut waiters: Vec<WaiterRow> = tasks
        .iter()
        .flat_map(|task| task.waits_on.iter().map(move |claim| (task, claim)))
        .filter(|(_, claim)| claim.resource == name)
        .map(|(task, claim)| WaiterRow {
            task: Some(task.name.clone()),
            role: claim.role,
            amount: 1,
            since_ns: claim.since_ns,
            at: claim.at.clone(),
            woken_ns: None,
        })
        .collect();
    waiters.sort_by_key(|waiter| std::cmp::Reverse(waiter.since_ns));
    waiters
}

/// A use of a resource that was long, 95 s ago.
fn longest(task: &str, ms: u64, proc: &str, role: Role, at: Option<Spot>) -> LongestRow {
    LongestRow {
        took_ns: ms * MS,
        ago_ns: 95 * SECOND,
        role,
        task: Some(task.to_owned()),
        proc: proc.to_owned(),
        at,
        on: Some("w1".to_owned()),
        behind: None,
    }
}

/// The mutexes of the mock-up were held long once.
fn once_held(row: ResourceRow) -> ResourceRow {
    let (asked, taken) = (("src/repl.rs", 51, 36), ("src/snapshot.rs", 92, 23));
    let wait = longest(
        "repl-1",
        1_488,
        "kv::repl::log",
        Role::Lock,
        Some(spot(asked)),
    );
    let (task, proc) = ("snapshot-1", "kv::snapshot::write");
    ResourceRow {
        longest_wait: Some(LongestRow {
            behind: Some(task.to_owned()),
            ..wait
        }),
        longest_hold: Some(longest(task, 1_500, proc, Role::Lock, Some(spot(taken)))),
        longest_queue: 44,
        longest_queue_ago_ns: 95 * SECOND,
        ..row
    }
}

/// The resources of the mock-up: nothing moves, because of the deadlock.
fn resources(tasks: &[TaskRow]) -> Vec<ResourceRow> {
    let made = |id, kind, name: &str, made_at| {
        let waiters = waiters(name, tasks);
        ResourceRow {
            id,
            kind,
            name: name.to_owned(),
            made_at: spot(made_at),
            age_ns: 842 * SECOND,
            waiter_count: waiters.len() as u64,
            waiters,
            ..ResourceRow::default()
        }
    };
    let mutex = |(id, name), made_at, held: HolderRow| ResourceRow {
        capacity: Some(1),
        level: Some(1),
        holders: vec![held],
        holder_count: 1,
        ..made(id, Kind::Mutex, name, made_at)
    };
    let snapshot = holder("snapshot", Role::Lock, 416, ("src/snapshot.rs", 92, 23));
    let conn = holder("conn:51022", Role::Lock, 414, ("src/conn.rs", 84, 30));
    let mut stop = made(4, Kind::Notify, "notify stop", ("src/main.rs", 30, 16));
    stop.waiter_count = 1;
    stop.waiters = vec![WaiterRow {
        role: Role::Wait,
        since_ns: 842 * SECOND,
        at: spot(("src/main.rs", 40, 15)),
        ..WaiterRow::default()
    }];
    let permits = (0..50).map(|at| {
        let task = format!("conn:{}", 51_000 + at);
        holder(&task, Role::Acquire, 6_000, ("src/server.rs", 61, 30))
    });
    vec![
        once_held(mutex(LOG, ("src/repl.rs", 18, 18), snapshot)),
        once_held(mutex(DB, ("src/db.rs", 21, 13), conn)),
        ResourceRow {
            capacity: Some(64),
            level: Some(64),
            senders: vec![Some("conn:51022".to_owned()), None],
            receivers: vec![Some("repl-1".to_owned())],
            put: 320_476,
            took: 320_412,
            waits: 9_120,
            waited: distribution(9_119, 20 * US, 90 * US, 2 * MS, 11 * MS),
            kept: distribution(320_412, 1_210 * US, 4 * MS, 8_800 * US, 12 * MS),
            longest_wait: Some(longest(
                "conn:51022",
                11,
                "kv::conn::serve",
                Role::Send,
                Some(spot(("src/conn.rs", 88, 18))),
            )),
            longest_hold: Some(longest("repl-1", 12, "kv::repl::run", Role::Receive, None)),
            ..made(REPL.0, Kind::Mpsc, REPL.1, ("src/main.rs", 33, 26))
        },
        stop,
        ResourceRow {
            capacity: Some(1_000),
            level: Some(50),
            holders: permits.collect(),
            holder_count: 50,
            ..made(
                5,
                Kind::Semaphore,
                "semaphore conns",
                ("src/main.rs", 31, 20),
            )
        },
        ResourceRow {
            senders: vec![Some("main".to_owned())],
            receivers: vec![None],
            ..made(6, Kind::Watch, "watch config", ("src/main.rs", 32, 22))
        },
    ]
}

/// The deadlock of the mock-up, with one task that polls and one whose poll is late.
pub(super) fn tasks() -> Vec<TaskRow> {
    let mut tasks = vec![
        task(
            1,
            "repl-1",
            &["kv::repl::run", "kv::repl::push"],
            place("src/repl.rs", 51, (27, 47), "self.log.lock()"),
            416,
        ),
        task(
            2,
            "conn:51022",
            &["kv::conn::serve"],
            place("src/conn.rs", 88, (9, 33), "self.repl.send(cmd)"),
            414,
        ),
        task(
            3,
            "snapshot",
            &["kv::snapshot::run", "kv::snapshot::write"],
            place("src/snapshot.rs", 97, (18, 37), "self.db.lock()"),
            412,
        ),
        task(
            4,
            "expiry",
            &["kv::expiry::run", "kv::expiry::sweep"],
            place("src/expiry.rs", 33, (22, 36), "db.lock()"),
            414,
        ),
    ];
    for port in (0..50u32).filter(|port| *port != 22) {
        let name = format!("conn:{}", 51_000 + port);
        let at = place("src/conn.rs", 84, (22, 41), "self.db.lock()");
        let tenths = 413 - u64::from(port) * 7 % 35;
        tasks.push(task(
            10 + u64::from(port),
            &name,
            &["kv::conn::serve"],
            at,
            tenths,
        ));
    }
    let mut polling = task(99, "stats", &["kv::stats::sample"], Place::default(), 21);
    polling.state = TaskState::Polling;
    polling.stack[0].place = None;
    tasks.push(polling);
    let mut late = task(98, "wal", &["kv::wal::flush"], Place::default(), 14);
    late.state = TaskState::Ready;
    late.stack[0].place = None;
    tasks.push(late);
    entangle(&mut tasks);
    tasks
}

fn awaits() -> Vec<AwaitRow> {
    let row = |proc: &str, place, waits, now, waited_ms: u64, max_us: u64, share_ppm| AwaitRow {
        proc: proc.to_owned(),
        idle: String::new(),
        place,
        waits,
        now,
        waited_ns: waited_ms * MS,
        max_wait_ns: max_us * US,
        max_wait_ago_ns: (now == 0).then_some(12 * SECOND),
        max_wait_task: (now == 0).then(|| "snapshot-1".to_owned()),
        wait_max_ns: (now == 0).then_some(max_us * US / 2),
        wait_max_ago_ns: (now == 0).then_some(3 * SECOND),
        wait_max_task: (now == 0).then(|| "snapshot-3".to_owned()),
        share_ppm,
        cancelled: 0,
        await_wait: {
            let mean = waited_ms * MS / waits.max(1);
            let longest = max_us * US;
            distribution(waits, mean * 9 / 10, longest / 2, longest, longest)
        },
    };
    vec![
        row(
            "kv::conn::read_frame",
            place(
                "src/conn.rs",
                131,
                (13, 44),
                "self.stream.read_buf(&mut buf)",
            ),
            826_000,
            47,
            478_600,
            8_100,
            1_000_000,
        ),
        row(
            "kv::snapshot::write",
            place("src/snapshot.rs", 112, (9, 30), "file.sync_data()"),
            16,
            0,
            1_940,
            141_000,
            901_000,
        ),
        row(
            "kv::snapshot::write",
            place("src/snapshot.rs", 105, (13, 39), "file.write_all(&page)"),
            14,
            0,
            212,
            22_400,
            98_000,
        ),
        row(
            "kv::snapshot::write",
            place("src/snapshot.rs", 97, (18, 37), "self.db.lock()"),
            2,
            0,
            1,
            620,
            1_000,
        ),
    ]
}

fn page<R>(rows: Vec<R>) -> Page<R> {
    let total = rows.len() as u64;
    Page {
        rows,
        total,
        matched: total,
    }
}

fn worker(busy_ms: u64) -> Worker {
    Worker {
        name: "tokio-rt-worker".to_owned(),
        busy_ns: busy_ms * MS,
        polling: None,
    }
}

/// The server of the mock-ups under load, whole.
/// The same, when a task has ended.
pub(super) fn kv_without(task: &str) -> Snapshot {
    let mut snapshot = kv();
    let Page {
        rows,
        total,
        matched,
    } = &mut snapshot.tasks;
    rows.retain(|row| row.name != task);
    (*total, *matched) = (*total - 1, *matched - 1);
    snapshot
}

pub(super) fn kv() -> Snapshot {
    Snapshot {
        process: Process {
            name: "kv".to_owned(),
            pid: 4242,
            command: "kv --port 7379 --dir data".to_owned(),
            uptime_ns: 751 * SECOND,
            accounting: Accounting::Armed,
            accounting_since_unix_ns: AT - 751 * SECOND,
            procs_known: 17,
            runtime_tasks: Some(57),
            own_cost: Some(Overhead {
                ppm: 14_000,
                ..Overhead::default()
            }),
        },
        at_unix_ns: AT,
        window_ns: 10 * SECOND,
        workers: [6_120, 5_870, 5_510, 5_240].map(worker).to_vec(),
        tasks_by_state: TasksByState {
            polling: 2,
            ready: Some(3),
            waiting: 50,
            paused: 0,
        },
        ready_latency: {
            let mut latency = distribution(1, 6_100, 20_000, 88_000, 36_900 * US);
            latency
                .buckets
                .iter_mut()
                .for_each(|(_, count)| *count *= 831);
            latency.n *= 831;
            latency
        },
        procs: page(PROCS.iter().map(proc).collect()),
        tasks: page(tasks()),
        awaits: page(awaits()),
        resources: page(resources(&tasks())),
        ..Snapshot::default()
    }
}

/// The server with these alerts, as the process sends them.
pub(super) fn with(alerts: Vec<Alert>) -> Snapshot {
    Snapshot {
        alerts: page(alerts),
        ..kv()
    }
}

/// A console that watches the server with these alerts.
pub(super) fn alarmed(size: (u16, u16), alerts: Vec<Alert>) -> State {
    let mut state = looking(size);
    tell(&mut state, Message::Listed(vec![listed(4242, |_| ())]));
    arrives(&mut state, with(alerts));
    state
}

pub(super) fn peer(pid: u32) -> Peer {
    Peer {
        pid: Some(pid),
        target: Target::Pid(pid),
    }
}

/// A process of the list: its header.
pub(super) fn listed(pid: u32, change: impl FnOnce(&mut Snapshot)) -> Listed {
    let mut snapshot = kv();
    snapshot.process.pid = pid;
    change(&mut snapshot);
    Listed {
        peer: peer(pid),
        answer: Ok(snapshot),
    }
}

pub(super) fn now(seconds: u64) -> Now {
    Now {
        mono_ns: seconds * SECOND,
        unix_ns: AT + seconds * SECOND,
        utc_offset_s: 0,
    }
}

/// A console that looks for processes.
pub(super) fn looking(size: (u16, u16)) -> State {
    let look = Appearance {
        palette: Palette::mono(),
        glyphs: GlyphSet::Ascii.glyphs(),
        mouse: true,
        theme: None,
        kept_window: None,
    };
    let mut state = State::new(look, size, Window(Some(10 * SECOND)), SECOND);
    tell(&mut state, Message::Tick(now(0)));
    state
}

/// A console that watches the server and has its first snapshot.
pub(super) fn attached(size: (u16, u16)) -> State {
    let mut state = looking(size);
    tell(&mut state, Message::Listed(vec![listed(4242, |_| ())]));
    arrives(&mut state, kv());
    state
}

pub(super) fn arrives(state: &mut State, snapshot: Snapshot) {
    tell(state, Message::Snapshot(Box::new(snapshot)));
}

/// Time goes on, without data.
pub(super) fn until(state: &mut State, seconds: u64) {
    tell(state, Message::Tick(now(seconds)));
}

pub(super) fn tell(state: &mut State, message: Message) -> Option<Effect> {
    update(state, message)
}

/// A key by the name that the key table gives it: `j`, `^D`, `Enter`, `PgDn`.
pub(super) fn key(name: &str) -> Key {
    let plain = |code| KeyEvent::new(code, KeyModifiers::NONE).into();
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Bksp" => KeyCode::Backspace,
        "Tab" => KeyCode::Tab,
        "S-Tab" => return KeyEvent::new(KeyCode::Tab, KeyModifiers::SHIFT).into(),
        "Space" => KeyCode::Char(' '),
        "PgDn" => KeyCode::PageDown,
        "PgUp" => KeyCode::PageUp,
        "Hm" => KeyCode::Home,
        "End" => KeyCode::End,
        "Dn" => KeyCode::Down,
        "Up" => KeyCode::Up,
        "Lt" => KeyCode::Left,
        "Rt" => KeyCode::Right,
        _ => {
            let mut letters = name.chars();
            match (letters.next().unwrap(), letters.as_str()) {
                (letter, "") => KeyCode::Char(letter),
                ('^', letter) => {
                    let letter = KeyCode::Char(letter.chars().next().unwrap().to_ascii_lowercase());
                    return KeyEvent::new(letter, KeyModifiers::CONTROL).into();
                }
                ('F', digits) => KeyCode::F(digits.parse().unwrap()),
                _ => panic!("no key {name}"),
            }
        }
    };
    plain(code)
}

/// Presses keys, given by name; gives the last effect.
pub(super) fn press(state: &mut State, names: &str) -> Option<Effect> {
    names
        .split_whitespace()
        .map(|name| tell(state, Message::Key(key(name))))
        .last()
        .flatten()
}

/// The screen as text, without trailing blanks.
pub(super) fn screen(state: &State) -> String {
    let (width, height) = state.size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view(state, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| {
        let text: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        text.trim_end().to_owned()
    };
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}
