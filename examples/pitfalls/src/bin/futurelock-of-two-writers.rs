//! Two futures of one task queue for a lock; the task awaits the second, the first gets the lock.

use std::sync::Arc;

use turbowish::sync::{RwLock, named};

#[turbowish::instrument]
async fn write(table: Arc<RwLock<u64>>) {
    *table.write().await += 1;
}

#[turbowish::instrument]
async fn run(table: Arc<RwLock<u64>>) {
    let held = table.write().await;
    let mut first = Box::pin(write(table.clone()));
    let mut second = Box::pin(write(table.clone()));
    tokio::select! {
        biased;
        () = &mut first => unreachable!("the lock is held"),
        () = &mut second => unreachable!("the lock is held"),
        () = std::future::ready(()) => {}
    }
    drop(held);
    second.await;
    first.await;
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let table = Arc::new(named("table", RwLock::new(0)));
    let task = turbowish::TaskBuilder::new().name("runner");
    task.spawn(run(table)).await.expect("it waits for ever");
}
