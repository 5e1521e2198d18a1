//! Time conversion from clock ticks to nanoseconds, by a multiplication and a shift; and a minimum
//! of two measurements.

use core::time::Duration;

/// The conversion factor between ticks and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    multiplier: u64,
    shift: u32,
}

impl Scale {
    /// Scale of a clock whose ticks are nanoseconds.
    pub const NANOSECONDS: Self = Self {
        multiplier: 1,
        shift: 0,
    };

    /// Creates a scale in which `2^shift` ticks take `nanoseconds`.
    #[must_use]
    pub const fn new(nanoseconds: u64, shift: u32) -> Self {
        Self {
            multiplier: nanoseconds,
            shift,
        }
    }

    /// Nanoseconds of `2^shift` ticks, and that shift.
    #[must_use]
    pub const fn parts(self) -> (u64, u32) {
        (self.multiplier, self.shift)
    }

    /// Converts ticks to nanoseconds, rounded down; `u64::MAX` on overflow.
    #[must_use]
    #[inline]
    pub fn ns(self, ticks: u64) -> u64 {
        let wide = (u128::from(ticks) * u128::from(self.multiplier)) >> self.shift;
        u64::try_from(wide).unwrap_or(u64::MAX)
    }

    /// Converts ticks to nanoseconds, rounded up, so that an upper bound remains one; `u64::MAX` on
    /// overflow.
    #[must_use]
    pub fn ns_up(self, ticks: u64) -> u64 {
        let product = u128::from(ticks) * u128::from(self.multiplier);
        let wide = product.div_ceil(1u128 << self.shift);
        u64::try_from(wide).unwrap_or(u64::MAX)
    }

    /// Converts nanoseconds to ticks, rounded up; `u64::MAX` on overflow.
    #[must_use]
    pub fn ticks(self, nanoseconds: u64) -> u64 {
        let wide =
            (u128::from(nanoseconds) << self.shift).div_ceil(u128::from(self.multiplier.max(1)));
        u64::try_from(wide).unwrap_or(u64::MAX)
    }
}

/// The minimum of the last two measurements. A single one is unreliable: time stolen from a virtual
/// machine is partly counted as a thread's own.
#[derive(Debug)]
pub struct MinOfLastTwo(Duration);

impl MinOfLastTwo {
    /// Initial state that accepts the first measurement.
    pub const UNKNOWN: Self = Self(Duration::MAX);
    /// Initial state that ignores the first measurement: its minimum is zero.
    pub const NOTHING: Self = Self(Duration::ZERO);

    /// Adds a measurement. Returns the smaller of this one and the previous one.
    pub fn after(&mut self, took: Duration) -> Duration {
        core::mem::replace(&mut self.0, took).min(took)
    }
}
