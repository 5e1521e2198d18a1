//! Two ways to hang: a task waits for a message nobody sends, a worker is blocked inside a poll.
//!
//! `cargo run --example hung` runs for a minute; inspect it with `turbowish query tasks`.

use std::time::Duration;

use tokio::sync::mpsc;

#[turbowish::instrument]
mod stuck {
    use super::{Duration, mpsc};

    pub(super) async fn connection(rx: mpsc::Receiver<u32>) -> Option<u32> {
        read_message(rx).await
    }

    async fn read_message(mut rx: mpsc::Receiver<u32>) -> Option<u32> {
        rx.recv().await
    }

    pub(super) async fn blocks_its_worker(time: Duration) {
        tokio::task::yield_now().await;
        // What one must not do: the worker serves no other task meanwhile.
        std::thread::sleep(time);
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let _turbowish = turbowish::init();
    let (tx, rx) = mpsc::channel(1);
    let time = Duration::from_secs(60);
    let waiting = tokio::spawn(stuck::connection(rx));
    let blocking = tokio::spawn(stuck::blocks_its_worker(time));
    let _ = blocking.await;
    drop(tx);
    let _ = waiting.await;
}
