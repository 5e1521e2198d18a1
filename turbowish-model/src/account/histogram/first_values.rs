//! The first values of a histogram's octaves, before an octave has a count for each bucket.

use core::sync::atomic::Ordering::Relaxed;

use super::SUB;
use crate::account::sync::AtomicU64;

/// Octaves whose first values are kept.
const KEPT: usize = 6;
/// Values kept of an octave.
const VALUES: u64 = 10;
/// Bits of a value: its bucket in the octave.
const BITS: u64 = SUB.ilog2() as u64;
/// Where the number of values is in a word, and above it the octave plus one.
const NUMBER_AT: u64 = VALUES * BITS;
const OCTAVE_AT: u64 = NUMBER_AT + 4;

const _: () = assert!(VALUES < 1 << 4 && super::OCTAVES < 1 << (u64::BITS as u64 - OCTAVE_AT));

/// One word for each octave, in the order in which they came; 0 if it is not used.
#[derive(Default)]
pub(super) struct FirstValues([AtomicU64; KEPT]);

impl FirstValues {
    /// Keeps a value, if there is room. Only the single writer may call this.
    pub(super) fn keep(&self, octave: usize, sub: usize) -> bool {
        let own = (octave as u64 + 1) << OCTAVE_AT;
        for word in &self.0 {
            let before = match word.load(Relaxed) {
                0 => own,
                other if other >> OCTAVE_AT != own >> OCTAVE_AT => continue,
                before => before,
            };
            let number = number(before);
            if number == VALUES {
                return false;
            }
            let value = (sub as u64) << (number * BITS);
            word.store((before | value) + (1 << NUMBER_AT), Relaxed);
            return true;
        }
        false
    }

    pub(super) fn read(&self) -> FirstValuesReading {
        FirstValuesReading(self.0.each_ref().map(|word| word.load(Relaxed)))
    }
}

/// The words at one moment.
pub(super) struct FirstValuesReading([u64; KEPT]);

impl FirstValuesReading {
    fn word(&self, octave: usize) -> Option<u64> {
        let mut words = self.0.iter().copied();
        words.find(|word| word >> OCTAVE_AT == octave as u64 + 1)
    }

    /// The octaves of which there are values, each a bit.
    pub(super) fn octaves(&self) -> u64 {
        let used = self
            .0
            .iter()
            .filter_map(|word| (word >> OCTAVE_AT).checked_sub(1));
        used.fold(0, |bits, octave| bits | 1 << octave)
    }

    /// Adds the values of an octave to the counts of its buckets.
    pub(super) fn add(&self, octave: usize, counts: &mut [u64; SUB]) {
        let word = self.word(octave).unwrap_or(0);
        for nth in 0..number(word) {
            counts[(word >> (nth * BITS)) as usize % SUB] += 1;
        }
    }
}

const fn number(word: u64) -> u64 {
    (word >> NUMBER_AT) & ((1 << (OCTAVE_AT - NUMBER_AT)) - 1)
}
