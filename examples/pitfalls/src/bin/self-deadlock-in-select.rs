//! A `select!` arm takes the lock that an unpolled future of the same `select!` is queued for.

use std::sync::Arc;
use std::time::Duration;

use turbowish::sync::{Mutex, named};

#[turbowish::instrument]
async fn step(state: Arc<Mutex<u64>>) {
    let mut state = state.lock().await;
    *state += 1;
    tokio::time::sleep(Duration::from_millis(5)).await;
}

#[turbowish::instrument]
async fn report(state: &Mutex<u64>) -> u64 {
    *state.lock().await
}

#[turbowish::instrument]
async fn run(state: Arc<Mutex<u64>>) {
    let mut stepping = Box::pin(step(state.clone()));
    let mut ticks = tokio::time::interval(Duration::from_millis(3));
    loop {
        tokio::select! {
            () = &mut stepping => stepping = Box::pin(step(state.clone())),
            _ = ticks.tick() => {
                std::hint::black_box(report(&state).await);
            }
        }
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let state = Arc::new(named("state", Mutex::new(0)));
    let task = turbowish::TaskBuilder::new().name("runner");
    task.spawn(run(state)).await.expect("it never ends");
}
