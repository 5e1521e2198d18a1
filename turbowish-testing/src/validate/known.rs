//! Bounded memory of subjects by id, at most [`LIMIT`] per kind. Claims about forgotten subjects
//! are believed, never reported.

use std::collections::BTreeMap;

/// Maximum number of subjects of a kind remembered at a time.
pub const LIMIT: usize = 1 << 16;
/// Number of subjects rejected after a sweep that freed nothing, before the next sweep.
const PATIENCE: usize = LIMIT / 8;

/// A subject that can be forgotten once it has ended.
pub(super) trait Ends {
    fn is_over(&self) -> bool;
}

/// The known state by id.
#[derive(Debug)]
pub(super) struct Known<K, V> {
    each: BTreeMap<K, V>,
    /// Unknown subjects may exist: they began while accounting was off, or exceeded the limit.
    unsure: bool,
    /// Some subjects exceeded the limit.
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

    /// Whether an id that is not known may exist all the same.
    pub(super) const fn is_unsure(&self) -> bool {
        self.unsure
    }

    /// Whether some subjects exceeded the limit, so that sums over all are unknown.
    pub(super) const fn has_lost(&self) -> bool {
        self.lost
    }

    /// Remembers the state of an id, replacing the former state; discards it if the limit is
    /// reached.
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

    /// Forgets all states: much may have happened since.
    pub(super) fn forget_all(&mut self) {
        *self = Self {
            unsure: true,
            lost: false,
            ..Self::default()
        };
    }
}
