//! A lock is held while its task waits for a slow operation.

use std::sync::Arc;
use std::time::Duration;

use turbowish::sync::{Mutex, named};

#[turbowish::instrument]
async fn fetch() -> u64 {
    tokio::time::sleep(Duration::from_secs(5)).await;
    1
}

#[turbowish::instrument]
async fn update(config: Arc<Mutex<u64>>) {
    loop {
        let mut config = config.lock().await;
        *config += fetch().await;
    }
}

#[turbowish::instrument]
async fn read(config: Arc<Mutex<u64>>) -> u64 {
    *config.lock().await
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let config = Arc::new(named("config", Mutex::new(0)));
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let updater = spawn("updater").spawn(update(config.clone()));
    while config.try_lock().is_ok() {
        tokio::task::yield_now().await;
    }
    let reader = spawn("reader").spawn(read(config));
    let _ = tokio::join!(updater, reader);
}
