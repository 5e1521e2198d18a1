//! Lets readers tell a whole event from half of one: odd while the one writer is at it, and never twice the same.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::account::sync::{AtomicU64, fence, spin_loop};

/// Readings tried before others are let run, again and again.
const SPINS: u32 = 64;
/// Readings tried before a torn one is taken. Only a writer that is gone for good gets there: the
/// threads that a child of `fork` does not have.
const TRIES: u32 = SPINS * 4096;

/// The counter of one writer's events.
#[derive(Debug, Default)]
pub struct SeqLock(AtomicU64);

impl SeqLock {
    /// Begins a write; it ends when the answer is dropped.
    #[inline]
    pub fn write(&self) -> WriteGuard<'_> {
        self.0.store(self.next(), Relaxed);
        fence(Release);
        WriteGuard(self)
    }

    /// Which write this is, while there is one.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Relaxed)
    }

    #[inline]
    fn next(&self) -> u64 {
        self.0.load(Relaxed).wrapping_add(1)
    }

    /// Reads with `attempt` until no write fell into the reading. `relax` lets other threads run: the
    /// writer may have lost its processor in the middle of a write.
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

    /// Reads with `attempt` so many times at most; `None` if a write fell into each reading.
    pub fn try_read<R>(&self, tries: u32, mut attempt: impl FnMut() -> R) -> Option<R> {
        (0..tries).find_map(|_| {
            let (result, clean) = self.observe(&mut attempt);
            clean.then_some(result)
        })
    }

    /// A reading, and whether no write fell into it.
    fn observe<R>(&self, attempt: &mut impl FnMut() -> R) -> (R, bool) {
        let before = self.0.load(Acquire);
        let result = attempt();
        fence(Acquire);
        let clean = before & 1 == 0 && self.0.load(Relaxed) == before;
        (result, clean)
    }
}

/// A write section; its end lets readers trust what they saw.
#[derive(Debug)]
#[must_use = "the write section is over at once"]
pub struct WriteGuard<'a>(&'a SeqLock);

impl Drop for WriteGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(self.0.next(), Release);
    }
}
