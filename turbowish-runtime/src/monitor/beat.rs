//! Beat of the monitor: at each one it looks at the workers, and at most of them it ends a tick of
//! the history, for which it reads all counters.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use turbowish_model::account::time::MinOfLastTwo;

use super::{Monitor, cpu_time};
use crate::lock::lock;
use crate::log::say;
use crate::server::{SHARED_NS, grid};

/// Interval of the beat.
const BEAT: Duration = Duration::from_millis(250);

/// Number of counts per beat while there are many polls.
const PARTS: u32 = 5;

/// A tick may use one part in this many of a core: with very many counters there are fewer ticks.
const SHARE: u32 = 400;

/// Beats from one tick to the next at most, however long a tick takes: a second, as between two
/// states of the recorder, which are due at the same instants.
const LONGEST: u64 = 4;

/// At which beats a tick ends.
#[derive(Debug)]
pub(super) struct TickPace {
    /// Processor time of a tick.
    usual: MinOfLastTwo,
    /// Beats from one tick to the next.
    period: u64,
    /// Number of the beat at which the last one ended.
    last: u64,
}

impl Default for TickPace {
    fn default() -> Self {
        Self {
            usual: MinOfLastTwo::NOTHING,
            period: 1,
            last: u64::MAX,
        }
    }
}

impl TickPace {
    /// Whether a tick ends with the beat of this number.
    const fn is_due(&self, beat: u64) -> bool {
        beat / self.period != self.last / self.period
    }

    /// Schedules the next tick after one that took `took`.
    fn next(&mut self, beat: u64, took: Duration) {
        let least = self.usual.after(took).saturating_mul(SHARE);
        let beats = least.as_nanos().div_ceil(BEAT.as_nanos());
        let beats = u64::try_from(beats).unwrap_or(LONGEST).min(LONGEST);
        (self.period, self.last) = (beats.next_power_of_two(), beat);
    }
}

impl Monitor {
    /// A beat: a tick of the history, if one is due.
    pub(crate) fn beat(&self) {
        self.count_leases();
        let beat = grid::number(BEAT);
        if lock(&self.thread.pace).is_due(beat) {
            let used = cpu_time::used();
            self.end_tick(SHARED_NS);
            let took = cpu_time::used().saturating_sub(used);
            lock(&self.thread.pace).next(beat, took);
        } else {
            self.look();
        }
    }
}

/// Lets the monitor look at the program until it is dropped.
pub(super) async fn beat(monitor: Arc<Monitor>) {
    let mut said = false;
    // The beats count the leases of paused tasks: they must survive a panic in TurboWish.
    let mut survive = |work: &dyn Fn(&Monitor)| {
        if catch_unwind(AssertUnwindSafe(|| work(&monitor))).is_err() && !said {
            said = true;
            say("the monitor panicked: some numbers or alerts are missing; please report this bug");
        }
    };
    loop {
        survive(&Monitor::beat);
        let next = grid::after(BEAT);
        let mut sample = grid::after(BEAT / PARTS);
        loop {
            let sample_at = monitor.is_dense().then_some(sample);
            let look_at = monitor.next_look().map(|time| Instant::now() + time);
            let first = sample_at.into_iter().chain(look_at).min();
            let Some(first) = first.filter(|first| *first < next) else {
                break;
            };
            tokio::time::sleep_until(first).await;
            if sample_at == Some(first) {
                monitor.sample();
                sample = grid::after(BEAT / PARTS);
            } else {
                survive(&Monitor::look);
            }
        }
        tokio::time::sleep_until(next).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::TickPace;

    /// Processor times of ticks, in microseconds, and the beat of the next one.
    #[test]
    fn ticks_that_take_long_come_less_often() {
        let mut pace = TickPace::default();
        let mut beat = 6;
        assert!(pace.is_due(beat));
        for (took, next) in [
            // A single long one does not count, not even the first one; two do.
            (900, 7),
            (625, 8),
            (626, 9),
            (626, 10),
            (5_000, 12),
            (10, 13),
            (1_300, 14),
            // Three beats are four, and all ticks end with every fourth beat.
            (1_300, 16),
            (2_000, 20),
            // However long a tick takes, there is one a second.
            (u64::MAX, 24),
            (u64::MAX, 28),
            (100, 29),
        ] {
            pace.next(beat, Duration::from_micros(took));
            beat = (beat + 1..).find(|beat| pace.is_due(*beat)).unwrap();
            assert_eq!(beat, next, "{took}");
        }
        // Beats that are late, or missing.
        pace.next(30, Duration::from_secs(1));
        pace.next(30, Duration::from_secs(1));
        assert_eq!(
            [31, 32, 33, 47].map(|beat| pace.is_due(beat)),
            [false, true, true, true]
        );
    }
}
