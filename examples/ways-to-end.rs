//! The report comes however the program ends: `ways-to-end
//! return|exit|exit-worker|wait|listens|graceful|panic|switch|early`.
//!
//! `wait` waits for a signal and handles none; `graceful` handles SIGTERM itself.

use std::io::Write;

use tokio::signal::unix::{SignalKind, signal};

#[turbowish::instrument]
async fn work() {
    tokio::task::yield_now().await;
}

#[turbowish::instrument]
async fn forever() {
    std::future::pending::<()>().await;
}

/// What a counter counts is evaluated only while accounting is on.
fn is_accounted() -> bool {
    let mut evaluated = false;
    turbowish::counter!("looks", {
        evaluated = true;
        1
    });
    evaluated
}

fn ready() {
    println!("ready");
    let _ = std::io::stdout().flush();
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let guard = turbowish::init();
    // Nobody waits for it longer than a minute.
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_secs(60));
        std::process::exit(9);
    });
    let way = std::env::args().nth(1).unwrap_or_default();
    work().await;
    match way.as_str() {
        "return" => {}
        "exit" => std::process::exit(3),
        "exit-worker" => {
            let _ = tokio::spawn(async { std::process::exit(4) }).await;
        }
        "wait" => {
            let waiting = tokio::spawn(forever());
            tokio::task::yield_now().await;
            ready();
            let _ = waiting.await;
        }
        "listens" => {
            // Ctrl-C is handled, SIGTERM is not.
            let mut interrupt = signal(SignalKind::interrupt()).expect("a handler for SIGINT");
            ready();
            interrupt.recv().await;
            println!("bye");
        }
        "graceful" => {
            let mut term = signal(SignalKind::terminate()).expect("a handler for SIGTERM");
            ready();
            term.recv().await;
            println!("bye");
        }
        "panic" => panic!("as announced"),
        "switch" => {
            // With TURBOWISH=paused nothing was counted until here.
            turbowish::resume();
            work().await;
            turbowish::pause();
            work().await;
            turbowish::resume();
            work().await;
        }
        "early" => {
            drop(guard);
            println!("accounted {}", is_accounted());
            turbowish::resume();
            work().await;
            println!("accounted {}", is_accounted());
            return;
        }
        other => eprintln!("no way to end is called {other:?}; see the head of this file"),
    }
    drop(guard);
}
