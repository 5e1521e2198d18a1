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

/// Beats from one tick to the next at most, however long a tick takes.
const LONGEST: u32 = 4;

/// At which beats a tick ends.
#[derive(Debug)]
pub(super) struct TickPace {
    /// Processor time of a tick.
    usual: MinOfLastTwo,
    /// Beats until the next tick.
    left: u32,
}

impl Default for TickPace {
    fn default() -> Self {
        Self {
            usual: MinOfLastTwo::NOTHING,
            left: 1,
        }
    }
}

impl TickPace {
    /// Counts a beat. Returns whether a tick ends with it.
    const fn is_due(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }

    /// Schedules the next tick after one that took `took`.
    fn next(&mut self, took: Duration) {
        let least = self.usual.after(took).saturating_mul(SHARE);
        let beats = least.as_nanos().div_ceil(BEAT.as_nanos());
        self.left = u32::try_from(beats).unwrap_or(LONGEST).clamp(1, LONGEST);
    }
}

impl Monitor {
    /// A beat: a tick of the history, if one is due.
    pub(crate) fn beat(&self) {
        self.count_leases();
        let is_due = lock(&self.thread.pace).is_due();
        if is_due {
            let used = cpu_time::used();
            self.end_tick(SHARED_NS);
            let took = cpu_time::used().saturating_sub(used);
            lock(&self.thread.pace).next(took);
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

    /// Processor times of ticks, in microseconds, and the beats from each to the next one.
    #[test]
    fn ticks_that_take_long_come_less_often() {
        let mut pace = TickPace::default();
        assert!(pace.is_due());
        for (took, beats) in [
            // A single long one does not count, not even the first one; two do.
            (900, 1),
            (625, 1),
            (626, 1),
            (626, 2),
            (5_000, 2),
            (10, 1),
            (1_300, 1),
            (1_300, 3),
            (2_000, 3),
            (2_000, 4),
            // However long a tick takes, there is one a second.
            (u64::MAX, 4),
            (u64::MAX, 4),
            (100, 1),
        ] {
            pace.next(Duration::from_micros(took));
            let passed = (1..).find(|_| pace.is_due());
            assert_eq!(passed, Some(beats), "{took}");
        }
    }
}
