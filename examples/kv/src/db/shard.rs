//! One shard of the store as plain data: time is a parameter, and every deadline in `entries` is in `deadlines` too.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use crate::error::Refusal;

/// Bytes of a key or a value. Shared, so that replies and snapshots copy a pointer, not the bytes.
pub(crate) type Blob = Arc<[u8]>;

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A string; counters are strings of digits.
    Text(Blob),
    /// A list, its left end first.
    List(VecDeque<Blob>),
}

/// A value and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The value.
    pub(crate) value: Value,
    /// Unix time in milliseconds from which on the key is gone; `None`: it stays.
    pub(crate) deadline: Option<u64>,
}

/// Which end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The left end: index 0.
    Left,
    /// The right end: index -1.
    Right,
}

/// How long a key has to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ttl {
    /// There is no such key.
    Missing,
    /// The key has no deadline.
    Forever,
    /// Milliseconds left.
    Left(u64),
}

/// When `SET` gives the key a deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// Take an old deadline away.
    #[default]
    Never,
    /// Keep the deadline that the key has.
    Keep,
    /// So many milliseconds from now.
    After(u64),
}

/// When `SET` is done at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Condition {
    /// In any case.
    #[default]
    Always,
    /// Only if the key is not there.
    IfAbsent,
    /// Only if the key is there.
    IfPresent,
}

/// A part of the keys.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    entries: HashMap<Blob, Entry>,
    /// (deadline, key) of every entry that has one: the sweep reads it from the front.
    deadlines: BTreeSet<(u64, Blob)>,
    /// Grows with every change; equal numbers mean that nothing happened in between.
    changes: u64,
}

impl Shard {
    /// The string at `key`.
    pub(crate) fn get(&mut self, key: &[u8], now: u64) -> Result<Option<Blob>, Refusal> {
        match self.live(key, now) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(Arc::clone(text))),
            Some(Value::List(_)) => Err(Refusal::WrongType),
        }
    }

    /// Stores a string, whatever was there. False: the condition did not hold.
    pub(crate) fn set(
        &mut self,
        key: Blob,
        value: Blob,
        expiry: Expiry,
        condition: Condition,
        now: u64,
    ) -> bool {
        let present = self.live(&key, now).is_some();
        let wanted = match condition {
            Condition::Always => true,
            Condition::IfAbsent => !present,
            Condition::IfPresent => present,
        };
        if wanted {
            let deadline = match expiry {
                Expiry::Never => None,
                Expiry::Keep => self.entries.get(&key).and_then(|entry| entry.deadline),
                Expiry::After(ms) => Some(now.saturating_add(ms)),
            };
            let value = Value::Text(value);
            self.put(key, Entry { value, deadline });
        }
        wanted
    }

    /// Adds to the counter at `key`, which starts at 0, and returns its new value. The deadline stays.
    pub(crate) fn incr(&mut self, key: Blob, by: i64, now: u64) -> Result<i64, Refusal> {
        let text = match self.live(&key, now) {
            None => None,
            Some(Value::Text(text)) => Some(text),
            Some(Value::List(_)) => return Err(Refusal::WrongType),
        };
        let old = match &text {
            None => 0,
            Some(text) => parse_integer(text).ok_or(Refusal::NotAnInteger)?,
        };
        let new = old.checked_add(by).ok_or(Refusal::Overflow)?;
        let digits = Blob::from(new.to_string().into_bytes());
        match text {
            Some(text) => {
                *text = digits;
                self.changes += 1;
            }
            None => self.put(
                key,
                Entry {
                    value: Value::Text(digits),
                    deadline: None,
                },
            ),
        }
        Ok(new)
    }

    /// Pushes values one after the other at one end of a list and returns its new length.
    pub(crate) fn push(
        &mut self,
        key: Blob,
        values: Vec<Blob>,
        end: End,
        now: u64,
    ) -> Result<usize, Refusal> {
        let add = |list: &mut VecDeque<Blob>| {
            for value in values {
                match end {
                    End::Left => list.push_front(value),
                    End::Right => list.push_back(value),
                }
            }
            list.len()
        };
        if let Some(list) = self.list(&key, now)? {
            let length = add(list);
            self.changes += 1;
            return Ok(length);
        }
        let mut list = VecDeque::new();
        let length = add(&mut list);
        let value = Value::List(list);
        let deadline = None;
        self.put(key, Entry { value, deadline });
        Ok(length)
    }

    /// Takes up to `count` values from one end of a list; `None`: no such key. An emptied list is gone.
    pub(crate) fn pop(
        &mut self,
        key: &[u8],
        end: End,
        count: usize,
        now: u64,
    ) -> Result<Option<Vec<Blob>>, Refusal> {
        let Some(list) = self.list(key, now)? else {
            return Ok(None);
        };
        let taken: Vec<Blob> = match end {
            End::Left => list.drain(..count.min(list.len())).collect(),
            End::Right => {
                let from = list.len().saturating_sub(count);
                list.drain(from..).rev().collect()
            }
        };
        if list.is_empty() {
            self.remove(key);
        }
        self.changes += 1;
        Ok(Some(taken))
    }

    /// The values from `start` to `stop`, both inside; negative positions count from the right end.
    pub(crate) fn range(
        &mut self,
        key: &[u8],
        start: i64,
        stop: i64,
        now: u64,
    ) -> Result<Vec<Blob>, Refusal> {
        let Some(list) = self.list(key, now)? else {
            return Ok(Vec::new());
        };
        let from = position(start, list.len());
        let to = position(stop.saturating_add(1), list.len());
        // -1 is the last one, so the position after it is the end and not 0.
        let to = if stop == -1 { list.len() } else { to };
        Ok(list.range(from..to.max(from)).cloned().collect())
    }

    /// The length of a list; 0: no such key.
    pub(crate) fn length(&mut self, key: &[u8], now: u64) -> Result<usize, Refusal> {
        Ok(self.list(key, now)?.map_or(0, |list| list.len()))
    }

    /// Whether the key is there.
    pub(crate) fn exists(&mut self, key: &[u8], now: u64) -> bool {
        self.live(key, now).is_some()
    }

    /// Removes a key; false: it was not there.
    pub(crate) fn del(&mut self, key: &[u8], now: u64) -> bool {
        self.live(key, now).is_some() && self.remove(key).is_some()
    }

    /// Gives a key a deadline; false: there is no such key. A deadline that has passed removes it.
    pub(crate) fn expire(&mut self, key: Blob, deadline: u64, now: u64) -> bool {
        if self.live(&key, now).is_none() {
            return false;
        }
        if let Some(Entry { value, .. }) = self.remove(&key)
            && deadline > now
        {
            let deadline = Some(deadline);
            self.put(key, Entry { value, deadline });
        }
        true
    }

    /// How long a key has to live.
    pub(crate) fn ttl(&mut self, key: &[u8], now: u64) -> Ttl {
        if self.live(key, now).is_none() {
            return Ttl::Missing;
        }
        match self.entries.get(key).and_then(|entry| entry.deadline) {
            None => Ttl::Forever,
            Some(deadline) => Ttl::Left(deadline - now),
        }
    }

    /// Removes at most `limit` keys whose deadline has passed, oldest deadline first, and returns how many.
    pub(crate) fn sweep(&mut self, limit: usize, now: u64) -> usize {
        let mut swept = 0;
        while swept < limit
            && let Some((deadline, key)) = self.deadlines.first().cloned()
            && deadline <= now
        {
            self.remove(&key);
            swept += 1;
        }
        swept
    }

    /// Stores an entry as it is: the way back from a snapshot.
    pub(crate) fn put(&mut self, key: Blob, entry: Entry) {
        self.changes += 1;
        let new = entry.deadline;
        let old = self.entries.insert(Arc::clone(&key), entry);
        if let Some(Entry {
            deadline: Some(old),
            ..
        }) = old
        {
            self.deadlines.remove(&(old, Arc::clone(&key)));
        }
        if let Some(new) = new {
            self.deadlines.insert((new, key));
        }
    }

    /// Every entry, for a snapshot; also those whose deadline has passed and that no sweep has met yet.
    pub(crate) fn copy(&self) -> Vec<(Blob, Entry)> {
        let shared = |(key, entry): (&Blob, &Entry)| (Arc::clone(key), entry.clone());
        self.entries.iter().map(shared).collect()
    }

    /// Empties the shard. What it held is returned, so that the caller drops it after unlocking.
    pub(crate) fn clear(&mut self) -> Shard {
        let changes = self.changes + 1;
        let empty = Shard {
            changes,
            ..Shard::default()
        };
        std::mem::replace(self, empty)
    }

    /// Number of keys, with those whose deadline has passed and that no sweep has met yet.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// A number that grows with every change.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// The value at `key`; an entry whose deadline has passed is removed on the way.
    fn live(&mut self, key: &[u8], now: u64) -> Option<&mut Value> {
        let passed = |entry: &Entry| entry.deadline.is_some_and(|deadline| deadline <= now);
        if self.entries.get(key).is_some_and(passed) {
            self.remove(key);
        }
        self.entries.get_mut(key).map(|entry| &mut entry.value)
    }

    fn list(&mut self, key: &[u8], now: u64) -> Result<Option<&mut VecDeque<Blob>>, Refusal> {
        match self.live(key, now) {
            None => Ok(None),
            Some(Value::List(list)) => Ok(Some(list)),
            Some(Value::Text(_)) => Err(Refusal::WrongType),
        }
    }

    fn remove(&mut self, key: &[u8]) -> Option<Entry> {
        let (key, entry) = self.entries.remove_entry(key)?;
        if let Some(deadline) = entry.deadline {
            self.deadlines.remove(&(deadline, key));
        }
        self.changes += 1;
        Some(entry)
    }
}

/// A list position as an index between 0 and `length`; negative ones count from the right end.
fn position(index: i64, length: usize) -> usize {
    let magnitude = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    if index < 0 {
        length.saturating_sub(magnitude)
    } else {
        magnitude.min(length)
    }
}

/// A canonical decimal integer: no plus sign, no leading zero, no blank.
pub(crate) fn parse_integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let canonical = match digits {
        [b'0'] => text.len() == 1,
        [first, ..] => (b'1'..=b'9').contains(first),
        [] => false,
    };
    if !canonical {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
#[path = "shard_tests.rs"]
mod tests;
