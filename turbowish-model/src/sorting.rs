//! Sorting for all types of elements by one sort, of numbers: the standard library's is compiled
//! anew for each type and each comparison, into 3 to 20 KB, and forty of them were a tenth of what
//! TurboWish added to a program. All sorts here are stable.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Compares the elements at two places. A closure as an object would be compiled twice, as it can
/// also be called by value.
pub(crate) trait Compare {
    fn compare(&self, a: usize, b: usize) -> Ordering;
}

impl<F: Fn(usize, usize) -> Ordering> Compare for F {
    fn compare(&self, a: usize, b: usize) -> Ordering {
        self(a, b)
    }
}

/// Sorts by a comparison.
pub fn by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let order = order(items.len(), &|a: usize, b: usize| {
        compare(&items[a], &items[b])
    });
    arrange(items, order);
}

/// Sorts by a key, which is computed for each comparison.
pub fn by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by a key, which is computed once for each element.
pub fn by_cached_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    let keys: Vec<K> = items.iter().map(key).collect();
    let order = order(items.len(), &|a: usize, b: usize| keys[a].cmp(&keys[b]));
    arrange(items, order);
}

/// Sorts in ascending order.
pub fn ascending<T: Ord>(items: &mut [T]) {
    by(items, T::cmp);
}

/// The places of the elements, in their order; at most `limit` of them, those that come first.
#[inline(never)]
pub(crate) fn first(length: usize, limit: usize, compare: &dyn Compare) -> Vec<usize> {
    let is_before = |a: usize, b: usize| compare.compare(a, b).then_with(|| a.cmp(&b)).is_lt();
    let mut places = heap(length, limit, &is_before);
    // Most are in order, as their source is.
    if !places.is_sorted_by(|a, b| is_before(*a, *b)) {
        merge_sort(&mut places, &is_before);
    }
    places
}

/// Whether the element at a place comes before that at another one.
type IsBefore<'b> = &'b dyn Fn(usize, usize) -> bool;

/// The places of the elements that come first. If there are others, they are a heap: the last one
/// is in front, and none is before those under it.
fn heap(length: usize, limit: usize, is_before: IsBefore<'_>) -> Vec<usize> {
    let mut heap: Vec<usize> = (0..length.min(limit)).collect();
    if heap.len() == length {
        return heap;
    }
    for top in (0..heap.len() / 2).rev() {
        sink(&mut heap, top, is_before);
    }
    for place in heap.len()..length {
        if heap.first().is_some_and(|last| is_before(place, *last)) {
            heap[0] = place;
            sink(&mut heap, 0, is_before);
        }
    }
    heap
}

fn sink(heap: &mut [usize], mut top: usize, is_before: IsBefore<'_>) {
    loop {
        let mut last = top;
        for under in [2 * top + 1, 2 * top + 2] {
            if under < heap.len() && is_before(heap[last], heap[under]) {
                last = under;
            }
        }
        if last == top {
            return;
        }
        heap.swap(last, top);
        top = last;
    }
}

/// Merges ever longer runs: there is no sort with fewer comparisons, which are what takes time.
fn merge_sort(places: &mut Vec<usize>, is_before: IsBefore<'_>) {
    let mut merged: Vec<usize> = Vec::with_capacity(places.len());
    let mut run = 1;
    while run < places.len() {
        for pair in places.chunks(2 * run) {
            let (mut left, mut right) = pair.split_at(run.min(pair.len()));
            while let ([a, after_a @ ..], [b, after_b @ ..]) = (left, right) {
                if is_before(*b, *a) {
                    merged.push(*b);
                    right = after_b;
                } else {
                    merged.push(*a);
                    left = after_a;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        core::mem::swap(places, &mut merged);
        merged.clear();
        run *= 2;
    }
}

fn order(length: usize, compare: &dyn Compare) -> Vec<usize> {
    if (1..length).all(|at| compare.compare(at - 1, at).is_le()) {
        return Vec::new();
    }
    first(length, length, compare)
}

/// Moves the elements to their places. An empty order leaves them where they are.
#[inline(never)]
fn arrange<T>(items: &mut [T], mut order: Vec<usize>) {
    for start in 0..order.len() {
        let mut to = start;
        loop {
            // The element that belongs to `to` is at `from`: earlier moves have been within one
            // cycle, and left the first of it behind.
            let from = core::mem::replace(&mut order[to], to);
            if from == start || from == to {
                break;
            }
            items.swap(to, from);
            to = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::{any, prop_assert_eq, proptest};

    proptest! {
        #[test]
        fn it_is_what_the_standard_library_does(items in proptest::collection::vec(any::<(u8, u16)>(), 0..200)) {
            let key = |item: &(u8, u16)| item.0 % 16;
            let mut expected = items.clone();
            expected.sort_by_key(key);
            let mut sorted = items.clone();
            super::by_key(&mut sorted, key);
            prop_assert_eq!(&sorted, &expected);
            let mut sorted = items.clone();
            super::by_cached_key(&mut sorted, key);
            prop_assert_eq!(&sorted, &expected);
            expected.sort_unstable();
            super::ascending(&mut sorted);
            prop_assert_eq!(sorted, expected);
        }

        #[test]
        fn the_first_are_the_first_of_all(items in proptest::collection::vec(any::<u8>(), 0..100), limit in 0_usize..120) {
            let mut expected: Vec<usize> = (0..items.len()).collect();
            expected.sort_by_key(|&at| items[at]);
            expected.truncate(limit);
            let first = super::first(items.len(), limit, &|a: usize, b: usize| items[a].cmp(&items[b]));
            prop_assert_eq!(first, expected);
        }
    }
}
