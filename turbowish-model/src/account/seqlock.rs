//! Seqlock with one writer: the sequence number is odd during a write and never repeats, so readers
//! detect torn reads.

use core::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

use crate::account::sync::{AtomicU32, AtomicU64, fence, spin_loop};

/// Attempts between two calls of `relax`.
const SPINS: u32 = 64;
/// Attempts until a torn read is accepted. Reached only if the writer is gone for good: the threads
/// that a child of `fork` does not have.
const TRIES: u32 = SPINS * 4096;

/// The sequence number of one writer's data.
pub type SeqLock = SeqLockOf<AtomicU64>;

/// A [`SeqLock`] of 32 bits, for what there are very many of. A reader takes a torn reading for a
/// whole one only if exactly 2³¹ writes, or a multiple, come between its two looks at the number.
pub type SmallSeqLock = SeqLockOf<AtomicU32>;

/// A sequence number in a word.
#[derive(Debug, Default)]
pub struct SeqLockOf<W>(W);

/// A word that may be a sequence number.
pub trait SequenceWord {
    /// Its value.
    type Number: Copy + PartialEq;

    /// Reads it.
    fn load(&self, ordering: Ordering) -> Self::Number;
    /// Increments it. Only one thread does, and no other one stores anything.
    fn step(&self, ordering: Ordering);
    /// Whether a write is in progress.
    fn is_odd(number: Self::Number) -> bool;
}

macro_rules! words {
    ($($Word:ty, $Number:ty;)*) => {$(
        impl SequenceWord for $Word {
            type Number = $Number;

            #[inline(always)]
            fn load(&self, ordering: Ordering) -> $Number {
                self.load(ordering)
            }

            #[inline(always)]
            fn step(&self, ordering: Ordering) {
                self.store(self.load(Relaxed).wrapping_add(1), ordering);
            }

            #[inline(always)]
            fn is_odd(number: $Number) -> bool {
                number % 2 != 0
            }
        }
    )*};
}

words! {
    AtomicU64, u64;
    AtomicU32, u32;
}

impl<W: SequenceWord> SeqLockOf<W> {
    /// Begins a write, which ends when the guard is dropped.
    #[inline]
    pub fn write(&self) -> WriteGuard<'_, W> {
        self.0.step(Relaxed);
        fence(Release);
        WriteGuard(self)
    }

    /// Calls `attempt` until no write overlaps it. `relax` lets other threads run: the writer may
    /// have been preempted in the middle of a write. After 262,144 attempts a torn read is
    /// returned.
    pub(crate) fn read<R>(&self, relax: &mut dyn FnMut(), mut attempt: impl FnMut() -> R) -> R {
        let mut tries = 0;
        loop {
            let (result, clean) = self.observe(&mut attempt);
            tries += 1;
            if clean || tries == TRIES {
                return result;
            }
            if tries % SPINS == 0 {
                relax();
            }
            spin_loop();
        }
    }

    /// Calls `attempt` at most `tries` times; `None` if a write overlapped each call.
    pub fn try_read<R>(&self, tries: u32, mut attempt: impl FnMut() -> R) -> Option<R> {
        (0..tries).find_map(|_| {
            let (result, clean) = self.observe(&mut attempt);
            clean.then_some(result)
        })
    }

    /// Calls `attempt` once; also returns whether no write overlapped it.
    fn observe<R>(&self, attempt: &mut impl FnMut() -> R) -> (R, bool) {
        let before = self.0.load(Acquire);
        let result = attempt();
        fence(Acquire);
        let clean = !W::is_odd(before) && self.0.load(Relaxed) == before;
        (result, clean)
    }
}

/// A write in progress. Dropping the guard ends the write.
#[derive(Debug)]
#[must_use = "the write section is over at once"]
pub struct WriteGuard<'a, W: SequenceWord>(&'a SeqLockOf<W>);

impl<W: SequenceWord> Drop for WriteGuard<'_, W> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.step(Release);
    }
}
