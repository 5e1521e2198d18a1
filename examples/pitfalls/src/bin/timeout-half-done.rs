//! A job is received and processed within one timeout: when it expires, the job is lost.

use std::time::Duration;

use tokio::time::{sleep, timeout};
use turbowish::sync::mpsc::{self, Receiver, Sender};
use turbowish::sync::named;

#[turbowish::instrument]
async fn store(job: u64) {
    sleep(Duration::from_millis(20 * (job % 2))).await;
}

#[turbowish::instrument]
async fn push(jobs: &mut Receiver<u64>) {
    if let Some(job) = jobs.recv().await {
        store(job).await;
    }
}

#[turbowish::instrument]
async fn work(mut jobs: Receiver<u64>) {
    loop {
        let _ = timeout(Duration::from_millis(10), push(&mut jobs)).await;
    }
}

#[turbowish::instrument]
async fn produce(jobs: Sender<u64>) {
    for job in 0.. {
        if jobs.send(job).await.is_err() {
            return;
        }
        sleep(Duration::from_millis(25)).await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let (jobs, queue) = named("jobs", mpsc::channel(16));
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let worker = spawn("worker").spawn(work(queue));
    let producer = spawn("producer").spawn(produce(jobs));
    let _ = tokio::join!(worker, producer);
}
