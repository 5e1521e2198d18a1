//! The starts of nearly all polls, without anything else: the first poll of a call that its caller
//! awaits, and a poll of the first call of a task that has something to do. Their ends are in
//! `quick_end`.
//!
//! Each function here does what its general counterpart in `poll` does in that case, or does
//! nothing and says so.

use core::sync::atomic::Ordering::{Relaxed, Release};

use super::frame::{Charge, FIRST, Frame, OVER, REUSE_NONE, ROOT};
use super::{FRAMES, Ledger, PollSpan};
use crate::account::aggregate::Anomaly;
use crate::account::call::{Call, DIRECT, SITE};
use crate::account::histogram::add;
use crate::account::paths::{FirstPath, PathKind, Paths};

/// A first poll, in that of the caller.
pub(super) const NEW: u32 = FIRST | OVER;

impl Ledger {
    /// Starts the first poll of a call that is created right where its caller awaits it. `proc` is
    /// its proc, of which the first path is `first`, and `now` reads the clock. Returns whether it
    /// was started.
    #[inline(always)]
    pub fn start_awaited(
        &self,
        call: &mut Call,
        depth: u32,
        (proc, first): (u32, &FirstPath),
        now: impl FnOnce() -> u64,
    ) -> bool {
        let event = self.event();
        let Some(caller) = self.frames.in_place(depth.wrapping_sub(1)) else {
            return false;
        };
        let (place, above) = (caller.place.load(Relaxed), caller.path.load(Relaxed));
        let is_known = call.is_new(event, above) && place & DIRECT != 0 && depth < FRAMES as u32;
        if !is_known {
            return false;
        }
        let path = self.paths.awaited(first, (above, place & SITE), proc);
        let (Some(path), Some(frame)) = (path, self.frames.in_place(depth)) else {
            return false;
        };
        call.begin_awaited(path);
        self.time.events.store(event + 1, Relaxed);
        frame.suspended.store(event + 1, Relaxed);
        self.shown.moved.store(1, Relaxed);
        self.reuse.store(REUSE_NONE, Relaxed);
        frame.key.store(0, Relaxed);
        frame.unit.store(0, Relaxed);
        self.open_frame(frame, path, proc, NEW, now());
        self.depth.store(depth + 1, Release);
        true
    }

    /// Starts a poll of a call whose callers have no frames, in a task that no other poll is below.
    /// Returns whether it was started.
    #[inline(always)]
    pub fn start_bottom(&self, call: &mut Call, proc: u32) -> bool {
        let Some(place) = call.again() else {
            return false;
        };
        let Some(frame) = self.frames.in_place(0) else {
            return false;
        };
        add(&self.time.events, 1);
        self.reuse.store(REUSE_NONE, Relaxed);
        frame.key.store(self.straight.task.load(Relaxed), Relaxed);
        frame.unit.store(call.unit(), Relaxed);
        let suspended = self.straight.suspended.load(Relaxed);
        frame.suspended.store(suspended, Relaxed);
        // The root has read the clock, and nothing has run since.
        let path = self.paths.polled_by(call.unit());
        self.open_frame(frame, path, proc, place, self.time.last.load(Relaxed));
        self.depth.store(1, Release);
        true
    }

    /// Starts a poll of the root of `task`, which waits, on a thread that polls nothing. Returns
    /// whether it was started.
    #[inline]
    pub fn start_root(
        &self,
        call: &mut Call,
        proc: u32,
        task: u64,
        now: impl FnOnce() -> u64,
    ) -> bool {
        let Some(frame) = self.frames.in_place(0).filter(|_| self.depth() == 0) else {
            return false;
        };
        let is_root = call.is_live(self.epoch) && !call.is_fused();
        let path = self.paths.polled_by(call.unit());
        if !is_root || !self.paths.key(path).is(PathKind::Root) {
            return false;
        }
        let Some(place) = call.again() else {
            return false;
        };
        add(&self.time.events, 1);
        self.begin_segment(0, false);
        self.reuse.store(REUSE_NONE, Relaxed);
        frame.key.store(task, Relaxed);
        frame.unit.store(call.unit(), Relaxed);
        let suspended = call.suspended().unwrap_or_default();
        frame.suspended.store(suspended, Relaxed);
        self.open_frame(frame, path, proc, place | ROOT, now());
        self.depth.store(1, Release);
        true
    }

    /// Starts the first poll of a task's root on a thread that polls nothing: a call that was
    /// created right before it, outside of all calls. Returns whether it was started; then it is to
    /// be given its [name](Ledger::name_root).
    #[inline]
    pub fn start_new_root(&self, call: &mut Call, proc: u32, now: impl FnOnce() -> u64) -> bool {
        let Some(frame) = self.frames.in_place(0).filter(|_| self.depth() == 0) else {
            return false;
        };
        let event = self.event();
        if !call.is_live(self.epoch) || !call.is_new(event, 0) {
            return false;
        }
        let path = Paths::root(proc);
        call.begin_root(path);
        self.time.events.store(event + 1, Relaxed);
        frame.suspended.store(event + 1, Relaxed);
        self.begin_segment(0, false);
        self.shown.moved.store(1, Relaxed);
        self.reuse.store(REUSE_NONE, Relaxed);
        frame.key.store(0, Relaxed);
        frame.unit.store(0, Relaxed);
        self.open_frame(frame, path, proc, FIRST | ROOT, now());
        self.depth.store(1, Release);
        true
    }

    /// The last poll of a root on this thread, which has just ended.
    #[inline]
    #[must_use]
    pub fn last_span(&self) -> PollSpan {
        let frame = self.frames.at(0);
        let end = self.time.last.load(Relaxed);
        let hold = end - frame.start.load(Relaxed);
        PollSpan {
            end,
            hold,
            inclusive: hold - frame.foreign.load(Relaxed),
        }
    }

    #[inline(always)]
    pub(super) fn open_frame(&self, frame: &Frame, path: u32, proc: u32, place: u32, t: u64) {
        frame.path.store(path, Relaxed);
        frame.place.store(place, Relaxed);
        frame.nested.store(0, Relaxed);
        frame.foreign.store(0, Relaxed);
        frame.carry.store(0, Relaxed);
        frame.set_proc(proc, self.shown.await_stack.len());
        frame.start.store(self.clamp_in_place(t), Relaxed);
    }

    /// Same as [`Ledger::clamp`]. A call, however rare, would make its callers save registers.
    #[inline(always)]
    fn clamp_in_place(&self, t: u64) -> u64 {
        let last = self.time.last.load(Relaxed);
        if t < last {
            add(&self.anomalies[Anomaly::ClockBackwards as usize], 1);
            return last;
        }
        self.time.last.store(t, Relaxed);
        t
    }

    /// Same as [`Ledger::arrive`], if the call has not waited before this poll. Returns whether it
    /// was done.
    #[inline(always)]
    pub fn arrive_quick(&self, proc: u32, site: u32, direct: bool) -> bool {
        let depth = self.depth.load(Relaxed);
        let Some(top) = self.frames.in_place(depth.wrapping_sub(1)) else {
            return false;
        };
        if top.proc() != proc || top.unit.load(Relaxed) != 0 || site > SITE {
            return false;
        }
        top.arrive(site | (u32::from(direct) * DIRECT));
        self.reuse.store(REUSE_NONE, Relaxed);
        self.shown.moved.store(1, Relaxed);
        true
    }
}

/// What a poll is charged in which nothing foreign was nested.
#[inline(always)]
pub(super) const fn charge(hold: u64, nested: u64) -> Charge {
    Charge {
        hold,
        running: hold - nested,
        inclusive: hold,
    }
}
