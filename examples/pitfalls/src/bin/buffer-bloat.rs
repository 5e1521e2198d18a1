//! A channel that is always full: every message waits for all messages before it.

use std::time::Duration;

use turbowish::sync::mpsc::{self, Receiver, Sender};
use turbowish::sync::named;

#[turbowish::instrument]
async fn produce(frames: Sender<u64>) {
    for frame in 0.. {
        if frames.send(frame).await.is_err() {
            return;
        }
    }
}

#[turbowish::instrument]
async fn render(mut frames: Receiver<u64>) {
    while let Some(frame) = frames.recv().await {
        std::hint::black_box(frame);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::main]
async fn main() {
    let limits = [
        turbowish::AlertLimit::BufferBloatHeld(Duration::from_millis(500)),
        turbowish::AlertLimit::BufferBloatInside(Duration::from_millis(100)),
    ];
    let _turbowish = turbowish_pitfalls::begin(&limits);
    let (frames, queue) = named("frames", mpsc::channel(64));
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let renderer = spawn("renderer").spawn(render(queue));
    let producer = spawn("producer").spawn(produce(frames));
    let _ = tokio::join!(producer, renderer);
}
