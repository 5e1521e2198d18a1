//! A `select!` takes another branch and abandons a future next in the queue of a tokio lock.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, Notify};

#[turbowish::instrument]
async fn save(name: &str, lock: Arc<Mutex<()>>) {
    let _held = lock.lock().await;
    println!("{name}");
}

#[turbowish::instrument]
async fn run(lock: Arc<Mutex<()>>, enough: Arc<Notify>) {
    let mut first = Box::pin(save("first", lock.clone()));
    tokio::select! {
        () = &mut first => {}
        () = tokio::time::sleep(Duration::from_millis(50)) => {
            enough.notify_one();
            save("second", lock).await;
        }
    }
}

#[turbowish::instrument]
async fn hold(lock: Arc<Mutex<()>>, enough: Arc<Notify>) {
    let _held = lock.lock().await;
    enough.notified().await;
    tokio::time::sleep(Duration::from_millis(150)).await;
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let lock = Arc::new(Mutex::new(()));
    let enough = Arc::new(Notify::new());
    let holder = turbowish::TaskBuilder::new()
        .name("holder")
        .spawn(hold(lock.clone(), enough.clone()));
    // It holds the lock before anybody asks for it.
    while lock.try_lock().is_ok() {
        tokio::task::yield_now().await;
    }
    let run = turbowish::TaskBuilder::new()
        .name("runner")
        .spawn(run(lock, enough));
    let _ = tokio::join!(holder, run);
}
