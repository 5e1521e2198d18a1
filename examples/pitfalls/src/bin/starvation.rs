//! One thread, which one task occupies completely: another task is ready, and is not polled.

use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use turbowish::sync::{Notify, named};

#[turbowish::instrument]
async fn grind() {
    loop {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(3) {
            std::hint::black_box(begun);
        }
        tokio::task::yield_now().await;
    }
}

#[turbowish::instrument]
async fn answer(asked: Arc<Notify>) {
    loop {
        asked.notified().await;
    }
}

/// Polls what it is given, and nothing else: an executor that is not fair.
fn run(mut future: impl Future<Output = ()> + Unpin) {
    let mut context = Context::from_waker(Waker::noop());
    while Future::poll(std::pin::Pin::new(&mut future), &mut context).is_pending() {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[
        turbowish::AlertLimit::YieldsRarelyShare(turbowish::Percent(100)),
        turbowish::AlertLimit::LongPollWarn(Duration::from_secs(1)),
    ]);
    let asked = Arc::new(named("asked", Notify::new()));
    let task = turbowish::TaskBuilder::new().name("answerer");
    let answerer = task.spawn(answer(asked.clone()));
    tokio::task::yield_now().await;
    asked.notify_one();
    run(Box::pin(
        turbowish::TaskBuilder::new().name("hog").task(grind()),
    ));
    answerer.abort();
}
