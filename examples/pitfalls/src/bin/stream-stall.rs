//! Pages are fetched four at a time; while one is stored, nobody polls the other fetches.

use std::time::Duration;

use futures::StreamExt;
use futures::stream;

#[turbowish::instrument]
async fn fetch(page: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(20 * page)).await;
    page
}

#[turbowish::instrument]
async fn store(page: u64) {
    // A slow disk.
    tokio::time::sleep(Duration::from_secs(4)).await;
    println!("page {page}");
}

#[turbowish::instrument]
async fn import() {
    let mut pages = stream::iter(1..100).map(fetch).buffered(4);
    while let Some(page) = pages.next().await {
        store(page).await;
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    turbowish::TaskBuilder::new()
        .name("importer")
        .task(import())
        .await;
}
