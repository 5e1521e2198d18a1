//! What nearly all polls need, without anything else: the first poll of a call that its caller
//! awaits, and a poll of the first call of a task that has something to do.
//!
//! Each function here does what its general counterpart in `poll` does in that case, or does
//! nothing and says so.

use core::sync::atomic::Ordering::{Relaxed, Release};

use super::frame::{
    ARRIVED, BRANCH, COUNTED_BEFORE, Charge, FIRST, Frame, LINKED, OVER, REPATHED, REUSE_NONE,
    REUSE_UP, ROOT,
};
use super::slow::LeavingPoll;
use super::{FRAMES, Ledger, PollSpan};
use crate::account::call::{Call, DIRECT, FORK, MARK, PENDING, SITE};
use crate::account::counters::{ALONE, SPANS, Shared, Word};
use crate::account::histogram::add;
use crate::account::paths::{PathKey, PathKind, Paths};

/// Flags that make a poll anything but quick to end.
const SPECIAL: u32 = COUNTED_BEFORE | MARK | REPATHED | BRANCH;

/// A first poll, in that of the caller.
const NEW: u32 = FIRST | OVER;

impl Ledger {
    /// Starts the first poll of a call that is created right where its caller awaits it. `proc` is
    /// its proc, and `now` reads the clock. Returns whether it was started.
    #[inline(always)]
    pub fn start_awaited(
        &self,
        call: &mut Call,
        depth: u32,
        proc: u32,
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
        let key = PathKey::new(above, proc, place & SITE, PathKind::Direct);
        let (Some(path), Some(frame)) = (self.paths.known(key), self.frames.in_place(depth)) else {
            return false;
        };
        call.begin_awaited(path);
        add(&self.time.events, 1);
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
    /// created right before it, outside of all calls. Returns whether it was started.
    #[inline]
    pub fn start_new_root(&self, call: &mut Call, proc: u32, now: impl FnOnce() -> u64) -> bool {
        let Some(frame) = self.frames.in_place(0).filter(|_| self.depth() == 0) else {
            return false;
        };
        if !call.is_live(self.epoch) || !call.is_new(self.event(), 0) {
            return false;
        }
        let path = Paths::root(proc);
        call.begin_root(path);
        add(&self.time.events, 1);
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
        frame.start.store(self.clamp(t), Relaxed);
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

    /// The innermost frame and its place, if it is at `depth` and has none of the flags that are
    /// `special`.
    #[inline(always)]
    pub(super) fn plain_top(&self, depth: u32, special: u32) -> Option<(&Frame, u32)> {
        let frame = self.frames.in_place(depth)?;
        let place = frame.place.load(Relaxed);
        let is_plain = place & special == 0
            && self.depth.load(Relaxed) == depth + 1
            && frame.foreign.load(Relaxed) == 0;
        is_plain.then_some((frame, place))
    }

    /// The time of a pending end, and whether it is that of what the call awaits, which has just
    /// ended.
    #[inline(always)]
    pub(super) fn end_time(&self, now: impl FnOnce() -> u64) -> (u64, bool) {
        match self.still_up() {
            Some(t) => (t, true),
            None => (now(), false),
        }
    }

    /// Ends the innermost poll, at `depth`, as pending. Returns whether it was ended.
    #[inline(always)]
    pub fn suspend_awaited(&self, call: &mut Call, depth: u32, now: impl FnOnce() -> u64) -> bool {
        let Some((frame, place)) = self.plain_top(depth, SPECIAL) else {
            return false;
        };
        match place & (NEW | FORK) {
            NEW => self.suspend_new(call, frame, place, depth, now),
            FIRST if depth == 0 => self.suspend_new(call, frame, place, depth, now),
            0 | FORK => return self.suspend_again(call, frame, place, depth, now),
            _ => return false,
        }
        true
    }

    #[inline(always)]
    fn suspend_new(
        &self,
        call: &mut Call,
        frame: &Frame,
        place: u32,
        depth: u32,
        now: impl FnOnce() -> u64,
    ) {
        let (t, is_again) = self.end_time(now);
        let (start, nested) = (frame.start.load(Relaxed), frame.nested.load(Relaxed));
        let carry = frame.carry.load(Relaxed);
        let unit = self.unit(frame, place);
        let writing = self.write();
        let hold = self.clamp(t) - start;
        let t = start + hold;
        add(&self.time.events, 1);
        self.depth.store(depth, Relaxed);
        let row = self.row(unit);
        row.add(Word::FirstPolls, 1);
        row.add(Word::FirstHold, hold);
        row.add(Word::FirstEnds, t);
        self.longest(row, &ALONE, (frame, || 0), hold);
        if nested != 0 {
            row.add(Word::Nested, nested);
        }
        row.record_poll(&charge(hold, nested), Shared::Leaf, Shared::Nested);
        let passes = is_again && place & (DIRECT | LINKED) == DIRECT | LINKED;
        call.suspend_new(place, unit, t, [hold - nested, hold + carry, hold], passes);
        if place & OVER == 0 {
            self.pass(unit, hold, t);
            self.reuse.store(REUSE_NONE, Relaxed);
        } else if let Some(caller) = self.frames.in_place(depth.wrapping_sub(1)) {
            let above = caller.place.load(Relaxed);
            add(&caller.nested, hold);
            let reuse = if above & DIRECT != 0 {
                REUSE_UP
            } else {
                REUSE_NONE
            };
            self.reuse.store(reuse, Relaxed);
            caller.place.store(above | LINKED, Relaxed);
        }
        if self.shown.quiet.load(Relaxed) == 0 {
            let (level, proc) = (self.level(depth), frame.proc());
            self.shown.await_stack.push(level, proc, place, t);
        }
        drop(writing);
    }

    /// A poll of the first call of a task that has something to do, and of all its callers.
    #[inline(always)]
    fn suspend_again(
        &self,
        call: &mut Call,
        frame: &Frame,
        place: u32,
        depth: u32,
        now: impl FnOnce() -> u64,
    ) -> bool {
        let unit = frame.unit.load(Relaxed);
        if unit == 0 || depth != 0 || place & ARRIVED != 0 || self.shown.moved.load(Relaxed) != 0 {
            return false;
        }
        let (t, is_again) = self.end_time(now);
        let (start, nested) = (frame.start.load(Relaxed), frame.nested.load(Relaxed));
        let waited = start.saturating_sub(frame.suspended.load(Relaxed));
        let writing = self.write();
        let hold = self.clamp(t) - start;
        let t = start + hold;
        add(&self.time.events, 1);
        self.depth.store(0, Relaxed);
        let row = self.row(unit);
        row.add(Word::SpanPolls, 1);
        row.add(Word::SpanHold, hold);
        row.subtract(Word::SpanWaited, hold);
        self.end_wait_of(row, true, frame, waited);
        self.longest(row, &SPANS, (frame, || call.site()), hold);
        if nested != 0 {
            row.add(Word::SpanNested, nested);
        }
        row.record_poll(&charge(hold, nested), Shared::Span, Shared::SpanNested);
        self.pass(unit, hold, t);
        self.reuse.store(REUSE_UP, Relaxed);
        let passes = is_again && place & (DIRECT | LINKED) == DIRECT | LINKED;
        call.suspend_again(t, hold - nested, hold, passes);
        drop(writing);
        true
    }

    /// Ends the innermost poll, at `depth`, with which its call returns. Returns whether it was
    /// ended.
    #[inline(always)]
    pub fn return_awaited(&self, call: &mut Call, depth: u32, now: impl FnOnce() -> u64) -> bool {
        let Some((frame, place)) = self.plain_top(depth, SPECIAL) else {
            return false;
        };
        let nested = frame.nested.load(Relaxed);
        match place & NEW {
            NEW if nested == 0 => self.return_new(call, frame, depth, now),
            0 if depth == 0 => self.return_bottom(call, frame, place, nested, now),
            _ => return false,
        }
        true
    }

    /// A call that returns in its first poll, with nothing nested in it.
    #[inline(always)]
    fn return_new(&self, call: &mut Call, frame: &Frame, depth: u32, now: impl FnOnce() -> u64) {
        let t = now();
        let (start, path) = (frame.start.load(Relaxed), frame.path.load(Relaxed));
        let writing = self.write();
        let hold = self.clamp(t) - start;
        add(&self.time.events, 1);
        self.depth.store(depth, Relaxed);
        let row = self.row(path);
        row.add(Word::OnlyPolls, 1);
        row.add(Word::OnlyHold, hold);
        row.raise(Word::OnlyLongest, hold);
        self.longest(row, &ALONE, (frame, || 0), hold);
        row.record(Shared::Single, hold);
        call.end();
        let caller = self.frames.in_place(depth.wrapping_sub(1));
        if let Some(caller) = caller {
            add(&caller.nested, hold);
        }
        self.leave(frame, caller);
        drop(writing);
    }

    /// A call that had waited returns. It is a task's root, or its caller, which has done nothing
    /// in this poll, goes on.
    #[inline(always)]
    fn return_bottom(
        &self,
        call: &mut Call,
        frame: &Frame,
        place: u32,
        nested: u64,
        now: impl FnOnce() -> u64,
    ) {
        let t = now();
        let (start, path) = (frame.start.load(Relaxed), frame.path.load(Relaxed));
        let carry = frame.carry.load(Relaxed);
        let writing = self.write();
        let hold = self.clamp(t) - start;
        add(&self.time.events, 1);
        self.end_wait(frame, place);
        let row = self.row(path);
        row.add(Word::LastPolls, 1);
        row.add(Word::LastHold, hold);
        row.add(Word::LastEnds, start + hold);
        self.longest(row, &ALONE, (frame, || call.site()), hold);
        if nested != 0 {
            row.add(Word::Nested, nested);
        }
        let charge = charge(hold, nested);
        row.record_poll(&charge, Shared::Leaf, Shared::Nested);
        let [running, inclusive] = call.charge_last(hold - nested, hold + carry);
        let age = call.lived(start + hold);
        row.charge_call(running, inclusive, age);
        if row.may_be_slow(age) {
            let poll = LeavingPoll::new(place, call.site(), &charge, [age, start + hold]);
            self.end_slow(row, call, frame, poll);
        }
        call.end();
        if place & ROOT == 0 {
            self.turn(call, frame, &charge);
        } else {
            self.depth.store(0, Relaxed);
            self.pass(path, hold, start + hold);
            self.leave(frame, None);
        }
        drop(writing);
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

const _: () = assert!(PENDING & SPECIAL == 0);
