//! How long a key takes until it is on the screen, and how much memory the console needs, with
//! 100,000 tasks, 500 procs and 1,000 channels.
//!
//! The program runs on a terminal of 200 columns and 50 lines, as its users run it, beside a
//! scripted process that has the 10,000 worst of its tasks at hand, as a real one would, and sends
//! what it is asked for once a second. `cargo bench -p turbowish-cli --bench draw`; with a process
//! id behind `--`, the console looks at that process instead (`benches/console-open.sh` has one).

#![allow(
    clippy::unwrap_used,
    reason = "a measurement that cannot be set up has failed"
)]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::net::UnixListener;
use tokio_stream::wrappers::{ReceiverStream, UnixListenerStream};
use tonic::{Request, Response, Status};
use turbowish_model::account::resource::Kind;
use turbowish_model::query::{Budget, Query, Selection};
use turbowish_model::snapshot::quantile::Distribution;
use turbowish_model::snapshot::{
    Accounting, AwaitRow, Page, Place, ProcRow, Process, ResourceRow, Snapshot, StackRow, TaskRow,
    Worker,
};
use turbowish_wire::proto::turbowish_server::{Turbowish, TurbowishServer};
use turbowish_wire::proto::{self, HelloReply, HelloRequest, WatchRequest};
use turbowish_wire::{PROTOCOL, VERSION, discovery};

const TASKS: u64 = 100_000;
/// Rows of a table that a process sends at most, however many it is asked for.
const SENT: u64 = 10_000;
const PROCS: u64 = 500;
const CHANNELS: u64 = 1_000;
/// From the key to the screen, at most.
const GOAL: Duration = Duration::from_millis(50);
const MS: u64 = 1_000_000;
/// So many keys in each view.
const KEYS: usize = 40;

fn population(seed: u64) -> Distribution {
    let buckets: Vec<(u64, u64)> = (0..60).map(|at| ((at + 1) * (10_000 + seed), 7)).collect();
    let n = buckets.iter().map(|(_, count)| count).sum();
    Distribution {
        n,
        sum_ns: n * 300_000,
        max_ns: 60 * (10_000 + seed),
        buckets,
    }
}

fn proc(at: u64) -> ProcRow {
    ProcRow {
        proc: format!("service::module_{}::function_{at}", at % 40),
        file: format!("src/module_{}.rs", at % 40),
        line: at as u32,
        running_ns: at * MS,
        hold_ns: at * MS,
        occupancy_ppm: at * 100,
        trend_ppm: (0..20).map(|cell| at * (80 + cell)).collect(),
        calls: at * 10,
        polls: at * 30,
        ready: at * 10,
        call_running: population(at),
        call_inclusive: population(at),
        call_wall: population(at),
        poll_hold: population(at),
        poll_running: population(at),
        ready_latency: population(at),
        ..ProcRow::default()
    }
}

fn place(at: u64) -> Place {
    Place {
        file: format!("src/module_{}.rs", at % 40),
        line: (at % 900) as u32,
        column: 9,
        end_line: (at % 900) as u32,
        end_column: 40,
        expr: format!("self.client_{}.request(&message)", at % 90),
    }
}

fn task(at: u64) -> TaskRow {
    let call = |depth| StackRow {
        depth,
        proc: format!("service::module_{}::function_{}", at % 40, at % 500),
        place: Some(place(at)),
        since_ns: at * MS,
        ..StackRow::default()
    };
    TaskRow {
        id: at + 1,
        name: format!("request-{at}"),
        since_ns: at * MS,
        age_ns: at * MS,
        polls: at,
        root: "service::request".to_owned(),
        stack: (0..4).map(call).collect(),
        ..TaskRow::default()
    }
}

fn channel_row(at: u64) -> ResourceRow {
    ResourceRow {
        id: at + 1,
        kind: Kind::Mpsc,
        name: format!("mpsc jobs-{at}"),
        capacity: Some(64),
        level: Some(at % 65),
        put: at * 1_000,
        took: at * 999,
        kept: population(at),
        senders: vec![Some(format!("request-{at}")); 3],
        receivers: vec![Some(format!("worker-{at}"))],
        ..ResourceRow::default()
    }
}

fn page<R>(rows: Vec<R>, total: u64) -> Page<R> {
    Page {
        rows,
        total,
        matched: total,
    }
}

fn snapshot() -> Snapshot {
    let await_point = |at| AwaitRow {
        proc: format!("service::module_{}::function_{at}", at % 40),
        place: place(at),
        waits: at,
        waited_ns: at * MS,
        ..AwaitRow::default()
    };
    Snapshot {
        process: Process {
            name: "large".to_owned(),
            pid: std::process::id(),
            command: "large".to_owned(),
            uptime_ns: 1_000 * MS,
            accounting: Accounting::Armed,
            procs_known: PROCS,
            ..Process::default()
        },
        window_ns: 10_000 * MS,
        workers: vec![Worker::default(); 8],
        procs: page((0..PROCS).map(proc).collect(), PROCS),
        tasks: page((0..SENT).map(task).collect(), TASKS),
        resources: page((0..CHANNELS).map(channel_row).collect(), CHANNELS),
        awaits: page((0..2_000).map(await_point).collect(), 2_000),
        ..Snapshot::default()
    }
}

/// Sends the same snapshot once a second.
struct Large {
    snapshot: Snapshot,
}

impl Large {
    fn selected(&self, query: Option<proto::Query>) -> Result<proto::Snapshot, Status> {
        let bad = |error: String| Status::invalid_argument(error);
        let query = query.map(Query::try_from).transpose();
        let query = query.map_err(|e| bad(e.to_string()))?.unwrap_or_default();
        let selection = Selection::parse(&query).map_err(|e| bad(e.to_string()))?;
        let mut snapshot = self.snapshot.clone();
        selection
            .apply(&mut snapshot, &Budget::unlimited())
            .map_err(|e| bad(e.to_string()))?;
        Ok(snapshot.into())
    }
}

#[tonic::async_trait]
impl Turbowish for Large {
    async fn hello(&self, _: Request<HelloRequest>) -> Result<Response<HelloReply>, Status> {
        Ok(Response::new(HelloReply {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            process: Some(self.snapshot.process.clone().into()),
            read_only: false,
        }))
    }

    async fn read(
        &self,
        request: Request<proto::Query>,
    ) -> Result<Response<proto::Snapshot>, Status> {
        Ok(Response::new(self.selected(Some(request.into_inner()))?))
    }

    type WatchStream = ReceiverStream<Result<proto::Snapshot, Status>>;

    async fn watch(
        &self,
        request: Request<WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let snapshot = self.selected(request.into_inner().query)?;
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(Duration::from_secs(1));
            loop {
                ticks.tick().await;
                if sender.send(Ok(snapshot.clone())).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    type PastStream = tokio_stream::Empty<Result<proto::PastReply, Status>>;

    async fn past(
        &self,
        _: Request<proto::PastRequest>,
    ) -> Result<Response<Self::PastStream>, Status> {
        Err(Status::unimplemented("nothing is recorded"))
    }

    async fn control(
        &self,
        _: Request<proto::ControlRequest>,
    ) -> Result<Response<proto::ControlReply>, Status> {
        Err(Status::permission_denied("nothing to control"))
    }
}

/// Our end of a terminal with the console on it.
struct Console {
    keys: File,
    drawn: Receiver<Instant>,
}

impl Console {
    /// Nothing has been drawn for a while.
    fn rest(&self) {
        while self.drawn.recv_timeout(Duration::from_millis(150)).is_ok() {}
    }

    /// Rows that were asked for just now have come.
    fn settle(&self) {
        std::thread::sleep(Duration::from_secs(3));
    }

    /// Time from a key to the first and to the last piece of what it draws.
    fn press(&mut self, key: &[u8]) -> (Duration, Duration) {
        self.rest();
        let begin = Instant::now();
        self.keys.write_all(key).unwrap();
        let first = self.drawn.recv_timeout(Duration::from_secs(20)).unwrap();
        let mut last = first;
        while let Ok(more) = self.drawn.recv_timeout(Duration::from_millis(10)) {
            last = more;
        }
        (first - begin, last - begin)
    }

    /// Opens a view, and waits for its rows.
    fn open(&mut self, key: &[u8]) {
        self.press(key);
        self.settle();
    }

    fn with_preview(&mut self, what: &str) {
        self.open(b"v");
        self.measure(what, &[b"j", b"k"]);
        self.press(b"v");
    }

    /// The median of them is held against the goal: a machine that others use has moments of its
    /// own.
    fn measure(&mut self, what: &str, keys: &[&[u8]]) {
        let mut times: Vec<(Duration, Duration)> = (0..KEYS)
            .map(|at| self.press(keys[at % keys.len()]))
            .collect();
        times.sort_by_key(|(_, last)| *last);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (least, middle, most) = (
            times[0].1,
            times[times.len() / 2].1,
            times[times.len() - 1].1,
        );
        let verdict = if middle <= GOAL { "met" } else { "MISSED" };
        println!(
            "{what:<28} {:>8.1} {:>8.1} {:>8.1}  {verdict}",
            ms(least),
            ms(middle),
            ms(most)
        );
    }
}

/// Answers on a socket of its own as long as the runtime lives.
fn serve(folder: &Path) -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let inside = runtime.enter();
    let socket = discovery::socket(folder, std::process::id());
    let incoming = UnixListenerStream::new(UnixListener::bind(socket).unwrap());
    let service = TurbowishServer::new(Large {
        snapshot: snapshot(),
    });
    runtime.spawn(tonic::transport::Server::builder().serve_with_incoming(service, incoming));
    drop(inside);
    runtime
}

/// A terminal of 200x50: our end, and that of the console.
fn terminal() -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let name = name.to_str().unwrap();
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    let size = Command::new("stty")
        .args(["rows", "50", "cols", "200"])
        .stdin(theirs.try_clone().unwrap())
        .status();
    assert!(size.unwrap().success());
    (ours.into(), theirs)
}

fn measure(console: &mut Console) {
    let (least, most) = ("least", "most");
    let what = "ms from key to screen";
    println!("{what:<28} {least:>8} {:>8} {most:>8}", "median");
    console.measure("procs: row down, up", &[b"j", b"k"]);
    console.measure("procs: page down, up", &[b"\x04", b"\x15"]);
    console.measure("procs: another order", &[b">", b"<"]);
    console.measure("procs: groups", &[b"t"]);
    console.measure("procs: filter, letter", &[b"/", b"m", b"o", b"d", b"\x1b"]);
    console.with_preview("procs: row, with preview");
    console.open(b"2");
    console.measure("tasks: row down, up", &[b"j", b"k"]);
    console.measure("tasks: page down, up", &[b"\x04", b"\x15"]);
    console.measure("tasks: last, first row", &[b"G", b"g"]);
    console.measure("tasks: another order", &[b">", b"<"]);
    console.measure("tasks: inverted", &[b"I"]);
    console.measure("tasks: groups", &[b"t"]);
    console.measure("tasks: filter, letter", &[b"/", b"r", b"e", b"q", b"\x1b"]);
    console.measure("tasks: record and back", &[b"\r", b"H"]);
    console.with_preview("tasks: row, with preview");
    console.open(b"3");
    console.measure("resources: row down, up", &[b"j", b"k"]);
    console.measure("resources: another order", &[b">", b"<"]);
    console.open(b"4");
    console.measure("awaits: another order", &[b">", b"<"]);
    console.measure("another view", &[b"1", b"2", b"3", b"4", b"5"]);
}

fn main() {
    let folder = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()
        .unwrap();
    // Cargo adds words of its own.
    let real = std::env::args().find(|word| word.parse::<u32>().is_ok());
    let _server = real.is_none().then(|| serve(folder.path()));
    let (keys, theirs) = terminal();
    let mut program = Command::new(env!("CARGO_BIN_EXE_turbowish"));
    program.args(["top", "--ascii"]).args(&real);
    program.env("TURBOWISH_NO_STATE", "1");
    if real.is_none() {
        program.env("TURBOWISH_RUNTIME_DIR", folder.path());
    }
    let mut program = program
        .stdin(theirs.try_clone().unwrap())
        .stdout(theirs)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut screen = keys.try_clone().unwrap();
    let (sender, drawn) = channel();
    std::thread::spawn(move || {
        let mut piece = [0; 65_536];
        while screen.read(&mut piece).is_ok_and(|n| n > 0) && sender.send(Instant::now()).is_ok() {}
    });
    let mut console = Console { keys, drawn };
    console.settle();
    measure(&mut console);
    let status = fs::read_to_string(format!("/proc/{}/status", program.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("memory, most: {}", peak.unwrap_or("unknown").trim());
    console.keys.write_all(b"q").unwrap();
    program.wait().unwrap();
}
