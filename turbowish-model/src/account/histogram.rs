//! Log-linear histogram with one writer: 32 buckets per octave, so a bucket is at most 1/32 wide.
//!
//! Values below 64 have a bucket each. The first ten values of an octave are kept in one word. The
//! octave is allocated when the next one arrives: one allocation, once, and none for an octave with
//! a few odd values.

mod first_values;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use once_cell::race::OnceBox;

use self::first_values::FirstValues;
use crate::account::sync::AtomicU64;

const SUB_BITS: u32 = 5;
const SUB: usize = 1 << SUB_BITS;
/// Number of octaves; covers every `u64`.
const OCTAVES: usize = (u64::BITS - SUB_BITS) as usize + 1;
const _: () = assert!(OCTAVES <= u64::BITS as usize);
/// Values below 2^49 (two days of a 3 GHz clock) need one lookup, others two.
const NEAR: usize = 45;

/// The buckets of one octave.
struct Octave([AtomicU64; SUB]);

impl Default for Octave {
    fn default() -> Self {
        Self(core::array::from_fn(|_| AtomicU64::new(0)))
    }
}

/// Octaves of rare, large values.
struct Far([OnceBox<Octave>; OCTAVES - NEAR]);

impl Default for Far {
    fn default() -> Self {
        Self([const { OnceBox::new() }; OCTAVES - NEAR])
    }
}

/// A histogram that one thread writes and any thread may read.
pub struct Histogram {
    near: [OnceBox<Octave>; NEAR],
    far: OnceBox<Far>,
    first: FirstValues,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            near: [const { OnceBox::new() }; NEAR],
            far: OnceBox::new(),
            first: FirstValues::default(),
        }
    }
}

impl Histogram {
    /// The counter of a value, if there is one already.
    #[inline(always)]
    pub(crate) fn bucket(&self, value: u64) -> Option<&AtomicU64> {
        let (octave, sub) = split(value);
        self.near.get(octave)?.get().map(|octave| &octave.0[sub])
    }

    /// Counts one value. Only the single writer may call this.
    #[inline]
    pub fn record(&self, value: u64) {
        let (octave, sub) = split(value);
        match self.near.get(octave).and_then(OnceBox::get) {
            Some(octave) => add(&octave.0[sub], 1),
            // At the end, so that the compiler saves no register for it.
            None => self.record_first(octave, sub),
        }
    }

    #[cold]
    #[inline(never)]
    fn record_first(&self, octave: usize, sub: usize) {
        if !self.first.keep(octave, sub) {
            add(&self.make(octave).0[sub], 1);
        }
    }

    fn make(&self, index: usize) -> &Octave {
        let octave = match self.near.get(index) {
            Some(octave) => octave,
            None => &self.far.get_or_init(Box::default).0[index - NEAR],
        };
        octave.get_or_init(Box::default)
    }

    /// The octaves that are there, each a bit.
    fn made(&self) -> u64 {
        let bits = |octaves: &[OnceBox<Octave>]| {
            let all = octaves.iter().enumerate();
            all.fold(0, |bits, (at, octave)| {
                bits | u64::from(octave.get().is_some()) << at
            })
        };
        let far = self.far.get().map_or(0, |far| bits(&far.0));
        bits(&self.near) | far << NEAR
    }

    fn octave(&self, index: usize) -> Option<&Octave> {
        match self.near.get(index) {
            Some(octave) => octave.get(),
            None => self.far.get()?.0.get(index - NEAR)?.get(),
        }
    }

    /// Adds this histogram's counts to a sparse one.
    pub fn collect(&self, into: &mut Buckets) {
        if into.is_empty() {
            // Most often it is the first one.
            return self.read(into);
        }
        let mut counts = Buckets::default();
        self.read(&mut counts);
        into.merge(&counts);
    }

    /// Reads this histogram's counts, in place of what was there. The monitor does this for each
    /// population of each thread in each tick, so it reuses the memory.
    pub(crate) fn read(&self, Buckets(counts): &mut Buckets) {
        counts.clear();
        let first = self.first.read();
        let (made, kept) = (self.made(), first.octaves());
        // Most of the octaves have no value.
        for index in ones(made | kept) {
            let mut read = [0; SUB];
            if let Some(octave) = self.octave(index) {
                read = octave.0.each_ref().map(|count| count.load(Relaxed));
            }
            if kept >> index & 1 != 0 {
                first.add(index, &mut read);
            }
            for (sub, count) in read.into_iter().enumerate() {
                if count != 0 {
                    counts.push(BucketCount::new((index * SUB + sub) as u16, count));
                }
            }
        }
    }
}

/// The numbers of the bits that are set, ascending.
fn ones(bits: u64) -> impl Iterator<Item = usize> {
    let rest = core::iter::successors(Some(bits), |bits| Some(bits & bits.wrapping_sub(1)));
    rest.take_while(|bits| *bits != 0)
        .map(|bits| bits.trailing_zeros() as usize)
}

/// Adds to a counter with one writer: a load and a store, no locked instruction. Wraps.
#[inline]
pub(crate) fn add(counter: &AtomicU64, value: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(value), Relaxed);
}

/// Raises a maximum with one writer.
#[inline]
pub(crate) fn raise(counter: &AtomicU64, value: u64) {
    if value > counter.load(Relaxed) {
        counter.store(value, Relaxed);
    }
}

/// Index of the bucket that contains a value.
#[inline]
#[must_use]
pub const fn bucket_of(value: u64) -> usize {
    let (octave, sub) = split(value);
    octave * SUB + sub
}

/// Octave of a value, and its bucket in there.
#[inline(always)]
const fn split(value: u64) -> (usize, usize) {
    // The lowest two octaves have buckets of one value.
    let shift = (value | SUB as u64).ilog2() - SUB_BITS;
    let sub = value >> shift;
    let octave = shift as usize + (value >= SUB as u64) as usize;
    (octave, sub as usize & (SUB - 1))
}

/// Largest value in a bucket.
#[must_use]
pub const fn upper_bound(bucket: usize) -> u64 {
    if bucket < SUB {
        return bucket as u64;
    }
    if bucket >= OCTAVES * SUB - 1 {
        return u64::MAX;
    }
    let shift = (bucket / SUB - 1) as u32;
    let lower = ((SUB + bucket % SUB) as u64) << shift;
    lower + ((1u64 << shift) - 1)
}

/// Sparse histogram: counts by bucket index, ascending, without empty buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buckets(Vec<BucketCount>);

/// A bucket and its count in one word: a process keeps a minute of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BucketCount(u64);

/// Bits of a count. A thread that counts a value each nanosecond needs months for as many.
const COUNT_BITS: u32 = 53;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const _: () = assert!(OCTAVES * SUB <= 1 << (u64::BITS - COUNT_BITS));

impl BucketCount {
    const fn new(bucket: u16, count: u64) -> Self {
        Self((bucket as u64) << COUNT_BITS | count & COUNT_MASK)
    }

    const fn bucket(self) -> u16 {
        (self.0 >> COUNT_BITS) as u16
    }

    const fn count(self) -> u64 {
        self.0 & COUNT_MASK
    }

    /// The same bucket with so many more.
    const fn and(self, more: u64) -> Self {
        Self::new(self.bucket(), self.count().wrapping_add(more))
    }
}

impl Buckets {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all counts, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds `count` to one bucket.
    pub fn add(&mut self, bucket: u16, count: u64) {
        match self.0.binary_search_by_key(&bucket, |entry| entry.bucket()) {
            Ok(at) => self.0[at] = self.0[at].and(count),
            Err(at) => self.0.insert(at, BucketCount::new(bucket, count)),
        }
    }

    /// Adds the counts of another population.
    pub fn merge(&mut self, other: &Self) {
        if self.0.is_empty() {
            // Most often it is the first one.
            self.0.extend_from_slice(&other.0);
            return;
        }
        let mut added = 0;
        let mut own = self.0.iter_mut().peekable();
        for more in &other.0 {
            let bucket = more.bucket();
            while own.next_if(|own| own.bucket() < bucket).is_some() {}
            if let Some(sum) = own.next_if(|own| own.bucket() == bucket) {
                *sum = sum.and(more.count());
            } else {
                added += 1;
            }
        }
        if added > 0 {
            self.insert(other, added);
        }
    }

    /// Inserts the buckets of another population that are missing here: `added` of them.
    fn insert(&mut self, other: &Self, added: usize) {
        let mut all = Vec::with_capacity(self.0.len() + added);
        let mut own = self.0.iter().copied().peekable();
        for more in &other.0 {
            let bucket = more.bucket();
            while let Some(before) = own.next_if(|own| own.bucket() < bucket) {
                all.push(before);
            }
            if own.peek().is_none_or(|own| own.bucket() != bucket) {
                all.push(*more);
            }
        }
        all.extend(own);
        self.0 = all;
    }

    /// Difference to an earlier state of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        // Counted first: they are kept for a minute, and have room for no more than there are.
        let mut grown = Vec::with_capacity(self.grown(earlier).count());
        grown.extend(self.grown(earlier));
        Self(grown)
    }

    fn grown(&self, earlier: &Self) -> impl Iterator<Item = BucketCount> {
        let mut older = earlier.0.iter().peekable();
        self.0.iter().filter_map(move |now| {
            let (bucket, count) = (now.bucket(), now.count());
            while older.next_if(|old| old.bucket() < bucket).is_some() {}
            let before = older.next_if(|old| old.bucket() == bucket);
            let before = before.map_or(0, |old| old.count());
            (count > before).then(|| BucketCount::new(bucket, count - before))
        })
    }

    /// Yields `(bucket, count)`, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.0.iter().map(|entry| (entry.bucket(), entry.count()))
    }

    /// Number of recorded values.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().map(|entry| entry.count()).sum()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::collection::vec;
    use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

    use super::{Buckets, Histogram, bucket_of, upper_bound};

    #[test]
    fn small_values_are_exact() {
        for value in 0..64 {
            assert_eq!(upper_bound(bucket_of(value)), value);
        }
    }

    #[test]
    fn the_largest_value_has_a_bucket() {
        assert_eq!(upper_bound(bucket_of(u64::MAX)), u64::MAX);
        assert_eq!(bucket_of(u64::MAX), super::OCTAVES * super::SUB - 1);
    }

    #[test]
    fn values_beyond_the_near_octaves_are_counted_apart() {
        let histogram = Histogram::default();
        let values = [0, 63, (1 << 49) - 1, 1 << 49, 1 << 56, u64::MAX];
        values.iter().for_each(|&value| histogram.record(value));
        let mut buckets = Buckets::default();
        histogram.collect(&mut buckets);
        let expected = values.map(|value| (bucket_of(value) as u16, 1));
        assert_eq!(buckets.iter().collect::<Vec<_>>(), expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn every_value_is_counted(values in vec((0u64..100, 0u32..64), 0..400)) {
            let (histogram, mut expected) = (Histogram::default(), Buckets::default());
            for (value, shift) in values {
                let value = value << shift;
                histogram.record(value);
                expected.add(bucket_of(value) as u16, 1);
            }
            let mut buckets = Buckets::default();
            histogram.collect(&mut buckets);
            prop_assert_eq!(&buckets, &expected);
            // On top of what is there.
            histogram.collect(&mut buckets);
            let twice = expected.iter().map(|(bucket, count)| (bucket, 2 * count));
            prop_assert!(buckets.iter().eq(twice));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn a_bucket_is_at_most_a_thirty_second_wide(value in any::<u64>(), shift in 0u32..64) {
            let value = value >> shift;
            let upper = upper_bound(bucket_of(value));
            prop_assert!(upper >= value);
            prop_assert!(upper - value <= value / 32);
        }

        #[test]
        fn buckets_are_ordered(a in any::<u64>(), b in any::<u64>()) {
            prop_assert!((a <= b) <= (bucket_of(a) <= bucket_of(b)));
        }
    }
}
