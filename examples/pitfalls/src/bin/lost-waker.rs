//! A future returns `Pending` without keeping a waker.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

static READY: AtomicBool = AtomicBool::new(false);

#[turbowish::instrument]
async fn wait_for_flag() {
    poll_fn(|_| {
        if READY.load(Ordering::Relaxed) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

#[turbowish::instrument]
async fn serve() {
    wait_for_flag().await;
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let task = turbowish::TaskBuilder::new().name("server").spawn(serve());
    task.await.expect("nobody wakes it");
}
