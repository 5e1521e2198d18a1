//! A task waits for a lock that it holds.

use std::sync::Arc;

use turbowish::sync::{Mutex, named};

#[turbowish::instrument]
async fn refresh(cache: Arc<Mutex<u32>>) {
    let seen = cache.lock().await;
    if *seen == 0 {
        fill(&cache).await;
    }
}

#[turbowish::instrument]
async fn fill(cache: &Mutex<u32>) {
    *cache.lock().await += 1;
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let cache = Arc::new(named("cache", Mutex::new(0)));
    let task = turbowish::TaskBuilder::new()
        .name("refresher")
        .spawn(refresh(cache));
    task.await.expect("it waits for ever");
}
