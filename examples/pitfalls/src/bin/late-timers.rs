//! Late timers: all tasks sleep until the same moment, and each then has 5 ms of work for the only
//! thread: the last ones are late by as long as all others take.

use std::time::Duration;

use tokio::time::Instant;
use turbowish::time::sleep_until;

const PERIOD: Duration = Duration::from_millis(250);

#[turbowish::instrument]
async fn refresh(begun: Instant) {
    for round in 1.. {
        sleep_until(begun + PERIOD * round).await;
        // In place of work: not disturbed by what else the machine does.
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let begun = Instant::now();
    for _ in 0..12 {
        turbowish::spawn(refresh(begun));
    }
    std::future::pending::<()>().await;
}
