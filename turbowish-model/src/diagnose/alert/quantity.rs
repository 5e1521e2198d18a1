//! Values of alert limits, one type per unit, so that a value in the wrong unit does not compile;
//! and comparisons with a limit in percent.

use core::time::Duration;

/// A share in percent: `Percent(90)`. Shares above 100 are never reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(pub u8);

/// A size in bytes: `Bytes(16 << 10)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A value of a limit in the unit in which limits are stored.
pub(super) trait Quantity {
    /// Returns nanoseconds, a count, percent or bytes. Times beyond 584 years are cut off.
    fn raw(self) -> u64;
}

impl Quantity for Duration {
    fn raw(self) -> u64 {
        u64::try_from(self.as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Quantity for u64 {
    fn raw(self) -> u64 {
        self
    }
}

impl Quantity for Percent {
    fn raw(self) -> u64 {
        u64::from(self.0)
    }
}

impl Quantity for Bytes {
    fn raw(self) -> u64 {
        self.0
    }
}

/// Whether `part` is at least `percent` percent of `whole`; false if `whole` is 0.
pub(super) fn is_part(part: u64, whole: u64, percent: u64) -> bool {
    whole > 0 && u128::from(part) * 100 >= u128::from(whole) * u128::from(percent)
}

/// Whether `part` is more than `percent` percent of `whole`.
pub(super) fn is_more(part: u64, whole: u64, percent: u64) -> bool {
    u128::from(part) * 100 > u128::from(whole) * u128::from(percent)
}
