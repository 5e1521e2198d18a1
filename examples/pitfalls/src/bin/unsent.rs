//! A receiver holds the lock that its only future sender needs first, as the sender's source shows.

use std::sync::Arc;

use turbowish::sync::mpsc::{self, Receiver, Sender};
use turbowish::sync::{Mutex, named};

#[turbowish::instrument]
async fn count(db: Arc<Mutex<Vec<u64>>>, totals: Sender<u64>) {
    let total = db.lock().await.iter().sum();
    let _ = totals.send(total).await;
}

#[turbowish::instrument]
async fn settle(db: Arc<Mutex<Vec<u64>>>, mut totals: Receiver<u64>) {
    let mut db = db.lock().await;
    while let Some(total) = totals.recv().await {
        db.push(total);
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let db = Arc::new(named("db", Mutex::new(Vec::new())));
    let (sender, receiver) = named("totals", mpsc::channel(4));
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let settles = spawn("settler").spawn(settle(db.clone(), receiver));
    while db.try_lock().is_ok() {
        tokio::task::yield_now().await;
    }
    let counts = spawn("counter").spawn(count(db, sender));
    let _ = tokio::join!(settles, counts);
}
