//! A task waits for a lock whose guard it has moved to another, running task.

use std::time::Duration;

use turbowish::sync::{Mutex, MutexGuard};

static LOCK: Mutex<u32> = Mutex::const_new(0);

#[turbowish::instrument]
async fn hand_over() {
    turbowish::sync::Named::name(&LOCK, "ledger");
    let guard = LOCK.lock().await;
    let work = turbowish::TaskBuilder::new()
        .name("worker")
        .spawn(work(guard));
    *LOCK.lock().await += 1;
    work.await.expect("it works");
}

#[turbowish::instrument]
async fn work(mut guard: MutexGuard<'static, u32>) {
    tokio::time::sleep(Duration::from_secs(60)).await;
    *guard += 1;
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let task = turbowish::TaskBuilder::new()
        .name("writer")
        .spawn(hand_over());
    task.await.expect("it goes on");
}
