//! Slow calls: where the time of the slowest calls of a proc went.
//!
//! A call keeps no time per await point. But it knows since when it stands at the present one, and
//! how long it has lived. So a call that has lived longer than nearly all calls of its proc is
//! followed from then on: whenever it leaves an await point, the time that it stood there is noted
//! down beside it, in a table that all threads share (`open_calls`). At its end the sums are
//! added to the counters of its proc, in a class of calls with about the same wall time
//! (`SlowClasses`). The reader knows from the histogram of wall times which classes are the
//! slowest calls of a window, and adds these up.
//!
//! What a call did before it was followed is not lost unseen: wall time without the sums is *not
//! recorded*, and shown as such. A call that is dominated by one await point is recorded whole,
//! since the time at an await point is noted down when the call leaves it.
//!
//! The reader decides from when on calls are followed ([`SlowLimit`]), so that they are few.

pub(crate) mod open_calls;
mod sums;

use core::sync::atomic::Ordering::Relaxed;
// Readers look at whole classes under the seqlock of the thread; nothing here is modelled apart.
use core::sync::atomic::{AtomicU32, AtomicU64};

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use self::open_calls::OpenCalls;
pub use self::sums::{SlowPart, SlowSums};
use crate::account::append_vec::AppendVec;
use crate::account::counters::{PROC_LIMIT, Pages, chunks};
use crate::account::histogram::{bucket_of, upper_bound};
use crate::account::seqlock::SeqLock;

/// Buckets of the histogram of wall times in one class: four classes per octave.
const CLASS_BUCKETS: usize = 8;

/// The class of calls with this wall time, in ticks.
#[must_use]
pub const fn class_of(wall: u64) -> u16 {
    class_of_bucket(bucket_of(wall))
}

/// The class of calls in this bucket of a histogram of wall times.
#[must_use]
pub const fn class_of_bucket(bucket: usize) -> u16 {
    (bucket / CLASS_BUCKETS) as u16
}

/// The shortest wall time in a class, in ticks.
#[must_use]
pub const fn class_start(class: u16) -> u64 {
    match (class as usize * CLASS_BUCKETS).checked_sub(1) {
        Some(below) => upper_bound(below).saturating_add(1),
        None => 0,
    }
}

/// Of a call's age, this part (as a shift) is the shortest time at an await point that is noted
/// down before the end of the call. So a call is looked at `128 · ln(n)` times at most while it
/// becomes n times as old, however often it moves.
pub(crate) const SHORTEST: u32 = 7;

/// Await points that are told apart in the sums of one call, and in those of one class.
const AWAITS: usize = 6;

/// Time outside of polls, in ticks: where calls stood.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OffTime {
    pub(crate) ready: u64,
    pub(crate) unstarted: u64,
    /// At await points for which there is no room.
    other: u64,
    /// Await points plus two; 0 is a free place, 1 the unknown await point.
    sites: [u32; AWAITS],
    ticks: [u64; AWAITS],
}

impl OffTime {
    /// Adds time at an await point (its index plus one); 0 is the unknown one.
    pub(crate) fn add_at(&mut self, site: u32, ticks: u64) {
        self.add_slot(site + 1, ticks);
    }

    fn add_slot(&mut self, slot: u32, ticks: u64) {
        let mut slots = self.sites.iter_mut().zip(&mut self.ticks);
        match slots.find(|(seen, _)| **seen == slot || **seen == 0) {
            Some((seen, sum)) => {
                *seen = slot;
                *sum = sum.wrapping_add(ticks);
            }
            None => self.other = self.other.wrapping_add(ticks),
        }
    }

    /// All of it.
    pub(crate) fn total(&self) -> u64 {
        let parts = [self.ready, self.unstarted, self.other];
        let parts = parts.iter().chain(&self.ticks);
        parts.fold(0, |sum, ticks| sum.saturating_add(*ticks))
    }

    /// Makes the parts add up to `all`, the whole time outside of polls, if they differ from it by
    /// no more than `rounding`: the longest part takes the difference. Returns whether they are
    /// believed: more than the whole time is not. It comes from an earlier call at the same
    /// address that was born at the same time, and whose end was left out.
    pub(crate) fn fit(&mut self, all: u64, rounding: u64) -> bool {
        let total = self.total();
        if total == 0 || total.abs_diff(all) > rounding {
            return total <= all;
        }
        let parts = [&mut self.ready, &mut self.unstarted, &mut self.other];
        let parts = parts.into_iter().chain(&mut self.ticks);
        let Some(longest) = parts.max_by_key(|ticks| **ticks) else {
            return false;
        };
        match longest.saturating_add(all).checked_sub(total) {
            Some(fitting) => *longest = fitting,
            None => return false,
        }
        true
    }

    fn merge(&mut self, more: &Self) {
        self.ready = self.ready.wrapping_add(more.ready);
        self.unstarted = self.unstarted.wrapping_add(more.unstarted);
        self.other = self.other.wrapping_add(more.other);
        for (&slot, &ticks) in more
            .sites
            .iter()
            .zip(&more.ticks)
            .filter(|(at, _)| **at != 0)
        {
            self.add_slot(slot, ticks);
        }
    }
}

/// An [`OffTime`] with one writer at a time.
#[derive(Default)]
struct OffTimeCell {
    ready: AtomicU64,
    unstarted: AtomicU64,
    other: AtomicU64,
    sites: [AtomicU32; AWAITS],
    ticks: [AtomicU64; AWAITS],
}

impl OffTimeCell {
    fn load(&self) -> OffTime {
        OffTime {
            ready: self.ready.load(Relaxed),
            unstarted: self.unstarted.load(Relaxed),
            other: self.other.load(Relaxed),
            sites: self.sites.each_ref().map(|site| site.load(Relaxed)),
            ticks: self.ticks.each_ref().map(|ticks| ticks.load(Relaxed)),
        }
    }

    fn store(&self, times: &OffTime) {
        self.ready.store(times.ready, Relaxed);
        self.unstarted.store(times.unstarted, Relaxed);
        self.other.store(times.other, Relaxed);
        for (own, site) in self.sites.iter().zip(times.sites) {
            own.store(site, Relaxed);
        }
        for (own, ticks) in self.ticks.iter().zip(times.ticks) {
            own.store(ticks, Relaxed);
        }
    }
}

/// A slow call that has ended. Times are in ticks.
pub(crate) struct EndedCall {
    pub(crate) wall: u64,
    /// Exclusive time.
    pub(crate) running: u64,
    pub(crate) inclusive: u64,
    pub(crate) off: OffTime,
}

/// Classes that one thread keeps of one proc.
const CLASSES: usize = 48;

/// The slow calls of one proc that ended on one thread, by class.
#[derive(Default)]
pub(crate) struct SlowClasses {
    classes: AppendVec<SlowClass, 2>,
    /// Calls that lost times for want of room.
    lost: AtomicU64,
}

#[derive(Default)]
struct SlowClass {
    /// The class plus one; 0 is a free place.
    class: AtomicU32,
    calls: AtomicU64,
    wall: AtomicU64,
    running: AtomicU64,
    called: AtomicU64,
    off: OffTimeCell,
}

/// Adds to a counter with one writer.
fn add(counter: &AtomicU64, value: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(value), Relaxed);
}

impl SlowClasses {
    /// Adds a call, within a write section. A call of a class for which there is no room is
    /// dropped: it counts as not recorded.
    pub(crate) fn add(&self, call: &EndedCall) {
        let class = u32::from(class_of(call.wall)) + 1;
        let mut places = (0..CLASSES).map(|at| self.classes.at(at));
        let own = places.find(|own| {
            let seen = own.class.load(Relaxed);
            seen == class || seen == 0
        });
        let Some(own) = own else { return };
        own.class.store(class, Relaxed);
        add(&own.calls, 1);
        add(&own.wall, call.wall);
        add(&own.running, call.running);
        add(&own.called, call.inclusive.saturating_sub(call.running));
        let mut off = own.off.load();
        off.merge(&call.off);
        own.off.store(&off);
    }

    /// Counts a call that lost times for want of room.
    pub(crate) fn lose(&self) {
        add(&self.lost, 1);
    }

    /// Adds these sums to `into`. `sequence` is that of the ledger.
    pub(crate) fn read(&self, sequence: &SeqLock, into: &mut SlowSums, relax: &mut dyn FnMut()) {
        let highest = class_of(u64::MAX);
        into.add(highest, SlowPart::NoRoom, self.lost.load(Relaxed));
        for (_, own) in self.classes.iter() {
            if own.class.load(Relaxed) != 0 {
                sequence.read(relax, || own.read()).add_to(into);
            }
        }
    }
}

/// What a class has at one instant.
struct ClassReading {
    class: u16,
    counts: [(SlowPart, u64); 4],
    off: OffTime,
}

impl SlowClass {
    fn read(&self) -> ClassReading {
        let counts = [
            (SlowPart::Calls, &self.calls),
            (SlowPart::Wall, &self.wall),
            (SlowPart::Running, &self.running),
            (SlowPart::Called, &self.called),
        ];
        ClassReading {
            class: (self.class.load(Relaxed) as u16).wrapping_sub(1),
            counts: counts.map(|(part, count)| (part, count.load(Relaxed))),
            off: self.off.load(),
        }
    }
}

impl ClassReading {
    fn add_to(&self, into: &mut SlowSums) {
        let off = &self.off;
        let rest = [
            (SlowPart::Ready, off.ready),
            (SlowPart::Unstarted, off.unstarted),
            (SlowPart::OtherAwaits, off.other),
        ];
        let sites = off.sites.iter().zip(off.ticks);
        let sites = sites.filter_map(|(slot, ticks)| {
            let site = slot.checked_sub(1)?;
            Some((SlowPart::Await(site as u16), ticks))
        });
        for (part, value) in self.counts.into_iter().chain(rest).chain(sites) {
            into.add(self.class, part, value);
        }
    }
}

/// How often calls of one proc may be recorded between two ticks of the reader, at least: hundreds
/// of calls end together when a lock is released for which all of them have waited.
pub const SLOW_BUDGET: u32 = 1_024;
/// The same, until the reader has seen the proc.
const EARLY_BUDGET: u32 = 64;

/// From when on the calls of a proc are followed, as the reader decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowLimit {
    /// Proc id.
    pub proc: u32,
    /// Age of a call, in ticks.
    pub age: u64,
    /// How often a call may be recorded until the next tick.
    pub budget: u32,
}

/// From when on the calls of a proc are followed.
struct SlowProc {
    /// Age in ticks; 0 as long as the reader has not set it: calls of any age.
    limit: AtomicU64,
    /// How often a call may yet be recorded until the reader's next tick.
    budget: AtomicU32,
}

impl Default for SlowProc {
    fn default() -> Self {
        Self {
            limit: AtomicU64::new(0),
            budget: AtomicU32::new(EARLY_BUDGET),
        }
    }
}

/// What all threads share about slow calls.
#[derive(Default)]
pub(crate) struct SlowCalls {
    procs: Pages<SlowProc, { chunks(PROC_LIMIT) }>,
    open: OnceBox<OpenCalls>,
}

impl SlowCalls {
    /// Sets from when on calls of a proc are followed.
    pub(crate) fn set(&self, limit: &SlowLimit) {
        let own = self.procs.at(limit.proc);
        own.limit.store(limit.age, Relaxed);
        own.budget.store(limit.budget, Relaxed);
    }

    /// Begins a tick of the reader: each proc has its least budget.
    pub(crate) fn renew(&self) {
        for (_, own) in self.procs.iter() {
            own.budget.store(SLOW_BUDGET, Relaxed);
        }
    }

    /// The age from which on calls of a proc are followed.
    pub(crate) fn limit(&self, proc: u32) -> u64 {
        self.procs.at(proc).limit.load(Relaxed)
    }

    /// Whether a call of this age is followed. If not, returns the age from which on one may be.
    pub(crate) fn admit(&self, proc: u32, age: u64) -> Result<(), u64> {
        let own = self.procs.at(proc);
        let limit = own.limit.load(Relaxed);
        if age < limit {
            return Err(limit);
        }
        // Threads may take the same one: it is about the order of magnitude.
        match own.budget.load(Relaxed).checked_sub(1) {
            Some(left) => own.budget.store(left, Relaxed),
            None => return Err(u64::MAX),
        }
        Ok(())
    }

    pub(crate) fn open(&self) -> &OpenCalls {
        self.open.get_or_init(Box::default)
    }

    /// The open calls, if any call was ever followed.
    pub(crate) fn known_open(&self) -> Option<&OpenCalls> {
        self.open.get()
    }
}

#[cfg(test)]
mod tests {
    use super::OffTime;

    /// Time at two await points, and ready; these parts if they are believed.
    fn check([first, second, ready]: [u64; 3], all: u64, rounding: u64, fitting: Option<[u64; 3]>) {
        let mut off = OffTime {
            ready,
            ..OffTime::default()
        };
        off.add_at(1, first);
        off.add_at(2, second);
        let is_believed = off.fit(all, rounding);
        let parts = [off.ticks[0], off.ticks[1], off.ready];
        assert_eq!(is_believed.then_some(parts), fitting, "{first} {second}");
    }

    #[test]
    fn sums_are_as_exact_as_the_wall_time() {
        check([70, 20, 10], 100, 0, Some([70, 20, 10]));
        check([70, 20, 0], 100, 0, Some([70, 20, 0]));
        check([70, 20, 11], 100, 0, None);
        check([70, 20, 11], 100, 1, Some([69, 20, 11]));
        check([20, 70, 9], 100, 1, Some([20, 71, 9]));
        check([70, 20, 12], 100, 1, None);
        check([70, 20, 8], 100, 1, Some([70, 20, 8]));
        // Nothing is known.
        check([0, 0, 0], 100, 100, Some([0, 0, 0]));
        // No part has as much as is too much.
        check([5, 5, 0], 3, 7, None);
    }
}
