//! A poll from start to end: the stack of frames, the charge, and the await points of pending
//! calls.

use core::sync::atomic::Ordering::Relaxed;

use super::frame::{
    ARRIVED, BRANCH, Charge, FIRST, Frame, OUTER, REUSE_DOWN, REUSE_NONE, REUSE_UNCHANGED,
    REUSE_UP, ROOT, Start, UNCHANGED,
};
use super::{DEPTH_LIMIT, Ledger};
use crate::account::aggregate::Anomaly;
use crate::account::await_stack::AwaitFrame;
use crate::account::call::{Call, DIRECT, MARK, PENDING, PollEnd, ProcKey, SITE};
use crate::account::counters::{ProcCounters, Sum};
use crate::account::histogram::add;

impl Ledger {
    /// Starts a poll. Returns its depth on the stack, or `None` if [`DEPTH_LIMIT`] is reached.
    #[inline(always)]
    pub fn poll_start(&self, call: &mut Call, proc: ProcKey, t: u64, start: Start) -> Option<u32> {
        let opened = self.open(call, proc, t, start);
        opened.map(|(depth, _)| depth)
    }

    /// Same as [`Ledger::poll_start`], and also returns whether the call is a branch.
    #[inline(always)]
    pub fn open(
        &self,
        call: &mut Call,
        proc: ProcKey,
        t: u64,
        start: Start,
    ) -> Option<(u32, bool)> {
        let depth = self.depth();
        if depth >= DEPTH_LIMIT {
            return None;
        }
        let writing = self.write();
        let t = self.clamp(t);
        if call.epoch() != self.epoch {
            self.attach(call, proc, t);
        }
        let row = self.rows.at(proc.id);
        row.add(Sum::Polls, 1);
        let is_first = !call.is_polled();
        let mut place = call.enter();
        if place & PENDING != 0 {
            self.retract(call, proc.id);
        }
        let before = self.reuse.load(Relaxed);
        let mut unchanged = before == REUSE_UNCHANGED;
        if start.root || depth == 0 {
            place |= ROOT;
            unchanged = true;
        } else if before == REUSE_NONE {
            place |= self.frames.at(depth as usize - 1).branch(call.suspended);
        }
        let reuse = if is_first {
            row.add(Sum::Started, 1);
            row.add(Sum::Unstarted, t);
            place |= FIRST;
            REUSE_NONE
        } else if place & DIRECT == 0 {
            REUSE_NONE
        } else if unchanged && place & PENDING != 0 {
            place |= UNCHANGED;
            REUSE_UNCHANGED
        } else {
            REUSE_DOWN
        };
        self.push(call, proc.id, row, t, place, &start);
        if is_first {
            self.moved.store(1, Relaxed);
        }
        self.reuse.store(reuse, Relaxed);
        drop(writing);
        Some((depth, place & BRANCH != 0))
    }

    /// Rule R1: a poll registers a call whose creation was not seen.
    #[cold]
    fn attach(&self, call: &mut Call, proc: ProcKey, t: u64) {
        self.anomaly(Anomaly::LateAttach);
        *call = Call::new(self.register(proc, t));
    }

    #[inline(always)]
    fn push(&self, call: &Call, proc: u32, row: &ProcCounters, t: u64, place: u32, start: &Start) {
        let depth = self.depth();
        let frame = self.frames.at(depth as usize);
        let mut place = place;
        if place & ROOT != 0 {
            let base = self.base.load(Relaxed);
            frame.previous_base.store(base, Relaxed);
            self.begin_segment(depth, start.quiet);
        }
        let outer_at = row.outer_at.load(Relaxed);
        if outer_at <= self.base.load(Relaxed) {
            frame.previous_outer.store(outer_at, Relaxed);
            place |= OUTER;
            row.outer_at.store(depth + 1, Relaxed);
        }
        frame.key.store(start.key, Relaxed);
        frame.start.store(t, Relaxed);
        frame.nested.store(0, Relaxed);
        frame.foreign.store(0, Relaxed);
        frame.suspended.store(call.suspended, Relaxed);
        frame.proc.store(proc, Relaxed);
        frame.creator.store(call.creator(), Relaxed);
        frame.place.store(place, Relaxed);
        frame.stack_mark.store(self.await_stack.len(), Relaxed);
        self.depth.store(depth + 1, Relaxed);
    }

    /// Starts a task segment of the stack.
    #[inline]
    fn begin_segment(&self, depth: u32, quiet: bool) {
        self.base.store(depth, Relaxed);
        self.moved.store(0, Relaxed);
        if depth == 0 {
            self.await_stack.truncate(0);
            self.quiet.store(u32::from(quiet), Relaxed);
        }
    }

    /// Retracts a call from the await stack: it ended pending in this very root poll and is now
    /// polled again or dropped.
    #[inline]
    pub(super) fn retract(&self, call: &Call, proc: u32) {
        if self.await_stack.len() > 0 && call.suspended >= self.frames.at(0).start.load(Relaxed) {
            let step = AwaitFrame {
                level: self.depth() - self.base.load(Relaxed),
                proc,
                site: call.site() as u16,
                direct: call.place() & DIRECT != 0,
                since: call.since,
            };
            let floor = self.top().map_or(0, |top| top.stack_mark.load(Relaxed));
            self.await_stack.blank(step, floor);
            self.moved.store(1, Relaxed);
        }
    }

    /// Records that the innermost poll's body reaches an await point. `direct` states that the
    /// operand is an instrumented call. Ignored unless the innermost open poll is one of `proc`.
    #[inline]
    pub fn arrive(&self, proc: u32, site: u32, direct: bool) {
        self.reuse.store(REUSE_NONE, Relaxed);
        let Some(top) = self.top() else { return };
        if top.proc.load(Relaxed) == proc {
            let site = if site <= SITE { site } else { 0 };
            let place = site | (u32::from(direct) * DIRECT);
            // Without `PENDING` the event is a single store; the end of a wait takes several.
            let writing = top.has(PENDING).then(|| self.write());
            self.come(top, place);
            drop(writing);
        }
    }

    /// Records the size of a large future that the body awaits at this await point of `proc`.
    #[cold]
    pub fn awaits(&self, proc: u32, site: u32, bytes: u64) {
        let writing = self.write();
        let site = if site <= SITE { site } else { 0 };
        self.rows.at(proc).site(site).operand(bytes);
        drop(writing);
    }

    /// Moves the call of an open frame to a place and ends the wait that preceded the poll.
    #[inline]
    fn come(&self, frame: &Frame, place: u32) {
        let before = frame.arrive(place);
        if before & PENDING != 0 {
            let row = self.rows.at(frame.proc.load(Relaxed));
            resume(frame, before, row);
        }
        self.moved.store(1, Relaxed);
    }

    /// Ends the poll at `depth`, and first those above it if any were left open (R3).
    ///
    /// Returns what this call's frame was charged, or `None` if no such poll is open (R2).
    #[inline(always)]
    pub fn poll_end(&self, call: &mut Call, depth: u32, t: u64, end: PollEnd) -> Option<Charge> {
        let open = self.depth();
        if depth >= open {
            self.anomaly(Anomaly::OrphanEnd);
            return None;
        }
        let writing = self.write();
        let t = self.clamp(t);
        if open > depth + 1 {
            self.force(depth + 1, t);
        }
        let frame = self.frames.at(depth as usize);
        let row = self.rows.at(frame.proc.load(Relaxed));
        let place = frame.place.load(Relaxed);
        let charge = self.close(frame, place, row, depth, t);
        call.leave(place);
        call.charge(&charge);
        let pending = end == PollEnd::Pending;
        let only = !pending && place & FIRST != 0;
        let recorded = row.record_poll(charge.hold, charge.running, only);
        if pending {
            self.suspend(call, frame, place, row, depth, t);
        } else {
            resume(frame, place, row);
            self.finish(call, row, t, end.outcome(), recorded);
            if place & MARK != 0 {
                self.hand_up(frame);
            }
            self.leave(frame);
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
        place: u32,
        row: &ProcCounters,
        depth: u32,
        t: u64,
    ) {
        if place & (ARRIVED | FIRST) != 0 {
            call.since = t;
        }
        call.suspend(t);
        let site = row.site(place);
        if place & PENDING != 0 {
            let (since, start) = (frame.suspended.load(Relaxed), frame.start.load(Relaxed));
            site.again(since, start, t);
        } else {
            site.suspend(t);
        }
        if place & UNCHANGED == 0 && self.quiet.load(Relaxed) == 0 {
            let base = if place & ROOT != 0 {
                depth
            } else {
                self.frames.at(depth as usize - 1).child_pending();
                self.base.load(Relaxed)
            };
            let proc = frame.proc.load(Relaxed);
            self.await_stack
                .push(depth - base, proc, call.place(), call.since);
        }
    }

    /// Removes the ended call's part of the await stack. If its caller awaited it directly, the
    /// caller's next place is unknown for now.
    #[inline(always)]
    fn leave(&self, frame: &Frame) {
        self.await_stack.truncate(frame.stack_mark.load(Relaxed));
        self.reuse.store(REUSE_NONE, Relaxed);
        self.moved.store(1, Relaxed);
        if let Some(parent) = self.top()
            && parent.has(DIRECT)
        {
            self.come(parent, 0);
        }
    }

    /// Closes the innermost frame and charges it. Returns the frame's key and the charge.
    fn pop(&self, t: u64) -> (u64, Charge) {
        let depth = self.depth() - 1;
        let frame = self.frames.at(depth as usize);
        let row = self.rows.at(frame.proc.load(Relaxed));
        let place = frame.place.load(Relaxed);
        let charge = self.close(frame, place, row, depth, t);
        resume(frame, place, row);
        row.record_poll(charge.hold, charge.running, false);
        (frame.key.load(Relaxed), charge)
    }

    #[inline(always)]
    fn close(&self, frame: &Frame, place: u32, row: &ProcCounters, depth: u32, t: u64) -> Charge {
        let hold = t - frame.start.load(Relaxed);
        let charge = Charge {
            hold,
            running: hold - frame.nested.load(Relaxed),
            inclusive: hold - frame.foreign.load(Relaxed),
        };
        self.depth.store(depth, Relaxed);
        row.charge(&charge, place & OUTER != 0);
        if place & OUTER != 0 {
            let outer_at = frame.previous_outer.load(Relaxed);
            row.outer_at.store(outer_at, Relaxed);
        }
        row.recent(self.tick.load(Relaxed), hold);
        let creator = frame.creator.load(Relaxed);
        if place & ROOT != 0 {
            self.reuse.store(REUSE_NONE, Relaxed);
            self.close_root(frame, row, depth, creator, &charge);
            return charge;
        }
        // The bottom frame is always a root, so this frame has a parent.
        let parent = self.frames.at(depth as usize - 1);
        let reuse = if parent.has(DIRECT) {
            REUSE_UP
        } else {
            REUSE_NONE
        };
        self.reuse.store(reuse, Relaxed);
        add(&parent.nested, hold);
        let caller = parent.proc.load(Relaxed);
        if creator == caller.wrapping_add(1) && charge.inclusive == hold {
            row.edge(caller).polled_own(hold);
        } else {
            row.edge(caller).polled(hold);
            add(&parent.foreign, hold - charge.inclusive);
            credit(row, creator, &charge);
        }
        charge
    }

    fn close_root(
        &self,
        frame: &Frame,
        row: &ProcCounters,
        depth: u32,
        creator: u32,
        charge: &Charge,
    ) {
        self.base.store(frame.previous_base.load(Relaxed), Relaxed);
        credit(row, creator, charge);
        match depth.checked_sub(1) {
            None => add(&self.busy, charge.hold),
            Some(below) => {
                let parent = self.frames.at(below as usize);
                add(&parent.nested, charge.hold);
                add(&parent.foreign, charge.hold);
                self.moved.store(1, Relaxed);
            }
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

/// Ends the wait that preceded the frame's poll, unless that was done before.
#[inline]
fn resume(frame: &Frame, place: u32, row: &ProcCounters) {
    if place & PENDING != 0 {
        let (since, start) = (frame.suspended.load(Relaxed), frame.start.load(Relaxed));
        row.site(place).resume(since, start);
    }
}

/// Adds the inclusive time of a poll to the edge of the proc that created its call.
#[inline]
fn credit(row: &ProcCounters, creator: u32, charge: &Charge) {
    if let Some(creator) = creator.checked_sub(1) {
        row.edge(creator).offspring(charge.inclusive);
    }
}
