//! Measures the workloads of one tool in a process of its own: each figure is processor time of the
//! threads that poll.
//!
//! `calls` prints a line `peer NAME NANOSECONDS` for each workload, `parked N` one of bytes per
//! task; `serve` serves.

use std::convert::Infallible;
use std::hint::black_box;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustix::time::{ClockId, clock_gettime};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::{deep, tool, workloads};

/// Calls in a unit of work. Tools that trace requests begin a request for each.
pub const BATCH: u32 = 100;
/// Yields at the leaf of a chain.
pub const YIELDS: u32 = 10;
const LONG: u32 = 1_000;
/// Yields at the leaf of a chain of which nearly all polls are repeated ones.
pub const REPOLLS: u32 = 20_000;
const TASKS: u32 = 1_000;
const TASK_YIELDS: u32 = 100;

const SAMPLES: usize = 7;
const SAMPLE: u64 = 15_000_000;

fn clock(id: ClockId) -> u64 {
    let now = clock_gettime(id);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn thread_cpu() -> u64 {
    clock(ClockId::ThreadCPUTime)
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Runs units of work in a task on one thread; prints the nanoseconds of `parts` of a unit.
fn measure<F>(name: &str, parts: u32, unit: fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = tool::runtime(Builder::new_current_thread());
    let task = async move {
        let mut units = 1;
        loop {
            let start = thread_cpu();
            for _ in 0..units {
                tool::root(unit()).await;
            }
            let took = (thread_cpu() - start).max(1);
            if took >= SAMPLE / 2 {
                units = (units * SAMPLE / took).max(1);
                break;
            }
            units *= 2;
        }
        let mut samples = Vec::new();
        for _ in 0..SAMPLES {
            let start = thread_cpu();
            for _ in 0..units {
                tool::root(unit()).await;
            }
            samples.push((thread_cpu() - start) as f64 / (units * u64::from(parts)) as f64);
        }
        median(samples)
    };
    let result = tool::block_on(&runtime, async { tool::spawn(task).await });
    println!("peer {name} {:.2}", result.expect("the task ends"));
}

/// A chain of so many levels.
pub struct Chain(pub u32);

impl Chain {
    /// Measures it: per poll and level.
    pub fn measure<F>(self, unit: fn() -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let polls = BATCH * (YIELDS + 1);
        measure(&format!("chain-{}", self.0), polls * self.0, unit);
    }

    /// Measures polls that nearly all repeat an earlier one: per poll and level.
    pub fn measure_repolls<F>(self, unit: fn() -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        measure(&format!("repolls-{}", self.0), (REPOLLS + 1) * self.0, unit);
    }
}

macro_rules! chain {
    ($depth:literal $function:ident) => {
        Chain($depth).measure(|| async {
            for _ in 0..BATCH {
                workloads::$function(YIELDS).await;
            }
        })
    };
}

fn calls() {
    measure("call", BATCH, || async {
        for x in 0..BATCH {
            black_box(workloads::leaf(x).await);
        }
    });
    measure("call-5", BATCH, || async {
        for _ in 0..BATCH {
            workloads::yields(5).await;
        }
    });
    measure("yield", LONG, || async { workloads::yields(LONG).await });
    chain!(1 c1);
    chain!(4 c4);
    chain!(8 c8);
    deep::measure();
    measure("join-3", BATCH * (YIELDS + 1) * 4, || async {
        for _ in 0..BATCH {
            workloads::join_3(YIELDS).await;
        }
    });
    two_workers();
}

/// Two threads that wait for each other.
#[derive(Default)]
struct Meeting {
    arrived: Mutex<u32>,
    changed: Condvar,
}

impl Meeting {
    /// Longest wait. One worker may take both tasks: then nobody comes.
    const PATIENCE: Duration = Duration::from_millis(20);

    /// Processor time of this thread, if another one comes.
    fn attend(&self) -> Option<u64> {
        let mut arrived = self.arrived.lock().expect("no panic");
        *arrived += 1;
        self.changed.notify_all();
        let waited = self.changed.wait_timeout_while(arrived, Self::PATIENCE, |arrived| *arrived < 2);
        let (mut arrived, _) = waited.expect("no panic");
        if *arrived < 2 {
            *arrived = 0;
            return None;
        }
        Some(thread_cpu())
    }
}

/// Processor time of both workers so far. Each of two tasks holds the worker that it is on, so they
/// are on both.
async fn workers_cpu() -> u64 {
    loop {
        let meeting = Arc::new(Meeting::default());
        let on_a_worker = |meeting: Arc<Meeting>| tool::spawn(async move { meeting.attend() });
        let (one, other) = (on_a_worker(meeting.clone()), on_a_worker(meeting));
        let (one, other) = (one.await.expect("a worker"), other.await.expect("a worker"));
        if let (Some(one), Some(other)) = (one, other) {
            return one + other;
        }
    }
}

async fn tasks() {
    let spawn = |_| tool::spawn(tool::root(workloads::c3(TASK_YIELDS)));
    let all: Vec<_> = (0..TASKS).map(spawn).collect();
    for task in all {
        task.await.expect("a task");
    }
}

/// Tasks three deep on two workers: per poll of a task.
fn two_workers() {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2);
    let runtime = tool::runtime(builder);
    let samples = tool::block_on(&runtime, async {
        tool::spawn(tasks()).await.expect("the tasks");
        let mut samples = Vec::new();
        for _ in 0..SAMPLES {
            let start = workers_cpu().await;
            tool::spawn(tasks()).await.expect("the tasks");
            let took = workers_cpu().await - start;
            samples.push(took as f64 / f64::from(TASKS * (TASK_YIELDS + 1)));
        }
        samples
    });
    println!("peer tasks {:.2}", median(samples));
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.expect("VmRSS in /proc/self/status") * 1024
}

async fn park(count: u64) {
    let goal = workloads::PARKED.load(Ordering::Relaxed) + count;
    for id in 0..count {
        drop(tool::spawn(tool::root(workloads::park_outer(id))));
        if id % 1_000 == 0 {
            tokio::task::yield_now().await;
        }
    }
    while workloads::PARKED.load(Ordering::Relaxed) < goal {
        tokio::task::yield_now().await;
    }
    // Collectors in threads of their own come to know the tasks.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
}

fn parked(count: u64) {
    let mut builder = Builder::new_current_thread();
    builder.enable_time();
    let runtime = tool::runtime(builder);
    let bytes = tool::block_on(&runtime, async move {
        let task = tool::spawn(async move {
            park(1_000).await;
            let before = resident_bytes();
            park(count).await;
            resident_bytes().saturating_sub(before) as f64
        });
        task.await.expect("the task ends")
    });
    println!("peer parked-{count} {:.0}", bytes / count as f64);
}

async fn answer(
    request: Request<hyper::body::Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path();
    let body = if path == "/cpu" {
        clock(ClockId::ProcessCPUTime).to_string()
    } else {
        tool::root(workloads::handle(path.to_owned())).await
    };
    Ok(Response::new(Full::new(Bytes::from(body))))
}

fn serve() {
    // The C library and the kernel take shorter ways in a process of one thread. Servers are none,
    // and some of the tools have threads of their own.
    std::thread::spawn(|| {
        loop {
            std::thread::park();
        }
    });
    let mut builder = Builder::new_current_thread();
    builder.enable_io().enable_time();
    let runtime = tool::runtime(builder);
    tool::block_on(&runtime, async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        println!(
            "peer port {}",
            listener.local_addr().expect("an address").port()
        );
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            let _ = stream.set_nodelay(true);
            tool::spawn(async move {
                let http = hyper::server::conn::http1::Builder::new();
                let _ = http
                    .serve_connection(TokioIo::new(stream), service_fn(answer))
                    .await;
            });
        }
    });
}

/// Where `PEER_WATCH` names a console, it looks on from now until this process ends.
fn watched() -> Option<Child> {
    let mut child = Command::new(std::env::var_os("PEER_WATCH")?)
        .arg(std::process::id().to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the console starts");
    let mut line = String::new();
    let mut output = std::io::BufReader::new(child.stdout.take().expect("its output"));
    std::io::BufRead::read_line(&mut output, &mut line).expect("the console speaks");
    assert_eq!(line, "attached\n", "the console is attached");
    Some(child)
}

/// One process of `.. calls | parked COUNT | serve`.
pub fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let console = watched();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["calls"] => calls(),
        ["parked", count] => parked(count.parse().expect("a number of tasks")),
        ["serve"] => serve(),
        _ => panic!("calls | parked COUNT | serve"),
    }
    if let Some(mut console) = console {
        assert!(
            console.try_wait().is_ok_and(|end| end.is_none()),
            "the console stayed to the end"
        );
        let _ = console.kill();
        let _ = console.wait();
    }
    // Nothing is torn down: a million tasks would take their time.
    std::process::exit(0);
}
