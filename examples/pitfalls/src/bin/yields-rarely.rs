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
    let _turbowish = turbowish_pitfalls::begin(&[
        turbowish::AlertLimit::Window(Duration::from_millis(100)),
        turbowish::AlertLimit::LongPollWarn(Duration::from_secs(1)),
    ]);
    let task = turbowish::TaskBuilder::new().name("encoder");
    task.spawn(encode()).await.expect("it never ends");
}
