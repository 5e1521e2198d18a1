//! Straight polls: a task is polled again, and its calls do nothing but poll what they await, down
//! to the first one that does something. Those calls have no frame, and nothing is written for
//! them: the reader shares out the span of that first one.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{MARKED, OVER, REUSE_UNCHANGED, ROOT};
use super::slow::Stand;
use crate::account::aggregate::LongestWait;
use crate::account::append_vec::AppendVec;
use crate::account::call::{Call, MARK};
use crate::account::paths::{PathId, PathKind};
use crate::account::sync::{AtomicU32, AtomicU64, in_place};

/// A span: a poll of a task's root that had nothing to do in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollSpan {
    /// End of the poll, in ticks.
    pub end: u64,
    /// Duration of the poll, in ticks.
    pub hold: u64,
    /// Duration without foreign time, in ticks.
    pub inclusive: u64,
}

/// A dropped call that had nothing to do in its last polls: what it awaited is dropped right after
/// it and knows for how long.
#[derive(Default)]
struct DroppedCall {
    path: AtomicU32,
    unit: AtomicU32,
    running: AtomicU64,
    inclusive: AtomicU64,
    told: AtomicU64,
    /// Age at the drop, in ticks.
    wall: AtomicU64,
    /// Time of the drop, in ticks.
    at: AtomicU64,
    stand: DroppedStand,
}

/// A [`Stand`].
#[derive(Default)]
struct DroppedStand {
    address: AtomicU64,
    site: AtomicU32,
    since: AtomicU64,
}

impl DroppedStand {
    fn store(&self, stand: Stand) {
        self.address.store(stand.address as u64, Relaxed);
        self.site.store(stand.site, Relaxed);
        self.since.store(stand.since, Relaxed);
    }

    fn load(&self) -> Stand {
        Stand {
            address: self.address.load(Relaxed) as usize,
            site: self.site.load(Relaxed),
            since: self.since.load(Relaxed),
        }
    }
}

/// Dropped calls whose times are not complete, outermost first: each awaits the next one.
#[derive(Default)]
pub(super) struct DroppedChain {
    calls: AppendVec<DroppedCall, { in_place(4) }>,
    len: AtomicU32,
}

/// A dropped call that was polled.
#[derive(Default)]
struct DroppedCaller {
    path: AtomicU32,
    /// End of its last poll that ended pending, in ticks.
    suspended: AtomicU64,
}

/// State of straight polls.
#[derive(Default)]
pub(super) struct StraightPolls {
    /// Task of a root without a frame.
    pub(super) task: AtomicU64,
    /// End of that root's last poll, in ticks.
    pub(super) suspended: AtomicU64,
    /// The call dropped last: the operand of its await is dropped right after it.
    last_dropped: DroppedCaller,
    /// Flags of the current task's root that came up in this poll while it has no frame.
    pub(super) marks: AtomicU32,
    dropped: DroppedChain,
}

impl Ledger {
    /// Begins a poll of the root of `task` at `t`, if the root has nothing to do in it as long as
    /// what it awaits is pending. Returns whether it has. If so, the poll has no frame.
    #[inline]
    pub fn begin_straight(&self, call: &Call, task: u64, t: impl FnOnce() -> u64) -> bool {
        let is_straight = call.passes()
            && call.is_live(self.epoch)
            && !call.is_fused()
            && self.depth() == 0
            && call.is_suspended()
            && self.is_root_path(call);
        if is_straight {
            self.clamp(t());
            self.straight.task.store(task, Relaxed);
            let suspended = call.suspended().unwrap_or_default();
            self.straight.suspended.store(suspended, Relaxed);
            self.base.store(0, Relaxed);
            self.shown.moved.store(0, Relaxed);
            self.shown.quiet.store(0, Relaxed);
            self.straight.marks.store(0, Relaxed);
            self.shown.await_stack.truncate(0);
            self.reuse.store(REUSE_UNCHANGED, Relaxed);
        }
        is_straight
    }

    #[inline(always)]
    fn is_root_path(&self, call: &Call) -> bool {
        let path = self.paths.polled_by(call.unit());
        self.paths.key(path).is(PathKind::Root)
    }

    /// Ends such a poll as pending, right after the span that stands for it.
    #[inline]
    pub fn end_straight(&self, call: &mut Call) -> PollSpan {
        let frame = self.frames.at(0);
        let span = self.last_span();
        call.suspend(span.end);
        let marks = self.straight.marks.load(Relaxed);
        if marks != 0 {
            call.mark();
            frame
                .place
                .store(frame.place.load(Relaxed) | MARKED, Relaxed);
        }
        span
    }

    /// The depth of the frame that a call without one has got in the poll of what it awaited.
    #[inline]
    #[must_use]
    pub fn turned(&self, call: &mut Call) -> Option<u32> {
        let depth = self.depth().checked_sub(1)?;
        let frame = self.frames.at(depth as usize);
        let is_own = frame.path.load(Relaxed) == self.paths.polled_by(call.unit());
        is_own.then(|| {
            call.resume();
            depth
        })
    }

    /// Whether the poll at `depth`, which has just ended, stood for those of all callers.
    #[inline]
    #[must_use]
    pub fn was_straight(&self, depth: u32) -> bool {
        !self.frames.at(depth as usize).has(ROOT | OVER)
    }

    /// Returns the proc of the call whose frame is at `depth`.
    #[inline]
    #[must_use]
    pub fn proc_at(&self, depth: u32) -> u32 {
        self.frames.at(depth as usize).proc()
    }

    /// Marks the root of the current task, which has no frame. Returns `None` if it has one.
    pub(super) fn mark_straight_root(&self) -> Option<bool> {
        let bottom = self.root_frame();
        if bottom.has(ROOT | OVER) {
            return None;
        }
        self.straight.marks.store(MARK | MARKED, Relaxed);
        Some(false)
    }

    /// When the last poll of a call ended that is dropped at `t`. The operand of an await knows it
    /// from its caller, which is dropped right before it.
    pub(super) fn suspended_with_caller(&self, call: &Call, path: PathId, t: u64) -> u64 {
        let last_dropped = &self.straight.last_dropped;
        let suspended = call.suspended().unwrap_or_else(|| {
            let is_next = self.paths.caller(path) == last_dropped.path.load(Relaxed);
            if is_next {
                last_dropped.suspended.load(Relaxed)
            } else {
                t
            }
        });
        last_dropped.path.store(path, Relaxed);
        last_dropped.suspended.store(suspended, Relaxed);
        suspended
    }

    /// Charges a call on a `path` that was polled, whose last poll ended at `suspended`, and that
    /// is dropped at `t`; while it waits if it has a `unit`.
    pub(super) fn charge_dropped(
        &self,
        call: &Call,
        (path, unit): (PathId, PathId),
        (suspended, t): (u64, u64),
    ) {
        let (chain, paths) = (&self.straight.dropped, &self.paths);
        let len = chain.len.load(Relaxed);
        let above = len.checked_sub(1).map(|last| chain.calls.at(last as usize));
        let is_next = above
            .is_some_and(|above| call.is_fused() && paths.caller(path) == above.path.load(Relaxed));
        if len > 0 && !is_next {
            self.end_chain();
        }
        if !call.passes() || chain.len.load(Relaxed) >= CHAIN_LIMIT {
            let times = [call.running, call.inclusive, call.lived(t)];
            self.charge_one((path, unit), times, (suspended, t), Stand::of(call));
            self.end_chain_below(call.untold(), suspended);
            return;
        }
        let len = chain.len.load(Relaxed);
        let own = chain.calls.at(len as usize);
        own.path.store(path, Relaxed);
        own.unit.store(unit, Relaxed);
        own.running.store(call.running, Relaxed);
        own.inclusive.store(call.inclusive, Relaxed);
        own.told.store(call.told(), Relaxed);
        own.wall.store(call.lived(t), Relaxed);
        own.at.store(t, Relaxed);
        own.stand.store(Stand::of(call));
        chain.len.store(len + 1, Relaxed);
    }

    fn charge_one(
        &self,
        (path, unit): (PathId, PathId),
        times: [u64; 3],
        (suspended, t): (u64, u64),
        stand: Stand,
    ) {
        let ([running, inclusive, wall], row) = (times, self.row(path));
        row.charge_call(running, inclusive, wall);
        if row.may_be_slow(wall) {
            self.drop_slow((path, unit != 0), stand, times, t);
        }
        if unit != 0 {
            let waited = t.saturating_sub(suspended);
            let row = self.row(unit);
            if row.charge_wait(waited) {
                // The call may be dropped by anyone.
                let (end, task) = (t, 0);
                row.keep_longest_wait(false, &LongestWait { waited, end, task });
            }
        }
    }

    /// Charges the dropped calls above one that had not told `untold` and whose last poll ended at
    /// `suspended`: innermost first, since each knows what it had not told the one above.
    fn end_chain_below(&self, untold: u64, suspended: u64) {
        let chain = &self.straight.dropped;
        let mut untold = untold;
        for at in (0..chain.len.load(Relaxed)).rev() {
            let call = chain.calls.at(at as usize);
            let inclusive = call.inclusive.load(Relaxed).wrapping_add(untold);
            let (running, wall) = (&call.running, &call.wall);
            let times = [running.load(Relaxed), inclusive, wall.load(Relaxed)];
            let wait = (suspended, call.at.load(Relaxed));
            let unit = (call.path.load(Relaxed), call.unit.load(Relaxed));
            self.charge_one(unit, times, wait, call.stand.load());
            untold = inclusive.wrapping_sub(call.told.load(Relaxed));
        }
        chain.len.store(0, Relaxed);
    }

    /// Charges dropped calls of which the innermost one was not dropped, so that it is unknown what
    /// it had not told them.
    pub(super) fn end_chain(&self) {
        if self.straight.dropped.len.load(Relaxed) > 0 {
            self.end_chain_below(0, self.time.last.load(Relaxed));
        }
    }
}

/// Calls of a chain that are kept at once; those below are charged by themselves.
const CHAIN_LIMIT: u32 = 4096;
