//! What timers are for, case by case, with a clock that goes when nothing else does.

use std::future::{pending, poll_fn, ready};
use std::pin::pin;
use std::task::Poll;

use futures::FutureExt;

use super::start;
use super::time::{self, Duration, Instant, MissedTickBehavior};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn asleep() {
    start();
    let begun = Instant::now();
    time::sleep(100 * SECOND).await;
    assert_eq!(begun.elapsed(), 100 * SECOND);
    time::sleep_until(begun + 150 * SECOND).await;
    assert_eq!(begun.elapsed(), 150 * SECOND);
    time::sleep_until(begun).await;
    time::sleep(Duration::ZERO).await;
    assert_eq!(begun.elapsed(), 150 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn put_off() {
    start();
    let begun = Instant::now();
    let mut sleep = pin!(time::sleep(10 * SECOND));
    assert_eq!(sleep.deadline(), begun + 10 * SECOND);
    assert!(futures::poll!(sleep.as_mut()).is_pending());
    sleep.as_mut().reset(begun + 20 * SECOND);
    assert_eq!(sleep.deadline(), begun + 20 * SECOND);
    assert!(!sleep.is_elapsed());
    sleep.as_mut().await;
    assert!(sleep.is_elapsed());
    assert_eq!(begun.elapsed(), 20 * SECOND);
    sleep.as_mut().reset(Instant::now() + SECOND);
    assert!(!sleep.is_elapsed());
    sleep.await;
    assert_eq!(begun.elapsed(), 21 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn in_a_loop_with_other_work() {
    start();
    let mut end = pin!(time::sleep(SECOND));
    let mut rounds = 0;
    loop {
        tokio::select! {
            () = &mut end => break,
            () = time::sleep(SECOND / 4 + SECOND / 100) => rounds += 1,
        }
    }
    assert_eq!(rounds, 3);
}

#[tokio::test(start_paused = true)]
async fn out_of_time() {
    start();
    let begun = Instant::now();
    assert_eq!(time::timeout(SECOND, ready(7)).await, Ok(7));
    let late = time::timeout(SECOND, pending::<u8>()).await;
    assert_eq!(late.expect_err("late").to_string(), "deadline has elapsed");
    assert_eq!(begun.elapsed(), SECOND);
    let late = time::timeout_at(begun + 3 * SECOND, time::sleep(5 * SECOND)).await;
    assert!(late.is_err());
    assert_eq!(begun.elapsed(), 3 * SECOND);
    let early = time::timeout(Duration::MAX, time::sleep(SECOND)).await;
    assert!(early.is_ok());
    // Whoever is ready at once is, however late it is.
    assert_eq!(time::timeout_at(begun, ready(7)).await, Ok(7));
    assert!(
        time::timeout(Duration::ZERO, pending::<u8>())
            .await
            .is_err()
    );
    let error = std::io::Error::from(time::timeout(SECOND, pending::<()>()).await.unwrap_err());
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn what_is_inside_a_timeout() {
    start();
    let mut limited = time::timeout(SECOND, ready(7));
    assert_eq!(limited.get_ref().clone().now_or_never(), Some(7));
    *limited.get_mut() = ready(8);
    assert_eq!(limited.into_inner().await, 8);
}

#[tokio::test(start_paused = true)]
async fn a_future_that_uses_all_of_its_budget_is_out_of_time_too() {
    start();
    let mut polls = 0;
    let greedy = poll_fn(|cx| {
        polls += 1;
        assert!(polls < 10_000, "it is never out of time");
        while pin!(tokio::task::coop::consume_budget())
            .poll(cx)
            .is_ready()
        {}
        Poll::<()>::Pending
    });
    let begun = Instant::now();
    // Without its own budget the timer would never be asked.
    let ticking = tokio::spawn(async {
        loop {
            time::advance(SECOND / 100).await;
        }
    });
    assert!(time::timeout(SECOND, greedy).await.is_err());
    assert!(begun.elapsed() >= SECOND);
    ticking.abort();
}

#[tokio::test(start_paused = true)]
async fn at_even_distances() {
    start();
    let begun = Instant::now();
    let mut ticks = time::interval(10 * SECOND);
    assert_eq!(ticks.period(), 10 * SECOND);
    let mut at = Vec::new();
    for _ in 0..3 {
        at.push((ticks.tick().await - begun).as_secs());
    }
    assert_eq!(at, [0, 10, 20]);

    let begun = Instant::now();
    let mut ticks = time::interval_at(begun + 5 * SECOND, 10 * SECOND);
    ticks.tick().await;
    let asked = poll_fn(|cx| ticks.poll_tick(cx)).await;
    assert_eq!(asked - begun, 15 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_tick_that_nobody_waits_for_stays() {
    start();
    let mut ticks = time::interval(SECOND);
    ticks.tick().await;
    assert!(ticks.tick().now_or_never().is_none());
    time::advance(SECOND).await;
    assert!(ticks.tick().now_or_never().is_some());
}

#[tokio::test(start_paused = true)]
async fn started_again() {
    start();
    let mut ticks = time::interval(10 * SECOND);
    ticks.tick().await;
    let begun = Instant::now();
    time::advance(5 * SECOND).await;
    ticks.reset();
    assert_eq!(ticks.tick().await - begun, 15 * SECOND);
    ticks.reset_immediately();
    assert_eq!(ticks.tick().await - begun, 15 * SECOND);
    ticks.reset_after(2 * SECOND);
    assert_eq!(ticks.tick().await - begun, 17 * SECOND);
    ticks.reset_at(begun + 20 * SECOND);
    assert_eq!(ticks.tick().await - begun, 20 * SECOND);
    assert_eq!(ticks.tick().await - begun, 30 * SECOND);
}

/// The ticks after one came two and a half periods late.
async fn after_a_delay(behavior: Option<MissedTickBehavior>) -> Vec<u128> {
    start();
    let begun = Instant::now();
    let mut ticks = time::interval(10 * SECOND);
    if let Some(behavior) = behavior {
        ticks.set_missed_tick_behavior(behavior);
        assert_eq!(ticks.missed_tick_behavior(), behavior);
    }
    ticks.tick().await;
    time::advance(35 * SECOND).await;
    let mut at = Vec::new();
    for _ in 0..5 {
        ticks.tick().await;
        at.push(begun.elapsed().as_secs().into());
    }
    at
}

#[tokio::test(start_paused = true)]
async fn missed_ticks() {
    let burst = [35, 35, 35, 40, 50];
    assert_eq!(after_a_delay(None).await, burst);
    let asked = |behavior| after_a_delay(Some(behavior));
    assert_eq!(asked(MissedTickBehavior::Burst).await, burst);
    let delayed = asked(MissedTickBehavior::Delay).await;
    assert_eq!(delayed, [35, 45, 55, 65, 75]);
    let skipped = asked(MissedTickBehavior::Skip).await;
    assert_eq!(skipped, [35, 40, 50, 60, 70]);
}

#[tokio::test(start_paused = true)]
#[should_panic = "`period` must be non-zero."]
async fn no_distance() {
    start();
    drop(time::interval(Duration::ZERO));
}

#[test]
#[should_panic = "there is no reactor running"]
fn without_a_clock() {
    start();
    drop(time::sleep(SECOND));
}

#[test]
fn the_clock_can_be_stopped() {
    start();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.expect("a runtime").block_on(async {
        time::pause();
        let begun = Instant::now();
        time::advance(SECOND).await;
        assert_eq!(begun.elapsed(), SECOND);
        time::resume();
    });
}
