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
        ("overload", "5000"),
        ("yields_rarely.share", "100"),
        ("long_poll.warn", "1s"),
    ];
    let _turbowish = turbowish_ill::begin(&limits);
    let task = turbowish::TaskBuilder::new().name("runner").spawn(run());
    task.await.expect("it never ends");
}
