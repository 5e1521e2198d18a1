//! A daemon: forks twice, the first two processes exit, and the last one lives until its input
//! ends. `daemon before|after` selects whether `init` is called before the forks or after them.

use std::io::{Read, Write};

use turbowish_forks::fork;

#[turbowish::instrument]
async fn work() {
    tokio::task::yield_now().await;
}

/// Returns in the process that stays.
fn daemonize() {
    for last in [false, true] {
        if fork().is_some() {
            std::process::exit(0);
        }
        if !last {
            let _ = rustix::process::setsid();
        }
    }
}

fn main() {
    let before = std::env::args().nth(1).as_deref() == Some("before");
    let early = before.then(turbowish::init);
    daemonize();
    let late = (!before).then(turbowish::init);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime");
    for _ in 0..3 {
        runtime.block_on(work());
    }
    println!("{}", std::process::id());
    let _ = std::io::stdout().flush();
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    drop((early, late));
}
