//! The next snapshot is made when the interval is over and the one before has been taken, never ahead.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_stream::Stream;
use tonic::Status;
use turbowish_model::query::Query;
use turbowish_wire::proto;

use super::service::Service;

const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);

/// Snapshots of one query. Only the first exists before it is asked for, because it tells whether
/// the query makes sense.
pub(super) struct Watch {
    service: Service,
    query: Query,
    first: Option<proto::Snapshot>,
    interval: Interval,
}

impl Watch {
    pub(super) fn start(service: Service, query: Query, interval_ns: u64) -> Result<Self, Status> {
        let first = Some(service.snapshot(&query)?.into());
        let period = clamp(interval_ns);
        let mut interval = interval_at(Instant::now() + period, period);
        // A client that was away gets one snapshot, not all that it missed.
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            service,
            query,
            first,
            interval,
        })
    }
}

fn clamp(interval_ns: u64) -> Duration {
    Duration::from_nanos(interval_ns).clamp(SHORTEST, LONGEST)
}

impl Stream for Watch {
    type Item = Result<proto::Snapshot, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        ready!(self.interval.poll_tick(context));
        Poll::Ready(Some(self.service.snapshot(&self.query).map(Into::into)))
    }
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
