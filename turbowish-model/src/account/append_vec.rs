//! Append-only vector with a single writer: items never move, so readers may look at any time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use once_cell::race::OnceBox;

const CHUNKS: usize = 12;

/// A vector of atomics: the first `N` items in place, then chunks of N, 2 N, 4 N … items, each
/// allocated on first use. Items never move. `N` is a power of two.
#[derive(Debug)]
pub(crate) struct AppendVec<T, const N: usize> {
    first: [T; N],
    chunks: OnceBox<Chunks<T>>,
}

/// Boxed, because most vectors never grow and need no chunk addresses.
#[derive(Debug)]
struct Chunks<T>([OnceBox<Box<[T]>>; CHUNKS]);

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self([const { OnceBox::new() }; CHUNKS])
    }
}

impl<T: Default, const N: usize> Default for AppendVec<T, N> {
    fn default() -> Self {
        Self {
            first: core::array::from_fn(|_| T::default()),
            chunks: OnceBox::new(),
        }
    }
}

impl<T: Default, const N: usize> AppendVec<T, N> {
    /// Maximum number of items.
    pub(crate) const LIMIT: usize = N << CHUNKS;

    /// Returns the item at `index`; allocates its chunk if needed. `index` must be below
    /// [`Self::LIMIT`].
    #[inline]
    pub(crate) fn at(&self, index: usize) -> &T {
        match self.first.get(index) {
            Some(item) => item,
            None => self.beyond(index),
        }
    }

    /// Returns the item at `index`, if it is stored in place.
    #[inline(always)]
    pub(crate) fn in_place(&self, index: u32) -> Option<&T> {
        self.first.get(index as usize)
    }

    /// Returns the items from `from` up to but without `to`, if they are stored in place.
    #[inline(always)]
    pub(crate) fn all_in_place(&self, from: u32, to: u32) -> Option<&[T]> {
        self.first.get(from as usize..to as usize)
    }

    #[cold]
    fn beyond(&self, index: usize) -> &T {
        let (chunk, offset, len) = Self::place(index);
        let chunks = self.chunks.get_or_init(Box::default);
        &chunks.0[chunk].get_or_init(|| Box::new(filled(len)))[offset]
    }

    /// Returns the item at `index`, if its chunk is allocated.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        if index < N {
            return self.first.get(index);
        }
        let (chunk, offset, _) = Self::place(index);
        self.chunks
            .get()?
            .0
            .get(chunk)?
            .get()
            .map(|items| &items[offset])
    }

    /// Iterates over every allocated item, with its index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let chunks = self.chunks.get().into_iter().flat_map(|chunks| &chunks.0);
        let beyond = chunks.enumerate().filter_map(|(level, chunk)| {
            let items = chunk.get()?;
            Some(
                items
                    .iter()
                    .enumerate()
                    .map(move |(at, item)| ((N << level) + at, item)),
            )
        });
        self.first.iter().enumerate().chain(beyond.flatten())
    }

    /// Chunk, offset in the chunk and length of the chunk for an index beyond the first `N` items.
    const fn place(index: usize) -> (usize, usize, usize) {
        let level = (index / N).ilog2() as usize;
        let len = N << level;
        (level, index - len, len)
    }
}

fn filled<T: Default>(len: usize) -> Box<[T]> {
    let mut items = Vec::with_capacity(len);
    items.resize_with(len, T::default);
    items.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::AppendVec;

    #[test]
    fn every_index_is_a_place_of_its_own() {
        let grow = AppendVec::<AtomicU64, 8>::default();
        assert!(grow.get(8).is_none());
        for index in 0..5000 {
            grow.at(index).store(index as u64 + 1, Relaxed);
        }
        for index in 0..5000 {
            assert_eq!(
                grow.get(index).map(|item| item.load(Relaxed)),
                Some(index as u64 + 1)
            );
        }
        assert!(
            grow.iter()
                .take(5000)
                .enumerate()
                .all(|(at, (index, item))| at == index && item.load(Relaxed) == at as u64 + 1)
        );
        grow.at(AppendVec::<AtomicU64, 8>::LIMIT - 1)
            .store(9, Relaxed);
    }
}
