//! Drop-in wrapper of tokio's timeout: polls the future first, then the deadline.

use std::convert::Infallible;
use std::future::{Pending, pending};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::task::coop;
use tokio::time::Instant;
use tokio::time::error::Elapsed;

use crate::resource::TimerWait;

/// Same as [`tokio::time::timeout()`]; the timer is observed.
///
/// # Panics
/// If called outside of a tokio runtime with its timer enabled.
///
/// ```
/// use std::future::pending;
/// use std::time::Duration;
/// use turbowish::time::timeout;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let limit = Duration::from_millis(10);
/// assert_eq!(timeout(limit, async { 42 }).await, Ok(42));
/// // The call that is dropped here would count as cancelled.
/// assert!(timeout(limit, pending::<()>()).await.is_err());
/// # }
/// ```
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout {
        wait: None,
        at: Location::caller(),
        value: future.into_future(),
        delay: tokio::time::timeout(duration, pending()),
    }
}

/// Same as [`tokio::time::timeout_at`]; the timer is observed.
///
/// # Panics
/// If called outside of a tokio runtime with its timer enabled.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout {
        wait: None,
        at: Location::caller(),
        value: future.into_future(),
        delay: tokio::time::timeout_at(deadline, pending()),
    }
}

pin_project! {
    /// Same as [`tokio::time::Timeout`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    #[derive(Debug)]
    pub struct Timeout<T> {
        wait: Option<TimerWait>,
        at: &'static Location<'static>,
        #[pin]
        value: T,
        // A timeout around a future that is never ready: tokio makes its error nowhere else.
        #[pin]
        delay: tokio::time::Timeout<Pending<Infallible>>,
    }
}

impl<T> Timeout<T> {
    /// Same as [`tokio::time::Timeout::get_ref`].
    pub const fn get_ref(&self) -> &T {
        &self.value
    }

    /// Same as [`tokio::time::Timeout::get_mut`].
    pub const fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Same as [`tokio::time::Timeout::into_inner`].
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: Future> Future for Timeout<T> {
    type Output = Result<T::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let had_budget = coop::has_budget_remaining();
        if let Poll::Ready(value) = this.value.poll(cx) {
            *this.wait = None;
            return Poll::Ready(Ok(value));
        }
        // Otherwise a future that uses up the task's budget in each poll would never time out.
        let elapsed = if had_budget && !coop::has_budget_remaining() {
            pin!(coop::unconstrained(this.delay)).poll(cx)
        } else {
            this.delay.poll(cx)
        };
        TimerWait::polled(this.wait, elapsed.is_pending(), this.at);
        elapsed.map(|elapsed| elapsed.map(|never| match never {}))
    }
}
