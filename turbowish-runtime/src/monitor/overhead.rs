//! Overhead of TurboWish, estimated: the cost of one event of each kind, measured once where
//! nothing waits for it, times the number of events. Threads of the application never measure.

use std::hint::black_box;
use std::task::Waker;

use turbowish_model::account::call::{Call, Origin, PollEnd, ProcKey};
use turbowish_model::account::ledger::{Ledger, Start};
use turbowish_model::account::metrics::{MetricKey, Metrics};
use turbowish_model::account::task::WakeSource;
use turbowish_model::snapshot::Overhead;

use crate::features;
use crate::hot::waker_state::WakerState;
use crate::hot::{clock, thread};
use crate::resource;

/// Costs of one event, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    poll: u64,
    wake: u64,
    counter: u64,
    resource: u64,
}

/// Numbers of events, and the nanoseconds in which they happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Events {
    pub(crate) polls: u64,
    pub(crate) wakes: u64,
    pub(crate) counts: u64,
    pub(crate) uses: u64,
    pub(crate) within_ns: u64,
}

impl Costs {
    /// Measures them; takes a fraction of a millisecond.
    pub(super) fn measure() -> Self {
        Self {
            poll: poll(),
            wake: wake(),
            counter: counter(),
            resource: resource(),
        }
    }

    /// Overhead of these events.
    pub(super) fn overhead(&self, events: &Events, monitor_ppm: Option<u64>) -> Overhead {
        Overhead {
            ppm: self.ppm(events),
            monitor_ppm,
            poll_ps: self.poll,
            wake_ps: self.wake,
            counter_ps: self.counter,
            resource_ps: self.resource,
        }
    }

    fn ppm(&self, events: &Events) -> u64 {
        let parts = [
            (events.polls, self.poll),
            (events.wakes, self.wake),
            (events.counts, self.counter),
            (events.uses, self.resource),
        ];
        let ps: u128 = parts
            .iter()
            .map(|&(n, each)| u128::from(n) * u128::from(each))
            .sum();
        // Picoseconds per nanosecond are thousandths; the result is in millionths.
        let ppm = (ps * 1_000).checked_div(u128::from(events.within_ns));
        u64::try_from(ppm.unwrap_or(0)).unwrap_or(u64::MAX)
    }
}

/// Events timed together.
const BATCH: u64 = 64;
/// Number of batches; the fastest one counts, because it was disturbed least.
const BATCHES: u32 = 16;

/// Cost of `event`, in picoseconds.
fn timed(mut event: impl FnMut()) -> u64 {
    let batch = |_| {
        let begun = clock::ticks();
        (0..BATCH).for_each(|_| event());
        clock::ticks().saturating_sub(begun)
    };
    let quickest = (0..BATCHES).map(batch).min().unwrap_or(0);
    clock::scale().ns(quickest.saturating_mul(1_000)) / BATCH
}

/// Looks up the thread's ledger, of which this thread has none.
fn way() {
    black_box(thread::with_current(0, |_| ()));
}

/// Start and end of a pending poll, each with a clock reading. Polls that share a reading cost
/// less.
fn poll() -> u64 {
    let ledger = Box::new(Ledger::new(1, &std::sync::Arc::default()));
    let key = ProcKey {
        id: 0,
        future_bytes: 0,
    };
    let mut call = Call::new(Origin::UNSEEN);
    timed(|| {
        way();
        let depth = ledger.poll_start(&mut call, key, clock::ticks(), Start::default());
        way();
        let end = |depth| ledger.poll_end(&mut call, depth, clock::ticks(), PollEnd::Pending);
        black_box(depth.map(end));
    })
}

/// A wake that is recorded and passed on, and the poll's start with the waker.
fn wake() -> u64 {
    let node = WakerState::kept_by(Waker::noop().clone());
    timed(|| {
        node.begin(Waker::noop());
        way();
        node.wakes().note(|| (WakeSource::UNKNOWN, clock::ticks()));
        node.wake();
        node.end();
    })
}

fn counter() -> u64 {
    let metrics = Metrics::default();
    timed(|| {
        way();
        black_box(metrics.count(MetricKey { site: 0, proc: 0 }, 1));
    })
}

/// Half the cost of an acquisition and a release; 0 without instrumented primitives.
fn resource() -> u64 {
    if features::TOKIO {
        timed(resource::unseen()) / 2
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::{Costs, Events};

    #[test]
    fn cost_is_count_times_price_over_time() {
        let costs = Costs {
            poll: 30_000,
            wake: 50_000,
            counter: 4_500,
            resource: 40_000,
        };
        let check = |polls, wakes, counts, uses, within_ns, expected| {
            let events = Events {
                polls,
                wakes,
                counts,
                uses,
                within_ns,
            };
            assert_eq!(costs.ppm(&events), expected, "{events:?}");
        };
        check(0, 0, 0, 0, 1_000_000_000, 0);
        // A million polls of 30 ns within one second are 3 % of a core.
        check(1_000_000, 0, 0, 0, 1_000_000_000, 30_000);
        check(0, 100_000, 0, 0, 1_000_000_000, 5_000);
        check(0, 0, 2_000_000, 0, 2_000_000_000, 4_500);
        check(100_000, 100_000, 100_000, 100_000, 1_000_000_000, 12_450);
        check(5, 0, 0, 0, 0, 0);
        check(u64::MAX, u64::MAX, u64::MAX, u64::MAX, 1, u64::MAX);
    }
}
