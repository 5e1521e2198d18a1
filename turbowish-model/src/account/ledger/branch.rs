//! Branch detection: a branch is one of several calls that one call polls at the same await point,
//! by hand, in a combinator or in a macro.
//!
//! An await point is a *combinator* (`FORK`) if the caller says so when the call reaches it, or
//! from the moment at which a second call is first polled there while another one is pending. A
//! call that was polled there alone before becomes a branch with its next poll.

use core::sync::atomic::Ordering::{Relaxed, Release};

use super::Ledger;
use super::frame::{
    ARRIVED, BESIDE, BRANCH, COUNTED_BEFORE, FIRST, FOUND, OVER, REPATHED, REUSE_DOWN, REUSE_NONE,
};
use super::poll_end::record_alone;
use super::quick::charge;
use super::quick_end::passes;
use crate::account::branch::Parent;
use crate::account::call::{Call, DIRECT, FORK, MARK, SITE};
use crate::account::counters::{ALONE, Word};
use crate::account::histogram::add;

/// Flags that make the poll of a branch anything but quick to end.
const SPECIAL: u32 = ARRIVED | FIRST | FORK | COUNTED_BEFORE | MARK | REPATHED;

impl Ledger {
    /// Starts a poll of the branch `id`, which waits, in that of the combinator's caller. `now`
    /// reads the clock. Returns whether it was started.
    #[inline]
    pub fn start_branch(
        &self,
        call: &mut Call,
        depth: u32,
        (proc, id): (u32, u64),
        now: impl FnOnce() -> u64,
    ) -> bool {
        let below = self.frames.in_place(depth.wrapping_sub(1));
        let (Some(caller), Some(frame)) = (below, self.frames.in_place(depth)) else {
            return false;
        };
        let (path, suspended) = (self.paths.polled_by(call.unit()), call.suspended());
        let is_fork = caller.place.load(Relaxed) & (FORK | DIRECT) == FORK
            && self.paths.key(path).parent() == caller.path.load(Relaxed);
        // One that ended pending in this very poll of its task is no longer where it was shown.
        let has_waited = |&suspended: &u64| suspended < self.frames.at(0).start.load(Relaxed);
        let Some(suspended) = suspended.filter(has_waited).filter(|_| is_fork) else {
            return false;
        };
        let Some(place) = call.again() else {
            return false;
        };
        add(&self.time.events, 1);
        let reuse = match place & DIRECT {
            0 => REUSE_NONE,
            _ => REUSE_DOWN,
        };
        self.reuse.store(reuse, Relaxed);
        frame.key.store(id, Relaxed);
        frame.unit.store(call.unit(), Relaxed);
        frame.suspended.store(suspended, Relaxed);
        self.open_frame(frame, path, proc, place | OVER | BRANCH, now());
        self.depth.store(depth + 1, Release);
        true
    }

    /// Ends the innermost poll, that of a branch at `depth`, as pending where it has waited before.
    /// Returns whether it was ended.
    #[inline]
    pub fn suspend_branch(&self, call: &mut Call, depth: u32, now: impl FnOnce() -> u64) -> bool {
        let Some((frame, place)) = self.plain_top(depth, SPECIAL) else {
            return false;
        };
        let (unit, caller) = (frame.unit.load(Relaxed), depth.wrapping_sub(1));
        let Some(caller) = self.frames.in_place(caller).filter(|_| unit != 0) else {
            return false;
        };
        let (t, is_again) = self.end_time(now);
        let (start, nested) = (frame.start.load(Relaxed), frame.nested.load(Relaxed));
        let waited = start.saturating_sub(frame.suspended.load(Relaxed));
        let carry = frame.carry.load(Relaxed);
        let writing = self.write();
        let hold = self.clamp(t) - start;
        let t = start + hold;
        add(&self.time.events, 1);
        self.depth.store(depth, Relaxed);
        add(&caller.nested, hold);
        self.reuse.store(REUSE_NONE, Relaxed);
        let row = self.row(unit);
        row.subtract(Word::Waited, hold);
        self.end_wait_of(row, false, frame, waited);
        self.longest(row, &ALONE, (frame, || call.site()), hold);
        row.add(Word::Waits, 1);
        record_alone(row, &charge(hold, nested));
        let times = [hold - nested, hold + carry];
        call.suspend_again(place, t, times, passes(place, is_again));
        if self.shown.quiet.load(Relaxed) == 0 {
            self.push_pending(call, frame, place, depth);
        }
        drop(writing);
        true
    }

    /// Marks the await point of the innermost poll as one that polls several calls. Ignored unless
    /// the innermost poll is one of `proc`.
    #[cold]
    pub fn fork(&self, proc: u32) {
        let Some(top) = self.top() else { return };
        let place = top.place.load(Relaxed);
        if top.proc() == proc && place & DIRECT == 0 {
            top.place.store(place | FORK, Relaxed);
        }
    }

    /// Whether a call that the innermost one polls may turn out to be a branch.
    #[inline]
    #[must_use]
    pub fn may_be_branch(&self) -> bool {
        self.top().is_some_and(|top| top.has(FORK | BESIDE))
    }

    /// Whether the innermost poll is that of a branch.
    #[inline]
    #[must_use]
    pub fn is_branch(&self) -> bool {
        self.top().is_some_and(|top| top.has(BRANCH))
    }

    /// Sets the id of the branch whose poll is innermost; polls nested in it get `id` as
    /// [`Parent::within`].
    pub fn name_branch(&self, id: u64) {
        if let Some(top) = self.top() {
            top.key.store(id, Relaxed);
        }
    }

    /// Returns the parent of the call at `depth`, whose poll has just begun or ended.
    #[must_use]
    pub fn parent(&self, depth: u32) -> Parent {
        let base = self.base.load(Relaxed);
        let Some(at) = depth.checked_sub(1).filter(|&at| at >= base) else {
            return Parent::default();
        };
        let frame = self.frames.at(at as usize);
        let mut around = (base + 1..=at).rev();
        let within = around.find_map(|at| {
            let key = self.frames.at(at as usize).key.load(Relaxed);
            (key != 0).then_some(key)
        });
        Parent {
            within: within.unwrap_or(0),
            level: self.level(at),
            proc: frame.proc(),
            site: (frame.place.load(Relaxed) & SITE) as u16,
        }
    }

    /// Whether the current poll was the first to show that the parent of the innermost call polls
    /// several calls where it stands. `true` once, then `false`.
    #[must_use]
    pub fn is_new_fork(&self) -> bool {
        let Some(at) = self.depth().checked_sub(2) else {
            return false;
        };
        let place = &self.frames.at(at as usize).place;
        let before = place.load(Relaxed);
        place.store(before & !FOUND, Relaxed);
        before & FOUND != 0
    }
}
