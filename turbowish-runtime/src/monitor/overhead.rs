//! Overhead of TurboWish, estimated: the cost of one event of each kind, measured once where
//! nothing waits for it, times the number of events. Threads of the application never measure.

use std::hint::black_box;
use std::sync::OnceLock;
#[cfg(feature = "server")]
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
#[cfg(feature = "server")]
use std::time::Duration;

use turbowish_model::account::call::{Call, Origin, PollEnd, ProcKey};
use turbowish_model::account::ledger::{Ledger, Start};
use turbowish_model::account::metrics::Metrics;
use turbowish_model::snapshot::Overhead;

use crate::hot::waker_state::WakerState;
use crate::hot::{clock, thread};

/// Costs of one event, in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Costs {
    poll: u64,
    wake: u64,
    counter: u64,
    resource: u64,
}

static COSTS: OnceLock<Costs> = OnceLock::new();

/// Numbers of events, and the nanoseconds in which they happened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Events {
    pub(crate) polls: u64,
    pub(crate) wakes: u64,
    pub(crate) counts: u64,
    pub(crate) uses: u64,
    pub(crate) within_ns: u64,
}

/// Measures the costs, once: takes a fraction of a millisecond.
pub(crate) fn calibrate() {
    COSTS.get_or_init(|| Costs {
        poll: poll(),
        wake: wake(),
        counter: counter(),
        resource: resource(),
    });
}

/// Overhead of these events; `None` before [`calibrate`].
pub(crate) fn cost(events: &Events, monitor_ppm: Option<u64>) -> Option<Overhead> {
    let costs = COSTS.get()?;
    Some(Overhead {
        ppm: costs.ppm(events),
        monitor_ppm,
        poll_ps: costs.poll,
        wake_ps: costs.wake,
        counter_ps: costs.counter,
        resource_ps: costs.resource,
    })
}

impl Costs {
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
    let ledger = Box::new(Ledger::new(1));
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
        node.note_by(0, false);
        node.wake(0);
        node.end();
    })
}

fn counter() -> u64 {
    let meters = Metrics::default();
    timed(|| {
        way();
        black_box(meters.count((0, 0), 1));
    })
}

/// Half the cost of an acquisition and a release.
#[cfg(feature = "tokio")]
fn resource() -> u64 {
    timed(crate::resource::unseen()) / 2
}

/// Without the feature `tokio` there are no instrumented resources.
#[cfg(not(feature = "tokio"))]
const fn resource() -> u64 {
    0
}

/// Processor time of the monitor's thread and of queries, in nanoseconds; 0 before its first tick.
#[cfg(feature = "server")]
static MONITOR_NS: AtomicU64 = AtomicU64::new(0);

/// Processor time of the thread that answers queries, in nanoseconds.
#[cfg(feature = "server")]
static QUERIES_NS: AtomicU64 = AtomicU64::new(0);

/// Adds the processor time of the answer to a query.
#[cfg(feature = "server")]
pub(crate) fn answered(took: Duration) {
    let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
    QUERIES_NS.fetch_add(ns, Ordering::Relaxed);
}

/// Processor time of this thread. Budgets are checked against this, because elapsed time also
/// depends on the machine's load.
#[cfg(feature = "server")]
pub(crate) fn used() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

/// Updates the monitor's own processor time. Returns it, in nanoseconds.
#[cfg(feature = "server")]
pub(crate) fn look() -> u64 {
    let own = u64::try_from(used().as_nanos()).unwrap_or(u64::MAX);
    let ns = own.saturating_add(QUERIES_NS.load(Ordering::Relaxed));
    MONITOR_NS.store(ns, Ordering::Relaxed);
    ns
}

/// Processor time at the last update, in nanoseconds.
#[cfg(feature = "server")]
pub(crate) fn monitor() -> Option<u64> {
    let used = MONITOR_NS.load(Ordering::Relaxed);
    (used > 0).then_some(used)
}

#[cfg(test)]
mod tests {
    use super::{Costs, Events};

    /// A waiting thread uses none, however long another one works.
    #[cfg(feature = "server")]
    #[test]
    fn processor_time_is_of_the_thread_that_takes_it() {
        let work = std::time::Duration::from_millis(20);
        let begun = super::used();
        let busy = std::thread::spawn(move || {
            while super::used() < work {
                std::hint::spin_loop();
            }
        });
        busy.join().unwrap();
        assert!(super::used() - begun < work);
    }

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
