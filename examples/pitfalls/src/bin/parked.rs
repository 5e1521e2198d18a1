//! Fifty thousand waiting tasks: a console that attaches late sees all of them at once. Healthy.

use std::sync::Arc;

use turbowish::sync::{Notify, named};

const TASKS: u32 = 50_000;

#[turbowish::instrument]
async fn wait(stop: Arc<Notify>) {
    stop.notified().await;
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let stop = Arc::new(named("stop", Notify::new()));
    for _ in 0..TASKS {
        turbowish::spawn(wait(stop.clone()));
    }
    std::future::pending::<()>().await;
}
