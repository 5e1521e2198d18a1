//! A poll that computes for long before it yields, repeatedly.

use std::time::{Duration, Instant};

#[turbowish::instrument]
async fn digest() {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(30) {
        std::hint::black_box(begun);
    }
    tokio::time::sleep(Duration::from_millis(70)).await;
}

#[turbowish::instrument]
async fn run() {
    loop {
        digest().await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let task = turbowish::TaskBuilder::new().name("digester").spawn(run());
    task.await.expect("it never ends");
}
