//! Slow calls that have not ended: what is known of their time so far.
//!
//! A call may be polled by one thread and end on another, so the table is shared. It is touched
//! only by calls that are slow already. Nobody waits for a place of it: a thread that finds it
//! locked records nothing, and in a full one the call that was noted down first gives way. That
//! time counts as not recorded, and the calls that lost it are counted.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use alloc::boxed::Box;

use super::{OffTime, OffTimeCell};
use crate::account::paths::PathId;

const SETS: usize = 128;
/// Calls whose addresses fall into the same set.
const WAYS: usize = 8;

/// A call, as long as it lives.
#[derive(Clone, Copy)]
pub(crate) struct OpenCallKey {
    /// A polled call does not move.
    pub(crate) address: usize,
    pub(crate) path: PathId,
    /// When it was born, in ticks.
    pub(crate) born: u64,
    /// By how much that may be wrong.
    pub(crate) error: u64,
}

/// A moment in the life of a call, and its inclusive time until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) at: u64,
    pub(crate) inclusive: u64,
}

#[derive(Default)]
struct OpenCall {
    /// 0 is a free place.
    address: AtomicU64,
    path: AtomicU32,
    born: AtomicU64,
    at: AtomicU64,
    inclusive: AtomicU64,
    off: OffTimeCell,
}

#[derive(Default)]
struct OpenSet {
    locked: AtomicBool,
    ways: [OpenCall; WAYS],
}

/// Another thread is at work in the same set.
#[derive(Debug)]
pub(crate) struct Locked;

/// The slow calls of a process that have not ended, as far as there is room.
pub(crate) struct OpenCalls(Box<[OpenSet]>);

impl Default for OpenCalls {
    fn default() -> Self {
        Self((0..SETS).map(|_| OpenSet::default()).collect())
    }
}

impl OpenCall {
    fn is(&self, key: &OpenCallKey) -> bool {
        self.address.load(Relaxed) == key.address as u64
            && self.path.load(Relaxed) == key.path
            && self.born.load(Relaxed).abs_diff(key.born) <= key.error
    }

    fn load(&self) -> (OffTime, Moment) {
        let last = Moment {
            at: self.at.load(Relaxed),
            inclusive: self.inclusive.load(Relaxed),
        };
        (self.off.load(), last)
    }
}

impl OpenCalls {
    fn locked<R>(&self, key: &OpenCallKey, act: impl FnOnce(&OpenSet) -> R) -> Result<R, Locked> {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let hash = (key.address as u64).wrapping_mul(GOLDEN) >> (u64::BITS - SETS.ilog2());
        let set = self.0.get(hash as usize).ok_or(Locked)?;
        if set.locked.swap(true, Acquire) {
            return Err(Locked);
        }
        let result = act(set);
        set.locked.store(false, Release);
        Ok(result)
    }

    /// Adds to the sums of a call by `add`, which is passed them and the moment up to which they
    /// go, if they were begun; `now` is the moment up to which they go then. Returns the path of
    /// the call whose sums had to give way, if there was one.
    pub(crate) fn update(
        &self,
        key: &OpenCallKey,
        now: Moment,
        add: impl FnOnce(&mut OffTime, Option<Moment>),
    ) -> Result<Option<PathId>, Locked> {
        self.locked(key, |set| {
            let known = set.ways.iter().find(|way| way.is(key));
            let (mut off, last) = match known.map(OpenCall::load) {
                Some((off, last)) => (off, Some(last)),
                None => (OffTime::default(), None),
            };
            add(&mut off, last);
            // A free place is as old as can be; else the one that was written first gives way.
            let oldest = || set.ways.iter().min_by_key(|way| way.at.load(Relaxed));
            let own = known.or_else(oldest)?;
            let is_taken = known.is_none() && own.address.load(Relaxed) != 0;
            let gone = is_taken.then(|| own.path.load(Relaxed));
            own.address.store(key.address as u64, Relaxed);
            own.path.store(key.path, Relaxed);
            own.born.store(key.born, Relaxed);
            own.at.store(now.at, Relaxed);
            own.inclusive.store(now.inclusive, Relaxed);
            own.off.store(&off);
            gone
        })
    }

    /// Removes a call. Returns its sums and the moment up to which they go, if it is known.
    pub(crate) fn take(&self, key: &OpenCallKey) -> Result<Option<(OffTime, Moment)>, Locked> {
        self.locked(key, |set| {
            let known = set.ways.iter().find(|way| way.is(key))?;
            let taken = known.load();
            known.address.store(0, Relaxed);
            known.at.store(0, Relaxed);
            Some(taken)
        })
    }
}
