//! A poll that blocks its thread.

use std::time::Duration;

#[turbowish::instrument]
async fn write_snapshot() {
    tokio::task::yield_now().await;
    // What is done on a thread of its own in a healthy program.
    std::thread::sleep(Duration::from_secs(600));
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[turbowish::AlertLimit::BlockedWorker(
        Duration::from_millis(500),
    )]);
    let task = turbowish::TaskBuilder::new()
        .name("snapshot")
        .spawn(write_snapshot());
    task.await.expect("not within ten minutes");
}
