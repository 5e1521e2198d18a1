//! A poll that blocks its thread for a second and a half, while its task has a lock. Then it is over.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use turbowish::sync::{Mutex, named, oneshot};

#[turbowish::instrument]
async fn compact(db: Arc<Mutex<u64>>, started: oneshot::Sender<()>, asked: oneshot::Receiver<()>) {
    // Else it never yields, if `read` is quick.
    tokio::task::yield_now().await;
    let mut size = db.lock().await;
    let _ = started.send(());
    let _ = asked.await;
    // What is done on a thread of its own in a healthy program.
    std::thread::sleep(Duration::from_millis(1_500));
    *size = 0;
    drop(size);
    pending::<()>().await;
}

#[turbowish::instrument]
async fn read(db: Arc<Mutex<u64>>, started: oneshot::Receiver<()>, asked: oneshot::Sender<()>) {
    let _ = started.await;
    let _ = asked.send(());
    drop(db.lock().await);
    pending::<()>().await;
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[turbowish::AlertLimit::BlockedWorker(
        Duration::from_millis(500),
    )]);
    let db = Arc::new(named("db", Mutex::new(1)));
    let (start, started) = oneshot::channel();
    let (ask, asked) = oneshot::channel();
    let reader = turbowish::TaskBuilder::new()
        .name("reader")
        .spawn(read(db.clone(), started, ask));
    let compact = compact(db, start, asked);
    let compact = turbowish::TaskBuilder::new().name("compact").spawn(compact);
    let _ = tokio::join!(reader, compact);
}
