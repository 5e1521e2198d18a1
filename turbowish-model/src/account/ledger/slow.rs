//! Slow calls: the time that they stand at their await points. See [`crate::account::slow`].
//!
//! All of it is cold: a poll compares the age of its call with one word, when the call moves to
//! another await point or ends.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{COUNTED_BEFORE, Charge, FIRST, Frame};
use crate::account::call::{Call, EXACT_BELOW};
use crate::account::counters::PathCounters;
use crate::account::paths::PathId;
use crate::account::slow::open_calls::{Locked, Moment, OpenCallKey};
use crate::account::slow::{EndedCall, OffTime, SHORTEST};

/// The ready time before the last root poll of the thread that had one.
#[derive(Default)]
pub(super) struct LastReady {
    /// Start of that poll, in ticks.
    poll: AtomicU64,
    latency: AtomicU64,
}

impl LastReady {
    #[inline(always)]
    pub(super) fn set(&self, poll: u64, latency: u64) {
        self.poll.store(poll, Relaxed);
        self.latency.store(latency, Relaxed);
    }

    /// The ready time before the root poll that began at `start`.
    fn before(&self, start: u64) -> u64 {
        if self.poll.load(Relaxed) == start {
            self.latency.load(Relaxed)
        } else {
            0
        }
    }
}

/// Where a call stands, and since when.
#[derive(Clone, Copy, Default)]
pub(super) struct Stand {
    /// Address of the call.
    pub(super) address: usize,
    /// Await point plus one; 0 is the unknown one.
    pub(super) site: u32,
    /// End of the poll in which it came there, in ticks.
    pub(super) since: u64,
}

impl Stand {
    /// The place where a call stands that is not polled.
    pub(super) fn of(call: &Call) -> Self {
        Self {
            address: core::ptr::from_ref(call).addr(),
            site: call.site(),
            since: call.since,
        }
    }
}

/// The last poll of a call that has stood somewhere until it began.
#[derive(Clone, Copy)]
pub(super) struct LeavingPoll {
    /// Flags of the frame.
    pub(super) place: u32,
    /// Await point plus one where the call stood; 0 if unknown.
    pub(super) stood: u32,
    /// Inclusive time of the poll.
    pub(super) inclusive: u64,
    /// End of the poll, in ticks.
    pub(super) end: u64,
    /// Age of the call then.
    pub(super) age: u64,
}

impl LeavingPoll {
    #[inline(always)]
    pub(super) const fn new(place: u32, stood: u32, charge: &Charge, [age, end]: [u64; 2]) -> Self {
        Self {
            place,
            stood,
            inclusive: charge.inclusive,
            end,
            age,
        }
    }
}

/// A stay at an await point, or before the first poll, that is over. Times are in ticks.
struct Stay {
    site: u32,
    /// It was that before the first poll.
    is_first: bool,
    since: u64,
    until: u64,
    /// Inclusive time of the call until its end.
    inclusive: u64,
    /// Ready time at its end.
    ready: u64,
}

impl Stay {
    const fn length(&self) -> u64 {
        self.until.saturating_sub(self.since)
    }

    /// Adds the stay to the sums of its call, which go up to `last`.
    ///
    /// Time in polls is no part of it. How much that was is known exactly if the sums go up to the
    /// beginning of the stay. Otherwise as much of it as possible was before that.
    fn add_to(&self, off: &mut OffTime, last: Moment) {
        let gap = self.since.saturating_sub(last.at);
        let polled = self.inclusive.saturating_sub(last.inclusive);
        let stood = self.length().saturating_sub(polled.saturating_sub(gap));
        if self.is_first {
            off.unstarted = off.unstarted.wrapping_add(stood);
            return;
        }
        let ready = self.ready.min(stood);
        off.ready = off.ready.wrapping_add(ready);
        off.add_at(self.site, stood - ready);
    }
}

/// Whether a stay at an await point is noted down before the end of its call, which has this age.
#[inline(always)]
pub(super) const fn is_long_stay(length: u64, age: u64) -> bool {
    length > age >> SHORTEST
}

impl Ledger {
    /// Whether a call is followed, which may be slow as far as the counters know.
    fn is_followed(&self, row: &PathCounters, proc: u32, age: u64) -> bool {
        match self.paths.slow().admit(proc, age) {
            Ok(()) => true,
            Err(limit) => {
                row.set_slow_from(limit);
                false
            }
        }
    }

    /// The stay that ended with this poll; `None` if the call was created for the poll.
    fn stay(&self, call: &Call, frame: &Frame, poll: &LeavingPoll) -> Option<Stay> {
        let is_first = poll.place & FIRST != 0;
        if is_first && poll.place & COUNTED_BEFORE == 0 {
            return None;
        }
        let root = self.root_frame();
        Some(Stay {
            site: poll.stood,
            is_first,
            since: call.since,
            until: frame.start.load(Relaxed),
            inclusive: call.inclusive.wrapping_sub(poll.inclusive),
            ready: self.past.readied.before(root.start.load(Relaxed)),
        })
    }

    /// Records that a call that may be slow left the place where it stood, in a poll that ends
    /// pending. The call has been charged, and does not know yet of the place that it has reached.
    #[cold]
    #[inline(never)]
    pub(super) fn move_slow(
        &self,
        row: &PathCounters,
        call: &Call,
        frame: &Frame,
        poll: LeavingPoll,
    ) {
        let Some(stay) = self.stay(call, frame, &poll) else {
            return;
        };
        let is_long = is_long_stay(stay.length(), poll.age);
        let proc = frame.proc();
        if !is_long || !self.is_followed(row, proc, poll.age) {
            return;
        }
        let key = key(Stand::of(call).address, frame.path.load(Relaxed), &poll);
        let now = Moment {
            at: poll.end,
            inclusive: call.inclusive,
        };
        let born = born(&poll);
        let open = self.paths.slow().open();
        let updated = open.update(&key, now, |off, last| {
            stay.add_to(off, last.unwrap_or(born))
        });
        match updated {
            Ok(None) => {}
            Ok(Some(gone)) => self.lose(self.paths.key(gone).proc()),
            Err(Locked) => self.lose(proc),
        }
    }

    /// Counts a call of a proc that lost times for want of room.
    fn lose(&self, proc: u32) {
        self.procs.at(proc).slow().lose();
    }

    /// Records the end of a call that may be slow. The call has been charged.
    #[cold]
    #[inline(never)]
    pub(super) fn end_slow(
        &self,
        row: &PathCounters,
        call: &Call,
        frame: &Frame,
        poll: LeavingPoll,
    ) {
        let proc = frame.proc();
        if !self.is_followed(row, proc, poll.age) {
            return;
        }
        let stay = self.stay(call, frame, &poll);
        let key = key(Stand::of(call).address, frame.path.load(Relaxed), &poll);
        self.count_slow(
            proc,
            &key,
            stay,
            born(&poll),
            [call.running, call.inclusive, poll.age],
        );
    }

    /// Records the drop, at `end`, of a call that may be slow, and that `waits` where it stands.
    #[cold]
    #[inline(never)]
    pub(super) fn drop_slow(
        &self,
        (path, waits): (PathId, bool),
        stand: Stand,
        [running, inclusive, age]: [u64; 3],
        end: u64,
    ) {
        let proc = self.paths.key(path).proc();
        if !self.is_followed(self.row(path), proc, age) {
            return;
        }
        let stay = waits.then_some(Stay {
            site: stand.site,
            is_first: false,
            since: stand.since,
            until: end,
            inclusive,
            ready: 0,
        });
        let poll = LeavingPoll {
            place: 0,
            stood: 0,
            inclusive: 0,
            end,
            age,
        };
        let key = key(stand.address, path, &poll);
        self.count_slow(proc, &key, stay, born(&poll), [running, inclusive, age]);
    }

    fn count_slow(
        &self,
        proc: u32,
        key: &OpenCallKey,
        stay: Option<Stay>,
        born: Moment,
        [running, inclusive, wall]: [u64; 3],
    ) {
        let known = self.paths.slow().known_open();
        let known = known.map_or(Ok(None), |open| open.take(key));
        let known = known.unwrap_or_else(|Locked| {
            self.lose(proc);
            None
        });
        let (mut off, last) = known.unwrap_or((OffTime::default(), born));
        if let Some(stay) = stay {
            stay.add_to(&mut off, last);
        }
        if !off.fit(wall.saturating_sub(inclusive), rounding(wall)) {
            off = OffTime::default();
        }
        self.procs.at(proc).slow().add(&EndedCall {
            wall,
            running,
            inclusive,
            off,
        });
    }

    /// Makes known to the thread from which age on calls may be slow.
    pub fn renew_slow(&self) {
        let slow = self.paths.slow();
        for (path, row) in self.rows.iter() {
            row.set_slow_from(slow.limit(self.paths.key(path).proc()));
        }
    }
}

/// The birth of a call: nothing was polled before.
const fn born(poll: &LeavingPoll) -> Moment {
    Moment {
        at: poll.end.wrapping_sub(poll.age),
        inclusive: 0,
    }
}

/// Of a long age, this part (as a shift) is the most by which it may be wrong: it is rounded to a
/// 33 millionth anew at each await point.
const ROUNDED: u32 = 20;

/// By how much the wall time of a call may be wrong.
const fn rounding(wall: u64) -> u64 {
    if wall < EXACT_BELOW {
        0
    } else {
        wall >> ROUNDED
    }
}

const fn key(address: usize, path: PathId, poll: &LeavingPoll) -> OpenCallKey {
    OpenCallKey {
        address,
        path,
        born: born(poll).at,
        error: poll.age >> ROUNDED,
    }
}
