//! A `select!` branch in a loop reads a frame in three steps; the timer cancels it half-way.

use std::time::Duration;

use turbowish::sync::mpsc::{self, Receiver, Sender};
use turbowish::sync::named;

#[turbowish::instrument]
async fn read_frame(bytes: &mut Receiver<u8>) -> Option<Vec<u8>> {
    let mut frame = Vec::new();
    while frame.len() < 3 {
        frame.push(bytes.recv().await?);
    }
    Some(frame)
}

#[turbowish::instrument]
async fn serve(mut bytes: Receiver<u8>) {
    let mut ping = tokio::time::interval(Duration::from_millis(20));
    loop {
        tokio::select! {
            frame = read_frame(&mut bytes) => {
                if frame.is_none() {
                    return;
                }
            }
            _ = ping.tick() => {}
        }
    }
}

#[turbowish::instrument]
async fn write(bytes: Sender<u8>) {
    loop {
        let _ = bytes.send(0).await;
        tokio::time::sleep(Duration::from_millis(4)).await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let (bytes, stream) = named("bytes", mpsc::channel(16));
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let server = spawn("server").spawn(serve(stream));
    let writer = spawn("writer").spawn(write(bytes));
    let _ = tokio::join!(server, writer);
}
