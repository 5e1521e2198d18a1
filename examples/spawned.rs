//! A million tasks spawned and finished, and a spawn beside a million that wait.
//!
//! `cargo run --release --features server,tokio --example spawned -- [TASKS [SECONDS]]` (1,000,000
//! and 20 by default). Prints the processor time of the process per task, from its spawn to its end,
//! in nanoseconds: three times. Then as many tasks wait, and others are spawned for so many seconds:
//! the last lines are how many, the longest time of one spawn in microseconds, and the longest with
//! the time for which the machine's host ran something else. In neither is the time for which the
//! kernel ran another thread. `benches/spawned.sh` compares it with the same program without
//! instrumentation.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tokio::sync::Notify;

/// Times that the tasks are spawned and finished.
const ROUNDS: u32 = 3;

/// What the tasks wait for, and how many do or did.
#[derive(Default)]
struct Gate {
    open: Notify,
    arrived: AtomicU64,
    over: AtomicU64,
}

#[turbowish::instrument]
async fn task(gate: Arc<Gate>) {
    middle(&gate).await;
    gate.over.fetch_add(1, Ordering::Relaxed);
}

#[turbowish::instrument]
async fn middle(gate: &Gate) {
    leaf(gate).await;
}

#[turbowish::instrument]
async fn leaf(gate: &Gate) {
    let opened = gate.open.notified();
    gate.arrived.fetch_add(1, Ordering::Relaxed);
    opened.await;
}

#[turbowish::instrument]
async fn short(over: Arc<AtomicU64>) {
    over.fetch_add(1, Ordering::Relaxed);
}

/// What the kernel says of a thread so far.
struct Schedule {
    /// Nanoseconds on a processor.
    ran: u64,
    /// Nanoseconds of waiting for one.
    delayed: u64,
    /// Times that it got one.
    turns: u64,
}

impl Schedule {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut words = text.split_whitespace().map_while(|word| word.parse().ok());
        let mut next = || words.next().unwrap_or(0);
        Self {
            ran: next(),
            delayed: next(),
            turns: next(),
        }
    }

    fn own() -> Self {
        Self::read(Path::new("/proc/thread-self/schedstat"))
    }
}

/// Processor time of this thread so far. Linux leaves out what the host of a virtual machine ran
/// meanwhile, which it cannot leave out of the time that passes.
fn own_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.try_into().expect("a processor time")
}

/// Processor time of all threads so far, in nanoseconds.
fn processor_time() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task")
        .expect("Linux")
        .flatten();
    threads
        .map(|thread| Schedule::read(&thread.path().join("schedstat")).ran)
        .sum()
}

async fn until(number: &AtomicU64, count: u64) {
    while number.load(Ordering::Relaxed) < count {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn wait(tasks: u64) -> Arc<Gate> {
    let gate = Arc::<Gate>::default();
    for _ in 0..tasks {
        tokio::spawn(task(gate.clone()));
    }
    until(&gate.arrived, tasks).await;
    gate
}

/// What spawns took.
#[derive(Default)]
struct Spawns {
    count: u64,
    /// The longest one.
    longest: Duration,
    /// The longest one with what the host ran meanwhile.
    with_host: Duration,
}

/// Spawns short tasks for so long, one at a time.
fn spawns(runtime: &tokio::runtime::Handle, seconds: u64) -> Spawns {
    let over = Arc::<AtomicU64>::default();
    let (begun, mut spawns) = (Instant::now(), Spawns::default());
    while begun.elapsed() < Duration::from_secs(seconds) {
        let (before, ran, start) = (Schedule::own(), own_time(), Instant::now());
        runtime.spawn(short(over.clone()));
        let (took, ran, after) = (start.elapsed(), own_time() - ran, Schedule::own());
        let took = took.saturating_sub(Duration::from_nanos(after.delayed - before.delayed));
        // A thread that kept its processor waited for nobody: the rest is the host's.
        let own = match after.turns == before.turns {
            true => took.min(ran),
            false => took,
        };
        spawns.longest = spawns.longest.max(own);
        spawns.with_host = spawns.with_host.max(took);
        spawns.count += 1;
        while over.load(Ordering::Relaxed) < spawns.count {
            std::thread::yield_now();
        }
    }
    spawns
}

fn number(nth: usize, otherwise: u64) -> u64 {
    let given = std::env::args().nth(nth);
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

fn main() -> std::io::Result<()> {
    let (tasks, seconds) = (number(1, 1_000_000), number(2, 20));
    let _turbowish = turbowish::init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()?;
    let mut out = std::io::stdout();
    for _ in 0..ROUNDS {
        let before = processor_time();
        runtime.block_on(async {
            let gate = wait(tasks).await;
            gate.open.notify_waiters();
            until(&gate.over, tasks).await;
        });
        writeln!(out, "task {}", (processor_time() - before) / tasks)?;
    }
    let gate = runtime.block_on(wait(tasks));
    writeln!(out, "waiting {tasks}")?;
    out.flush()?;
    let spawns = spawns(runtime.handle(), seconds);
    writeln!(out, "spawns {}", spawns.count)?;
    writeln!(out, "longest {}", spawns.longest.as_micros())?;
    writeln!(out, "with-host {}", spawns.with_host.as_micros())?;
    gate.open.notify_waiters();
    runtime.block_on(until(&gate.over, tasks));
    Ok(())
}
