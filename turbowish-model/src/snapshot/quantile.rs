//! Distribution: a merged population as counts per upper bound, with percentiles by nearest rank.

use crate::sorting;
use alloc::vec::Vec;

/// The values of a population in buckets, ascending, without empty buckets.
///
/// A reported percentile is the upper bound of its bucket: never below the exact value and at most
/// 3.2 % above it. `n`, `sum` and `max` are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Number of values.
    pub n: u64,
    /// Sum of the values, in nanoseconds.
    pub sum_ns: u64,
    /// Largest value, in nanoseconds.
    pub max_ns: u64,
    /// `(upper bound in nanoseconds, count)`, ascending.
    pub buckets: Vec<(u64, u64)>,
}

/// A percentile in hundred-thousandths of a percent, so that `99.9` and `99.999` are exact.
///
/// `Percentile::parse("99.9")` gives `Percentile(9_990_000)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percentile(u64);

impl Percentile {
    const SCALE: u64 = 100_000;
    const FULL: u64 = 100 * Self::SCALE;

    /// Creates a whole percentile, clamped to 100.
    #[must_use]
    pub const fn whole(percent: u8) -> Self {
        let percent = if percent > 100 { 100 } else { percent };
        Self(percent as u64 * Self::SCALE)
    }

    /// Parses `50`, `99.9`, `99.999`: at most five digits after the point, above 0, at most 100.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty()
            || whole.len() > 3
            || fraction.len() > 5
            || !digits(whole)
            || !digits(fraction)
        {
            return None;
        }
        let mut value = whole.parse::<u64>().ok()? * Self::SCALE;
        let mut weight = Self::SCALE;
        for byte in fraction.bytes() {
            weight /= 10;
            value += u64::from(byte - b'0') * weight;
        }
        (1..=Self::FULL).contains(&value).then_some(Self(value))
    }

    /// Rank of the percentile among `n` values, from 1.
    fn rank(self, n: u64) -> u64 {
        let rank = (u128::from(n) * u128::from(self.0)).div_ceil(u128::from(Self::FULL));
        // At most `n`, because the percentile is at most 100.
        u64::try_from(rank).unwrap_or(n).max(1)
    }

    /// The share of the values up to it, in billionths.
    #[must_use]
    pub const fn ppb(self) -> u64 {
        self.0 * (1_000_000_000 / Self::FULL)
    }

    /// Name in JSON and tables: `p50`, `p99.9`.
    #[must_use]
    pub fn name(self) -> alloc::string::String {
        let (whole, mut rest) = (self.0 / Self::SCALE, self.0 % Self::SCALE);
        if rest == 0 {
            return alloc::format!("p{whole}");
        }
        let mut width = 5;
        while rest % 10 == 0 {
            rest /= 10;
            width -= 1;
        }
        alloc::format!("p{whole}.{rest:0width$}")
    }
}

impl Distribution {
    /// A population of which only some percentiles are known. Those are exact; between them the
    /// distribution is a step function.
    #[must_use]
    pub fn of_percentiles(n: u64, sum_ns: u64, max_ns: u64, known: &[(Percentile, u64)]) -> Self {
        let mut known = known.to_vec();
        sorting::ascending(&mut known);
        let mut buckets = Vec::new();
        let mut seen = 0;
        for (q, value) in known {
            let rank = q.rank(n);
            if rank > seen {
                buckets.push((value, rank - seen));
                seen = rank;
            }
        }
        if n > seen {
            buckets.push((max_ns, n - seen));
        }
        Self {
            n,
            sum_ns,
            max_ns,
            buckets,
        }
    }

    /// A population of which all buckets are known; `None` if they are not ascending, one is empty,
    /// or their counts are not `n` values.
    #[must_use]
    pub fn of_buckets(n: u64, sum_ns: u64, max_ns: u64, buckets: Vec<(u64, u64)>) -> Option<Self> {
        let ascending = buckets.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let counted: u128 = buckets.iter().map(|(_, count)| u128::from(*count)).sum();
        let none_empty = buckets.iter().all(|(_, count)| *count > 0);
        (ascending && none_empty && counted == u128::from(n)).then_some(Self {
            n,
            sum_ns,
            max_ns,
            buckets,
        })
    }

    /// Nearest rank: the value at position `ceil(q·n)`, or `None` for an empty population.
    #[must_use]
    pub fn percentile(&self, q: Percentile) -> Option<u64> {
        if self.n == 0 {
            return None;
        }
        let rank = q.rank(self.n);
        if rank >= self.n {
            return Some(self.max_ns);
        }
        let mut seen = 0u128;
        for &(upper, count) in &self.buckets {
            seen += u128::from(count);
            if seen >= u128::from(rank) {
                return Some(upper.min(self.max_ns));
            }
        }
        Some(self.max_ns)
    }

    /// Adds another population to this one.
    pub fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.buckets.extend_from_slice(&other.buckets);
        crate::sorting::by_key(&mut self.buckets, |&(upper, _)| upper);
        self.buckets.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Distribution, Percentile};
    use alloc::vec::Vec;

    fn check(n: u64, max_ns: u64, known: &[(&str, u64)]) {
        let parse = |text| Percentile::parse(text).expect("a percentile");
        let known: Vec<_> = known.iter().map(|(q, value)| (parse(q), *value)).collect();
        let population = Distribution::of_percentiles(n, 7, max_ns, &known);
        for (q, value) in known {
            assert_eq!(population.percentile(q), Some(value), "{n} {}", q.name());
        }
        assert_eq!(population.percentile(parse("100")), Some(max_ns));
        let counted: u64 = population.buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, n);
    }

    #[test]
    fn known_percentiles_come_out_as_they_went_in() {
        check(1, 9, &[("50", 9), ("99", 9)]);
        check(3, 30, &[("99", 30), ("50", 20)]);
        check(48, 38, &[("50", 17), ("90", 36), ("99", 38), ("99.9", 38)]);
        check(
            u64::MAX,
            38,
            &[("0.00001", 1), ("50", 17), ("99.99999", 38)],
        );
        check(5, 4, &[]);
        let none = Distribution::of_percentiles(0, 0, 0, &[]);
        assert_eq!(none, Distribution::default());
    }

    #[test]
    fn buckets_are_taken_only_if_they_are_the_population() {
        for (n, buckets, expected) in [
            (48, &[(17, 40), (40, 8)][..], true),
            (0, &[], true),
            (47, &[(17, 40), (40, 8)], false),
            (48, &[(40, 8), (17, 40)], false),
            (48, &[(17, 40), (17, 8)], false),
            (48, &[(17, 48), (40, 0)], false),
            (1, &[(17, u64::MAX), (40, 2)], false),
        ] {
            let population = Distribution::of_buckets(n, 7, 38, buckets.to_vec());
            assert_eq!(population.is_some(), expected, "{n} {buckets:?}");
        }
        let p99_9 = Percentile::parse("99.9").map(Percentile::ppb);
        assert_eq!(p99_9, Some(999_000_000));
    }
}
