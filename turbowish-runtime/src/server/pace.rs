//! Pace of what is made again and again: at the requested interval, or less often, so that making
//! it uses no more than a part of a core.

use std::time::Duration;

use turbowish_model::account::time::MinOfLastTwo;

/// Parts of a core.
#[derive(Clone, Copy)]
pub(super) struct Shares {
    /// It may use one part in this many, unless that is slower than `longest`.
    pub(super) most: u32,
    /// The longest interval, however long it takes.
    pub(super) longest: Duration,
    /// If it uses less than one part in this many, it comes at the requested interval.
    pub(super) free: u32,
    /// Once slowed down, it returns to the requested interval only below one part in this many.
    pub(super) free_again: u32,
}

/// Interval of what is made.
pub(super) struct Pace {
    asked: Duration,
    shares: Shares,
    /// Processor time of making it once.
    usual: MinOfLastTwo,
    /// The shortest interval that keeps within the share.
    least: Duration,
    /// Whether it comes less often than requested.
    slowed: bool,
}

impl Pace {
    pub(super) const fn new(asked: Duration, shares: Shares) -> Self {
        Self {
            asked,
            shares,
            usual: MinOfLastTwo::UNKNOWN,
            least: Duration::ZERO,
            slowed: false,
        }
    }

    /// The requested interval.
    pub(super) const fn asked(&self) -> Duration {
        self.asked
    }

    /// The shortest interval that keeps within the share, whatever was requested.
    pub(super) const fn least(&self) -> Duration {
        self.least
    }

    /// Time from the start of one that took `took` to that of the next one.
    pub(super) fn next(&mut self, took: Duration) -> Duration {
        let usual = self.usual.after(took);
        let Shares {
            most,
            longest,
            free,
            free_again,
        } = self.shares;
        let free = if self.slowed { free_again } else { free };
        self.slowed = usual.saturating_mul(free) > self.asked;
        self.least = usual.saturating_mul(most).min(longest);
        match self.slowed {
            true => self.asked.max(self.least),
            false => self.asked,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Pace, Shares};

    const SHARES: Shares = Shares {
        most: 50,
        longest: Duration::from_secs(10),
        free: 20,
        free_again: 25,
    };

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
            let mut pace = Pace::new(Duration::from_millis(asked), SHARES);
            for &(took, expected) in rounds {
                let next = pace.next(Duration::from_millis(took));
                assert_eq!(next, Duration::from_millis(expected), "{asked}: {took}");
            }
        }
    }
}
