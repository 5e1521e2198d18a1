//! What is remembered by id, and never more than [`LIMIT`] of it: what was forgotten is believed, never reported.

use alloc::collections::BTreeMap;

/// So many subjects of a kind are remembered at a time.
pub const LIMIT: usize = 1 << 16;
/// After a sweep that found nothing to forget, so many are turned away before the next one.
const PATIENCE: usize = LIMIT / 8;

/// Something that may be over, and can be forgotten then.
pub(super) trait Ends {
    fn is_over(&self) -> bool;
}

/// What is known of each id.
#[derive(Debug)]
pub(super) struct Known<K, V> {
    each: BTreeMap<K, V>,
    /// There are some of which nothing is known: they came while nobody looked, or were too many.
    unsure: bool,
    /// Some were too many.
    lost: bool,
    turned_away: usize,
}

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Self {
            each: BTreeMap::new(),
            unsure: false,
            lost: false,
            turned_away: 0,
        }
    }
}

impl<K: Ord + Copy, V: Ends> Known<K, V> {
    pub(super) fn get(&self, id: K) -> Option<&V> {
        self.each.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: K) -> Option<&mut V> {
        self.each.get_mut(&id)
    }

    /// One that is not there may exist all the same.
    pub(super) const fn is_unsure(&self) -> bool {
        self.unsure
    }

    /// Some were forgotten because they were too many: sums over all are not known.
    pub(super) const fn has_lost(&self) -> bool {
        self.lost
    }

    /// Remembers one, in place of what was known by that id; it may be one too many.
    pub(super) fn enter(&mut self, id: K, value: V) {
        if self.each.len() >= LIMIT && !self.each.contains_key(&id) {
            (self.unsure, self.lost) = (true, true);
            if self.turned_away.is_multiple_of(PATIENCE) {
                self.each.retain(|_, known| !known.is_over());
            }
            if self.each.len() >= LIMIT {
                self.turned_away += 1;
                return;
            }
            self.turned_away = 0;
        }
        self.each.insert(id, value);
    }

    /// All that was known is no longer, and much may have happened since.
    pub(super) fn forget_all(&mut self) {
        *self = Self {
            unsure: true,
            lost: false,
            ..Self::default()
        };
    }
}
