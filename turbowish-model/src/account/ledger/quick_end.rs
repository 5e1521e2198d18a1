//! The ends of nearly all polls, without anything else: see `quick`.
//!
//! Each function here looks first at all that it is going to write. It does nothing, and says so,
//! if any of that is to be made, kept for a reader or noted down, or if the clock went backwards.
//! So it calls nothing, and its callers save few registers.

use core::sync::atomic::Ordering::Relaxed;

use super::frame::{
    ARRIVED, BESIDE, BRANCH, COUNTED_BEFORE, Frame, KEPT, LINKED, OVER, REPATHED, REUSE_NONE,
    REUSE_UP, ROOT,
};
use super::quick::{NEW, charge};
use super::slow::is_long_stay;
use super::{FIRST, Ledger};
use crate::account::await_stack::AwaitFrameCell;
use crate::account::call::{Call, DIRECT, EXACT_BELOW, FORK, MARK, PENDING, SITE};
use crate::account::counters::{
    ALONE, LongestWords, PathCounters, PollBuckets, SPANS, Shared, Word,
};
use crate::account::histogram::add;
use crate::account::paths::{PathId, PathKey, PathKind};
use crate::account::sync::AtomicU64;

/// Flags that make a poll anything but quick to end.
const SPECIAL: u32 = COUNTED_BEFORE | MARK | REPATHED | BRANCH;

const _: () = assert!(PENDING & SPECIAL == 0);

/// Nothing was written. If the clock was read, that is the time of the end.
pub type Unwritten = Option<u64>;

/// The end of a poll that is about to be written.
struct Ending<'a> {
    row: &'a PathCounters,
    /// The time of the end.
    t: u64,
    hold: u64,
    nested: u64,
    buckets: PollBuckets<'a>,
}

/// The end, at `t`, of the only poll of a call in which nothing else happened.
struct OnlyPoll<'a> {
    row: &'a PathCounters,
    bucket: &'a AtomicU64,
    t: u64,
    hold: u64,
}

impl Ending<'_> {
    #[inline(always)]
    const fn running(&self) -> u64 {
        self.hold - self.nested
    }

    /// Records the poll in the histograms, its running time if it is the longest, and what was
    /// nested in it.
    #[inline(always)]
    fn record(&self, nested: Word) {
        if self.nested != 0 {
            self.row.add(nested, self.nested);
        }
        self.row.record_in(&self.buckets, self.running());
    }
}

/// Whether the call awaits another one directly that ended pending right before it, so that it has
/// nothing to do as long as that one is pending.
#[inline(always)]
pub(super) const fn passes(place: u32, is_again: bool) -> bool {
    is_again && place & (DIRECT | LINKED) == DIRECT | LINKED
}

impl Ledger {
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

    /// The counters of a path, unless something is to be made or kept before they are written.
    #[inline(always)]
    pub(super) fn ready_row(&self, path: PathId) -> Option<&PathCounters> {
        let row = self.rows.known(path)?;
        row.is_kept_for(self.capture.noticed()?).then_some(row)
    }

    /// The duration of a poll from `start` to `t`, unless it is the longest one of the tick, or the
    /// clock went backwards.
    #[inline(always)]
    fn usual_hold(
        &self,
        row: &PathCounters,
        longest: &LongestWords,
        start: u64,
        t: u64,
    ) -> Option<u64> {
        let hold = t.wrapping_sub(start);
        let is_usual = t >= self.time.last.load(Relaxed)
            && !row.is_longest(longest, self.time.tick.load(Relaxed), hold);
        is_usual.then_some(hold)
    }

    /// The end at `t` of the poll of a frame, unless it is special for the counters of this path.
    #[inline(always)]
    fn ending(
        &self,
        path: PathId,
        longest: &LongestWords,
        populations: [Shared; 2],
        frame: &Frame,
        t: u64,
    ) -> Option<Ending<'_>> {
        let row = self.ready_row(path)?;
        let hold = self.usual_hold(row, longest, frame.start.load(Relaxed), t)?;
        let nested = frame.nested.load(Relaxed);
        let buckets = row.poll_buckets(hold, nested, populations)?;
        Some(Ending {
            row,
            t,
            hold,
            nested,
            buckets,
        })
    }

    /// Such an end of a span: a poll of an innermost call, and of all callers.
    #[inline(always)]
    fn ending_of_span(&self, unit: PathId, frame: &Frame, t: u64) -> Option<Ending<'_>> {
        self.ending(unit, &SPANS, [Shared::Span, Shared::SpanNested], frame, t)
    }

    /// Such an end of a poll of one level.
    #[inline(always)]
    fn ending_alone(&self, path: PathId, frame: &Frame, t: u64) -> Option<Ending<'_>> {
        self.ending(path, &ALONE, [Shared::Leaf, Shared::Nested], frame, t)
    }

    /// The event of an end at `t`, after which `depth` polls are open.
    #[inline(always)]
    fn pass_event(&self, t: u64, depth: u32) {
        self.time.last.store(t, Relaxed);
        add(&self.time.events, 1);
        self.depth.store(depth, Relaxed);
    }

    /// Writes a span that ends pending at the await point `unit`.
    #[inline(always)]
    fn write_span(&self, ending: &Ending<'_>, unit: PathId) {
        let Ending { row, t, hold, .. } = *ending;
        row.add(Word::SpanPolls, 1);
        row.add(Word::SpanHold, hold);
        ending.record(Word::SpanNested);
        self.pass(unit, hold, t);
    }

    /// Ends a poll as pending of the first call of a task that had something to do in it.
    ///
    /// # Errors
    /// If anything about it is special: nothing is written.
    #[inline(always)]
    pub fn suspend_bottom(
        &self,
        call: &mut Call,
        depth: u32,
        now: impl FnOnce() -> u64,
    ) -> Result<(), Unwritten> {
        match self.place_at(depth) & ARRIVED {
            0 => self.suspend_again(call, depth, now),
            _ => self.suspend_moved(call, depth, now),
        }
    }

    /// The place of the frame at `depth`.
    #[inline(always)]
    fn place_at(&self, depth: u32) -> u32 {
        let frame = self.frames.in_place(depth);
        frame.map_or(0, |frame| frame.place.load(Relaxed))
    }

    /// Ends a first poll as pending: that of a task's root, or of a call that its caller awaits.
    ///
    /// # Errors
    /// If anything about it is special: nothing is written.
    #[inline(always)]
    pub fn suspend_new(
        &self,
        call: &mut Call,
        depth: u32,
        now: impl FnOnce() -> u64,
    ) -> Result<(), Unwritten> {
        let (frame, place) = self.plain_top(depth, SPECIAL).ok_or(None)?;
        let level = place & (NEW | FORK);
        if level != NEW && (level != FIRST || depth != 0) {
            return Err(None);
        }
        let unit = self.known_unit(frame, place).ok_or(None)?;
        let (t, is_again) = self.end_time(now);
        let ending = self.ending_alone(unit, frame, t).ok_or(Some(t))?;
        let step = self.step_of(place, depth).ok_or(Some(t))?;
        let (row, hold) = (ending.row, ending.hold);
        if hold >= EXACT_BELOW {
            return Err(Some(t));
        }
        let writing = self.sequence.write();
        self.pass_event(t, depth);
        row.add(Word::FirstPolls, 1);
        row.add(Word::FirstHold, hold);
        row.add(Word::FirstEnds, t);
        ending.record(Word::Nested);
        let times = [ending.running(), hold + frame.carry.load(Relaxed), hold];
        call.suspend_new(place, unit, t, times, passes(place, is_again));
        if place & OVER == 0 {
            self.pass(unit, hold, t);
            self.reuse.store(REUSE_NONE, Relaxed);
        } else if let Some(caller) = self.frames.in_place(depth.wrapping_sub(1)) {
            self.tell_caller(caller, hold);
        }
        self.push_step(step, frame, place, t);
        drop(writing);
        Ok(())
    }

    /// The path of the await point at which the call stands, if it was found before.
    #[inline(always)]
    fn known_unit(&self, frame: &Frame, place: u32) -> Option<PathId> {
        let path = frame.path.load(Relaxed);
        let key = PathKey::new(path, frame.proc(), place & SITE, PathKind::Wait);
        self.paths.known(key)
    }

    /// The level of the call at `depth` and room for it in the await stack, or `Some(None)` if none
    /// is recorded. `None` if there is no room in place.
    #[inline(always)]
    fn step_of(&self, place: u32, depth: u32) -> Option<Option<(u32, &AwaitFrameCell)>> {
        if self.shown.quiet.load(Relaxed) != 0 {
            return Some(None);
        }
        let level = match place & ROOT {
            0 => self.level_in_place(depth)?,
            _ => 0,
        };
        Some(Some((level, self.shown.await_stack.room()?)))
    }

    /// Adds a call that reached its await point at `t` to the await stack.
    #[inline(always)]
    fn push_step(&self, step: Option<(u32, &AwaitFrameCell)>, frame: &Frame, place: u32, t: u64) {
        if let Some((level, room)) = step {
            let proc = frame.proc();
            self.shown
                .await_stack
                .push_into(room, level, proc, place, t);
        }
    }

    /// Tells the caller that what it awaits has ended pending.
    #[inline(always)]
    fn tell_caller(&self, caller: &Frame, hold: u64) {
        let above = caller.place.load(Relaxed);
        add(&caller.nested, hold);
        let (reuse, flag) = match above & (DIRECT | FORK) {
            0 => (REUSE_NONE, BESIDE),
            FORK => (REUSE_NONE, 0),
            _ => (REUSE_UP, LINKED),
        };
        self.reuse.store(reuse, Relaxed);
        caller.place.store(above | flag, Relaxed);
    }

    /// Such an end, at an await point that the call reached in this poll: it and all its callers
    /// begin to wait.
    #[inline(always)]
    fn suspend_moved(
        &self,
        call: &mut Call,
        depth: u32,
        now: impl FnOnce() -> u64,
    ) -> Result<(), Unwritten> {
        let (frame, place) = self.plain_top(depth, SPECIAL | NEW).ok_or(None)?;
        if depth != 0 || frame.unit.load(Relaxed) != 0 {
            return Err(None);
        }
        let unit = self.known_unit(frame, place).ok_or(None)?;
        let (t, is_again) = self.end_time(now);
        let ending = self.ending_of_span(unit, frame, t).ok_or(Some(t))?;
        let step = self.step_of(place, depth).ok_or(Some(t))?;
        let (row, age) = (ending.row, call.lived(t));
        let stood = frame.start.load(Relaxed).saturating_sub(call.since);
        if row.may_be_slow(age) && is_long_stay(stood, age) {
            return Err(Some(t));
        }
        let writing = self.sequence.write();
        self.pass_event(t, 0);
        row.begin_span_wait(t);
        self.write_span(&ending, unit);
        let reuse = if place & ROOT == 0 {
            REUSE_UP
        } else {
            REUSE_NONE
        };
        self.reuse.store(reuse, Relaxed);
        let last = [ending.running(), ending.hold + frame.carry.load(Relaxed)];
        [call.running, call.inclusive] = call.with_last(last);
        call.suspend_moved((place, unit), age, t, passes(place, is_again));
        self.push_step(step, frame, place, t);
        drop(writing);
        Ok(())
    }

    /// Such an end, where the call has waited before: it and all its callers wait on.
    #[inline(always)]
    fn suspend_again(
        &self,
        call: &mut Call,
        depth: u32,
        now: impl FnOnce() -> u64,
    ) -> Result<(), Unwritten> {
        let (frame, place) = self.plain_top(depth, SPECIAL | NEW).ok_or(None)?;
        let unit = frame.unit.load(Relaxed);
        if unit == 0 || depth != 0 || self.shown.moved.load(Relaxed) != 0 {
            return Err(None);
        }
        let waited = waited(frame);
        let (t, is_again) = self.end_time(now);
        let ending = self.ending_of_span(unit, frame, t).ok_or(Some(t))?;
        let (row, hold) = (ending.row, ending.hold);
        let wait = row.span_wait_bucket(waited).ok_or(Some(t))?;
        let writing = self.sequence.write();
        self.pass_event(t, 0);
        row.subtract(Word::SpanWaited, hold);
        row.add(Word::SpanWaits, waited);
        add(wait, 1);
        self.write_span(&ending, unit);
        self.reuse.store(REUSE_UP, Relaxed);
        let times = [ending.running(), hold];
        call.suspend_again(place, t, times, passes(place, is_again));
        drop(writing);
        Ok(())
    }

    /// The end of a first poll with which the call returns, and since the start of which nothing
    /// has happened: `level` says whether that is the poll of a root.
    ///
    /// # Errors
    /// If anything about it is special.
    #[inline(always)]
    fn only_poll(
        &self,
        frame: &Frame,
        level: u32,
        now: impl FnOnce() -> u64,
    ) -> Result<OnlyPoll<'_>, Unwritten> {
        let place = frame.place.load(Relaxed);
        let is_only = self.event() == frame.suspended.load(Relaxed);
        if !is_only || place & (SPECIAL | NEW | ROOT) != level {
            return Err(None);
        }
        let (start, path) = (frame.start.load(Relaxed), frame.path.load(Relaxed));
        let row = self.ready_row(path).ok_or(None)?;
        let t = now();
        let hold = self.usual_hold(row, &ALONE, start, t);
        let hold = hold.filter(|hold| *hold <= row.get(Word::OnlyLongest));
        let hold = hold.ok_or(Some(t))?;
        let bucket = row.bucket(Shared::Single, hold).ok_or(Some(t))?;
        Ok(OnlyPoll {
            row,
            bucket,
            t,
            hold,
        })
    }

    /// Writes such an end, after which `depth` polls are open.
    #[inline(always)]
    fn write_only(&self, call: &mut Call, only: &OnlyPoll<'_>, depth: u32) {
        self.pass_event(only.t, depth);
        only.row.add(Word::OnlyPolls, 1);
        only.row.add(Word::OnlyHold, only.hold);
        add(only.bucket, 1);
        call.end();
        self.reuse.store(REUSE_NONE, Relaxed);
        self.shown.moved.store(1, Relaxed);
    }

    /// Ends a first poll with which the call returns to the one that polls it, and since the start
    /// of which nothing has happened.
    ///
    /// # Errors
    /// If anything about it is special: nothing is written.
    #[inline(always)]
    pub fn return_new(
        &self,
        call: &mut Call,
        depth: u32,
        now: impl FnOnce() -> u64,
    ) -> Result<(), Unwritten> {
        let frame = self.frames.in_place(depth).ok_or(None)?;
        let caller = self.frames.in_place(depth.wrapping_sub(1)).ok_or(None)?;
        let above = caller.place.load(Relaxed);
        if caller.unit.load(Relaxed) != 0 {
            return Err(None);
        }
        let only = self.only_poll(frame, NEW, now)?;
        let writing = self.sequence.write();
        self.write_only(call, &only, depth);
        add(&caller.nested, only.hold);
        if above & DIRECT != 0 {
            caller.place.store(above & KEPT | ARRIVED, Relaxed);
        }
        drop(writing);
        Ok(())
    }

    /// Ends the first poll of a task's root, with which it returns, and since the start of which
    /// nothing has happened. The poll is complete in the ring of the last ones.
    ///
    /// # Errors
    /// If anything about it is special: nothing is written.
    #[inline(always)]
    pub fn return_root(&self, call: &mut Call, now: impl FnOnce() -> u64) -> Result<(), Unwritten> {
        let frame = self.frames.in_place(0).ok_or(None)?;
        let only = self.only_poll(frame, FIRST | ROOT, now)?;
        let writing = self.sequence.write();
        self.write_only(call, &only, 0);
        self.pass_only(frame, only.hold, only.t);
        drop(writing);
        Ok(())
    }

    /// Ends a poll with which a call returns that had waited. It is a task's root, or its caller,
    /// which has done nothing in this poll, goes on.
    ///
    /// # Errors
    /// If anything about it is special: nothing is written.
    #[inline(always)]
    pub fn return_bottom(
        &self,
        call: &mut Call,
        depth: u32,
        now: impl FnOnce() -> u64,
    ) -> Result<(), Unwritten> {
        let (frame, place) = self.plain_top(depth, SPECIAL | NEW).ok_or(None)?;
        if depth != 0 {
            return Err(None);
        }
        let (path, unit) = (frame.path.load(Relaxed), frame.unit.load(Relaxed));
        let waited = waited(frame);
        let wait = match unit {
            0 => None,
            _ => {
                let row = self.ready_row(unit).ok_or(None)?;
                Some((row, row.span_wait_bucket(waited).ok_or(None)?))
            }
        };
        let t = now();
        let ending = self.ending_alone(path, frame, t).ok_or(Some(t))?;
        let (row, hold) = (ending.row, ending.hold);
        let age = call.lived(t);
        let last = [ending.running(), hold + frame.carry.load(Relaxed)];
        let [running, inclusive] = call.with_last(last);
        if row.may_be_slow(age) {
            return Err(Some(t));
        }
        let buckets = row.call_buckets(running, inclusive, age).ok_or(Some(t))?;
        let writing = self.sequence.write();
        self.pass_event(t, if place & ROOT == 0 { 1 } else { 0 });
        if let Some((waits, bucket)) = wait {
            frame.unit.store(0, Relaxed);
            waits.end_span_wait([frame.start.load(Relaxed), waited], bucket);
        }
        row.add(Word::LastPolls, 1);
        row.add(Word::LastHold, hold);
        row.add(Word::LastEnds, t);
        ending.record(Word::Nested);
        row.charge_call_in(&buckets, running, inclusive, age);
        [call.running, call.inclusive] = [running, inclusive];
        call.end();
        if place & ROOT == 0 {
            self.turn(call, frame, &charge(hold, ending.nested));
        } else {
            self.pass(path, hold, t);
            self.leave(frame, None);
        }
        drop(writing);
        Ok(())
    }
}

/// The wait of a frame's call that ended with its poll.
#[inline(always)]
fn waited(frame: &Frame) -> u64 {
    let since = frame.suspended.load(Relaxed);
    frame.start.load(Relaxed).saturating_sub(since)
}
