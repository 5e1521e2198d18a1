//! Beats of the monitor: at each it looks at the workers. At each, or only at every second or
//! fourth one, it ends a tick of the history, for which it reads all counters.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use turbowish_model::account::time::MinOfLastTwo;

use super::super::{Monitor, cpu_time};
use super::MonitorThread;
use crate::lock::lock;
use crate::log::say;
use crate::server::grid;

/// Interval of the beat.
const BEAT: Duration = Duration::from_millis(250);

/// Number of counts per beat while there are many polls.
const PARTS: u32 = 5;

/// The ticks may use one part in this many of a core: with very many counters there are fewer.
const SHARE: u32 = 800;

/// Beats from one tick to the next at most, however long a tick takes: a second, as between two
/// states of the recorder.
const LONGEST: u64 = 4;

/// At which beats a tick ends.
#[derive(Debug)]
pub(super) struct TickPace {
    /// Processor time of a tick and of the readings before it, without what the alerts take.
    usual: MinOfLastTwo,
    /// Processor time of the readings of all counters since the last tick.
    readings: Duration,
    /// Beats from one tick to the next.
    period: u64,
    /// Number of the beat at which the last one ended.
    last: Option<u64>,
    /// Numbers of the last two beats after which a snapshot could use the counters of a tick, the
    /// later one first.
    asked: [Option<u64>; 2],
}

impl Default for TickPace {
    fn default() -> Self {
        Self {
            usual: MinOfLastTwo::NOTHING,
            readings: Duration::ZERO,
            period: 1,
            last: None,
            asked: [None; 2],
        }
    }
}

impl TickPace {
    /// Whether a tick ends with this beat. It ends early if that is when a snapshot is expected:
    /// the last two were as far apart as ticks are.
    fn is_due(&self, beat: u64) -> bool {
        self.last.is_none_or(|last| {
            let passed = beat.saturating_sub(last);
            let apart = |from: u64, to: u64| from.saturating_sub(to).is_multiple_of(self.period);
            let is_asked = match self.asked {
                [Some(asked), Some(before)] => apart(beat, asked) && apart(asked, before),
                _ => false,
            };
            passed >= self.period || passed > 0 && is_asked
        })
    }

    /// After this beat, a snapshot is made that could use the counters of a tick.
    const fn ask(&mut self, beat: u64) {
        self.asked = [Some(beat), self.asked[0]];
    }

    /// Schedules the next tick after one that took `took`. The rules for alerts take rates over a
    /// `window`, so there is a tick in each.
    fn next(&mut self, beat: u64, took: Duration, window: Duration) {
        let beats = |time: u128| u64::try_from(time / BEAT.as_nanos()).unwrap_or(LONGEST);
        let took = took.saturating_add(std::mem::take(&mut self.readings));
        let least = self.usual.after(took).saturating_mul(SHARE);
        let least = beats(least.as_nanos().saturating_add(BEAT.as_nanos() - 1));
        let most = beats(window.as_nanos()).clamp(1, LONGEST);
        let least = least.clamp(1, LONGEST).next_power_of_two();
        let period = least.min(1 << most.ilog2());
        (self.period, self.last) = (period, Some(beat));
    }
}

impl MonitorThread {
    /// All counters were read between two ticks, which took so long.
    pub(in crate::monitor) fn charge(&self, took: Duration) {
        let readings = &mut lock(&self.pace).readings;
        *readings = readings.saturating_add(took);
    }
}

impl Monitor {
    /// A beat: the end of a tick if one is due, and a look.
    pub(crate) fn beat(&self) {
        self.count_leases();
        let beat = grid::number(BEAT);
        if !lock(&self.thread.pace).is_due(beat) {
            if self.is_dense() {
                self.sample();
            }
            return self.look();
        }
        let used = cpu_time::used();
        let ended = self.end_tick();
        let took = cpu_time::used().saturating_sub(used);
        lock(&self.thread.pace).next(beat, took, self.alert_window());
        if let Some((totals, threads, epoch)) = ended {
            self.look_for_alerts(&totals, &threads, epoch);
        }
    }

    /// A snapshot is made that could use the counters of a tick that has just ended.
    pub(in crate::monitor) fn could_share(&self) {
        lock(&self.thread.pace).ask(grid::number(BEAT));
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
        let next = grid::next(BEAT);
        let mut sample = grid::next(BEAT / PARTS);
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
                sample = grid::next(BEAT / PARTS);
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

    const SECOND: Duration = Duration::from_secs(1);

    /// Processor times of ticks, in microseconds, and the beat of the next one.
    #[test]
    fn ticks_that_take_long_come_less_often() {
        let mut pace = TickPace::default();
        let mut beat = 6;
        assert!(pace.is_due(beat));
        for (took, next) in [
            // A single long one does not count, not even the first one; two do.
            (900, 7),
            (312, 8),
            (313, 9),
            (313, 11),
            (5_000, 13),
            (10, 14),
            (700, 15),
            // Three beats are four.
            (700, 19),
            (1_000, 23),
            // However long a tick takes, there is one a second.
            (u64::MAX, 27),
            (u64::MAX, 31),
            (100, 32),
        ] {
            pace.next(beat, Duration::from_micros(took), SECOND);
            beat = (beat + 1..).find(|beat| pace.is_due(*beat)).unwrap();
            assert_eq!(beat, next, "{took}");
        }
    }

    #[test]
    fn readings_between_two_ticks_count() {
        let mut pace = TickPace::default();
        let took = Duration::from_micros(200);
        for (readings, period) in [
            (0, 1),
            (0, 1),
            (200, 1),
            (200, 2),
            (800, 2),
            (900, 4),
            (0, 1),
        ] {
            pace.readings = Duration::from_micros(readings);
            pace.next(0, took, SECOND);
            assert_eq!(pace.period, period, "{readings}");
        }
    }

    /// Windows of the rules for alerts in milliseconds, and beats from one tick to the next,
    /// however long it takes.
    #[test]
    fn there_is_a_tick_in_each_window() {
        let mut pace = TickPace::default();
        for (window, beats) in [
            (0, 1),
            (100, 1),
            (499, 1),
            (500, 2),
            (999, 2),
            (1_000, 4),
            (60_000, 4),
            (u64::MAX, 4),
        ] {
            for took in [Duration::MAX, Duration::MAX / 700, SECOND] {
                pace.next(0, took, Duration::from_millis(window));
            }
            assert_eq!(pace.period, beats, "{window}");
        }
    }

    /// Beats at which snapshots are made, and those at which ticks end.
    #[test]
    fn ticks_end_when_snapshots_are_made() {
        let check = |asked: &[u64], expected: &[u64]| {
            let mut pace = TickPace::default();
            pace.next(0, Duration::MAX, SECOND);
            pace.next(0, Duration::MAX, SECOND);
            let mut ended = Vec::new();
            for beat in 1..=16 {
                if pace.is_due(beat) {
                    ended.push(beat);
                    pace.next(beat, Duration::MAX, SECOND);
                }
                if asked.contains(&beat) {
                    pace.ask(beat);
                }
            }
            assert_eq!(ended, expected, "{asked:?}");
        };
        check(&[], &[4, 8, 12, 16]);
        check(&[3, 7, 11, 15], &[4, 8, 11, 15]);
        check(&[4, 8, 12, 16], &[4, 8, 12, 16]);
        // Of other intervals, none is expected.
        check(&[1, 3, 5, 7, 9, 11, 13, 15], &[4, 8, 12, 16]);
        check(&[5, 10, 15], &[4, 8, 12, 16]);
        check(&[2, 5, 9, 13], &[4, 8, 12, 13]);
    }
}
