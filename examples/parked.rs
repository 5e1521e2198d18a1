//! Very many waiting tasks: the memory of the process, and whether it stays constant.
//!
//! `cargo run --release --features server,tokio --example parked -- [TASKS [SECONDS]]` (1,000,000
//! and 60 by default). Each line has the seconds since the last task was spawned and the resident
//! memory in bytes; the last line has `peak` and the maximum in bytes. `benches/parked.sh` compares
//! it with the same program without instrumentation, and checks it against a bound.

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

/// A line of `/proc/self/status`, in bytes.
fn bytes(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.map_or(0, |kib| kib * 1024)
}

fn number(nth: usize, otherwise: u64) -> u64 {
    let given = std::env::args().nth(nth);
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> std::io::Result<()> {
    let (tasks, seconds) = (number(1, 1_000_000), number(2, 60));
    let _turbowish = turbowish::init();
    let end = Arc::new(Notify::new());
    for _ in 0..tasks {
        tokio::spawn(task(end.clone()));
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
    writeln!(out, "peak {}", bytes("VmHWM:"))
}
