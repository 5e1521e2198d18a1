//! Snapshot streams: the next snapshot is made when it is due and the previous one has been taken,
//! never ahead.
//!
//! It is due after the requested interval, or later: with very many tasks a snapshot takes long,
//! and watching must not cost the program more than a part of a core.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep};
use turbowish_model::query::Query;

use super::making::{Made, Making};
use super::pace::{Pace, Shares};
use super::quota::{Account, Watching};
use super::service::Service;
use super::status::Status;
use super::{SHARED_NS, grid};

const SHORTEST: Duration = Duration::from_millis(100);

const LONGEST: Duration = Duration::from_secs(10);

/// Making the snapshots of one stream. Sending them is extra.
const SHARES: Shares = Shares {
    most: 50,
    longest: LONGEST,
    free: 20,
    free_again: 25,
};

/// A snapshot of a stream, and the time from its start to that of the next one.
pub(super) struct Timed {
    pub(super) made: Made,
    pub(super) pace: Duration,
}

impl Timed {
    fn new(made: Made, pace: &mut Pace) -> Self {
        let pace = pace.next(made.took);
        Self { made, pace }
    }
}

/// Snapshots of one query. Only the first exists before it is requested, because it shows whether
/// the query is valid.
pub(super) struct Watch {
    service: Service,
    query: Arc<Query>,
    account: Arc<Account>,
    first: Option<Timed>,
    /// The next one, once it is due.
    making: Option<Making>,
    /// Start of the last one.
    begun: Instant,
    pace: Pace,
    due: Pin<Box<Sleep>>,
    _watching: Watching,
}

impl Watch {
    pub(super) async fn start(
        service: Service,
        query: Query,
        interval_ns: u64,
        account: Arc<Account>,
    ) -> Result<Self, Status> {
        let watching = account.watch()?;
        let query = Arc::new(query);
        let mut pace = Pace::new(clamp(interval_ns), SHARES);
        let begun = Instant::now();
        let first = Timed::new(service.make(&query, &account, 0).await?, &mut pace);
        let due = tokio::time::sleep_until(grid::from(begun + first.pace, first.pace));
        Ok(Self {
            service,
            query,
            account,
            first: Some(first),
            making: None,
            begun,
            pace,
            due: Box::pin(due),
            _watching: watching,
        })
    }

    /// The next snapshot, once it is due and made.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Timed, Status>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Ok(first));
        }
        if self.making.is_none() {
            ready!(self.due.as_mut().poll(context));
            // A client that was away gets one snapshot, not all that it missed.
            self.begun = Instant::now();
        }
        let begin = || self.service.make(&self.query, &self.account, SHARED_NS);
        let making = self.making.get_or_insert_with(begin);
        let made = ready!(making.as_mut().poll(context));
        self.making = None;
        let told = made.map(|made| Timed::new(made, &mut self.pace));
        let next = match &told {
            Ok(told) => told.pace,
            Err(_) => self.pace.asked(),
        };
        self.due.as_mut().reset(grid::from(self.begun + next, next));
        Poll::Ready(told)
    }
}

fn clamp(interval_ns: u64) -> Duration {
    Duration::from_nanos(interval_ns).clamp(SHORTEST, LONGEST)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::clamp;

    #[test]
    fn intervals_stay_within_bounds() {
        for (asked, expected) in [
            (0, Duration::from_millis(100)),
            (99_999_999, Duration::from_millis(100)),
            (1_000_000_000, Duration::from_secs(1)),
            (10_000_000_001, Duration::from_secs(10)),
            (u64::MAX, Duration::from_secs(10)),
        ] {
            assert_eq!(clamp(asked), expected);
        }
    }
}
