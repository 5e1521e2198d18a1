//! Ways to end a program, each of which writes the report: `ways-to-end
//! return|large|exit|exit-worker|wait|listens|graceful|panic|long-name|switch|early`.
//!
//! `wait` waits for a signal and handles none; `graceful` handles SIGTERM itself.

use std::io::Write;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

#[turbowish::instrument]
async fn work() {
    tokio::task::yield_now().await;
}

#[turbowish::instrument]
async fn forever(polled: oneshot::Sender<()>) {
    let _ = polled.send(());
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

/// Spawns such a task, and waits until it is polled.
async fn spawn_forever(name: String) {
    let (polled, is_polled) = oneshot::channel();
    let task = turbowish::TaskBuilder::new().name(name);
    tokio::spawn(task.task(forever(polled)));
    let _ = is_polled.await;
}

fn ready() {
    println!("ready");
    let _ = std::io::stdout().flush();
}

/// Nobody waits for this program longer than that.
fn end_within_a_minute() {
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_secs(60));
        std::process::exit(9);
    });
}

async fn outlive_guard() {
    println!("accounted {}", is_accounted());
    turbowish::arm();
    work().await;
    println!("accounted {}", is_accounted());
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let guard = turbowish::init();
    end_within_a_minute();
    let way = std::env::args().nth(1).unwrap_or_default();
    work().await;
    match way.as_str() {
        "return" => {}
        "large" => {
            // Its report takes more than a page.
            for n in 0..16 {
                spawn_forever(format!("task {n}")).await;
            }
        }
        "exit" => std::process::exit(3),
        "exit-worker" => {
            let _ = tokio::spawn(async { std::process::exit(4) }).await;
        }
        "wait" => {
            spawn_forever("waits".to_owned()).await;
            ready();
            std::future::pending::<()>().await;
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
        "long-name" => {
            spawn_forever("n".repeat(70_000)).await;
            std::process::exit(5);
        }
        "panic" => panic!("as announced"),
        "switch" => {
            // With TURBOWISH=disarmed nothing was counted until here.
            turbowish::arm();
            work().await;
            turbowish::disarm();
            work().await;
            turbowish::arm();
            work().await;
        }
        "early" => {
            drop(guard);
            return outlive_guard().await;
        }
        other => eprintln!("no way to end is called {other:?}; see the head of this file"),
    }
    drop(guard);
}
