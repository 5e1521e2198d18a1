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
use turbowish_model::account::time::MinOfLastTwo;
use turbowish_model::query::Query;

use super::making::{Made, Making};
use super::quota::{Account, Watching};
use super::service::Service;
use super::status::Status;

const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);

/// Making the snapshots of one stream may use one part in this many of a core, unless that is
/// slower than [`LONGEST`]. Sending them is extra.
const SHARE: u32 = 50;
/// If they use less than one part in this many, they come at the requested interval.
const FREE: u32 = 20;
/// Once slowed down, they return to the requested interval only below one part in this many.
const FREE_AGAIN: u32 = 25;

/// A snapshot of a stream, and the time from its start to that of the next one.
pub(super) struct Timed {
    pub(super) made: Made,
    pub(super) pace: Duration,
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
        let mut pace = Pace {
            asked: clamp(interval_ns),
            usual: MinOfLastTwo::UNKNOWN,
            slowed: false,
        };
        let begun = Instant::now();
        let first = pace.with_pace(service.make(&query, &account).await?);
        let due = tokio::time::sleep_until(begun + first.pace);
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
        let begin = || self.service.make(&self.query, &self.account);
        let making = self.making.get_or_insert_with(begin);
        let made = ready!(making.as_mut().poll(context));
        self.making = None;
        let told = made.map(|made| self.pace.with_pace(made));
        let next = match &told {
            Ok(told) => told.pace,
            Err(_) => self.pace.asked,
        };
        self.due.as_mut().reset(self.begun + next);
        Poll::Ready(told)
    }
}

fn clamp(interval_ns: u64) -> Duration {
    Duration::from_nanos(interval_ns).clamp(SHORTEST, LONGEST)
}

/// Interval of the snapshots.
struct Pace {
    /// The interval that the client requested.
    asked: Duration,
    /// Processor time of a snapshot.
    usual: MinOfLastTwo,
    /// Whether they come less often than requested.
    slowed: bool,
}

impl Pace {
    /// Adds to a snapshot when the next one is due.
    fn with_pace(&mut self, made: Made) -> Timed {
        let pace = self.next(made.took);
        Timed { made, pace }
    }

    /// Time from the start of a snapshot that took `took` to that of the next one.
    fn next(&mut self, took: Duration) -> Duration {
        let usual = self.usual.after(took);
        let free = if self.slowed { FREE_AGAIN } else { FREE };
        self.slowed = usual.saturating_mul(free) > self.asked;
        if !self.slowed {
            return self.asked;
        }
        let share = usual.saturating_mul(SHARE).min(LONGEST);
        self.asked.max(share)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MinOfLastTwo, Pace, clamp};

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

    /// Requested interval, durations of successive snapshots, and the interval after each; in
    /// milliseconds.
    #[test]
    fn snapshots_that_take_long_come_less_often() {
        for (asked, rounds) in [
            // The requested interval, as long as they take less than a twentieth of it.
            (1_000, &[(3, 1_000), (50, 1_000), (50, 1_000)][..]),
            (100, &[(3, 100), (6, 100), (6, 300)]),
            // The first one counts at once; a single one that took longer does not, and two do.
            (
                1_000,
                &[
                    (100, 5_000),
                    (900, 5_000),
                    (110, 5_500),
                    (130, 5_500),
                    (130, 6_500),
                ],
            ),
            // It is fast again: the requested interval returns.
            (1_000, &[(400, 10_000), (10, 1_000), (400, 1_000)]),
            // Near the threshold it does not alternate.
            (
                1_000,
                &[
                    (51, 2_550),
                    (49, 2_450),
                    (50, 2_450),
                    (39, 1_000),
                    (49, 1_000),
                ],
            ),
            // However long they take, snapshots come.
            (1_000, &[(2_000, 10_000), (u64::MAX / 1_000_000, 10_000)]),
            (10_000, &[(1, 10_000)]),
        ] {
            let mut pace = Pace {
                asked: Duration::from_millis(asked),
                usual: MinOfLastTwo::UNKNOWN,
                slowed: false,
            };
            for &(took, expected) in rounds {
                let next = pace.next(Duration::from_millis(took));
                assert_eq!(next, Duration::from_millis(expected), "{asked}: {took}");
            }
        }
    }
}
