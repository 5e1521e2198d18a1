//! A task that yields, but occupies its thread nearly all the time.

use std::time::{Duration, Instant};

#[turbowish::instrument]
async fn encode() {
    loop {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(5) {
            std::hint::black_box(begun);
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_ill::begin(&[("window", "100ms"), ("long_poll.warn", "1s")]);
    let task = turbowish::TaskBuilder::new().name("encoder");
    task.spawn(encode()).await.expect("it never ends");
}
