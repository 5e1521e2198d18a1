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
use crate::account::paths::{PathId, PathKind};
use crate::account::poll_ring::{LEAST_POLLS, PollRing};

/// Polls that are looked at.
const RECENT: usize = LEAST_POLLS;
/// Polls after which the sums are noted down.
const BLOCK: usize = 16;
const MARKS: usize = RECENT / BLOCK;
/// Root functions with a sum of their own on one thread, and one for all others.
const ROOTS: usize = 32;
const OTHER: usize = ROOTS - 1;

/// What a thread needs to share out ready time.
#[derive(Default)]
pub(super) struct Shares {
    late: OnceBox<Late>,
}

/// A sum of busy ticks for each root function; the last is for those without a slot.
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
    /// Root procs with a slot, plus one; 0 is a free slot.
    roots: [AtomicU32; OTHER],
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
            roots: [const { AtomicU32::new(0) }; OTHER],
            sums: Sums::default(),
            slots: [const { AtomicU8::new(0) }; RECENT],
            marks: core::array::from_fn(|_| Mark::default()),
        }
    }
}

impl Late {
    /// Slot of a root function; `None` stands for an unknown one.
    fn slot(&self, root: Option<u32>) -> usize {
        let Some(root) = root else { return OTHER };
        for (slot, known) in self.roots.iter().enumerate() {
            match known.load(Relaxed) {
                seen if seen == root + 1 => return slot,
                0 => {
                    known.store(root + 1, Relaxed);
                    return slot;
                }
                _ => {}
            }
        }
        OTHER
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
                self.marks[nth / BLOCK].note(before, &self.sums);
            }
            let slot = self.slot(root_of(poll.path));
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
        for (ran, (sum, noted)) in ran.iter_mut().zip(self.sums.iter().zip(&mark.sums)) {
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
    fn note(&self, before: u64, sums: &Sums) {
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
                ran[late.slot(self.root_of(bottom.path.load(Relaxed)))] += open;
            }
        }
        let mut idle = latency.saturating_sub(earlier);
        let part = |culprit, ticks| {
            let victim = Some(victim);
            late.table.add(DelayKey { victim, culprit }, ticks);
        };
        for (slot, &ticks) in ran.iter().enumerate().filter(|(_, ticks)| **ticks > 0) {
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
