//! A task panics after its handle was dropped: nobody notices.

use std::time::Duration;

#[turbowish::instrument]
async fn refresh() {
    tokio::time::sleep(Duration::from_millis(20)).await;
    panic!("no such host");
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    turbowish::record_panics();
    drop(
        turbowish::TaskBuilder::new()
            .name("refresher")
            .spawn(refresh()),
    );
    std::future::pending::<()>().await;
}
