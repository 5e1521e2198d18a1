//! A task with twenty futures in a `join_all`: each wake-up is for one, and polls all of them.

use std::time::Duration;

use turbowish::sync::mpsc::{self, Receiver, Sender};

#[turbowish::instrument]
async fn take_turns(mut turns: Receiver<u64>) {
    while let Some(turn) = turns.recv().await {
        std::hint::black_box(turn);
    }
}

#[turbowish::instrument]
async fn fan_in(queues: Vec<Receiver<u64>>) {
    futures::future::join_all(queues.into_iter().map(take_turns)).await;
}

#[turbowish::instrument]
async fn give_turns(queues: Vec<Sender<u64>>) {
    for turn in 0.. {
        let queue = &queues[turn as usize % queues.len()];
        if queue.send(turn).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish =
        turbowish_pitfalls::begin(&[turbowish::AlertLimit::Window(Duration::from_millis(100))]);
    let (ends, queues) = (0..20).map(|_| mpsc::channel(4)).unzip();
    turbowish::spawn(give_turns(ends));
    let task = turbowish::TaskBuilder::new()
        .name("fan")
        .spawn(fan_in(queues));
    task.await.expect("it never ends");
}
