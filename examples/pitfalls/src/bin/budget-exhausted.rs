//! Budget exhausted: a queue that is never empty. Whoever takes from it has to yield each time that
//! tokio's budget is used up, although there is more.

use turbowish::sync::mpsc::{Receiver, Sender, channel};
use turbowish::sync::named;

const ROOM: usize = 4_096;

#[turbowish::instrument]
async fn drain(fill: Sender<u64>, mut queue: Receiver<u64>) {
    loop {
        for item in 0..ROOM as u64 {
            fill.try_send(item).expect("it is empty");
        }
        for _ in 0..ROOM {
            queue.recv().await;
        }
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let (fill, queue) = named("jobs", channel(ROOM));
    let task = turbowish::spawn(drain(fill, queue));
    task.await.expect("it never ends");
}
