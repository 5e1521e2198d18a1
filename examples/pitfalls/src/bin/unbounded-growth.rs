//! An unbounded channel whose sender is faster than its receiver.

use std::time::Duration;

use turbowish::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use turbowish::sync::named;

#[turbowish::instrument]
async fn produce(lines: UnboundedSender<u64>) {
    for line in 0.. {
        for copy in 0..200 {
            if lines.send(line + copy).is_err() {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[turbowish::instrument]
async fn index(mut lines: UnboundedReceiver<u64>) {
    while let Some(line) = lines.recv().await {
        std::hint::black_box(line);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[
        turbowish::AlertLimit::Window(Duration::from_millis(100)),
        turbowish::AlertLimit::UnboundedGrowthWindows(4),
    ]);
    let (lines, queue) = named("lines", mpsc::unbounded_channel());
    let indexer = turbowish::TaskBuilder::new()
        .name("indexer")
        .spawn(index(queue));
    let producer = turbowish::TaskBuilder::new()
        .name("producer")
        .spawn(produce(lines));
    let _ = tokio::join!(indexer, producer);
}
