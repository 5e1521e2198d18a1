//! Drop-in wrapper of tokio's sleep: observes who waits.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::time::Instant;

use super::passed;
use crate::resource::TimerWait;

/// Same as [`tokio::time::sleep_until`]; the wait is observed.
///
/// # Panics
/// If called outside of a tokio runtime with its timer enabled.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep {
        wait: None,
        at: Location::caller(),
        inner: tokio::time::sleep_until(deadline),
    }
}

/// Same as [`tokio::time::sleep()`]; the wait is observed.
///
/// # Panics
/// If called outside of a tokio runtime with its timer enabled.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep {
        wait: None,
        at: Location::caller(),
        inner: tokio::time::sleep(duration),
    }
}

pin_project! {
    /// Same as [`tokio::time::Sleep`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Sleep {
        wait: Option<TimerWait>,
        at: &'static Location<'static>,
        #[pin]
        inner: tokio::time::Sleep,
    }
}

impl Sleep {
    /// Same as [`tokio::time::Sleep::deadline`].
    pub fn deadline(&self) -> Instant {
        self.inner.deadline()
    }

    /// Same as [`tokio::time::Sleep::is_elapsed`].
    pub fn is_elapsed(&self) -> bool {
        self.inner.is_elapsed()
    }

    /// Same as [`tokio::time::Sleep::reset`].
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.project();
        this.inner.reset(deadline);
        *this.wait = None;
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let mut inner = this.inner;
        let polled = inner.as_mut().poll(cx);
        if polled.is_ready() {
            TimerWait::completed(this.wait, || passed(inner.deadline()));
        }
        TimerWait::polled(this.wait, polled.is_pending(), this.at);
        polled
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
