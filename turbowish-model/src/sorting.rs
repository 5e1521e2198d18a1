//! Sorting for all types of elements by one sort, of numbers: the standard library's is compiled
//! anew for each type and each comparison, into 3 to 14 KB, and forty of them were a tenth of what
//! TurboWish added to a program. All sorts here are stable.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Sorts by a comparison.
pub fn by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let order = order(items.len(), &|a, b| compare(&items[a], &items[b]));
    arrange(items, order);
}

/// Sorts by a key, which is computed for each comparison.
pub fn by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by a key, which is computed once for each element.
pub fn by_cached_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    let keys: Vec<K> = items.iter().map(key).collect();
    let order = order(items.len(), &|a, b| keys[a].cmp(&keys[b]));
    arrange(items, order);
}

/// Sorts in ascending order.
pub fn ascending<T: Ord>(items: &mut [T]) {
    by(items, T::cmp);
}

/// The places of the elements, in their order; at most `limit` of them, those that come first.
#[inline(never)]
pub(crate) fn first(
    length: usize,
    limit: usize,
    compare: &dyn Fn(usize, usize) -> Ordering,
) -> Vec<usize> {
    let mut places: Vec<usize> = (0..length).collect();
    let stable = |a: &usize, b: &usize| compare(*a, *b).then_with(|| a.cmp(b));
    if limit < length {
        select(&mut places, limit, compare);
        places.truncate(limit);
    }
    // Most are in order, as their source is.
    if !places.is_sorted_by(|a, b| stable(a, b).is_lt()) {
        places.sort_unstable_by(stable);
    }
    places
}

/// The place of the element that is at `nth` once they are in their order.
pub(crate) fn nth(length: usize, nth: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> usize {
    let mut places: Vec<usize> = (0..length).collect();
    select(&mut places, nth, compare);
    places[nth]
}

#[inline(never)]
fn select(places: &mut [usize], nth: usize, compare: &dyn Fn(usize, usize) -> Ordering) {
    places.select_nth_unstable_by(nth, |a, b| compare(*a, *b).then_with(|| a.cmp(b)));
}

fn order(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    if (1..length).all(|at| compare(at - 1, at).is_le()) {
        return Vec::new();
    }
    first(length, length, compare)
}

/// Moves the elements to their places. An empty order leaves them where they are.
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
            let first = super::first(items.len(), limit, &|a, b| items[a].cmp(&items[b]));
            prop_assert_eq!(first, expected);
        }
    }
}
