//! Every public method of `time`, by its signature.
#![allow(
    dead_code,
    clippy::type_complexity,
    reason = "that it compiles is the test"
)]

use std::fmt::Debug;
use std::future::Ready;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::time;
use time::error::{Elapsed, Error};
use time::{Duration, Instant, Interval, MissedTickBehavior, Sleep, Timeout};

fn functions<F: IntoFuture>() {
    let _: fn(Duration) -> Sleep = time::sleep;
    let _: fn(Instant) -> Sleep = time::sleep_until;
    let _: fn(Duration, F) -> Timeout<F::IntoFuture> = time::timeout::<F>;
    let _: fn(Instant, F) -> Timeout<F::IntoFuture> = time::timeout_at::<F>;
    let _: fn(Duration) -> Interval = time::interval;
    let _: fn(Instant, Duration) -> Interval = time::interval_at;
    let _: fn() = time::pause;
    let _: fn() = time::resume;
    let _: fn() -> Error = Error::shutdown;
}

async fn clock(duration: Duration) {
    let _: () = time::advance(duration).await;
}

fn sleep() {
    let _: fn(&Sleep) -> Instant = Sleep::deadline;
    let _: fn(&Sleep) -> bool = Sleep::is_elapsed;
    let _: fn(Pin<&mut Sleep>, Instant) = Sleep::reset;
    let _: fn(Pin<&mut Sleep>, &mut Context<'_>) -> Poll<()> = <Sleep as Future>::poll;
    let _ = <Sleep as Debug>::fmt;
}

fn timeout<T: Future + Debug>() {
    let _: fn(&Timeout<T>) -> &T = Timeout::get_ref;
    let _: fn(&mut Timeout<T>) -> &mut T = Timeout::get_mut;
    let _: fn(Timeout<T>) -> T = Timeout::into_inner;
    let _: fn(Pin<&mut Timeout<T>>, &mut Context<'_>) -> Poll<Result<T::Output, Elapsed>> =
        <Timeout<T> as Future>::poll;
    let _ = <Timeout<T> as Debug>::fmt;
}

fn interval() {
    let _: fn(&mut Interval, &mut Context<'_>) -> Poll<Instant> = Interval::poll_tick;
    let _: fn(&mut Interval) = Interval::reset;
    let _: fn(&mut Interval) = Interval::reset_immediately;
    let _: fn(&mut Interval, Duration) = Interval::reset_after;
    let _: fn(&mut Interval, Instant) = Interval::reset_at;
    let _: fn(&Interval) -> MissedTickBehavior = Interval::missed_tick_behavior;
    let _: fn(&mut Interval, MissedTickBehavior) = Interval::set_missed_tick_behavior;
    let _: fn(&Interval) -> Duration = Interval::period;
    let _ = <Interval as Debug>::fmt;
    let _ = <MissedTickBehavior as Default>::default;
    let _ = <MissedTickBehavior as Clone>::clone;
    let _ = <MissedTickBehavior as Debug>::fmt;
    let _ = <MissedTickBehavior as PartialEq>::eq;
    let _: [MissedTickBehavior; 2] = [MissedTickBehavior::Burst; 2];
    // MissedTickBehavior as Copy
    // MissedTickBehavior as Eq
}

async fn interval_waits(interval: &mut Interval) {
    let _: Instant = Interval::tick(interval).await;
}

macro_rules! table {
    ($name:literal, $P:ty) => {{
        let mut interval = time::interval(Duration::from_secs(1));
        answers!(
            $name;
            type Sleep,
            type Interval,
            type Timeout<$P>,
            type Timeout<Ready<$P>>,
            value tick = interval.tick(),
        )
    }};
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let runtime = runtime.expect("a runtime");
    let _inside = runtime.enter();
    for_payloads!(table)
}
