//! Memory that is all zero, as the system gives it: large pieces take room only where they were
//! written.

use std::alloc::{Layout, alloc_zeroed};
use std::ptr;
use std::sync::atomic::AtomicU64;

/// Arrays of `N` words, all zero. Empty if there is no memory for them.
#[must_use]
pub fn words<const N: usize>(count: usize) -> Box<[[AtomicU64; N]]> {
    let layout = match Layout::array::<[AtomicU64; N]>(count) {
        Ok(layout) if layout.size() > 0 => layout,
        _ => return Box::default(),
    };
    // SAFETY: The layout is not of size 0.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        return Box::default();
    }
    let words = ptr::slice_from_raw_parts_mut(memory.cast(), count);
    // SAFETY: It was allocated by the global allocator with the layout of this slice, and words
    // that are all zero are valid atomics.
    unsafe { Box::from_raw(words) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::words;

    #[test]
    fn words_are_zero_and_can_be_written() {
        for count in [0, 1, 1_000, 10_000] {
            let memory = words::<5>(count);
            assert_eq!(memory.len(), count);
            for (nth, word) in memory.iter().flatten().enumerate() {
                assert_eq!(word.swap(nth as u64, Relaxed), 0);
            }
            let sum: u64 = memory.iter().flatten().map(|word| word.load(Relaxed)).sum();
            let last = (count * 5) as u64;
            assert_eq!(sum, last * last.saturating_sub(1) / 2);
        }
        assert!(words::<0>(7).is_empty() && words::<1>(usize::MAX).is_empty());
    }
}
