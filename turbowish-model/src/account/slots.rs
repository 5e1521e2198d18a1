//! Slots: values that are made in chunks, found by index, used again and again, and never freed. So
//! a reader may look at any of them at any time.
//!
//! A slot may have an extra part at the same index, for what few slots need. Those of a chunk are
//! made together when the first of them is needed.
//!
//! Free slots are linked into lists by the thread that frees them. A thread that has too many gives
//! a batch to the others.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

use once_cell::race::OnceBox;

/// Slots made at once.
pub const CHUNK: usize = 256;
/// ChunkTable under one address.
const SHELF: usize = 256;
/// Number of such addresses.
const SHELVES: usize = 256;

/// Maximum number of slots.
pub const SLOT_LIMIT: u32 = (CHUNK * SHELF * SHELVES) as u32;

/// A value in a slot.
pub trait Slotted {
    /// What few slots need. Stays when the slot is used again.
    type Extra: Default;

    /// Creates the value of the slot at `index`, which is free and followed by `next`.
    fn new(index: u32, next: u32) -> Self;
    /// The links of a free slot; of one that is in use, anything.
    fn links(&self) -> Links;
    /// Sets the links of a free slot, which is in the caller's list.
    fn link(&self, links: Links);
}

/// What follows a free slot: index plus one of the next one of the same list, 0 if it is the last;
/// and, for the first slot of a batch, the same for the next batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The next slot.
    pub next: u32,
    /// The next batch.
    pub batch: u32,
}

impl Links {
    /// Both in one word.
    #[must_use]
    pub const fn word(self) -> u64 {
        (self.batch as u64) << u32::BITS | self.next as u64
    }

    /// The links in such a word.
    #[must_use]
    pub const fn of(word: u64) -> Self {
        Self {
            next: word as u32,
            batch: (word >> u32::BITS) as u32,
        }
    }
}

type Chunk<T> = [T; CHUNK];
type Shelf<T> = [OnceBox<Chunk<T>>; SHELF];

/// ChunkTable by number, each made when it is needed.
#[derive(Debug)]
struct ChunkTable<T>([OnceBox<Shelf<T>>; SHELVES]);

impl<T> ChunkTable<T> {
    const fn new() -> Self {
        Self([const { OnceBox::new() }; SHELVES])
    }

    /// The chunk of this number, if it was made.
    #[inline]
    fn get(&self, chunk: usize) -> Option<&Chunk<T>> {
        self.0[chunk / SHELF % SHELVES].get()?[chunk % SHELF].get()
    }

    /// The same, made if necessary; `each` makes a value of it.
    #[inline]
    fn get_or_make(&self, chunk: usize, each: impl FnMut(usize) -> T) -> &Chunk<T> {
        let shelf = &self.0[chunk / SHELF % SHELVES];
        let shelf = shelf.get_or_init(|| Box::new([const { OnceBox::new() }; SHELF]));
        shelf[chunk % SHELF].get_or_init(|| fresh(each))
    }
}

/// A chunk. Not made on the stack, because it is large.
fn fresh<T>(each: impl FnMut(usize) -> T) -> Box<Chunk<T>> {
    let values: Vec<T> = (0..CHUNK).map(each).collect();
    match values.into_boxed_slice().try_into() {
        Ok(chunk) => chunk,
        Err(_) => unreachable!("it has the length of a chunk"),
    }
}

/// All slots.
pub struct Slots<T: Slotted> {
    chunks: ChunkTable<T>,
    extras: ChunkTable<T::Extra>,
    /// Number of chunks.
    made: AtomicU32,
    /// Index plus one of the first slot of the first free batch, and a number that changes with
    /// each step.
    batches: AtomicU64,
}

impl<T: Slotted> Default for Slots<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Slotted> Slots<T> {
    /// Creates an empty table.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            chunks: ChunkTable::new(),
            extras: ChunkTable::new(),
            made: AtomicU32::new(0),
            batches: AtomicU64::new(0),
        }
    }

    /// Returns the slot at `index`.
    #[inline]
    pub fn at(&self, index: u32) -> &T {
        let index = index as usize;
        // It exists already: an index is given out after its chunk was made.
        let chunk = self.chunks.get_or_make(index / CHUNK, |at| {
            let first = index / CHUNK * CHUNK;
            let next = if at + 1 == CHUNK { 0 } else { first + at + 2 };
            T::new((first + at) as u32, next as u32)
        });
        &chunk[index % CHUNK]
    }

    /// Returns the extra part of the slot at `index`, if it was made.
    #[inline]
    pub fn extra(&self, index: u32) -> Option<&T::Extra> {
        let index = index as usize;
        Some(&self.extras.get(index / CHUNK)?[index % CHUNK])
    }

    /// The same, made if necessary.
    pub fn make_extra(&self, index: u32) -> &T::Extra {
        let index = index as usize;
        let chunk = self
            .extras
            .get_or_make(index / CHUNK, |_| T::Extra::default());
        &chunk[index % CHUNK]
    }

    /// Makes a chunk. Returns the index of its first slot, which is followed by the others; `None`
    /// beyond [`SLOT_LIMIT`].
    #[cold]
    pub fn grow(&self) -> Option<u32> {
        let more = |made: u32| (made < SLOT_LIMIT / CHUNK as u32).then(|| made + 1);
        let chunk = self.made.fetch_update(AcqRel, Acquire, more).ok()?;
        let first = chunk * CHUNK as u32;
        self.at(first);
        Some(first)
    }

    /// Number of slots, free ones too.
    #[inline]
    pub fn made(&self) -> u64 {
        u64::from(self.made.load(Relaxed)) * CHUNK as u64
    }

    /// Iterates over all slots, free ones too.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        // A chunk may be in the making.
        let chunks = (0..self.made.load(Acquire)).filter_map(|at| self.chunks.get(at as usize));
        chunks.flatten()
    }

    /// Gives a list of free slots to all threads; `first` is its first index.
    pub fn give(&self, first: u32) {
        let mut head = self.batches.load(Relaxed);
        loop {
            let after = (head >> 32).wrapping_add(1) << 32 | u64::from(first + 1);
            let slot = self.at(first);
            slot.link(Links {
                batch: head as u32,
                ..slot.links()
            });
            match self
                .batches
                .compare_exchange_weak(head, after, Release, Relaxed)
            {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes a list of free slots that a thread has given; returns its first index.
    pub fn take(&self) -> Option<u32> {
        let mut head = self.batches.load(Acquire);
        loop {
            let first = (head as u32).checked_sub(1)?;
            // Another thread may have taken the batch, and use the slot: then the exchange fails.
            let next = self.at(first).links().batch;
            let after = (head >> 32).wrapping_add(1) << 32 | u64::from(next);
            match self
                .batches
                .compare_exchange_weak(head, after, Acquire, Acquire)
            {
                Ok(_) => return Some(first),
                Err(now) => head = now,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec::Vec;
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::{CHUNK, Links, Slots, Slotted};

    struct Plain {
        index: u32,
        links: AtomicU64,
    }

    impl Slotted for Plain {
        type Extra = AtomicU64;

        fn new(index: u32, next: u32) -> Self {
            Self {
                index,
                links: AtomicU64::new(u64::from(next)),
            }
        }
        fn links(&self) -> Links {
            Links::of(self.links.load(Relaxed))
        }
        fn link(&self, links: Links) {
            self.links.store(links.word(), Relaxed);
        }
    }

    fn list(slots: &Slots<Plain>, first: u32) -> Vec<u32> {
        let next = |&at: &u32| slots.at(at).links().next.checked_sub(1);
        core::iter::successors(Some(first), next).collect()
    }

    #[test]
    fn chunks_are_lists_of_free_slots() {
        let slots = Slots::<Plain>::new();
        let firsts = [slots.grow(), slots.grow()].map(|first| first.expect("room"));
        assert_eq!(firsts, [0, CHUNK as u32]);
        let all: Vec<u32> = firsts.iter().flat_map(|&at| list(&slots, at)).collect();
        assert_eq!(all, (0..2 * CHUNK as u32).collect::<Vec<_>>());
        let seen: Vec<u32> = slots.iter().map(|slot| slot.index).collect();
        assert_eq!(seen, all);
    }

    #[test]
    fn extra_parts_are_made_by_the_chunk() {
        let slots = Slots::<Plain>::new();
        assert!(slots.grow().is_some() && slots.grow().is_some());
        slots.make_extra(3).store(7, Relaxed);
        let extra = |at: usize| slots.extra(at as u32).map(|extra| extra.load(Relaxed));
        assert_eq!([3, 4, CHUNK].map(extra), [Some(7), Some(0), None]);
        slots.make_extra(CHUNK as u32 + 3).store(8, Relaxed);
        assert_eq!([3, CHUNK + 3].map(extra), [Some(7), Some(8)]);
    }

    #[test]
    fn batches_come_back_last_first() {
        let slots = Slots::<Plain>::new();
        let firsts = [0; 3].map(|_| slots.grow().expect("room"));
        assert_eq!(slots.take(), None);
        firsts.into_iter().for_each(|first| slots.give(first));
        let taken = [0; 4].map(|_| slots.take());
        assert_eq!(taken, [Some(firsts[2]), Some(firsts[1]), Some(0), None]);
    }
}
