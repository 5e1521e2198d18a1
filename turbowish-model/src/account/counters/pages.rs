//! Tables by number in which each item is allocated on first use and found with two loads.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

const CHUNK: usize = 256;

struct Chunk<T>([OnceBox<T>; CHUNK]);

impl<T> Default for Chunk<T> {
    fn default() -> Self {
        Self([const { OnceBox::new() }; CHUNK])
    }
}

/// Items by number, below `256 · CHUNKS`.
pub(crate) struct Pages<T, const CHUNKS: usize>([OnceBox<Chunk<T>>; CHUNKS]);

impl<T, const CHUNKS: usize> Default for Pages<T, CHUNKS> {
    fn default() -> Self {
        Self([const { OnceBox::new() }; CHUNKS])
    }
}

/// Number of chunks for this many items.
pub(crate) const fn chunks(items: u32) -> usize {
    // A power of two: the remainder of a division by it is a mask.
    (items as usize).div_ceil(CHUNK).next_power_of_two()
}

impl<T: Default, const CHUNKS: usize> Pages<T, CHUNKS> {
    /// The item with this number; the number must be within the limit.
    #[inline(always)]
    pub(crate) fn at(&self, number: u32) -> &T {
        let number = number as usize;
        let chunk = &self.0[number / CHUNK % CHUNKS];
        if let Some(chunk) = chunk.get()
            && let Some(item) = chunk.0[number % CHUNK].get()
        {
            return item;
        }
        make(chunk, number % CHUNK)
    }

    /// The item with this number, if it is in use.
    #[inline(always)]
    pub(crate) fn known(&self, number: u32) -> Option<&T> {
        let number = number as usize;
        let chunk = self.0[number / CHUNK % CHUNKS].get()?;
        chunk.0[number % CHUNK].get()
    }

    /// Iterates over the items that are in use, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let chunks = self.0.iter().enumerate();
        let chunks = chunks.filter_map(|(at, chunk)| Some((at, chunk.get()?)));
        chunks.flat_map(|(at, chunk)| {
            let items = chunk.0.iter().enumerate();
            items.filter_map(move |(nth, item)| Some(((at * CHUNK + nth) as u32, item.get()?)))
        })
    }
}

#[cold]
#[inline(never)]
fn make<T: Default>(chunk: &OnceBox<Chunk<T>>, at: usize) -> &T {
    let chunk = chunk.get_or_init(Box::default);
    chunk.0[at].get_or_init(Box::default)
}
