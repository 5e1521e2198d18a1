//! Hash for maps by task ID, which are rebuilt for every situation. A program cannot choose task
//! IDs, so the hash need not resist attacks.

use std::hash::{BuildHasherDefault, Hasher};

/// Hasher for IDs, which are assigned in sequence.
pub(super) type IdHash = BuildHasherDefault<IdHasher>;

/// Multiplies an ID by a constant without pattern.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, id: u64) {
        // 2^64 divided by the golden ratio.
        self.0 = (self.0 ^ id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        // A map uses both ends of the hash; the product's upper bits are the mixed ones.
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasher, Hasher};

    use turbowish_model::account::task::TaskMeta;

    use super::{IdHash, IdHasher};

    /// IDs of many tasks of few procs, and of few tasks of many procs, fall into different buckets
    /// and different groups.
    #[test]
    fn ids_are_spread_over_both_ends() {
        for (procs, tasks) in [(1, 4_096), (4_096, 1), (64, 64)] {
            let ids = (0..procs).flat_map(|root| (1..=tasks).map(move |nth| (root, nth)));
            let hashes = ids
                .map(|(root, nth)| IdHash::default().hash_one(TaskMeta::new(root, nth, 0, 0).id));
            let (low, high): (HashSet<u64>, HashSet<u64>) =
                hashes.map(|hash| (hash % 4_096, hash >> 57)).unzip();
            // Chance alone would fill 63 % of the buckets.
            assert!(low.len() > 2_000, "{procs} x {tasks}: {}", low.len());
            assert!(high.len() > 120, "{procs} x {tasks}: {}", high.len());
        }
    }

    #[test]
    fn bytes_are_a_hash_too() {
        let hash = |bytes: &[u8]| {
            let mut spreading = IdHasher::default();
            spreading.write(bytes);
            spreading.finish()
        };
        assert_ne!(hash(b"ab"), hash(b"ba"));
    }
}
