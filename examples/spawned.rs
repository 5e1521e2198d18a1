//! A million tasks spawned and finished, and a spawn beside a million that wait.
//!
//! `cargo run --release --features server,tokio --example spawned -- [TASKS [SECONDS]]` (1,000,000
//! and 20 by default). Prints the processor time of the process per task, from its spawn to its end,
//! in nanoseconds: three times. Then as many tasks wait, and others are spawned for so many seconds:
//! the last lines are how many, and the longest time of one spawn in microseconds, without the time
//! for which the kernel did not run the thread. `benches/spawned.sh` compares it with the same
//! program without instrumentation.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

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

/// The numbers of a `schedstat`: nanoseconds on a processor, and nanoseconds of waiting for one.
fn schedule(path: &std::path::Path) -> (u64, u64) {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut words = text.split(' ').map_while(|word| word.parse().ok());
    (words.next().unwrap_or(0), words.next().unwrap_or(0))
}

/// Processor time of all threads so far, in nanoseconds.
fn processor_time() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task")
        .expect("Linux")
        .flatten();
    threads
        .map(|thread| schedule(&thread.path().join("schedstat")).0)
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

/// Spawns short tasks for so long, one at a time.
fn spawns(runtime: &tokio::runtime::Handle, seconds: u64) -> (u64, Duration) {
    let own = std::path::Path::new("/proc/thread-self/schedstat");
    let over = Arc::<AtomicU64>::default();
    let (begun, mut count, mut longest) = (Instant::now(), 0, Duration::ZERO);
    while begun.elapsed() < Duration::from_secs(seconds) {
        let (delayed, start) = (schedule(own).1, Instant::now());
        runtime.spawn(short(over.clone()));
        let took = start.elapsed();
        let delayed = Duration::from_nanos(schedule(own).1 - delayed);
        longest = longest.max(took.saturating_sub(delayed));
        count += 1;
        while over.load(Ordering::Relaxed) < count {
            std::thread::yield_now();
        }
    }
    (count, longest)
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
    let (count, longest) = spawns(runtime.handle(), seconds);
    writeln!(out, "spawns {count}\nlongest {}", longest.as_micros())?;
    gate.open.notify_waiters();
    runtime.block_on(until(&gate.over, tasks));
    Ok(())
}
