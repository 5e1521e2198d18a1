//! Which timers are late, and by how much: a paused clock of tokio beside the hand-set one.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

use super::stage::{advance, alone};
use crate::hot::{proc, switch};
use crate::resource;
use crate::time::{self, sleep, sleep_until};

const MS: u64 = 1_000_000;

/// Waits that are over, late ones, their delays, the worst, and its part in the task's own poll.
type Counts = [u64; 5];

/// One that was in time.
const IN_TIME: Counts = [1, 0, 0, 0, 0];

/// Time on both clocks.
fn pass(runtime: &tokio::runtime::Runtime, ms: u64) {
    advance(ms * MS);
    runtime.block_on(tokio::time::advance(Duration::from_millis(ms)));
}

/// What is counted for the proc of this name while `happens` with a paused runtime.
fn check(name: &str, happens: impl FnOnce(&tokio::runtime::Runtime), expected: Option<Counts>) {
    let _alone = alone();
    advance(1);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let counts = || {
        let mut delays = resource::take_timer_delays().into_iter();
        let is_named = |id: u32| proc::all()[id as usize].path.to_string().ends_with(name);
        let counts = delays.find_map(|((id, _), delay)| is_named(id).then_some(delay));
        counts.map_or([0; 5], |now| {
            let [all, late, sum] = [now.completed, now.late, now.late_ns];
            [all, late, sum, now.worst_ns, now.polling_ns]
        })
    };
    assert_eq!(counts(), [0; 5]);
    switch::arm().expect("accounting was off");
    happens(&runtime);
    switch::disarm();
    let counted = Some(counts()).filter(|counts| counts[0] > 0);
    assert_eq!(counted, expected, "{name}");
}

fn poll<T>(future: &mut Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls a task, then after so many milliseconds again, when it is over.
fn late_by<T>(runtime: &tokio::runtime::Runtime, task: impl FnOnce() -> T, ms: &[u64])
where
    T: Future<Output = ()>,
{
    let _inside = runtime.enter();
    let mut task = pin!(task());
    for ms in ms {
        assert!(poll(&mut task).is_pending());
        pass(runtime, *ms);
    }
    assert!(poll(&mut task).is_ready());
}

#[turbowish::instrument]
async fn naps() {
    sleep(Duration::from_millis(100)).await;
}

#[turbowish::instrument]
async fn naps_in_time() {
    sleep(Duration::from_millis(100)).await;
}

#[test]
fn a_sleep_that_is_polled_long_after_its_deadline() {
    let expected = [1, 1, 30 * MS, 30 * MS, 0];
    check(
        "::naps",
        |runtime| late_by(runtime, naps, &[130]),
        Some(expected),
    );
    let expected = IN_TIME;
    check(
        "::naps_in_time",
        |runtime| late_by(runtime, naps_in_time, &[50, 59]),
        Some(expected),
    );
}

#[turbowish::instrument]
async fn works_before(ms: u64) {
    let mut nap = pin!(sleep(Duration::from_millis(100)));
    std::future::poll_fn(|cx| {
        // In the poll that finds the timer over.
        if nap.deadline() <= Instant::now() {
            advance(ms * MS);
        }
        nap.as_mut().poll(cx)
    })
    .await;
}

#[test]
fn the_part_within_the_own_poll_is_known() {
    let expected = [1, 1, 30 * MS, 30 * MS, 25 * MS];
    let happens = |runtime: &_| late_by(runtime, || works_before(25), &[130]);
    check("::works_before", happens, Some(expected));
}

#[turbowish::instrument]
async fn comes_late(deadline: Instant) {
    sleep_until(deadline).await;
}

#[turbowish::instrument]
async fn was_elsewhere() {
    let mut nap = pin!(sleep(Duration::from_millis(100)));
    assert!(futures::poll!(nap.as_mut()).is_pending());
    let mut ticks = time::interval_at(Instant::now() + Duration::from_millis(150), Duration::MAX);
    // This one is in time.
    ticks.tick().await;
    nap.await;
}

#[turbowish::instrument]
async fn gives_up() {
    let limit = time::timeout(Duration::from_millis(100), std::future::pending::<()>());
    assert!(limit.await.is_err());
}

#[test]
fn what_is_no_delay_of_the_runtime() {
    // The deadline was past before anything waited.
    let late = |runtime: &tokio::runtime::Runtime| {
        let deadline = runtime.block_on(async { Instant::now() });
        pass(runtime, 500);
        let _inside = runtime.enter();
        let mut task = pin!(comes_late(deadline));
        assert!(poll(&mut task).is_ready());
    };
    check("::comes_late", late, None);
    // Its task waited for something else meanwhile.
    let expected = IN_TIME;
    let elsewhere = |runtime: &_| late_by(runtime, was_elsewhere, &[150]);
    check("::was_elsewhere", elsewhere, Some(expected));
    // A timeout is no sleep.
    check(
        "::gives_up",
        |runtime| late_by(runtime, gives_up, &[500]),
        None,
    );
}

#[turbowish::instrument]
async fn ticks() {
    let period = Duration::from_millis(100);
    let mut ticks = time::interval(period);
    for _ in 0..4 {
        ticks.tick().await;
    }
}

/// Ticks that were missed come at once: they have kept nobody waiting.
#[test]
fn of_missed_ticks_the_first_counts() {
    let expected = [1, 1, 250 * MS, 250 * MS, 0];
    check(
        "::ticks",
        |runtime| late_by(runtime, ticks, &[350]),
        Some(expected),
    );
}
