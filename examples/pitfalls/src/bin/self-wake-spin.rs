//! A task that polls a condition in a loop by waking itself.

use std::future::poll_fn;
use std::task::Poll;

#[turbowish::instrument]
async fn until_connected() {
    poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    })
    .await;
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[turbowish::AlertLimit::LongPollWarn(
        std::time::Duration::from_secs(1),
    )]);
    let task = turbowish::TaskBuilder::new()
        .name("connector")
        .spawn(until_connected());
    task.await.expect("it never ends");
}
