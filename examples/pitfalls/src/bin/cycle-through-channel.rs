//! Three tasks, a lock and a full channel: the sender holds the lock that the reader needs first.

use std::sync::Arc;

use turbowish::sync::mpsc::{self, Receiver, Sender};
use turbowish::sync::{Mutex, named};

#[turbowish::instrument]
async fn produce(db: Arc<Mutex<u64>>, jobs: Sender<u64>) {
    let db = db.lock().await;
    for job in *db.. {
        if jobs.send(job).await.is_err() {
            return;
        }
    }
}

#[turbowish::instrument]
async fn replicate(log: Arc<Mutex<Vec<u64>>>, mut jobs: Receiver<u64>) {
    while let Some(job) = jobs.recv().await {
        log.lock().await.push(job);
    }
}

#[turbowish::instrument]
async fn snapshot(log: Arc<Mutex<Vec<u64>>>, db: Arc<Mutex<u64>>) {
    let log = log.lock().await;
    *db.lock().await += log.len() as u64;
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let db = Arc::new(named("db", Mutex::new(0)));
    let log = Arc::new(named("log", Mutex::new(Vec::new())));
    let (jobs, queue) = named("jobs", mpsc::channel(4));
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let held = log.lock().await;
    let one = spawn("replica").spawn(replicate(log.clone(), queue));
    let two = spawn("producer").spawn(produce(db.clone(), jobs));
    // The producer has the database by the time that it has filled the channel.
    while db.try_lock().is_ok() {
        tokio::task::yield_now().await;
    }
    let three = spawn("snapshot").spawn(snapshot(log.clone(), db));
    drop(held);
    let _ = tokio::join!(one, two, three);
}
