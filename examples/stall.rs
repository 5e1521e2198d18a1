//! A service that stands still now and then: a task reads its settings anew, and blocks its worker
//! for 300 ms while it holds the lock that every request needs.
//!
//! `cargo run --release --example stall --features server,tokio`, then `turbowish top stall` in
//! another terminal, any time later: `!` opens the stall, and `(` goes to the state of that time.
//! A stall comes every 60 s, or as often as `SECONDS` says: `... --example stall -- [SECONDS]`.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep};
use turbowish::sync::{Mutex, named};

/// How long it stands still.
const STALL: Duration = Duration::from_millis(300);
/// A poll of this length is told: usually it is a second.
const LIMIT: Duration = Duration::from_millis(50);
/// Time between two requests.
const PACE: Duration = Duration::from_millis(20);

type Settings = Arc<Mutex<u64>>;

#[turbowish::instrument]
async fn request(settings: Settings) -> u64 {
    let version = *settings.lock().await;
    // The answer of a backend.
    sleep(Duration::from_millis(5)).await;
    version
}

#[turbowish::instrument]
async fn reload(settings: Settings, period: Duration) {
    let mut every = interval(period);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    every.tick().await;
    loop {
        every.tick().await;
        apply(&settings).await;
    }
}

#[turbowish::instrument]
async fn apply(settings: &Settings) {
    let mut settings = settings.lock().await;
    // What one must not do: the worker serves no other task meanwhile.
    std::thread::sleep(STALL);
    *settings += 1;
}

#[turbowish::instrument]
async fn accept(settings: Settings) {
    let mut every = interval(PACE);
    loop {
        every.tick().await;
        tokio::spawn(request(settings.clone()));
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let seconds = std::env::args().nth(1).map(|word| word.parse::<u64>());
    let period = match seconds {
        None => Duration::from_secs(60),
        Some(Ok(seconds @ 1..)) => Duration::from_secs(seconds),
        Some(_) => {
            eprintln!("stall: the period is a whole number of seconds\nUsage: stall [SECONDS]");
            std::process::exit(2);
        }
    };
    let _turbowish = turbowish::Builder::new()
        .alert_limit(turbowish::AlertLimit::BlockedWorker(LIMIT))
        .init();
    let settings = Arc::new(named("settings", Mutex::new(0)));
    let task = turbowish::TaskBuilder::new().name("reload");
    task.spawn(reload(settings.clone(), period));
    tokio::select! {
        () = accept(settings) => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
