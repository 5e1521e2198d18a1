//! Calls that are awaited at one place, and not awaited at another.

use std::time::Duration;

#[turbowish::instrument]
async fn flush() {
    tokio::task::yield_now().await;
}

#[turbowish::instrument]
async fn run() {
    loop {
        flush().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        // The await is missing.
        drop(flush());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish =
        turbowish_pitfalls::begin(&[turbowish::AlertLimit::Window(Duration::from_millis(100))]);
    let task = turbowish::TaskBuilder::new().name("runner").spawn(run());
    task.await.expect("it never ends");
}
