//! The expiry task: removes expired keys that nobody requests, a bounded number at a time.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::db::Db;

const EVERY: Duration = Duration::from_millis(100);

/// Keys of one shard removed under one lock.
const BATCH: usize = 256;

/// Sweeps ten times a second, for ever.
#[turbowish::instrument]
pub(crate) async fn run(db: Arc<Db>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        sweep(&db).await;
    }
}

/// Removes every key whose deadline has passed and returns how many there were.
#[turbowish::instrument]
pub(crate) async fn sweep(db: &Db) -> usize {
    let mut swept = 0;
    loop {
        let batch = db.sweep(BATCH).await;
        if batch == 0 {
            return swept;
        }
        swept += batch;
        tokio::task::yield_now().await;
    }
}
