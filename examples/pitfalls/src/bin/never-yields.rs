//! A task computes in its first poll, which never returns.

#[turbowish::instrument]
async fn solve() -> u64 {
    let mut state = 1_u64;
    while state != 0 {
        state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005) | 1);
    }
    state
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[turbowish::AlertLimit::NeverYields(
        std::time::Duration::from_millis(500),
    )]);
    let task = turbowish::TaskBuilder::new().name("solver").spawn(solve());
    task.await.expect("it never ends");
}
