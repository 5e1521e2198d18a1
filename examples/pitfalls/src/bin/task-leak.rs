//! A task for each request, which waits for a reply that nobody sends.

use std::time::Duration;

use turbowish::AlertLimit;
use turbowish::sync::oneshot::{self, Receiver};

#[turbowish::instrument]
async fn handle(reply: Receiver<u64>) {
    let _ = reply.await;
}

/// Every third request is answered.
#[turbowish::instrument]
async fn accept() {
    let mut pending = Vec::new();
    for request in 0.. {
        let (answer, reply) = oneshot::channel();
        drop(turbowish::spawn(handle(reply)));
        match request % 3 {
            0 => drop(answer.send(request)),
            _ => pending.push(answer),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[
        AlertLimit::Window(Duration::from_millis(100)),
        AlertLimit::TaskLeakWindows(6),
        AlertLimit::TaskLeakIdle(Duration::from_millis(500)),
    ]);
    accept().await;
}
