//! How the fields of two rows of a group become one: each function merges `other` into `into`.

use alloc::vec::Vec;

use super::quantile::Distribution;
use super::{LongestRow, WakerRow};

/// Keeps the value of the group's first row.
pub(super) fn first<T>(_: &mut T, _: &T) {}

/// Adds numbers up; without one of them the sum is unknown.
pub(super) fn sum<T: Additive>(into: &mut T, other: &T) {
    into.add(other);
}

/// Keeps the larger value.
pub(super) fn max<T: Ord + Clone>(into: &mut T, other: &T) {
    if other > into {
        into.clone_from(other);
    }
}

/// Keeps the smaller value.
pub(super) fn min<T: Ord + Clone>(into: &mut T, other: &T) {
    if other < into {
        into.clone_from(other);
    }
}

/// True if it is true of any row.
pub(super) fn any(into: &mut bool, other: &bool) {
    *into |= other;
}

/// The value of the first row that has one.
pub(super) fn some<T: Clone>(into: &mut Option<T>, other: &Option<T>) {
    if into.is_none() {
        into.clone_from(other);
    }
}

/// The longer one.
pub(super) fn longest(into: &mut Option<LongestRow>, other: &Option<LongestRow>) {
    let took = |row: &Option<LongestRow>| row.as_ref().map(|row| row.took_ns);
    if took(other) > took(into) {
        into.clone_from(other);
    }
}

/// Appends lists.
pub(super) fn append<T: Clone>(into: &mut Vec<T>, other: &[T]) {
    into.extend_from_slice(other);
}

/// Merges populations: percentiles are those of all samples, never a mean.
pub(super) fn samples(into: &mut Distribution, other: &Distribution) {
    into.merge(other);
}

/// Numbers that add up.
pub(super) trait Additive {
    /// Adds another one; stops at the largest number.
    fn add(&mut self, other: &Self);
}

impl Additive for u64 {
    fn add(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }
}

impl Additive for Option<u64> {
    fn add(&mut self, other: &Self) {
        *self = self.zip(*other).map(|(a, b)| a.saturating_add(b));
    }
}

/// Adds the counts; the name is that of the first waker.
impl Additive for Option<WakerRow> {
    fn add(&mut self, other: &Self) {
        let (Some(into), Some(other)) = (&mut *self, other) else {
            return some(self, other);
        };
        sum(&mut into.wakes, &other.wakes);
        sum(&mut into.own_wakes, &other.own_wakes);
        sum(&mut into.clones, &other.clones);
        sum(&mut into.live, &other.live);
    }
}
