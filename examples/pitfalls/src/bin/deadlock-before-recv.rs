//! Three tasks, two locks, a full channel: its receiver waits for a lock before its first receive.

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
    let mut log = log.lock().await;
    while let Some(job) = jobs.recv().await {
        log.push(job);
    }
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
}
