//! Slow calls that have not ended: what is known of their time so far.
//!
//! A call may be polled by one thread and end on another, so the table is shared. It is touched
//! only by calls that are slow already. Nobody waits for a place of it: a thread that finds it
//! locked records nothing, and in a full one the call gives way of whose life the smallest part is
//! known. That time counts as not recorded, and the calls that lost it are counted.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use alloc::boxed::Box;

use super::{OffTime, OffTimeCell, SHORTEST};
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

/// A whole life, in the units of [`OpenCall::known`].
const LIFE: u64 = 1 << 16;

impl OpenCall {
    /// How much of its life until `now` is known, as a part of [`LIFE`]; `None` of a free place.
    ///
    /// Of a call whose end was left out, and of one that never ends, it becomes less and less.
    fn known(&self, now: u64) -> Option<u64> {
        if self.address.load(Relaxed) == 0 {
            return None;
        }
        let life = now.saturating_sub(self.born.load(Relaxed));
        let known = self.off.load().total().saturating_mul(LIFE);
        Some(known.checked_div(life).unwrap_or(LIFE))
    }

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

/// The set of calls at this address.
const fn set_of(address: usize) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    ((address as u64).wrapping_mul(GOLDEN) >> (u64::BITS - SETS.ilog2())) as usize
}

impl OpenCalls {
    fn locked<R>(&self, key: &OpenCallKey, act: impl FnOnce(&OpenSet) -> R) -> Result<R, Locked> {
        let set = self.0.get(set_of(key.address)).ok_or(Locked)?;
        if set.locked.swap(true, Acquire) {
            return Err(Locked);
        }
        let result = act(set);
        set.locked.store(false, Release);
        Ok(result)
    }

    /// Adds to the sums of a call by `add`, which is passed them and the moment up to which they
    /// go, if they were begun; `now` is the moment up to which they go then. Returns the path of
    /// the call whose sums had to give way, if they were worth a note.
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
            // `None` is less than any part.
            let least = || set.ways.iter().min_by_key(|way| way.known(now.at));
            let own = known.or_else(least)?;
            let lost = match known {
                Some(_) => None,
                None => own.known(now.at).filter(|part| *part > LIFE >> SHORTEST),
            };
            let gone = lost.map(|_| own.path.load(Relaxed));
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
            Some(taken)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, OpenCallKey, OpenCalls, WAYS, set_of};

    /// Addresses of the same set.
    fn address(nth: usize) -> usize {
        let mut all = (1..usize::MAX).filter(|at| set_of(*at) == 5);
        all.nth(nth).unwrap_or_default()
    }

    fn key(nth: usize, born: u64) -> OpenCallKey {
        OpenCallKey {
            address: address(nth),
            path: 1,
            born,
            error: 0,
        }
    }

    /// Notes down that a call which was born at 0 stood for `time` until `at`.
    fn note(calls: &OpenCalls, nth: usize, time: u64, at: u64) -> bool {
        let now = Moment { at, inclusive: 0 };
        let gone = calls.update(&key(nth, 0), now, |off, _| off.add_at(1, time));
        gone.expect("one thread").is_some()
    }

    fn known(calls: &OpenCalls, nth: usize) -> Option<u64> {
        let taken = calls.take(&key(nth, 0)).expect("one thread");
        taken.map(|(off, _)| off.total())
    }

    #[test]
    fn the_call_gives_way_of_whose_life_the_smallest_part_is_known() {
        let calls = OpenCalls::default();
        assert!(!note(&calls, 0, 900, 1_000));
        for nth in 1..WAYS {
            assert!(!note(&calls, nth, 1, 1_000), "{nth}");
        }
        // Nothing worth a note is lost, and the first one stays, though it is the oldest.
        for nth in WAYS..2 * WAYS - 1 {
            assert!(!note(&calls, nth, 800, 1_000 + nth as u64), "{nth}");
        }
        assert!(note(&calls, 2 * WAYS, 800, 2_000), "one of 800");
        assert_eq!(known(&calls, 0), Some(900));
        assert_eq!(known(&calls, 1), None);
        // A free place is taken first.
        assert!(!note(&calls, 3 * WAYS, 1, 2_000));
        assert_eq!(known(&calls, 2 * WAYS), Some(800));
    }
}
