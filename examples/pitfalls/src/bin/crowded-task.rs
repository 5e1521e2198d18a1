//! A task that fetches 64 pages at a time, and parses all of them itself.

use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream;
use turbowish::AlertLimit;

const AT_ONCE: usize = 64;

#[turbowish::instrument]
async fn fetch(page: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(20)).await;
    // Parses it.
    let begun = Instant::now();
    let mut sum = page;
    while begun.elapsed() < Duration::from_millis(4) {
        sum = std::hint::black_box(sum.wrapping_mul(31));
    }
    sum
}

#[turbowish::instrument]
async fn import() {
    let mut pages = stream::iter(0..).map(fetch).buffer_unordered(AT_ONCE);
    while let Some(page) = pages.next().await {
        std::hint::black_box(page);
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[AlertLimit::Window(Duration::from_millis(200))]);
    turbowish::TaskBuilder::new()
        .name("importer")
        .task(import())
        .await;
}
