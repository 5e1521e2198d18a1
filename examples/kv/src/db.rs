//! The store: keys spread over shards, each behind its own lock. Several locks are only ever taken in ascending order.

mod shard;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use turbowish::sync::{Mutex, MutexGuard, named};

use crate::clock::Clock;
use crate::error::Refusal;

pub(crate) use shard::{Blob, Condition, End, Entry, Expiry, Ttl, Value, parse_integer};

use shard::Shard;

const SHARDS: usize = 16;

/// All keys of the server. Every method changes everything that it is asked to, at one instant, or nothing.
pub(crate) struct Db {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
    clock: Clock,
}

#[turbowish::instrument]
impl Db {
    /// An empty store that reads the time from `clock`.
    pub(crate) fn new(clock: Clock) -> Db {
        Db {
            shards: std::array::from_fn(|shard| named(&format!("shard-{shard}"), Mutex::default())),
            hasher: RandomState::new(),
            clock,
        }
    }

    /// The string at `key`.
    pub(crate) async fn get(&self, key: &[u8]) -> Result<Option<Blob>, Refusal> {
        self.shard(key).lock().await.get(key, self.now())
    }

    /// Stores a string, whatever was there. False: the condition did not hold.
    pub(crate) async fn set(
        &self,
        key: Blob,
        value: Blob,
        expiry: Expiry,
        condition: Condition,
    ) -> bool {
        let mut shard = self.shard(&key).lock().await;
        shard.set(key, value, expiry, condition, self.now())
    }

    /// Adds to the counter at `key`, which starts at 0, and returns its new value.
    pub(crate) async fn incr(&self, key: Blob, by: i64) -> Result<i64, Refusal> {
        let mut shard = self.shard(&key).lock().await;
        shard.incr(key, by, self.now())
    }

    /// Pushes values one after the other at one end of a list and returns its new length.
    pub(crate) async fn push(
        &self,
        key: Blob,
        values: Vec<Blob>,
        end: End,
    ) -> Result<usize, Refusal> {
        let mut shard = self.shard(&key).lock().await;
        shard.push(key, values, end, self.now())
    }

    /// Takes up to `count` values from one end of a list; `None`: no such key.
    pub(crate) async fn pop(
        &self,
        key: &[u8],
        end: End,
        count: usize,
    ) -> Result<Option<Vec<Blob>>, Refusal> {
        let mut shard = self.shard(key).lock().await;
        shard.pop(key, end, count, self.now())
    }

    /// The values of a list from `start` to `stop`, both inside; negative positions count from the right end.
    pub(crate) async fn range(
        &self,
        key: &[u8],
        start: i64,
        stop: i64,
    ) -> Result<Vec<Blob>, Refusal> {
        let mut shard = self.shard(key).lock().await;
        shard.range(key, start, stop, self.now())
    }

    /// The length of a list; 0: no such key.
    pub(crate) async fn length(&self, key: &[u8]) -> Result<usize, Refusal> {
        self.shard(key).lock().await.length(key, self.now())
    }

    /// Stores all pairs; of two with the same key the later one.
    pub(crate) async fn mset(&self, pairs: Vec<(Blob, Blob)>) {
        let mut locked = self.lock_of(pairs.iter().map(|(key, _)| key)).await;
        let now = self.now();
        for (key, value) in pairs {
            if let Some(shard) = locked.get_mut(&self.index(&key)) {
                shard.set(key, value, Expiry::Never, Condition::Always, now);
            }
        }
    }

    /// The strings at the keys; `None` where there is none, or a value of another type.
    pub(crate) async fn mget(&self, keys: &[Blob]) -> Vec<Option<Blob>> {
        let mut locked = self.lock_of(keys).await;
        let now = self.now();
        let read = |key: &Blob| locked.get_mut(&self.index(key))?.get(key, now).ok()?;
        keys.iter().map(read).collect()
    }

    /// Removes keys and returns how many were there.
    pub(crate) async fn del(&self, keys: &[Blob]) -> usize {
        self.count(keys, Shard::del).await
    }

    /// How many of the keys are there; a key given twice counts twice.
    pub(crate) async fn exists(&self, keys: &[Blob]) -> usize {
        self.count(keys, Shard::exists).await
    }

    /// Lets a key live `ms` more milliseconds; 0 or less removes it. False: there is no such key.
    pub(crate) async fn expire(&self, key: Blob, ms: i64) -> bool {
        let mut shard = self.shard(&key).lock().await;
        let now = self.now();
        shard.expire(key, now.saturating_add_signed(ms), now)
    }

    /// How long a key has to live.
    pub(crate) async fn ttl(&self, key: &[u8]) -> Ttl {
        self.shard(key).lock().await.ttl(key, self.now())
    }

    /// Number of keys, with those whose deadline has passed and that no sweep has met yet.
    pub(crate) async fn len(&self) -> usize {
        self.lock_all().await.iter().map(|shard| shard.len()).sum()
    }

    /// Removes every key.
    pub(crate) async fn clear(&self) {
        let removed: Vec<Shard> = {
            let mut locked = self.lock_all().await;
            locked.iter_mut().map(|shard| shard.clear()).collect()
        };
        drop(removed);
    }

    /// Removes at most `limit` keys of each shard whose deadline has passed, and returns how many.
    pub(crate) async fn sweep(&self, limit: usize) -> usize {
        let mut swept = 0;
        for shard in &self.shards {
            swept += shard.lock().await.sweep(limit, self.now());
        }
        swept
    }

    /// A number that grows with every change.
    pub(crate) async fn changes(&self) -> u64 {
        let locked = self.lock_all().await;
        locked.iter().map(|shard| shard.changes()).sum()
    }

    /// All entries as they are at one instant, and [`Db::changes`] of that instant.
    ///
    /// All locks are taken first; then the shards are copied and freed one by one, so that a
    /// command waits only for the shards before its own, and no worker is held for longer than one.
    pub(crate) async fn copy(&self) -> (Vec<Vec<(Blob, Entry)>>, u64) {
        let locked = self.lock_all().await;
        let changes = locked.iter().map(|shard| shard.changes()).sum();
        let mut copies = Vec::with_capacity(SHARDS);
        for shard in locked {
            copies.push(shard.copy());
            drop(shard);
            tokio::task::yield_now().await;
        }
        (copies, changes)
    }

    /// Stores an entry as it is: the way back from a snapshot. One whose deadline has passed is left out.
    pub(crate) async fn restore(&self, key: Blob, entry: Entry) {
        let now = self.now();
        if entry.deadline.is_none_or(|deadline| deadline > now) {
            self.shard(&key).lock().await.put(key, entry);
        }
    }

    async fn count(&self, keys: &[Blob], test: fn(&mut Shard, &[u8], u64) -> bool) -> usize {
        let mut locked = self.lock_of(keys).await;
        let now = self.now();
        let mut holds = |key: &&Blob| {
            let shard = locked.get_mut(&self.index(key));
            shard.is_some_and(|shard| test(shard, key, now))
        };
        keys.iter().filter(|key| holds(key)).count()
    }

    /// The locks of the shards that hold `keys`, by index of the shard.
    async fn lock_of<'a>(
        &self,
        keys: impl IntoIterator<Item = &'a Blob>,
    ) -> BTreeMap<usize, MutexGuard<'_, Shard>> {
        let wanted = keys.into_iter().map(|key| self.index(key));
        let wanted = wanted.fold(0_u16, |set, index| set | 1 << index);
        let mut locked = BTreeMap::new();
        for (index, shard) in self.shards.iter().enumerate() {
            if wanted & 1 << index != 0 {
                locked.insert(index, shard.lock().await);
            }
        }
        locked
    }

    async fn lock_all(&self) -> Vec<MutexGuard<'_, Shard>> {
        let mut locked = Vec::with_capacity(SHARDS);
        for shard in &self.shards {
            locked.push(shard.lock().await);
        }
        locked
    }

    fn shard(&self, key: &[u8]) -> &Mutex<Shard> {
        &self.shards[self.index(key)]
    }

    fn index(&self, key: &[u8]) -> usize {
        // The remainder is below SHARDS, so neither conversion can lose anything.
        (self.hasher.hash_one(key) % SHARDS as u64) as usize
    }

    fn now(&self) -> u64 {
        self.clock.now_ms()
    }
}

#[cfg(test)]
#[path = "db/db_tests.rs"]
mod tests;
