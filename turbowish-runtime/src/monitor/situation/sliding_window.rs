//! Sliding window of 100 ms over polls: counted often while they are many, so that a burst shorter
//! than the time between two situations is reported in full.

use std::collections::VecDeque;

use super::event_rates::since;

/// Length of the window, in nanoseconds.
pub(super) const SPAN_NS: u64 = 100_000_000;

/// Minimum length of a window: a slightly shorter one is as good, but a much shorter one would turn
/// a scheduling delay into a burst.
const LEAST_NS: u64 = 90_000_000;

/// Readings of the last window, and the densest window.
#[derive(Debug, Default)]
pub(super) struct Sliding {
    /// Time, and polls by proc; the oldest first.
    readings: VecDeque<(u64, Vec<u64>)>,
    densest: Dense,
}

/// Polls of the densest window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dense {
    /// Polls per 100 ms.
    pub(super) events: u64,
    /// The proc with most of them.
    pub(super) noisiest: Option<u32>,
}

impl Sliding {
    /// Adds the polls by proc at `now`.
    pub(super) fn read(&mut self, now: u64, polls: Vec<u64>) {
        self.readings.push_back((now, polls));
        let long_enough = |at: u64| now.saturating_sub(at) >= LEAST_NS;
        // The window begins at the last reading that is old enough.
        while self.readings.get(1).is_some_and(|&(at, _)| long_enough(at)) {
            self.readings.pop_front();
        }
        if let (Some((from, before)), Some((_, polls))) =
            (self.readings.front(), self.readings.back())
            && long_enough(*from)
        {
            let window = Dense::of(before, polls, now - from);
            if window.events > self.densest.events {
                self.densest = window;
            }
        }
    }

    /// The densest window since the last call.
    pub(super) fn take(&mut self) -> Dense {
        std::mem::take(&mut self.densest)
    }
}

impl Dense {
    fn of(before: &[u64], now: &[u64], elapsed: u64) -> Self {
        let grown = since(now, before);
        let (total, most) = grown.fold((0_u64, (0, None)), |(total, most), (id, polls)| {
            let more = polls > most.0;
            let most = if more { (polls, Some(id)) } else { most };
            (total.saturating_add(polls), most)
        });
        Self {
            events: within(total, elapsed),
            noisiest: most.1,
        }
    }
}

/// Converts events in `elapsed` nanoseconds to events per 100 ms.
pub(super) fn within(total: u64, elapsed: u64) -> u64 {
    let events = u128::from(total) * u128::from(SPAN_NS) / u128::from(elapsed.max(1));
    u64::try_from(events).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Dense, Sliding, within};

    const MS: u64 = 1_000_000;

    /// Polls of two procs by the time in ms, and the expected densest window.
    fn check(readings: &[(u64, [u64; 2])], events: u64, noisiest: Option<u32>) {
        let mut sliding = Sliding::default();
        for &(at, polls) in readings {
            sliding.read(at * MS, polls.to_vec());
        }
        let densest = sliding.take();
        assert_eq!(densest, Dense { events, noisiest });
        assert_eq!(sliding.take(), Dense::default());
        assert!(sliding.readings.len() <= 4, "{}", sliding.readings.len());
    }

    #[test]
    fn a_burst_is_told_as_it_is() {
        // 1,010 in the 100 ms in the middle, of 1,030 in 300.
        let burst = [
            (0, [0, 0]),
            (50, [10, 0]),
            (100, [10, 500]),
            (150, [20, 1_000]),
            (200, [20, 1_005]),
            (250, [25, 1_005]),
            (300, [25, 1_005]),
        ];
        check(&burst, 1_010, Some(1));
        // The same spread out: 99 % of a limit of 1,000 in each window.
        let steady: Vec<(u64, [u64; 2])> = (0..=40).map(|n| (n * 50, [n * 395, n * 100])).collect();
        check(&steady, 990, Some(0));
        let above: Vec<(u64, [u64; 2])> = (0..=40).map(|n| (n * 50, [n * 405, n * 100])).collect();
        check(&above, 1_010, Some(0));
    }

    #[test]
    fn what_is_too_short_or_too_long_is_no_burst() {
        check(&[(0, [0, 0]), (10, [1_000_000, 0])], 0, None);
        check(&[(0, [0, 0]), (1_000, [1_000, 0])], 100, Some(0));
        check(&[(0, [5, 5])], 0, None);
        check(&[], 0, None);
    }

    #[test]
    fn events_are_told_for_a_tenth_of_a_second() {
        assert_eq!(within(0, 250 * MS), 0);
        assert_eq!(within(2_475_000, 250 * MS), 990_000);
        assert_eq!(within(2_525_000, 250 * MS), 1_010_000);
        assert_eq!(within(u64::MAX, 1), u64::MAX);
    }
}
