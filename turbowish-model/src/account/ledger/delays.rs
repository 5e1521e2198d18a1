//! Who delayed a task: the last polls of the thread, and the shares of those that ran between a
//! wake and the poll that followed it.
//!
//! The polls at the bottom of the stack are looked at when a task is polled that was ready for
//! long, each of them once: from then on they are part of sums by root function, which are noted
//! down every [`BLOCK`] polls. So the shares of a poll are a difference of sums and at most a block
//! of single polls, however many polls ran meanwhile.

use alloc::boxed::Box;
use alloc::sync::Arc;
// Only the thread itself looks at these.
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use once_cell::race::OnceBox;

use super::Ledger;
use super::frame::Frame;
use crate::account::delays::{Culprit, DelayKey, DelayTable, Delays};
use crate::account::histogram::add;
use crate::account::paths::{PATH_BITS, PathId, PathKind};
use crate::account::poll_ring::{LEAST_POLLS, PollRing};

/// Polls that are looked at.
const RECENT: usize = LEAST_POLLS;
/// Polls after which the sums are noted down.
const BLOCK: usize = 8;
const MARKS: usize = RECENT / BLOCK;
/// Root functions with a sum of their own on one thread, and one for all others, the first.
const ROOTS: usize = 32;
const OTHER: usize = 0;
/// Paths of which the slot is remembered.
const PATHS: usize = 64;
const PATH_MASK: u32 = (1 << PATH_BITS) - 1;

/// What a thread needs to share out ready time.
#[derive(Default)]
pub(super) struct Shares {
    late: OnceBox<Late>,
}

/// A sum of busy ticks for each root function; the first is for those without a slot.
type Sums = [AtomicU64; ROOTS];

/// The state before a block of polls.
#[derive(Default)]
struct Mark {
    /// No later than this ended the last poll before it, in ticks.
    before: AtomicU64,
    sums: Sums,
}

/// Made at the first poll of a task that was ready for long.
struct Late {
    table: DelayTable,
    /// Number of the next poll that is not part of the sums.
    next: AtomicU64,
    /// Root procs with a slot, plus one; 0 is a free slot, or [`OTHER`].
    roots: [AtomicU32; ROOTS],
    /// Number of slots in use. They are taken one after another, so the others have no ticks.
    used: AtomicU32,
    /// Paths that were looked at: the path, and the slot of its root function in the bits above.
    known: [AtomicU32; PATHS],
    sums: Sums,
    /// Slots of the last polls.
    slots: [AtomicU8; RECENT],
    marks: [Mark; MARKS],
}

impl Default for Late {
    fn default() -> Self {
        Self {
            table: DelayTable::default(),
            next: AtomicU64::new(0),
            roots: [const { AtomicU32::new(0) }; ROOTS],
            used: AtomicU32::new(OTHER as u32 + 1),
            known: [const { AtomicU32::new(0) }; PATHS],
            sums: Sums::default(),
            slots: [const { AtomicU8::new(0) }; RECENT],
            marks: core::array::from_fn(|_| Mark::default()),
        }
    }
}

impl Late {
    /// Number of slots in use.
    fn used(&self) -> usize {
        (self.used.load(Relaxed) as usize).min(ROOTS)
    }

    /// Slot of a root function; `None` stands for an unknown one.
    fn slot(&self, root: Option<u32>) -> usize {
        let Some(root) = root else { return OTHER };
        let used = self.used();
        let mut slots = OTHER + 1..used;
        let known = slots.find(|&slot| self.roots[slot].load(Relaxed) == root + 1);
        known.unwrap_or_else(|| {
            let Some(free) = self.roots.get(used) else {
                return OTHER;
            };
            free.store(root + 1, Relaxed);
            self.used.store(used as u32 + 1, Relaxed);
            used
        })
    }

    /// Slot of the root function of a path, which stays the same.
    fn slot_of(&self, path: PathId, root_of: impl Fn(PathId) -> Option<u32>) -> usize {
        const { assert!(ROOTS <= 1 << (u32::BITS - PATH_BITS)) }
        let known = &self.known[path as usize % PATHS];
        let word = known.load(Relaxed);
        if word & PATH_MASK == path {
            return (word >> PATH_BITS) as usize % ROOTS;
        }
        let slot = self.slot(root_of(path));
        known.store((slot as u32) << PATH_BITS | path, Relaxed);
        slot
    }

    fn culprit(&self, slot: usize) -> Culprit {
        let root = self.roots.get(slot).map_or(0, |root| root.load(Relaxed));
        root.checked_sub(1).map_or(Culprit::Other, Culprit::Proc)
    }

    /// Adds the polls that have ended since the last time to the sums.
    fn take_in(&self, polls: &PollRing, root_of: impl Fn(PathId) -> Option<u32>) {
        let until = polls.written();
        let begin = self.next.load(Relaxed);
        let from = begin.max(until.saturating_sub(RECENT as u64));
        let mut before = match from > begin {
            // Those in between are not there any more.
            true => polls.at(from).start(),
            false => begin.checked_sub(1).map_or(0, |last| polls.at(last).end),
        };
        for number in from..until {
            let (nth, poll) = (nth(number), polls.at(number));
            if nth % BLOCK == 0 {
                self.marks[nth / BLOCK].note(before, &self.sums[..self.used()]);
            }
            let slot = self.slot_of(poll.path, &root_of);
            self.slots[nth].store(slot as u8, Relaxed);
            let sum = &self.sums[slot];
            sum.store(sum.load(Relaxed).wrapping_add(poll.hold), Relaxed);
            before = poll.end;
        }
        self.next.store(until, Relaxed);
    }

    /// Ticks after `since` by slot, and those after it that are not known.
    fn ran_since(&self, polls: &PollRing, since: u64) -> ([u64; ROOTS], u64) {
        let next = self.next.load(Relaxed);
        let mut ran = [0; ROOTS];
        let Some(last) = next.checked_sub(1) else {
            return (ran, 0);
        };
        // The first number of a block. What is left of the oldest block is not looked at if the
        // newest one has begun there.
        let mut first = last - last % BLOCK as u64;
        let oldest = first.saturating_sub((RECENT - BLOCK) as u64);
        while first > oldest && self.mark(first).before.load(Relaxed) > since {
            first -= BLOCK as u64;
        }
        let mark = self.mark(first);
        let earlier = mark.before.load(Relaxed).saturating_sub(since);
        let sums = self.sums[..self.used()].iter();
        for (ran, (sum, noted)) in ran.iter_mut().zip(sums.zip(&mark.sums)) {
            *ran = sum.load(Relaxed).wrapping_sub(noted.load(Relaxed));
        }
        for number in first..next.min(first + BLOCK as u64) {
            let poll = polls.at(number);
            if poll.start() >= since {
                break;
            }
            let slot = usize::from(self.slots[nth(number)].load(Relaxed)) % ROOTS;
            let before = poll.end.min(since).saturating_sub(poll.start());
            ran[slot] = ran[slot].wrapping_sub(before);
        }
        (ran, earlier)
    }

    /// The mark of the block that begins with this poll.
    fn mark(&self, first: u64) -> &Mark {
        &self.marks[nth(first) / BLOCK]
    }
}

/// Place of a poll among the last ones.
const fn nth(number: u64) -> usize {
    number as usize % RECENT
}

impl Mark {
    /// Notes the sums of the slots in use. Those of other slots are still 0.
    fn note(&self, before: u64, sums: &[AtomicU64]) {
        self.before.store(before, Relaxed);
        for (noted, sum) in self.sums.iter().zip(sums) {
            noted.store(sum.load(Relaxed), Relaxed);
        }
    }
}

impl Ledger {
    /// Records the end of a poll at the bottom of the stack: the path of its first frame, or of an
    /// await point of that one; its duration and its end.
    #[inline(always)]
    pub(super) fn pass(&self, path: PathId, hold: u64, end: u64) {
        add(&self.time.busy, hold);
        let task = self.frames.at(0).key.load(Relaxed);
        self.past.polls.push(path, hold, end, task);
    }

    /// Same as [`Ledger::pass`], of a root that returned with its only poll.
    #[inline(always)]
    pub(super) fn pass_only(&self, frame: &Frame, hold: u64, end: u64) {
        add(&self.time.busy, hold);
        let (path, task) = (frame.path.load(Relaxed), frame.key.load(Relaxed));
        self.past.polls.push_only(path, hold, end, task);
    }

    /// The last polls at the bottom of the stack.
    #[inline]
    #[must_use]
    pub fn last_polls(&self) -> &Arc<PollRing> {
        &self.past.polls
    }

    /// Adds the thread's delays to `into`.
    pub(crate) fn read_delays(&self, into: &mut Delays, relax: &mut dyn FnMut()) {
        if let Some(late) = self.past.shares.late.get() {
            late.table.read(&self.sequence, into, relax);
        }
    }

    /// Records the ready latency of a poll of a task whose root is a call of `proc`: the ticks from
    /// its wake to its start. From `late` ticks on it is shared out to what the thread did
    /// meanwhile: see [`crate::account::delays`]. The poll has just begun.
    pub fn ready(&self, proc: u32, latency: u64, late: u64) {
        let writing = self.write();
        self.procs.at(proc).ready(latency);
        self.past.readied.set(self.latest(), latency);
        if latency >= late && latency > 0 {
            self.share_out(proc, latency);
        }
        drop(writing);
    }

    #[inline(never)]
    fn share_out(&self, victim: u32, latency: u64) {
        let (shares, until) = (&self.past.shares, self.latest());
        let since = until.saturating_sub(latency);
        let late = shares.late.get_or_init(Box::default);
        late.take_in(&self.past.polls, |path| self.root_of(path));
        let (mut ran, earlier) = late.ran_since(&self.past.polls, since);
        if self.depth() > 0 {
            // The poll around this one, or this one, which has just begun.
            let bottom = self.frames.at(0);
            let open = until.saturating_sub(bottom.start.load(Relaxed).max(since));
            if open > 0 {
                let path = bottom.path.load(Relaxed);
                ran[late.slot_of(path, |path| self.root_of(path))] += open;
            }
        }
        let mut idle = latency.saturating_sub(earlier);
        let part = |culprit, ticks| {
            let victim = Some(victim);
            late.table.add(DelayKey { victim, culprit }, ticks);
        };
        let ran = ran[..late.used()].iter().enumerate();
        for (slot, &ticks) in ran.filter(|(_, ticks)| **ticks > 0) {
            idle = idle.saturating_sub(ticks);
            part(late.culprit(slot), ticks);
        }
        for (culprit, ticks) in [(Culprit::Earlier, earlier), (Culprit::Idle, idle)] {
            if ticks > 0 {
                part(culprit, ticks);
            }
        }
    }

    /// The root proc of a path; `None` if it is not known.
    fn root_of(&self, path: PathId) -> Option<u32> {
        let mut root = path;
        loop {
            match self.paths.caller(root) {
                0 => break,
                caller => root = caller,
            }
        }
        let key = self.paths.key(root);
        key.is(PathKind::Root).then(|| key.proc())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::{BLOCK, Culprit, Late, RECENT};
    use crate::account::paths::PathId;
    use crate::account::poll_ring::PollRing;

    /// The root of a path: several have the same, and some none that is known.
    fn root_of(path: PathId) -> Option<u32> {
        (!path.is_multiple_of(5)).then_some(path / 3)
    }

    /// The number of the first poll that may be part of the shares of the time after `since`, where
    /// `ends` has the ends of all polls, and the time after `since` that is before it.
    fn first_known(ends: &[u64], since: u64) -> (usize, u64) {
        let Some(last) = ends.len().checked_sub(1) else {
            return (0, 0);
        };
        let before = |number: usize| number.checked_sub(1).map_or(0, |last| ends[last]);
        let mut first = last / BLOCK * BLOCK;
        let oldest = first.saturating_sub(RECENT - BLOCK);
        while first > oldest && before(first) > since {
            first -= BLOCK;
        }
        (first, before(first).saturating_sub(since))
    }

    proptest! {
        /// Each tick after an instant belongs to the root of the poll that covers it.
        #[test]
        fn shares_are_those_of_the_polls_one_by_one(
            // Of each poll the path, the ticks since the one before, and its own.
            parts in proptest::collection::vec(
                proptest::collection::vec((0..200_u32, 0..3_u64, 0..20_u64), 0..70),
                1..16,
            ),
            back in proptest::collection::vec(0..9_000_u64, 16),
        ) {
            let (ring, late) = (PollRing::default(), Late::default());
            let mut all: Vec<(u64, u64, Culprit)> = Vec::new();
            let (mut now, mut roots) = (0, Vec::new());
            for (part, back) in parts.into_iter().zip(back) {
                for (path, gap, hold) in part {
                    let start = now + gap;
                    now = start + hold;
                    ring.push(path, hold, now, 1);
                    let root = root_of(path);
                    if let Some(root) = root.filter(|root| !roots.contains(root)) {
                        roots.push(root);
                    }
                    // The first ones get a slot.
                    let has_slot = |root: &u32| roots.iter().position(|of| of == root) < Some(31);
                    let slot = root.filter(has_slot);
                    all.push((start, now, slot.map_or(Culprit::Other, Culprit::Proc)));
                }
                late.take_in(&ring, root_of);
                let since = now.saturating_sub(back);
                let (ran, earlier) = late.ran_since(&ring, since);
                let ends: Vec<u64> = all.iter().map(|poll| poll.1).collect();
                let (first, unknown) = first_known(&ends, since);
                prop_assert_eq!(earlier, unknown);
                for (slot, ticks) in ran.into_iter().enumerate() {
                    let of_slot = all[first..].iter().filter(|poll| poll.2 == late.culprit(slot));
                    let after = |&(start, end, _): &(u64, u64, _)| end.max(since) - start.max(since);
                    let is_used = slot < late.used();
                    let expected: u64 = of_slot.map(after).sum();
                    prop_assert_eq!(ticks, if is_used { expected } else { 0 }, "slot {}", slot);
                }
            }
        }
    }
}
