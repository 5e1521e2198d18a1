//! The end of a poll: the charge, the await point of a pending call, the outcome of one that ended.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{
    ARRIVED, COUNTED_BEFORE, Charge, FIRST, Frame, LINKED, OVER, REPATHED, REUSE_NONE, REUSE_UP,
    ROOT, UNCHANGED,
};
use super::slow::LeavingPoll;
use crate::account::aggregate::Anomaly;
use crate::account::call::{Call, DIRECT, MARK, Outcome, PollEnd, SITE};
use crate::account::counters::{ALONE, PathCounters, SPANS, Shared, Word};
use crate::account::histogram::add;
use crate::account::paths::{PathKey, PathKind};

impl Ledger {
    /// Ends the poll at `depth`, and first those above it if any were left open (R3).
    ///
    /// Returns what this call's frame was charged, or `None` if no such poll is open (R2).
    #[inline(never)]
    pub fn poll_end(&self, call: &mut Call, depth: u32, t: u64, end: PollEnd) -> Option<Charge> {
        let open = self.depth();
        if depth >= open {
            self.anomaly(Anomaly::OrphanEnd);
            return None;
        }
        let writing = self.write();
        let t = self.clamp(t);
        self.step();
        if open > depth + 1 {
            self.force(depth + 1, t);
        }
        let frame = self.frames.at(depth as usize);
        let place = frame.place.load(Relaxed);
        let passes = place & (DIRECT | LINKED | MARK) == DIRECT | LINKED
            && self.reuse.load(Relaxed) == REUSE_UP;
        let charge = self.close(frame, place, depth, t, end == PollEnd::Pending);
        let stood = call.site();
        call.leave(place);
        call.charge(&charge);
        call.inclusive = call.inclusive.wrapping_add(frame.carry.load(Relaxed));
        call.set_passes(passes);
        if end == PollEnd::Pending {
            self.suspend(call, frame, [place, stood], &charge, depth, t);
        } else {
            self.end_call(call, frame, [place, stood], &charge, t, end.outcome());
        }
        drop(writing);
        Some(charge)
    }

    /// Closes the frames left open from `depth` up (R3).
    #[cold]
    fn force(&self, depth: u32, t: u64) {
        while self.depth() > depth {
            self.anomaly(Anomaly::ForcedPop);
            self.pop(t);
        }
    }

    #[inline(always)]
    fn suspend(
        &self,
        call: &mut Call,
        frame: &Frame,
        [place, stood]: [u32; 2],
        charge: &Charge,
        depth: u32,
        t: u64,
    ) {
        if place & OVER != 0 && call.is_fused() {
            self.tell(call, frame, charge, depth);
        }
        if place & (FIRST | COUNTED_BEFORE) == FIRST {
            call.reach(charge.hold, t);
            return self.suspend_first(call, frame, place, charge, depth, t);
        }
        let waited_at = frame.unit.load(Relaxed);
        let stays = waited_at != 0 && place & (ARRIVED | REPATHED) == 0;
        let unit = if stays {
            waited_at
        } else {
            self.unit(frame, place)
        };
        let (row, waits) = (self.row(unit), WaitWords::of(place));
        if place & (ARRIVED | FIRST) != 0 {
            let age = call.lived(t);
            if row.may_be_slow(age) {
                let poll = LeavingPoll::new(place, stood, charge, [age, t]);
                self.move_slow(row, call, frame, poll);
            }
            call.reach(age, t);
        }
        if stays {
            let (since, start) = (frame.suspended.load(Relaxed), frame.start.load(Relaxed));
            row.add(waits.waited, start.wrapping_sub(t));
            self.end_wait_of(row, waits.is_span, frame, start.saturating_sub(since));
        } else {
            self.end_wait(frame, place);
            row.subtract(waits.waited, t);
            row.add(waits.open, 1);
        }
        call.suspend(t);
        call.set_unit(unit);
        if place & OVER != 0 {
            self.longest(row, &ALONE, (frame, || stood), charge.hold);
            row.add(Word::Waits, 1);
            record_alone(row, charge);
        } else {
            self.longest(row, &SPANS, (frame, || stood), charge.hold);
            record_span(row, charge);
        }
        if place & UNCHANGED == 0 && self.shown.quiet.load(Relaxed) == 0 {
            self.push_pending(call, frame, place, depth);
        }
    }

    /// Tells the caller of a call, which polled it, that the call is pending. The caller knows its
    /// inclusive time up to here.
    #[inline(always)]
    fn tell(&self, call: &mut Call, frame: &Frame, charge: &Charge, depth: u32) {
        call.tell(charge.inclusive);
        let caller = self.frames.at(depth as usize - 1);
        let place = caller.place.load(Relaxed);
        if self.paths.caller(frame.path.load(Relaxed)) == caller.path.load(Relaxed) {
            caller.place.store(place | LINKED, Relaxed);
        }
    }

    /// Ends the first poll of a call that was not counted before.
    #[inline(always)]
    fn suspend_first(
        &self,
        call: &mut Call,
        frame: &Frame,
        place: u32,
        charge: &Charge,
        depth: u32,
        t: u64,
    ) {
        let unit = self.unit(frame, place);
        let row = self.row(unit);
        row.add(Word::FirstPolls, 1);
        row.add(Word::FirstHold, charge.hold);
        row.add(Word::FirstEnds, t);
        self.longest(row, &ALONE, (frame, || 0), charge.hold);
        record_nested(row, charge);
        row.record_poll(charge, Shared::Leaf, Shared::Nested);
        call.suspend(t);
        call.set_unit(unit);
        if self.shown.quiet.load(Relaxed) == 0 {
            self.push_pending(call, frame, place, depth);
        }
    }

    /// The path of the await point at which the call stands.
    #[inline]
    pub(super) fn unit(&self, frame: &Frame, place: u32) -> u32 {
        let path = frame.path.load(Relaxed);
        let key = PathKey::new(path, frame.proc(), place & SITE, PathKind::Wait);
        // Without an entry the waits of the call's path are counted as those at no known place.
        self.paths.intern(key).unwrap_or(path)
    }

    /// Adds a pending call to the await stack.
    #[inline(always)]
    pub(super) fn push_pending(&self, call: &Call, frame: &Frame, place: u32, depth: u32) {
        // The base of a root is that of the poll around it again.
        let level = if place & ROOT != 0 {
            0
        } else {
            self.level(depth)
        };
        if place & OVER != 0 {
            self.frames.at(depth as usize - 1).child_pending();
        }
        let proc = frame.proc();
        self.shown
            .await_stack
            .push(level, proc, call.place(), call.since);
    }

    /// Ends a call with its poll.
    #[inline(always)]
    fn end_call(
        &self,
        call: &mut Call,
        frame: &Frame,
        [place, stood]: [u32; 2],
        charge: &Charge,
        t: u64,
        outcome: Outcome,
    ) {
        self.end_wait(frame, place);
        let row = self.row(frame.path.load(Relaxed));
        self.longest(row, &ALONE, (frame, || stood), charge.hold);
        if place & FIRST != 0 {
            self.end_only(call, (frame, row), place, charge, t, outcome);
        } else if outcome == Outcome::Ready {
            row.add(Word::LastPolls, 1);
            row.add(Word::LastHold, charge.hold);
            row.add(Word::LastEnds, t);
            record_nested(row, charge);
            row.record_poll(charge, Shared::Leaf, Shared::Nested);
            self.charge_ended(call, frame, row, [place, stood], charge, t);
            call.end();
        } else {
            record_alone(row, charge);
            self.charge_ended(call, frame, row, [place, stood], charge, t);
            self.outcome(row, t, outcome);
            call.end();
        }
        if place & MARK != 0 {
            self.hand_up(frame);
        }
        if place & (ROOT | OVER) == 0 {
            self.turn(call, frame, charge);
            // The frame stays open.
            self.depth.store(self.depth() + 1, Relaxed);
            return;
        }
        self.leave(frame, self.top());
        if place & OVER != 0 && call.is_fused() {
            let untold = call.untold();
            if let Some(caller) = self.top().filter(|_| untold != charge.inclusive) {
                add(&caller.carry, untold.wrapping_sub(charge.inclusive));
            }
        }
    }

    /// Charges a call that ended in a later poll.
    #[inline(always)]
    fn charge_ended(
        &self,
        call: &Call,
        frame: &Frame,
        row: &PathCounters,
        [place, stood]: [u32; 2],
        charge: &Charge,
        t: u64,
    ) {
        let age = call.lived(t);
        row.charge_call(call.running, call.inclusive, age);
        if row.may_be_slow(age) {
            let poll = LeavingPoll::new(place, stood, charge, [age, t]);
            self.end_slow(row, call, frame, poll);
        }
    }

    /// Makes the frame of an ended call that of its caller, which goes on: it had nothing to do in
    /// this poll until now.
    #[inline(always)]
    pub(super) fn turn(&self, call: &Call, frame: &Frame, charge: &Charge) {
        let (path, key) = self.paths.caller_and_key(frame.path.load(Relaxed));
        let mut place = ARRIVED;
        if key.is(PathKind::Root) {
            place |= ROOT | self.straight.marks.load(Relaxed);
        }
        frame.path.store(path, Relaxed);
        frame.set_proc(key.proc(), frame.stack_mark());
        frame.place.store(place, Relaxed);
        frame.nested.store(charge.hold, Relaxed);
        frame.foreign.store(charge.hold - charge.inclusive, Relaxed);
        let carry = call.untold().wrapping_sub(charge.inclusive);
        frame.carry.store(carry, Relaxed);
        self.shown.await_stack.truncate(frame.stack_mark());
        self.reuse.store(REUSE_NONE, Relaxed);
        self.shown.moved.store(1, Relaxed);
    }

    /// Ends a call with its first poll.
    #[inline(always)]
    fn end_only(
        &self,
        call: &mut Call,
        (frame, row): (&Frame, &PathCounters),
        place: u32,
        charge: &Charge,
        t: u64,
        outcome: Outcome,
    ) {
        let is_leaf = charge.running == charge.hold;
        if is_leaf && place & COUNTED_BEFORE == 0 && outcome == Outcome::Ready {
            row.add(Word::OnlyPolls, 1);
            row.add(Word::OnlyHold, charge.hold);
            row.raise(Word::OnlyLongest, charge.hold);
            row.record(Shared::Single, charge.hold);
            call.end();
            return;
        }
        self.end_first(call, (frame, row), place, charge, t, outcome);
    }

    #[inline(never)]
    fn end_first(
        &self,
        call: &mut Call,
        (frame, row): (&Frame, &PathCounters),
        place: u32,
        charge: &Charge,
        t: u64,
        outcome: Outcome,
    ) {
        row.add(Word::Immediate, 1);
        self.count(row, place, t - charge.hold);
        record_alone(row, charge);
        let age = wall(call, place, charge, t);
        row.charge_first(call.running, call.inclusive, age);
        if row.may_be_slow(age) {
            let poll = LeavingPoll::new(place, 0, charge, [age, t]);
            self.end_slow(row, call, frame, poll);
        }
        self.outcome(row, t, outcome);
        call.end();
    }

    /// Counts a call in its first poll, which began at `t`, if it was not counted before.
    #[inline]
    fn count(&self, row: &PathCounters, place: u32, t: u64) {
        if place & (FIRST | COUNTED_BEFORE) == FIRST {
            row.add(Word::Counted, 1);
            row.add(Word::CountedAt, t);
        }
    }

    #[inline(always)]
    pub(super) fn outcome(&self, row: &PathCounters, t: u64, outcome: Outcome) {
        row.add(Word::EndedAt, t);
        let word = match outcome {
            Outcome::Ready => Word::Ready,
            Outcome::Err => Word::Err,
            Outcome::Cancelled => Word::Cancelled,
            Outcome::Panicked => Word::Panicked,
        };
        row.add(word, 1);
    }

    /// Removes the ended call's part of the await stack. If its caller awaited it directly, the
    /// caller's next place is unknown for now.
    #[inline(always)]
    pub(super) fn leave(&self, frame: &Frame, caller: Option<&Frame>) {
        self.shown.await_stack.truncate(frame.stack_mark());
        self.reuse.store(REUSE_NONE, Relaxed);
        self.shown.moved.store(1, Relaxed);
        if let Some(caller) = caller
            && caller.has(DIRECT)
        {
            self.come(caller, 0);
        }
    }

    /// Closes the innermost frame and charges it. Returns the frame's key and the charge.
    fn pop(&self, t: u64) -> (u64, Charge) {
        let depth = self.depth() - 1;
        let frame = self.frames.at(depth as usize);
        let place = frame.place.load(Relaxed);
        let charge = self.close(frame, place, depth, t, true);
        self.end_wait(frame, place);
        let row = self.row(frame.path.load(Relaxed));
        self.longest(row, &ALONE, (frame, || 0), charge.hold);
        self.count(row, place, frame.start.load(Relaxed));
        record_alone(row, &charge);
        (frame.key.load(Relaxed), charge)
    }

    /// `is_last` says that the frame does not go on as that of its caller.
    #[inline(always)]
    fn close(&self, frame: &Frame, place: u32, depth: u32, t: u64, is_last: bool) -> Charge {
        let hold = t - frame.start.load(Relaxed);
        let foreign = frame.foreign.load(Relaxed);
        let charge = Charge {
            hold,
            running: hold - frame.nested.load(Relaxed),
            inclusive: hold - foreign,
        };
        self.depth.store(depth, Relaxed);
        if place & ROOT != 0 {
            self.reuse.store(REUSE_NONE, Relaxed);
            self.close_root(frame, depth, &charge);
            return charge;
        }
        if place & OVER == 0 {
            self.reuse.store(REUSE_UP, Relaxed);
            if is_last {
                self.close_bottom(frame, depth, &charge);
            }
            return charge;
        }
        let parent = self.frames.at(depth as usize - 1);
        let reuse = if parent.has(DIRECT) {
            REUSE_UP
        } else {
            REUSE_NONE
        };
        self.reuse.store(reuse, Relaxed);
        add(&parent.nested, hold);
        if foreign != 0 {
            add(&parent.foreign, foreign);
        }
        charge
    }

    fn close_root(&self, frame: &Frame, depth: u32, charge: &Charge) {
        self.close_segment(depth);
        self.close_bottom(frame, depth, charge);
    }

    /// Goes back to the task whose poll is below `depth`, if there is one.
    fn close_segment(&self, depth: u32) {
        let frames = (0..depth).rev();
        let mut bottoms = frames.filter(|&at| !self.frames.at(at as usize).has(OVER));
        let base = bottoms.next().unwrap_or(0);
        self.base.store(base, Relaxed);
    }

    /// Charges the first frame of a task to what is below it.
    #[inline(always)]
    fn close_bottom(&self, frame: &Frame, depth: u32, charge: &Charge) {
        match depth.checked_sub(1) {
            None => {
                let end = frame.start.load(Relaxed).wrapping_add(charge.hold);
                self.pass(frame.path.load(Relaxed), charge.hold, end);
            }
            Some(below) => {
                let parent = self.frames.at(below as usize);
                add(&parent.nested, charge.hold);
                add(&parent.foreign, charge.hold);
                self.shown.moved.store(1, Relaxed);
            }
        }
    }

    /// Ends the wait that preceded the frame's poll, unless that was done before.
    #[inline(always)]
    pub(super) fn end_wait(&self, frame: &Frame, place: u32) {
        let unit = frame.unit.load(Relaxed);
        if unit != 0 {
            let (since, start) = (frame.suspended.load(Relaxed), frame.start.load(Relaxed));
            frame.unit.store(0, Relaxed);
            let (row, waits) = (self.row(unit), WaitWords::of(place));
            row.add(waits.waited, start);
            row.subtract(waits.open, 1);
            self.end_wait_of(row, waits.is_span, frame, start.saturating_sub(since));
        }
    }

    /// Ends the innermost open poll that was started with `key` (replay: events name their call).
    ///
    /// Frames above it are closed first and passed to `forced`. Returns `None` if no such poll is
    /// open.
    pub fn poll_end_of(
        &self,
        call: &mut Call,
        key: u64,
        t: u64,
        end: PollEnd,
        mut forced: impl FnMut(u64, Charge),
    ) -> Option<Charge> {
        let depth = self.depth();
        let Some(at) = (0..depth)
            .rev()
            .find(|&d| self.frames.at(d as usize).key.load(Relaxed) == key)
        else {
            self.clamp(t);
            self.anomaly(Anomaly::OrphanEnd);
            return None;
        };
        while self.depth() > at + 1 {
            let writing = self.write();
            let t = self.clamp(t);
            self.anomaly(Anomaly::ForcedPop);
            let (key, charge) = self.pop(t);
            forced(key, charge);
            drop(writing);
        }
        self.poll_end(call, at, t, end)
    }
}

/// The words to which the waits of a frame's call belong.
struct WaitWords {
    waited: Word,
    open: Word,
    is_span: bool,
}

impl WaitWords {
    #[inline(always)]
    const fn of(place: u32) -> Self {
        if place & OVER != 0 {
            Self {
                waited: Word::Waited,
                open: Word::Open,
                is_span: false,
            }
        } else {
            Self {
                waited: Word::SpanWaited,
                open: Word::SpanOpen,
                is_span: true,
            }
        }
    }
}

/// Time from the birth of a call to the end of its poll at `t`.
#[inline(always)]
fn wall(call: &Call, place: u32, charge: &Charge, t: u64) -> u64 {
    if place & (FIRST | COUNTED_BEFORE) == FIRST {
        charge.hold
    } else {
        call.lived(t)
    }
}

/// Records a poll of one level.
#[inline(always)]
pub(super) fn record_alone(row: &PathCounters, charge: &Charge) {
    row.add(Word::Polls, 1);
    row.add(Word::Hold, charge.hold);
    record_nested(row, charge);
    row.record_poll(charge, Shared::Leaf, Shared::Nested);
}

/// Records what was nested in a poll of one level.
#[inline(always)]
fn record_nested(row: &PathCounters, charge: &Charge) {
    if charge.running != charge.hold {
        row.add(Word::Nested, charge.hold - charge.running);
        if charge.inclusive != charge.hold {
            row.add(Word::Foreign, charge.hold - charge.inclusive);
        }
    }
}

/// Records a poll of an innermost call and of all callers that ran no code of their own.
#[inline(always)]
fn record_span(row: &PathCounters, charge: &Charge) {
    row.add(Word::SpanPolls, 1);
    row.add(Word::SpanHold, charge.hold);
    if charge.running != charge.hold {
        row.add(Word::SpanNested, charge.hold - charge.running);
        if charge.inclusive != charge.hold {
            row.add(Word::SpanForeign, charge.hold - charge.inclusive);
        }
    }
    row.record_poll(charge, Shared::Span, Shared::SpanNested);
}
