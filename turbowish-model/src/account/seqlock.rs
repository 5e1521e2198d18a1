//! Seqlock with one writer: the sequence number is odd during a write and never repeats, so readers
//! detect torn reads.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::account::sync::{AtomicU32, AtomicU64, fence, spin_loop};

/// Attempts between two calls of `relax`.
const SPINS: u32 = 64;
/// Attempts until a torn read is accepted. Reached only if the writer is gone for good: the threads
/// that a child of `fork` does not have.
const TRIES: u32 = SPINS * 4096;

/// The sequence number of one writer's data.
#[derive(Debug, Default)]
pub struct SeqLock(AtomicU64);

impl SeqLock {
    /// Begins a write, which ends when the guard is dropped.
    #[inline]
    pub fn write(&self) -> WriteGuard<'_> {
        self.0.store(self.next(), Relaxed);
        fence(Release);
        WriteGuard(self)
    }

    #[inline]
    fn next(&self) -> u64 {
        self.0.load(Relaxed).wrapping_add(1)
    }

    /// Calls `attempt` until no write overlaps it. `relax` lets other threads run: the writer may
    /// have been preempted in the middle of a write. After 262,144 attempts a torn read is
    /// returned.
    pub(crate) fn read<R>(&self, relax: &mut dyn FnMut(), mut attempt: impl FnMut() -> R) -> R {
        until_clean(relax, || self.observe(&mut attempt))
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
        let clean = before & 1 == 0 && self.0.load(Relaxed) == before;
        (result, clean)
    }
}

/// Repeats `observe` until it says that no write overlapped it.
fn until_clean<R>(relax: &mut dyn FnMut(), mut observe: impl FnMut() -> (R, bool)) -> R {
    let mut tries = 0;
    loop {
        let (result, clean) = observe();
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

/// A write in progress. Dropping the guard ends the write.
#[derive(Debug)]
#[must_use = "the write section is over at once"]
pub struct WriteGuard<'a>(&'a SeqLock);

impl Drop for WriteGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(self.0.next(), Release);
    }
}

/// A [`SeqLock`] of 32 bits, for what there are very many of. A reader takes a torn reading for a
/// whole one only if exactly 2³¹ writes, or a multiple, come between its two looks at the number.
#[derive(Debug, Default)]
pub(crate) struct SmallSeqLock(AtomicU32);

impl SmallSeqLock {
    /// As [`SeqLock::write`].
    #[inline]
    pub(crate) fn write(&self) -> SmallWriteGuard<'_> {
        self.0.store(self.next(), Relaxed);
        fence(Release);
        SmallWriteGuard(self)
    }

    #[inline]
    fn next(&self) -> u32 {
        self.0.load(Relaxed).wrapping_add(1)
    }

    /// As [`SeqLock::read`].
    pub(crate) fn read<R>(&self, relax: &mut dyn FnMut(), mut attempt: impl FnMut() -> R) -> R {
        until_clean(relax, || {
            let before = self.0.load(Acquire);
            let result = attempt();
            fence(Acquire);
            let clean = before & 1 == 0 && self.0.load(Relaxed) == before;
            (result, clean)
        })
    }
}

/// A write in progress, as [`WriteGuard`].
#[must_use = "the write section is over at once"]
#[derive(Debug)]
pub(crate) struct SmallWriteGuard<'a>(&'a SmallSeqLock);

impl Drop for SmallWriteGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(self.0.next(), Release);
    }
}
