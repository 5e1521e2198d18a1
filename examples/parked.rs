//! Very many waiting tasks: the memory of the process, and whether it stays constant.
//!
//! `cargo run --release --features server,tokio --example parked -- [TASKS [SECONDS [EVERY]]]`
//! (1,000,000, 60 and 0 by default). EVERY, in ms: each task does a little so often; 0 is never.
//! Each line has the seconds since the last task was spawned and the resident memory in bytes. Then
//! comes a line with `own` and the processor time of TurboWish's threads, in nanoseconds, and one
//! with `peak` and the maximum in bytes. `benches/parked.sh` compares it with the same program
//! without instrumentation, and checks it against a bound.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Seconds at which the memory is read, besides the last one.
const LOOKS: [u64; 4] = [2, 10, 60, 600];

#[turbowish::instrument]
async fn task(end: Arc<Notify>) {
    middle(&end).await;
}

#[turbowish::instrument]
async fn middle(end: &Notify) {
    leaf(end).await;
}

#[turbowish::instrument]
async fn leaf(end: &Notify) {
    end.notified().await;
}

/// The same with something to do now and then.
#[turbowish::instrument]
async fn active(first: Duration, every: Duration) {
    // Not all tasks at once.
    tokio::time::sleep(first).await;
    loop {
        turn(every).await;
    }
}

#[turbowish::instrument]
async fn turn(every: Duration) {
    tokio::time::sleep(every).await;
}

/// A line of `/proc/self/status`, in bytes.
fn bytes(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.map_or(0, |kib| kib * 1024)
}

/// Processor time of TurboWish's threads that run now, in nanoseconds.
fn turbowish_time() -> std::io::Result<u64> {
    let threads = std::fs::read_dir("/proc/self/task")?.flatten();
    // A thread that has just ended has no files.
    let times = threads.filter_map(|thread| {
        let read = |file| std::fs::read_to_string(thread.path().join(file)).ok();
        let is_ours = read("comm")?.starts_with("turbowish");
        let ran = read("schedstat")?.split(' ').next()?.parse::<u64>().ok();
        ran.filter(|_| is_ours)
    });
    Ok(times.sum())
}

fn number(nth: usize, otherwise: u64) -> u64 {
    let given = std::env::args().nth(nth);
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> std::io::Result<()> {
    let (tasks, seconds) = (number(1, 1_000_000), number(2, 60));
    let every = Duration::from_millis(number(3, 0));
    let _turbowish = turbowish::init();
    let end = Arc::new(Notify::new());
    for nth in 0..tasks {
        if every.is_zero() {
            tokio::spawn(task(end.clone()));
        } else {
            let first = every.mul_f64(nth as f64 / tasks as f64);
            tokio::spawn(active(first, every));
        }
    }
    let begun = Instant::now();
    let looks = LOOKS.into_iter().filter(|&look| look < seconds);
    let mut out = std::io::stdout();
    for look in looks.chain([seconds]) {
        let left = Duration::from_secs(look).saturating_sub(begun.elapsed());
        tokio::time::sleep(left).await;
        writeln!(out, "{look} {}", bytes("VmRSS:"))?;
        out.flush()?;
    }
    writeln!(out, "own {}", turbowish_time()?)?;
    writeln!(out, "peak {}", bytes("VmHWM:"))
}
