//! Ordered maps and sets with little code for each type: the standard library's B-trees take 5 to
//! 14 KB for each, and sixty of them were a tenth of what TurboWish added to a program.
//!
//! The entries are in sorted chunks of a bounded size: a tree of two levels. Nothing here is on the
//! way of a poll.

use alloc::vec::{self, Vec};
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::iter::Flatten;
use core::ops::Index;
use core::slice;

/// Maximum number of entries in a chunk.
const CHUNK: usize = 256;

/// A map in the order of its keys.
#[derive(Clone)]
pub struct Map<K, V> {
    /// None is empty.
    chunks: Vec<Vec<(K, V)>>,
}

/// A set in the order of its elements.
#[derive(Clone)]
pub struct Set<T>(Map<T, ()>);

/// The chunk of an entry, and its place there.
type Place = (usize, usize);

impl<K, V> Map<K, V> {
    /// Creates an empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.chunks.clear();
    }

    /// The entries.
    pub fn iter(&self) -> Iter<'_, K, V> {
        self.into_iter()
    }

    /// The keys.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.chunks.iter().flatten().map(|(key, _)| key)
    }

    /// The values, in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.chunks.iter().flatten().map(|(_, value)| value)
    }

    /// The values, in the order of their keys, to change them.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.chunks.iter_mut().flatten().map(|(_, value)| value)
    }

    /// The entries, in the order of their keys, to change their values.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut V)> {
        let entries = self.chunks.iter_mut().flatten();
        entries.map(|(key, value)| (&*key, value))
    }

    /// The values, in the order of their keys.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> {
        self.into_iter().map(|(_, value)| value)
    }

    /// Keeps only some entries.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.chunks.retain_mut(|chunk| {
            chunk.retain_mut(|(key, value)| keep(key, value));
            !chunk.is_empty()
        });
    }
}

impl<K: Ord, V> Map<K, V> {
    /// Where the entry is, or where it would have to be.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<Place, Place>
    where
        K: Borrow<Q>,
    {
        let compare = |(known, _): &(K, V)| known.borrow().cmp(key);
        // The first chunk that does not end before the key, or the last one.
        let (mut nth, mut end) = (0, self.chunks.len().saturating_sub(1));
        while nth < end {
            let middle = nth.midpoint(end);
            match self.chunks[middle].last().map(compare) {
                Some(Ordering::Less) => nth = middle + 1,
                _ => end = middle,
            }
        }
        let chunk = self.chunks.get(nth).map_or(&[][..], Vec::as_slice);
        match chunk.binary_search_by(compare) {
            Ok(at) => Ok((nth, at)),
            Err(at) => Err((nth, at)),
        }
    }

    #[inline(never)]
    fn put(&mut self, (mut nth, mut at): Place, key: K, value: V) -> &mut V {
        if self.chunks.is_empty() {
            self.chunks.push(Vec::new());
        }
        if self.chunks[nth].len() == CHUNK {
            // Entries that come in order leave full chunks behind.
            let half = if at == CHUNK { CHUNK - 1 } else { CHUNK / 2 };
            let rest = self.chunks[nth].split_off(half);
            self.chunks.insert(nth + 1, rest);
            if at > half {
                (nth, at) = (nth + 1, at - half);
            }
        }
        let chunk = &mut self.chunks[nth];
        chunk.insert(at, (key, value));
        &mut chunk[at].1
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (nth, at) = self.place(key).ok()?;
        Some(&self.chunks[nth][at].1)
    }

    /// The value of a key, to change it.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (nth, at) = self.place(key).ok()?;
        Some(&mut self.chunks[nth][at].1)
    }

    /// Whether there is an entry with this key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Sets the value of a key; returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok((nth, at)) => Some(core::mem::replace(&mut self.chunks[nth][at].1, value)),
            Err(place) => {
                self.put(place, key, value);
                None
            }
        }
    }

    /// Removes an entry; returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (nth, at) = self.place(key).ok()?;
        let (_, value) = self.chunks[nth].remove(at);
        if self.chunks[nth].is_empty() {
            self.chunks.remove(nth);
        }
        Some(value)
    }

    /// The entry of a key, which may be missing.
    pub fn entry(&mut self, key: K) -> MapEntry<'_, K, V> {
        MapEntry {
            place: self.place(&key),
            key,
            map: self,
        }
    }
}

/// An entry of a [`Map`], which may be missing.
pub struct MapEntry<'m, K, V> {
    map: &'m mut Map<K, V>,
    key: K,
    place: Result<Place, Place>,
}

impl<'m, K: Ord, V> MapEntry<'m, K, V> {
    /// The value, which is made if it is missing.
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'m mut V {
        match self.place {
            Ok((nth, at)) => &mut self.map.chunks[nth][at].1,
            Err(place) => self.map.put(place, self.key, make()),
        }
    }

    /// The value, or this one.
    pub fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

    /// The value, or the default of its type.
    pub fn or_default(self) -> &'m mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }
}

impl<T> Set<T> {
    /// Creates an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self(Map::new())
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements.
    pub fn iter(&self) -> Elements<'_, T> {
        self.into_iter()
    }
}

impl<T: Ord> Set<T> {
    /// Keeps only some elements.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.0.retain(|element, ()| keep(element));
    }

    /// Whether this is an element.
    pub fn contains<Q: Ord + ?Sized>(&self, element: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.contains_key(element)
    }

    /// Adds an element; returns whether it is new.
    pub fn insert(&mut self, element: T) -> bool {
        self.0.insert(element, ()).is_none()
    }

    /// Removes an element; returns whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, element: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.remove(element).is_some()
    }

    /// The elements that are also in another set.
    pub fn intersection<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = &'s T> {
        self.iter().filter(|element| other.contains(*element))
    }

    /// The elements that are not in another set.
    pub fn difference<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = &'s T> {
        self.iter().filter(|element| !other.contains(*element))
    }

    /// Whether no element is also in another set.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.intersection(other).next().is_none()
    }

    /// Whether all elements are also in another set.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).next().is_none()
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Default for Set<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

impl<T: PartialEq> PartialEq for Set<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Set<T> {}

impl<T: Ord> PartialOrd for Set<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> Ord for Set<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl<T: Hash> Hash for Set<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.iter().for_each(|element| element.hash(state));
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for Set<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<K: Ord, V> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<T: Ord> Extend<T> for Set<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        for element in elements {
            self.insert(element);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<T: Ord> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut set = Self::new();
        set.extend(elements);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for Set<T> {
    fn from(elements: [T; N]) -> Self {
        elements.into_iter().collect()
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for Map<K, V> {
    type Output = V;

    /// # Panics
    /// If there is no such entry, as for other maps.
    fn index(&self, key: &Q) -> &V {
        let place = self.place(key).unwrap_or((usize::MAX, 0));
        &self.chunks[place.0][place.1].1
    }
}

/// The entries of a [`Map`].
pub type Iter<'m, K, V> =
    core::iter::Map<Flatten<slice::Iter<'m, Vec<(K, V)>>>, fn(&'m (K, V)) -> (&'m K, &'m V)>;

/// The elements of a [`Set`].
pub type Elements<'s, T> =
    core::iter::Map<Flatten<slice::Iter<'s, Vec<(T, ())>>>, fn(&'s (T, ())) -> &'s T>;

impl<'m, K, V> IntoIterator for &'m Map<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Iter<'m, K, V>;

    fn into_iter(self) -> Iter<'m, K, V> {
        self.chunks
            .iter()
            .flatten()
            .map(|(key, value)| (key, value))
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = Flatten<vec::IntoIter<Vec<(K, V)>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.chunks.into_iter().flatten()
    }
}

impl<'s, T> IntoIterator for &'s Set<T> {
    type Item = &'s T;
    type IntoIter = Elements<'s, T>;

    fn into_iter(self) -> Elements<'s, T> {
        self.0.chunks.iter().flatten().map(|(element, ())| element)
    }
}

impl<T> IntoIterator for Set<T> {
    type Item = T;
    type IntoIter = core::iter::Map<Flatten<vec::IntoIter<Vec<(T, ())>>>, fn((T, ())) -> T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|(element, ())| element)
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::{BTreeMap, BTreeSet};
    use alloc::vec::Vec;

    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{CHUNK, Map, Set};

    proptest! {
        #[test]
        fn it_does_what_a_b_tree_does(steps in proptest::collection::vec(any::<(u8, u16, u8)>(), 0..2_000), wide in any::<bool>()) {
            let (mut map, mut expected) = (Map::new(), BTreeMap::new());
            for (what, key, value) in steps {
                let key = if wide { key } else { key % 16 };
                match what % 8 {
                    0 => prop_assert_eq!(map.remove(&key), expected.remove(&key)),
                    1 => prop_assert_eq!(map.get(&key), expected.get(&key)),
                    2 => *map.entry(key).or_default() = *expected.entry(key).and_modify(|known| *known ^= 1).or_default(),
                    3 if what == 3 => {
                        map.retain(|key, _| key % 3 > 0);
                        expected.retain(|key, _| key % 3 > 0);
                    }
                    _ => prop_assert_eq!(map.insert(key, value), expected.insert(key, value)),
                }
                prop_assert_eq!(map.len(), expected.len());
            }
            prop_assert_eq!(map.is_empty(), expected.is_empty());
            let (all, wanted): (Vec<_>, Vec<_>) = (map.iter().collect(), expected.iter().collect());
            prop_assert_eq!(all, wanted);
            let back: Vec<_> = map.values().rev().collect();
            prop_assert_eq!(back, expected.values().rev().collect::<Vec<_>>());
            prop_assert_eq!(map.into_iter().collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn sets_compare_as_those_of_the_standard_library(one: BTreeSet<u8>, other: BTreeSet<u8>) {
            let of = |set: &BTreeSet<u8>| set.iter().copied().collect::<Set<u8>>();
            let (a, b) = (of(&one), of(&other));
            prop_assert_eq!(a.cmp(&b), one.cmp(&other));
            prop_assert_eq!(a == b, one == other);
            prop_assert_eq!(a.is_disjoint(&b), one.is_disjoint(&other));
            prop_assert_eq!(a.is_subset(&b), one.is_subset(&other));
            prop_assert_eq!(a.intersection(&b).count(), one.intersection(&other).count());
            prop_assert_eq!(a.difference(&b).count(), one.difference(&other).count());
        }
    }

    #[test]
    fn entries_in_order_leave_full_chunks() {
        let map: Map<usize, ()> = (0..10 * CHUNK).map(|key| (key, ())).collect();
        assert!(map.chunks.len() <= 11, "{} chunks", map.chunks.len());
    }
}
