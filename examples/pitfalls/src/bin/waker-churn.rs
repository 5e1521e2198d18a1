//! A future that clones its waker many times in every poll.

use std::future::poll_fn;
use std::task::Waker;
use std::time::Duration;

#[turbowish::instrument]
async fn poll_all() {
    let mut tick = tokio::time::interval(Duration::from_micros(500));
    let mut kept: Vec<Waker> = Vec::new();
    loop {
        poll_fn(|cx| {
            kept.clear();
            kept.extend((0..32).map(|_| cx.waker().clone()));
            tick.poll_tick(cx).map(|_| ())
        })
        .await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[turbowish::AlertLimit::WakerChurnPolls(100)]);
    let task = turbowish::TaskBuilder::new()
        .name("poller")
        .spawn(poll_all());
    task.await.expect("it never ends");
}
