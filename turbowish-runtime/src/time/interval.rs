//! Drop-in wrapper of tokio's interval: observes who waits for a tick.

use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use super::passed;
use crate::resource::TimerWait;

/// Same as [`tokio::time::interval()`]; the wait is observed.
///
/// # Panics
/// If `period` is zero, or if called outside of a tokio runtime with its timer enabled.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    Interval {
        polled: None,
        inner: tokio::time::interval(period),
    }
}

/// Same as [`tokio::time::interval_at`]; the wait is observed.
///
/// # Panics
/// If `period` is zero, or if called outside of a tokio runtime with its timer enabled.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval {
        polled: None,
        inner: tokio::time::interval_at(start, period),
    }
}

/// Same as [`tokio::time::Interval`].
pub struct Interval {
    /// The wait of the last `poll_tick` call, which belongs to no future.
    polled: Option<TimerWait>,
    inner: tokio::time::Interval,
}

impl Interval {
    /// Same as [`tokio::time::Interval::tick`].
    #[track_caller]
    pub fn tick(&mut self) -> impl Future<Output = Instant> {
        let at = Location::caller();
        async move {
            // This wait ends with the future.
            let mut wait = None;
            self.polled = None;
            poll_fn(|cx| {
                let polled = self.inner.poll_tick(cx);
                if let Poll::Ready(deadline) = polled {
                    TimerWait::completed(&wait, || passed(deadline));
                }
                TimerWait::polled(&mut wait, polled.is_pending(), at);
                polled
            })
            .await
        }
    }

    /// Same as [`tokio::time::Interval::poll_tick`].
    #[track_caller]
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        let polled = self.inner.poll_tick(cx);
        if let Poll::Ready(deadline) = polled {
            TimerWait::completed(&self.polled, || passed(deadline));
        }
        TimerWait::polled(&mut self.polled, polled.is_pending(), Location::caller());
        polled
    }

    /// Same as [`tokio::time::Interval::reset`].
    pub fn reset(&mut self) {
        self.inner.reset();
    }

    /// Same as [`tokio::time::Interval::reset_immediately`].
    pub fn reset_immediately(&mut self) {
        self.inner.reset_immediately();
    }

    /// Same as [`tokio::time::Interval::reset_after`].
    pub fn reset_after(&mut self, after: Duration) {
        self.inner.reset_after(after);
    }

    /// Same as [`tokio::time::Interval::reset_at`].
    pub fn reset_at(&mut self, deadline: Instant) {
        self.inner.reset_at(deadline);
    }

    /// Same as [`tokio::time::Interval::missed_tick_behavior`].
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.inner.missed_tick_behavior()
    }

    /// Same as [`tokio::time::Interval::set_missed_tick_behavior`].
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.inner.set_missed_tick_behavior(behavior);
    }

    /// Same as [`tokio::time::Interval::period`].
    pub fn period(&self) -> Duration {
        self.inner.period()
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
