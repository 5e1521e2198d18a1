//! A sender waits for capacity that its receiver does not free.

use std::time::Duration;

use turbowish::sync::mpsc::{self, Receiver, Sender};
use turbowish::sync::named;

#[turbowish::instrument]
async fn produce(jobs: Sender<u64>) {
    for job in 0.. {
        if jobs.send(job).await.is_err() {
            return;
        }
    }
}

#[turbowish::instrument]
async fn consume(mut jobs: Receiver<u64>) {
    while let Some(job) = jobs.recv().await {
        std::hint::black_box(job);
        tokio::time::sleep(Duration::from_secs(600)).await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[turbowish::AlertLimit::BlockedSender(
        Duration::from_millis(500),
    )]);
    let (jobs, queue) = named("jobs", mpsc::channel(4));
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let consumer = spawn("consumer").spawn(consume(queue));
    let producer = spawn("producer").spawn(produce(jobs));
    let _ = tokio::join!(producer, consumer);
}
