//! Storage of a single writer that grows without moving: readers may look at any time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use once_cell::race::OnceBox;

const FIRST: usize = 8;
const CHUNKS: usize = 14;

/// A vector of atomics in chunks of 8, 8, 16, 32 … items, allocated on first use and never moved.
#[derive(Debug)]
pub(crate) struct Grow<T> {
    chunks: [OnceBox<Box<[T]>>; CHUNKS],
}

impl<T: Default> Default for Grow<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Default> Grow<T> {
    /// More items than this cannot be held.
    pub(crate) const LIMIT: usize = FIRST << (CHUNKS - 1);

    pub(crate) const fn new() -> Self {
        Self {
            chunks: [const { OnceBox::new() }; CHUNKS],
        }
    }

    /// The item at `index`, made if it was not there. `index` must be below [`Self::LIMIT`].
    #[inline]
    pub(crate) fn at(&self, index: usize) -> &T {
        let (chunk, offset, len) = place(index);
        &self.chunks[chunk].get_or_init(|| Box::new(filled(len)))[offset]
    }

    /// The item at `index`, if its chunk exists.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        let (chunk, offset, _) = place(index);
        self.chunks.get(chunk)?.get().map(|items| &items[offset])
    }
}

fn filled<T: Default>(len: usize) -> Box<[T]> {
    let mut items = Vec::with_capacity(len);
    items.resize_with(len, T::default);
    items.into_boxed_slice()
}

/// Chunk, offset in it, and the chunk's length.
#[inline]
const fn place(index: usize) -> (usize, usize, usize) {
    if index < FIRST {
        return (0, index, FIRST);
    }
    let level = (index / FIRST).ilog2() as usize;
    let len = FIRST << level;
    (level + 1, index - len, len)
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::Grow;

    #[test]
    fn every_index_is_a_place_of_its_own() {
        let grow = Grow::<AtomicU64>::new();
        assert!(grow.get(0).is_none());
        for index in 0..5000 {
            grow.at(index).store(index as u64 + 1, Relaxed);
        }
        for index in 0..5000 {
            assert_eq!(
                grow.get(index).map(|item| item.load(Relaxed)),
                Some(index as u64 + 1)
            );
        }
        grow.at(Grow::<AtomicU64>::LIMIT - 1).store(9, Relaxed);
    }
}
