//! What chance could have done: bounds of the growth between two measurements of the same thing.
//!
//! A bound holds for all comparisons of a run together with 99 % certainty. It is computed from the
//! exact binomial tail (Chernoff, Kullback-Leibler), so it needs no "large enough" sample. Four
//! things make it wider than that of independent values, because values of a program are not:
//!
//! - [`ALIKE`] and [`CLUSTER`]: neighbours resemble each other, and so do the values of one window;
//!   those that wait for the same thing do so even more ([`ALIKE_WAITS`]).
//! - [`DISTURBED`]: the machine delays some polls in one window and not in the other.
//! - [`Values::behind`]: all that waits behind the longest poll of a window does so because of one
//!   event, which may not be in the other window.
//! - [`BURST`]: failures come in bursts.

use turbowish_model::snapshot::quantile::{Distribution, Percentile};

/// The share of runs of `diff` in which chance alone may look like a growth.
const ALPHA: f64 = 0.01;

/// The weight of a window approaches that of this many independent values, however many it has.
const CLUSTER: f64 = 20_000.0;

/// Share of the values that the machine may have disturbed in one window and not in the other.
const DISTURBED: f64 = 0.005;

/// Failures that may have one cause.
const BURST: f64 = 4.0;

/// The spread of a mean's values, in means, where it is not known.
const SPREAD: f64 = 3.0;

/// Fewer values than this are too few for any verdict.
const FEWEST: u64 = 50;

/// A bucket is at most this part of its upper bound wide.
const BUCKETS: u64 = 33;

/// The two sides share what chance may explain in steps of this part.
const SHARES: u32 = 8;

/// So many values are worth one: neighbours are alike.
const ALIKE: f64 = 2.0;

/// So many values that include waits are worth one: one delay is part of all that queue behind it.
const ALIKE_WAITS: f64 = 8.0;

/// How much chance is allowed to explain, as the logarithm of a probability: shared by all
/// comparisons of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance(f64);

/// The true growth (after / before) is between these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    /// 0 if there is no bound.
    pub(super) at_least: f64,
    /// Infinite if there is no bound.
    pub(super) at_most: f64,
    /// There are not enough values for any bound.
    pub(super) too_few: bool,
}

/// Between which values the true one is.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: f64,
    high: f64,
}

/// The values of one side, and whether all its buckets are known or only some percentiles.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) of: &'a Distribution,
    pub(super) exact: bool,
    /// The share of the values that may include a wait behind one event; `None` if the values
    /// include no waits for others.
    pub(super) behind: Option<f64>,
}

impl Chance {
    /// Chance that has this many opportunities.
    pub(super) fn of(comparisons: usize) -> Self {
        let once = (comparisons.max(1) as f64 / ALPHA).ln();
        // Two deviations are added, and share it in any proportion.
        Self(once + (1.0 + 2.0 * once).ln())
    }

    /// The growth of a percentile.
    pub(super) fn percentile(
        self,
        before: Values<'_>,
        after: Values<'_>,
        percentile: Percentile,
    ) -> Growth {
        let p = percentile.ppb() as f64 / 1e9;
        let few = before.of.n.min(after.of.n) < FEWEST;
        self.shared(few, |old, new| {
            (old.values(before, p), new.values(after, p))
        })
    }

    /// The growth of the mean of `n` values, of which nothing else is known.
    pub(super) fn mean(self, before: (f64, u64), after: (f64, u64)) -> Growth {
        let range = |chance: Self, (mean, n): (f64, u64)| {
            let off = SPREAD * (2.0 * chance.0 / weight(n, ALIKE)).sqrt();
            Range {
                low: mean * (1.0 - off).max(0.0),
                high: if off < 1.0 {
                    mean * (1.0 + off)
                } else {
                    f64::INFINITY
                },
            }
        };
        let few = before.1.min(after.1) < FEWEST;
        self.shared(few, |old, new| (range(old, before), range(new, after)))
    }

    /// The bounds over all proportions in which the two sides share what chance may explain.
    fn shared(self, few: bool, ranges: impl Fn(Self, Self) -> (Range, Range)) -> Growth {
        if few {
            return Growth::UNKNOWN;
        }
        let growths = (1..SHARES).map(|part| {
            let part = self.0 * f64::from(part) / f64::from(SHARES);
            let (before, after) = ranges(Self(part), Self(self.0 - part));
            Growth::between(before, after)
        });
        let widest = |a: Growth, b: Growth| Growth {
            at_least: a.at_least.min(b.at_least),
            at_most: a.at_most.max(b.at_most),
            too_few: a.too_few && b.too_few,
        };
        growths.reduce(widest).unwrap_or(Growth::UNKNOWN)
    }

    /// The growth of a rate: failures, and among how many calls (or in how much time).
    pub(super) fn rate(self, before: (f64, f64), after: (f64, f64)) -> Growth {
        let all = before.0 + after.0;
        if all <= 0.0 || before.1 <= 0.0 || after.1 <= 0.0 {
            return Growth::UNKNOWN;
        }
        let share = after.0 / all;
        let ratio = |q: f64| q / (1.0 - q) * before.1 / after.1;
        let n = all / BURST;
        Growth {
            at_least: ratio(self.below(n, share, |q| kl(share, q))),
            at_most: ratio(self.above(n, share, |q| kl(share, q))),
            too_few: n * std::f64::consts::LN_2 < self.0,
        }
    }

    /// The values between which a percentile is.
    fn values(self, side: Values<'_>, p: f64) -> Range {
        let alike = side.behind.map_or(ALIKE, |_| ALIKE_WAITS);
        let n = weight(side.of.n, alike);
        // Without the event, it would be that percentile of the other values, which are shorter.
        let others = 1.0 - side.behind.unwrap_or(0.0);
        let low = (self.below(n, p, |share| kl(share, p)) - DISTURBED) * others;
        let high = self.above(n, p, |share| kl(share, p)) + DISTURBED;
        Range {
            low: if low <= 0.0 { 0.0 } else { side.at(low).low },
            high: if high >= 1.0 {
                f64::INFINITY
            } else {
                side.at(high).high
            },
        }
    }

    /// The smallest number below `from` to which chance can lead.
    fn below(self, n: f64, from: f64, distance: impl Fn(f64) -> f64) -> f64 {
        self.edge(n, (from, 0.0), distance)
    }

    /// The largest number above `from` to which chance can lead.
    fn above(self, n: f64, from: f64, distance: impl Fn(f64) -> f64) -> f64 {
        self.edge(n, (from, 1.0), distance)
    }

    fn edge(self, n: f64, (from, to): (f64, f64), distance: impl Fn(f64) -> f64) -> f64 {
        if n * distance(to) <= self.0 {
            return to;
        }
        let (mut inside, mut outside) = (from, to);
        for _ in 0..30 {
            let middle = f64::midpoint(inside, outside);
            if n * distance(middle) <= self.0 {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        outside
    }
}

impl Growth {
    /// Nothing is known about it.
    pub(super) const UNKNOWN: Self = Self {
        at_least: 0.0,
        at_most: f64::INFINITY,
        too_few: true,
    };

    /// A number of which each measurement is exact.
    pub(super) fn exact(before: f64, after: f64) -> Self {
        let number = |n| Range { low: n, high: n };
        Self::between(number(before), number(after))
    }

    /// The growth beyond a growth that is known.
    pub(super) fn over(self, known: f64) -> Self {
        if !known.is_normal() {
            return self;
        }
        Self {
            at_least: self.at_least / known,
            at_most: self.at_most / known,
            ..self
        }
    }

    fn between(before: Range, after: Range) -> Self {
        let ratio = |after: f64, before: f64| match (after > 0.0, before > 0.0) {
            (_, true) => after / before,
            (true, false) => f64::INFINITY,
            (false, false) => 0.0,
        };
        Self {
            at_least: if before.high.is_infinite() {
                0.0
            } else {
                ratio(after.low, before.high)
            },
            at_most: if after.high.is_infinite() {
                f64::INFINITY
            } else {
                ratio(after.high, before.low)
            },
            too_few: before.high.is_infinite() || after.high.is_infinite(),
        }
    }
}

impl Values<'_> {
    /// The bucket with this share of the values up to it.
    fn at(self, share: f64) -> Range {
        let rank = share * self.of.n as f64;
        let mut seen = 0.0;
        let mut below: f64 = 0.0;
        for &(upper, count) in &self.of.buckets {
            seen += count as f64;
            let high = upper.min(self.of.max_ns) as f64;
            if seen >= rank {
                let width = if self.exact { upper / BUCKETS } else { upper };
                let low = (upper - width) as f64;
                return Range {
                    low: low.max(below).min(high),
                    high,
                };
            }
            below = high;
        }
        let max = self.of.max_ns as f64;
        Range {
            low: below.min(max),
            high: max,
        }
    }
}

/// How many independent values so many are worth.
fn weight(n: u64, alike: f64) -> f64 {
    let n = n as f64 / alike;
    n / (1.0 + n / CLUSTER)
}

/// Kullback-Leibler divergence of two coins, `a` from `b`.
fn kl(a: f64, b: f64) -> f64 {
    let part = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
    part(a, b) + part(1.0 - a, 1.0 - b)
}

#[cfg(test)]
mod tests;
