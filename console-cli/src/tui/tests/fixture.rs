//! The key-value server of the mock-ups, as the snapshots that it would send.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use turbowish_model::quantile::Distribution;
use turbowish_model::snapshot::{
    Accounting, AwaitRow, Caller, Page, Place, ProcRow, Process, Snapshot, StackRow, TaskRow,
    TaskState, TasksByState, Worker,
};
use turbowish_wire::client::Target;

use crate::tui::clock::Now;
use crate::tui::glyphs::GlyphSet;
use crate::tui::keys::Key;
use crate::tui::message::{Effect, Message};
use crate::tui::state::{Listed, Look, Peer, State, Window};
use crate::tui::theme::Palette;
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
    ProcRow {
        proc: path.to_owned(),
        file: file(path),
        line,
        future_bytes: 3_174,
        running_ns: run * MS,
        inclusive_ns: incl * MS,
        hold_ns: incl * MS,
        yielded_ns: yielded * 10 * MS,
        max_poll_ns: longest,
        calls,
        polls,
        live,
        ready: calls - cancelled,
        cancelled,
        occupancy_ppm: run * 100,
        call_running: distribution(calls, p50, p90, p99, p99),
        call_inclusive: distribution(calls, p50, p90, p99, p99),
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

/// A waiting task, its root proc, where its innermost call waits, and since when, in tenths of a second.
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
    }
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
    for port in (0..51u32).filter(|port| *port != 22) {
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
    tasks
}

fn awaits() -> Vec<AwaitRow> {
    let row = |proc: &str, place, waits, now, waited_ms: u64, max_us: u64, share_ppm| AwaitRow {
        proc: proc.to_owned(),
        place,
        waits,
        now,
        waited_ns: waited_ms * MS,
        max_wait_ns: max_us * US,
        share_ppm,
        cancelled: 0,
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
        },
        at_unix_ns: AT,
        window_ns: 10 * SECOND,
        workers: [6_120, 5_870, 5_510, 5_240].map(worker).to_vec(),
        tasks_by_state: TasksByState {
            polling: 2,
            ready: Some(3),
            waiting: 50,
        },
        procs: page(PROCS.iter().map(proc).collect()),
        tasks: page(tasks()),
        awaits: page(awaits()),
        ..Snapshot::default()
    }
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
    let look = Look {
        palette: Palette::mono(),
        glyphs: GlyphSet::Ascii.glyphs(),
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
