//! The next snapshot is made when its time has come and the one before has been taken, never ahead.
//!
//! That time is the interval asked for, or later: with very many tasks a snapshot takes long, and looking is not to cost the program more than
//! a part of a core.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::Sleep;
use tokio_stream::Stream;
use tonic::Status;
use turbowish_model::query::Query;
use turbowish_model::time::Usual;
use turbowish_wire::proto;

use super::quota::Watching;
use super::service::Service;

const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);

/// To make the snapshots of one watch may take this part of a core, unless that were slower than [`LONGEST`]; what it takes to send them is beside that.
const SHARE: u32 = 50;
/// As long as they take less than this part, they come as they were asked for.
const FREE: u32 = 20;
/// Once they have come less often, only less than this part lets them come so again.
const FREE_AGAIN: u32 = 25;

/// Snapshots of one query. Only the first exists before it is asked for, because it tells whether
/// the query makes sense.
pub(super) struct Watch {
    service: Service,
    query: Query,
    first: Option<proto::Snapshot>,
    pace: Pace,
    due: Pin<Box<Sleep>>,
    _watching: Option<Watching>,
}

impl Watch {
    pub(super) fn start(
        service: Service,
        query: Query,
        interval_ns: u64,
        watching: Option<Watching>,
    ) -> Result<Self, Status> {
        let mut pace = Pace {
            asked: clamp(interval_ns),
            usual: Usual::UNKNOWN,
            slowed: false,
        };
        let begun = tokio::time::Instant::now();
        let first = pace.snapshot(&service, &query)?;
        let due = tokio::time::sleep_until(begun + Duration::from_nanos(first.pace_ns));
        Ok(Self {
            service,
            query,
            first: Some(first),
            pace,
            due: Box::pin(due),
            _watching: watching,
        })
    }
}

fn clamp(interval_ns: u64) -> Duration {
    Duration::from_nanos(interval_ns).clamp(SHORTEST, LONGEST)
}

/// How often a snapshot is made.
struct Pace {
    /// The interval asked for.
    asked: Duration,
    /// Processor time of a snapshot.
    usual: Usual,
    /// They come less often than they were asked for.
    slowed: bool,
}

impl Pace {
    /// The next snapshot, which says when the one after it is due.
    fn snapshot(&mut self, service: &Service, query: &Query) -> Result<proto::Snapshot, Status> {
        let used = service.used();
        let mut snapshot = proto::Snapshot::from(service.snapshot(query)?);
        let next = self.next(service.used().saturating_sub(used));
        snapshot.pace_ns = u64::try_from(next.as_nanos()).unwrap_or(u64::MAX);
        Ok(snapshot)
    }

    /// Time from the beginning of a snapshot that took so long to that of the next one.
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

impl Stream for Watch {
    type Item = Result<proto::Snapshot, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        ready!(this.due.as_mut().poll(context));
        // A client that was away gets one snapshot, not all that it missed.
        let begun = tokio::time::Instant::now();
        let snapshot = this.pace.snapshot(&this.service, &this.query);
        let next = match &snapshot {
            Ok(snapshot) => Duration::from_nanos(snapshot.pace_ns),
            Err(_) => this.pace.asked,
        };
        this.due.as_mut().reset(begun + next);
        Poll::Ready(Some(snapshot))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Pace, Usual, clamp};

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

    /// What is asked for, what snapshots take one after the other, and how long each is before the next; in milliseconds.
    #[test]
    fn snapshots_that_take_long_come_less_often() {
        for (asked, rounds) in [
            // As long as they take less than a twentieth.
            (1_000, &[(3, 1_000), (50, 1_000), (50, 1_000)][..]),
            (100, &[(3, 100), (6, 100), (6, 300)]),
            // The first tells at once, a single one that took longer does not count, and two do.
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
            // It is fast again: so are they.
            (1_000, &[(400, 10_000), (10, 1_000), (400, 1_000)]),
            // At the border it stays as it is.
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
            // Whoever looks gets to see something.
            (1_000, &[(2_000, 10_000), (u64::MAX / 1_000_000, 10_000)]),
            (10_000, &[(1, 10_000)]),
        ] {
            let mut pace = Pace {
                asked: Duration::from_millis(asked),
                usual: Usual::UNKNOWN,
                slowed: false,
            };
            for &(took, expected) in rounds {
                let next = pace.next(Duration::from_millis(took));
                assert_eq!(next, Duration::from_millis(expected), "{asked}: {took}");
            }
        }
    }
}
