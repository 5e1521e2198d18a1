//! Two tasks have one of two permits each, and want one more.

use std::sync::Arc;
use std::time::Duration;

use turbowish::sync::{Semaphore, named};

#[turbowish::instrument]
async fn copy(buffers: Arc<Semaphore>) {
    let _from = buffers.acquire().await.expect("it is open");
    tokio::time::sleep(Duration::from_millis(50)).await;
    let _to = buffers.acquire().await.expect("it is open");
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_ill::begin(&[]);
    let buffers = Arc::new(named("buffers", Semaphore::new(2)));
    let tasks = ["left", "right"].map(|name| {
        turbowish::TaskBuilder::new()
            .name(name)
            .spawn(copy(buffers.clone()))
    });
    for task in tasks {
        task.await.expect("it waits for ever");
    }
}
