//! A load that rises for some seconds and then stays: requests that come and go, and clients that
//! connect, keep their connection and use it. Healthy.

use std::time::{Duration, Instant};

use turbowish::AlertLimit;

/// Until when the load rises.
const RISE: Duration = Duration::from_secs(4);
const CLIENTS: u32 = 100;

#[turbowish::instrument]
async fn answer() {
    tokio::time::sleep(Duration::from_millis(400)).await;
}

/// A connection that stays.
#[turbowish::instrument]
async fn serve() {
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[turbowish::instrument]
async fn connect() {
    for _ in 0..CLIENTS {
        drop(turbowish::spawn(serve()));
        tokio::time::sleep(RISE / CLIENTS).await;
    }
}

/// More and more requests a second, up to 200.
#[turbowish::instrument]
async fn accept() {
    let begun = Instant::now();
    loop {
        drop(turbowish::spawn(answer()));
        let share = (begun.elapsed().as_secs_f64() / RISE.as_secs_f64()).clamp(0.05, 1.0);
        tokio::time::sleep(Duration::from_millis(5).div_f64(share)).await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[
        AlertLimit::Window(Duration::from_millis(100)),
        AlertLimit::TaskLeakIdle(Duration::from_millis(500)),
    ]);
    tokio::join!(connect(), accept());
}
