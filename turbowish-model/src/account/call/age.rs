//! Age of a call, in the bits that its other words leave.

/// A time span in 30 bits: 25 significant bits, shifted left by the upper five.
///
/// Spans below 2^25 ticks are exact, longer ones to a 33 millionth; 2^56 is the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Age(u32);

const SIGNIFICANT: u32 = 25;
/// Shorter spans are exact, in ticks.
pub(crate) const EXACT_BELOW: u64 = 1 << SIGNIFICANT;
const BITS: u32 = 30;
const HALF_BITS: u32 = BITS / 2;

impl Age {
    /// The bits of a word that hold half of an age: the highest ones.
    pub(super) const HALF: u32 = ((1 << HALF_BITS) - 1) << (u32::BITS - HALF_BITS);

    #[inline(always)]
    pub(super) const fn of(ticks: u64) -> Self {
        if ticks < EXACT_BELOW {
            Self(ticks as u32)
        } else {
            Self::of_long(ticks)
        }
    }

    #[cold]
    #[inline(never)]
    const fn of_long(ticks: u64) -> Self {
        let shift = ticks.ilog2() + 1 - SIGNIFICANT;
        // To the nearest: an age is rounded anew at each await point.
        let rounded = (ticks >> (shift - 1)).div_ceil(2);
        // What was rounded up to one bit more ends with zeros.
        let more = (rounded >> SIGNIFICANT) as u32;
        let (shift, rounded) = (shift + more, rounded >> more);
        if shift >= 1 << (BITS - SIGNIFICANT) {
            return Self((1 << BITS) - 1);
        }
        Self(shift << SIGNIFICANT | rounded as u32)
    }

    #[inline(always)]
    pub(super) const fn ticks(self) -> u64 {
        // Without a branch: a short span is shifted by 0.
        let significant = self.0 & ((1 << SIGNIFICANT) - 1);
        (significant as u64) << (self.0 >> SIGNIFICANT)
    }

    /// The upper half, in the bits of [`Age::HALF`].
    #[inline(always)]
    pub(super) const fn upper(self) -> u32 {
        (self.0 << (u32::BITS - BITS)) & Self::HALF
    }

    /// The lower half, in the bits of [`Age::HALF`].
    #[inline(always)]
    pub(super) const fn lower(self) -> u32 {
        self.0 << (u32::BITS - HALF_BITS)
    }

    /// Puts an age together; both halves are in the bits of [`Age::HALF`].
    #[inline(always)]
    pub(super) const fn of_halves(upper: u32, lower: u32) -> Self {
        Self(upper >> (u32::BITS - BITS) | lower >> (u32::BITS - HALF_BITS))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::Age;

    #[test]
    fn bounds() {
        for (ticks, kept) in [
            (0, 0),
            ((1 << 25) - 1, (1 << 25) - 1),
            (1 << 25, 1 << 25),
            ((1 << 26) - 1, 1 << 26),
            ((1 << 55) - 1, 1 << 55),
            ((1 << 56) - (1 << 31), (1 << 56) - (1 << 31)),
            (u64::MAX, (1 << 56) - (1 << 31)),
        ] {
            assert_eq!(Age::of(ticks).ticks(), kept, "{ticks}");
        }
    }

    proptest! {
        #[test]
        fn a_span_is_kept_to_a_33_millionth(value in any::<u64>(), shift in 8u32..64) {
            let ticks = value >> shift;
            let age = Age::of(ticks);
            prop_assert!(age.ticks().abs_diff(ticks) <= ticks >> 25);
            prop_assert_eq!(Age::of_halves(age.upper(), age.lower()), age);
            prop_assert_eq!((age.upper() | age.lower()) & !Age::HALF, 0);
        }
    }
}
