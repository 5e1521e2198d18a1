//! A sender waits for capacity: the receiving call timed out, and its idle task keeps the receiver.

use std::time::Duration;

use turbowish::sync::mpsc::{self, Receiver, Sender};
use turbowish::sync::named;
use turbowish::time::{sleep, timeout};

#[turbowish::instrument]
async fn produce(jobs: Sender<u64>) {
    for job in 0.. {
        if jobs.send(job).await.is_err() {
            return;
        }
    }
}

#[turbowish::instrument]
async fn consume(jobs: &mut Receiver<u64>) {
    while let Some(job) = jobs.recv().await {
        std::hint::black_box(job);
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[turbowish::AlertLimit::BlockedSender(
        Duration::from_millis(500),
    )]);
    let (jobs, mut queue) = named("jobs", mpsc::channel(4));
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let server = spawn("server").spawn(async move {
        let nothing = timeout(Duration::from_millis(100), consume(&mut queue)).await;
        assert!(nothing.is_err(), "nobody has sent yet");
        spawn("producer").spawn(produce(jobs));
        loop {
            sleep(Duration::from_millis(20)).await;
            std::hint::black_box(&queue);
        }
    });
    let _ = server.await;
}
