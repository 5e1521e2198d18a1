//! A task waits for a message from a future that it first polled, and then moved to a running task.

use std::time::Duration;

use turbowish::sync::mpsc::{self, Sender};
use turbowish::sync::named;

#[turbowish::instrument]
async fn produce(jobs: Sender<u64>) {
    tokio::time::sleep(Duration::from_secs(60)).await;
    let _ = jobs.send(1).await;
}

#[turbowish::instrument]
async fn collect() {
    let (jobs, mut queue) = named("jobs", mpsc::channel(1));
    let mut producer = Box::pin(produce(jobs));
    let soon = tokio::time::timeout(Duration::from_millis(10), producer.as_mut());
    if soon.await.is_err() {
        tokio::spawn(producer);
    }
    tokio::task::yield_now().await;
    queue.recv().await;
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let task = turbowish::TaskBuilder::new()
        .name("collector")
        .spawn(collect());
    task.await.expect("it goes on");
}
