//! SIGTERM in programs of different shapes: `sigterm BEGINNING HANDLER`.
//!
//! BEGINNING is what exists when `init` is called: `current-thread`, `multi-thread` (that runtime
//! of tokio), `thread` (a thread and a runtime without threads), `then-current-thread`,
//! `then-multi-thread` (nothing; the runtime comes later). HANDLER is the listener: `none`,
//! `hook-before`, `hook-after` (signal-hook, before or after `init`), `tokio`, `hangup` (two
//! listeners, but for SIGHUP). A program with a listener shuts down in steps, and ends with the
//! exit code 7.

use std::io::{Read, Write};
use std::process::ExitCode;

use signal_hook::consts::{SIGHUP, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

#[turbowish::instrument]
async fn work() {
    tokio::task::yield_now().await;
}

#[turbowish::instrument]
async fn forever() {
    std::future::pending::<()>().await;
}

fn tell(line: &str) {
    println!("{line}");
    let _ = std::io::stdout().flush();
}

fn listen(to: i32) -> Signals {
    Signals::new([to]).expect("it can be listened for")
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().unwrap_or_default();
    let (beginning, handler) = (word(), word());
    let hook = (handler == "hook-before").then(|| listen(SIGTERM));
    let program = async |init: bool| {
        let _turbowish = init.then(turbowish::init);
        run(&handler, hook).await
    };
    let mut runtime = match &*beginning {
        "multi-thread" | "then-multi-thread" => Builder::new_multi_thread(),
        _ => Builder::new_current_thread(),
    };
    runtime.worker_threads(2).enable_all();
    if beginning == "thread" {
        std::thread::spawn(std::thread::park);
    }
    let first = beginning.starts_with("then-");
    let _turbowish = first.then(turbowish::init);
    let runtime = runtime.build().expect("a runtime");
    runtime.block_on(program(!first))
}

async fn run(handler: &str, mut hook: Option<Signals>) -> ExitCode {
    let _ = tokio::spawn(work()).await;
    let mut others = Vec::new();
    let mut term = None;
    match handler {
        "hook-after" => hook = Some(listen(SIGTERM)),
        "tokio" => term = signal(SignalKind::terminate()).ok(),
        "hangup" => others.extend([listen(SIGHUP), listen(SIGHUP)]),
        _ => {}
    }
    tell("ready");
    match (&mut hook, &mut term) {
        (Some(hook), _) => {
            hook.forever().next();
        }
        (None, Some(term)) => {
            term.recv().await;
        }
        (None, None) => forever().await,
    }
    tell("closing");
    // The shutdown takes as long as whoever started this program likes.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let _ = tokio::spawn(work()).await;
    tell("bye");
    ExitCode::from(7)
}
