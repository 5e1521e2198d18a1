//! Two tasks hold one of two permits each, and both wait for one more.

use std::sync::Arc;

use tokio::sync::Barrier;
use turbowish::sync::{Semaphore, named};

#[turbowish::instrument]
async fn copy(buffers: Arc<Semaphore>, met: Arc<Barrier>) {
    let _from = buffers.acquire().await.expect("it is open");
    met.wait().await;
    let _to = buffers.acquire().await.expect("it is open");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let buffers = Arc::new(named("buffers", Semaphore::new(2)));
    let met = Arc::new(Barrier::new(2));
    let tasks = ["left", "right"].map(|name| {
        turbowish::TaskBuilder::new()
            .name(name)
            .spawn(copy(buffers.clone(), met.clone()))
    });
    for task in tasks {
        task.await.expect("it waits for ever");
    }
}
