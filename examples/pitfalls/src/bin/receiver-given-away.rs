//! Looks like `deadlock-before-recv`, and is none: the task that waits for the lock has given its receiver to another one, which empties the
//! channel after a second.

use std::sync::Arc;
use std::time::Duration;

use turbowish::sync::mpsc::{self, Receiver, Sender};
use turbowish::sync::{Mutex, named};

#[turbowish::instrument]
async fn produce(db: Arc<Mutex<u64>>, jobs: Sender<u64>) {
    let db = db.lock().await;
    for job in *db..64 {
        if jobs.send(job).await.is_err() {
            return;
        }
    }
}

#[turbowish::instrument]
async fn drain(mut jobs: Receiver<u64>) -> u64 {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut sum = 0;
    while let Some(job) = jobs.recv().await {
        sum += job;
    }
    sum
}

#[turbowish::instrument]
async fn replicate(log: Arc<Mutex<Vec<u64>>>, jobs: Receiver<u64>) {
    let sum = turbowish::spawn(drain(jobs));
    let mut log = log.lock().await;
    log.extend(sum.await);
}

#[turbowish::instrument]
async fn snapshot(log: Arc<Mutex<Vec<u64>>>, db: Arc<Mutex<u64>>) {
    let log = log.lock().await;
    *db.lock().await += log.len() as u64;
}

/// Waits until somebody has the lock.
async fn taken<T>(lock: &Mutex<T>) {
    while lock.try_lock().is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let db = Arc::new(named("db", Mutex::new(0)));
    let log = Arc::new(named("log", Mutex::new(Vec::new())));
    let (jobs, queue) = named("jobs", mpsc::channel(4));
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let one = spawn("producer").spawn(produce(db.clone(), jobs));
    taken(&db).await;
    let two = spawn("snapshot").spawn(snapshot(log.clone(), db));
    taken(&log).await;
    let three = spawn("replica").spawn(replicate(log, queue));
    let _ = tokio::join!(one, two, three);
    std::future::pending::<()>().await;
}
