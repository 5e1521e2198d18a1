//! Queue times: how long items were inside of a channel that left it within the last seconds.

use turbowish_model::account::histogram::{Buckets, upper_bound};
use turbowish_model::account::resource::Reading;
use turbowish_model::ordered::Map;

/// Times of the items that had left each channel, and when: at the start of a window, and within
/// it.
#[derive(Debug, Default)]
pub(super) struct Inside {
    before: Map<u64, Rolling>,
    now: Map<u64, Rolling>,
}

#[derive(Debug)]
struct Rolling {
    base: Buckets,
    next: (u64, Buckets),
}

/// A window begins between one and two of these back.
const WINDOW_NS: u64 = 3_000_000_000;

impl Inside {
    /// The 99th percentile in ticks; `None` if nothing has left it.
    pub(super) fn percentile(&mut self, now: u64, reading: &Reading) -> Option<u64> {
        if !reading.kind.has_queue_time() {
            return None;
        }
        let kept = &reading.times.kept;
        let mut rolling = self.before.remove(&reading.id).unwrap_or_else(|| Rolling {
            base: Buckets::default(),
            next: (now, kept.clone()),
        });
        if now.saturating_sub(rolling.next.0) >= WINDOW_NS {
            let next = std::mem::replace(&mut rolling.next, (now, kept.clone()));
            rolling.base = next.1;
        }
        let percentile = percentile(&kept.since(&rolling.base));
        self.now.insert(reading.id, rolling);
        percentile
    }

    /// Ends a situation: channels that were not asked for are gone, and forgotten.
    pub(super) fn turn(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }
}

fn percentile(buckets: &Buckets) -> Option<u64> {
    let total = buckets.total();
    let rank = (total * 99).div_ceil(100);
    let mut seen = 0;
    let mut buckets = buckets.iter();
    let bucket = buckets.find(|&(_, count)| {
        seen += count;
        count > 0 && seen >= rank
    });
    bucket.map(|(bucket, _)| upper_bound(usize::from(bucket)))
}

#[cfg(test)]
mod tests {
    use turbowish_model::account::histogram::{Buckets, bucket_of, upper_bound};
    use turbowish_model::account::resource::{Kind, Reading, Times};

    use super::{Inside, WINDOW_NS};

    /// Times of the items that leave the channel at each instant, in windows, and the percentile
    /// then.
    fn check(steps: &[(u64, &[u64], Option<u64>)]) {
        let mut inside = Inside::default();
        let mut kept = Buckets::default();
        for &(windows, left, expected) in steps {
            for &ticks in left {
                let bucket = u16::try_from(bucket_of(ticks)).expect("it fits");
                let mut more = Buckets::default();
                more.add(bucket, 1);
                kept.merge(&more);
            }
            let waited = Buckets::default();
            let reading = Reading {
                kind: Kind::Mpsc,
                times: Times {
                    waited,
                    kept: kept.clone(),
                    ..Times::default()
                },
                ..reading()
            };
            let expected = expected.map(|ticks| upper_bound(bucket_of(ticks)));
            let percentile = inside.percentile(windows * WINDOW_NS, &reading);
            assert_eq!(percentile, expected, "after {windows}");
            inside.turn();
        }
    }

    fn reading() -> Reading {
        Reading {
            id: 1,
            kind: Kind::Mpsc,
            name: None,
            place: std::panic::Location::caller(),
            created: 0,
            capacity: None,
            closed: false,
            holders: Vec::new(),
            holder_count: 0,
            held: 0,
            waiters: Vec::new(),
            waiter_count: 0,
            ends: Vec::new(),
            intents: Vec::new(),
            intent_counts: (0, 0),
            deserted: None,
            flow: turbowish_model::account::resource::Flow::default(),
            times: Times::default(),
        }
    }

    #[test]
    fn what_was_long_ago_does_not_count() {
        check(&[
            (1, &[1_000_000], Some(1_000_000)),
            (2, &[10], Some(10)),
            (3, &[20, 20], Some(20)),
            (4, &[], None),
        ]);
    }
}
