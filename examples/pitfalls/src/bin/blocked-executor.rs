//! All workers are held by tasks without the attribute: no woken task is polled any more.

use std::time::Duration;

async fn block() {
    std::thread::sleep(Duration::from_secs(600));
}

#[turbowish::instrument]
async fn idle() {
    std::future::pending::<()>().await;
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[turbowish::AlertLimit::BlockedWorker(
        Duration::from_millis(500),
    )]);
    turbowish::spawn(idle());
    tokio::time::sleep(Duration::from_millis(100)).await;
    let blocking = [tokio::spawn(block()), tokio::spawn(block())];
    for task in blocking {
        let _ = task.await;
    }
}
