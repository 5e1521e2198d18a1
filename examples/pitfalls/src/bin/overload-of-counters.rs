//! A counter in the innermost loop: counting a step costs more than the step.

#[turbowish::instrument]
async fn sum(numbers: &[u64]) -> u64 {
    let mut sum = 0_u64;
    for number in numbers {
        sum = sum.wrapping_add(*number);
        turbowish::counter!("numbers");
    }
    turbowish::gauge!("last sum", sum);
    sum
}

#[turbowish::instrument]
async fn run() {
    let numbers = vec![1; 1_000];
    loop {
        std::hint::black_box(sum(&numbers).await);
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
