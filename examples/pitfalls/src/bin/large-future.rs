//! A call whose future contains a buffer of 64 KiB, and so does the future of its caller.

use std::time::Duration;

#[turbowish::instrument]
async fn copy() -> usize {
    let mut buffer = [0_u8; 64 << 10];
    for byte in &mut buffer {
        *byte = 1;
        if std::hint::black_box(*byte) == 0 {
            tokio::task::yield_now().await;
        }
    }
    std::future::pending::<()>().await;
    buffer.len()
}

#[turbowish::instrument]
async fn run() {
    copy().await;
}

#[turbowish::instrument]
async fn run_for(long: Duration) {
    let _ = tokio::time::timeout(long, copy()).await;
}

#[tokio::main]
async fn main() {
    let _turbowish =
        turbowish_pitfalls::begin(&[turbowish::AlertLimit::LostWaker(Duration::from_secs(3600))]);
    turbowish::spawn(run());
    turbowish::spawn(run_for(Duration::from_secs(3_600)));
    let task = turbowish::TaskBuilder::new().name("copier").spawn(copy());
    task.await.expect("it waits for ever");
}
