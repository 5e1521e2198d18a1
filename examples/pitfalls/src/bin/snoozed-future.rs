//! A future is woken, but its task polls another one.

use std::time::Duration;

use turbowish::sync::{Notify, named};

#[turbowish::instrument]
async fn listen(stop: &Notify) {
    stop.notified().await;
}

#[turbowish::instrument]
async fn run(stop: &Notify) {
    let mut stopped = std::pin::pin!(listen(stop));
    tokio::select! {
        () = &mut stopped => {}
        () = tokio::time::sleep(Duration::from_millis(50)) => {
            stop.notify_one();
            // It does not look whether it was stopped.
            loop {
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        }
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let stop = named("stop", Notify::new());
    turbowish::TaskBuilder::new()
        .name("runner")
        .task(run(&stop))
        .await;
}
