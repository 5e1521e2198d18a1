//! Instants at even distances.

use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use crate::resource::TimerWait;

/// Ticks now, and whenever another `period` is over.
///
/// # Panics
/// If `period` is zero; outside of a tokio runtime that has its clock enabled.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    Interval {
        polled: None,
        inner: tokio::time::interval(period),
    }
}

/// Ticks at `start`, and whenever another `period` is over.
///
/// # Panics
/// If `period` is zero; outside of a tokio runtime that has its clock enabled.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval {
        polled: None,
        inner: tokio::time::interval_at(start, period),
    }
}

/// What [`interval`] and [`interval_at`] make.
pub struct Interval {
    /// The wait of the last poll that was not asked for by a future.
    polled: Option<TimerWait>,
    inner: tokio::time::Interval,
}

impl Interval {
    /// Waits for the next tick: the instant that it was due. Dropped before it is ready, it took no tick.
    #[track_caller]
    pub fn tick(&mut self) -> impl Future<Output = Instant> {
        let at = Location::caller();
        async move {
            // Its wait ends with this future.
            let mut wait = None;
            self.polled = None;
            poll_fn(|cx| {
                let polled = self.inner.poll_tick(cx);
                TimerWait::polled(&mut wait, polled.is_pending(), at);
                polled
            })
            .await
        }
    }

    /// [`tick`](Self::tick) as a poll; wakes the waker of the last one.
    #[track_caller]
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        let polled = self.inner.poll_tick(cx);
        TimerWait::polled(&mut self.polled, polled.is_pending(), Location::caller());
        polled
    }

    /// Ticks next when a period from now on is over.
    pub fn reset(&mut self) {
        self.inner.reset();
    }

    /// Ticks next now.
    pub fn reset_immediately(&mut self) {
        self.inner.reset_immediately();
    }

    /// Ticks next when `after` is over.
    pub fn reset_after(&mut self, after: Duration) {
        self.inner.reset_after(after);
    }

    /// Ticks next at `deadline`.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.inner.reset_at(deadline);
    }

    /// What it does about ticks that were missed.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.inner.missed_tick_behavior()
    }

    /// Sets what it does about ticks that are missed.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.inner.set_missed_tick_behavior(behavior);
    }

    /// From one tick to the next.
    pub fn period(&self) -> Duration {
        self.inner.period()
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
