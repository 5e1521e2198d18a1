//! Ticks of a clock to nanoseconds, by a multiplication and a shift; and what something usually takes.

use core::time::Duration;

/// How many nanoseconds a tick is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    multiplier: u64,
    shift: u32,
}

impl Scale {
    /// Ticks that are nanoseconds.
    pub const NANOSECONDS: Self = Self {
        multiplier: 1,
        shift: 0,
    };

    /// `2^shift` ticks take `nanoseconds`.
    #[must_use]
    pub const fn new(nanoseconds: u64, shift: u32) -> Self {
        Self {
            multiplier: nanoseconds,
            shift,
        }
    }

    /// Nanoseconds, rounded down.
    #[must_use]
    pub fn ns(self, ticks: u64) -> u64 {
        let wide = (u128::from(ticks) * u128::from(self.multiplier)) >> self.shift;
        u64::try_from(wide).unwrap_or(u64::MAX)
    }

    /// Nanoseconds, rounded up: an upper bound stays one.
    #[must_use]
    pub fn ns_up(self, ticks: u64) -> u64 {
        let product = u128::from(ticks) * u128::from(self.multiplier);
        let wide = product.div_ceil(1u128 << self.shift);
        u64::try_from(wide).unwrap_or(u64::MAX)
    }

    /// Ticks that cover a time, rounded up.
    #[must_use]
    pub fn ticks(self, nanoseconds: u64) -> u64 {
        let wide =
            (u128::from(nanoseconds) << self.shift).div_ceil(u128::from(self.multiplier.max(1)));
        u64::try_from(wide).unwrap_or(u64::MAX)
    }
}

/// What something usually takes. A single measurement is none: what is taken from a virtual machine counts in part as a thread's own.
#[derive(Debug)]
pub struct MinOfLastTwo(Duration);

impl MinOfLastTwo {
    /// The first measurement is believed.
    pub const UNKNOWN: Self = Self(Duration::MAX);
    /// The first measurement is not believed.
    pub const NOTHING: Self = Self(Duration::ZERO);

    /// The smaller one of this measurement and the one before.
    pub fn after(&mut self, took: Duration) -> Duration {
        core::mem::replace(&mut self.0, took).min(took)
    }
}
