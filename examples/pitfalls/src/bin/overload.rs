//! So many tiny calls that accounting costs more than the calls.

#[turbowish::instrument]
async fn tiny(n: u64) -> u64 {
    n + 1
}

#[turbowish::instrument]
async fn run() {
    let mut n = 0;
    loop {
        for _ in 0..1_000 {
            n = tiny(n).await;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::main]
async fn main() {
    let limits = [
        turbowish::AlertLimit::Overload(5000),
        turbowish::AlertLimit::YieldsRarelyShare(turbowish::Percent(100)),
        turbowish::AlertLimit::LongPollWarn(std::time::Duration::from_secs(1)),
    ];
    let _turbowish = turbowish_pitfalls::begin(&limits);
    let task = turbowish::TaskBuilder::new().name("runner").spawn(run());
    task.await.expect("it never ends");
}
