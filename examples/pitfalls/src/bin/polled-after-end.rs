//! Polled after end: the loop goes on after the branch with `&mut report` was over, and polls it
//! again. That panics; the task is started again.

use std::pin::pin;
use std::time::Duration;

use turbowish::time::{interval, sleep};

#[turbowish::instrument]
async fn report() -> u32 {
    sleep(Duration::from_millis(20)).await;
    42
}

#[turbowish::instrument]
async fn serve() {
    let mut ticks = interval(Duration::from_millis(50));
    let mut report = pin!(report());
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            answer = &mut report => assert_eq!(answer, 42),
        }
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    loop {
        let task = turbowish::TaskBuilder::new().name("server").spawn(serve());
        assert!(task.await.is_err(), "it panics");
        sleep(Duration::from_millis(500)).await;
    }
}
