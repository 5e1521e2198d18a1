//! A poll from its start to its end: the stack, the charge, and where pending calls stand.

use core::sync::atomic::Ordering::Relaxed;

use super::frame::{
    ARRIVED, Charge, DIRECT, Frame, OUTER, ROOT, STILL_DOWN, STILL_NO, STILL_UP, Start,
};
use super::{DEPTH_LIMIT, Ledger};
use crate::call::{Call, PollEnd};
use crate::histogram::add;
use crate::row::{NOWHERE, Row, Sum};
use crate::tally::Anomaly;

impl Ledger {
    /// A poll begins. Returns its depth on the stack, or `None` beyond [`DEPTH_LIMIT`].
    #[inline]
    pub fn poll_start(&self, call: &mut Call, t: u64, start: Start) -> Option<u32> {
        let depth = self.depth();
        if depth >= DEPTH_LIMIT {
            return None;
        }
        let writing = self.write();
        let t = self.clamp(t);
        if call.epoch != self.epoch {
            self.anomaly(Anomaly::LateAttach);
            self.register(call, t);
        }
        let row = self.rows.at(call.proc.id);
        row.add(Sum::Polls, 1);
        if call.polls == 0 {
            row.add(Sum::Started, 1);
            row.add(Sum::Unstarted, t);
        } else if call.is_suspended() {
            self.untrail(call);
            row.resume(call.site, call.suspended, t);
        }
        self.push(call, row, t, depth, start);
        if call.polls == 0 {
            self.moved.store(1, Relaxed);
        }
        let still = if call.is_direct() && call.polls > 0 {
            STILL_DOWN
        } else {
            STILL_NO
        };
        self.still.store(still, Relaxed);
        call.polls = call.polls.saturating_add(1);
        drop(writing);
        Some(depth)
    }

    #[inline]
    fn push(&self, call: &Call, row: &Row, t: u64, depth: u32, start: Start) {
        let frame = self.frames.at(depth as usize);
        let mut base = self.base.load(Relaxed);
        let mut flags = u32::from(call.is_direct()) * DIRECT;
        frame.previous_base.store(base, Relaxed);
        if start.root || depth == 0 {
            base = depth;
            flags |= ROOT;
            self.begin_segment(depth);
        }
        let outer_at = row.outer_at.load(Relaxed);
        frame.previous_outer.store(outer_at, Relaxed);
        if outer_at == NOWHERE || outer_at < base {
            flags |= OUTER;
            row.outer_at.store(depth, Relaxed);
        }
        frame.key.store(start.key, Relaxed);
        frame.start.store(t, Relaxed);
        frame.nested.store(0, Relaxed);
        frame.foreign.store(0, Relaxed);
        frame.proc.store(call.proc.id, Relaxed);
        frame.creator.store(call.creator, Relaxed);
        frame.site.store(call.site, Relaxed);
        frame.flags.store(flags, Relaxed);
        frame.trail_mark.store(self.trail.len(), Relaxed);
        self.depth.store(depth + 1, Relaxed);
    }

    /// A task's own part of the stack begins here.
    #[inline]
    fn begin_segment(&self, depth: u32) {
        self.base.store(depth, Relaxed);
        self.moved.store(0, Relaxed);
        if depth == 0 {
            self.trail.truncate(0);
            let next = self.root_poll.load(Relaxed).wrapping_add(1);
            self.root_poll.store(next, Relaxed);
        }
    }

    /// A call that ended pending in this very root poll is polled again or dropped: it no longer stands
    /// where the trail says.
    #[inline]
    pub(super) fn untrail(&self, call: &Call) {
        let (root_poll, step) = call.trail;
        if root_poll == self.root_poll.load(Relaxed) {
            self.trail.blank(step);
            self.moved.store(1, Relaxed);
        }
    }

    /// The innermost poll's body reaches an await point; `direct` if its operand is an instrumented
    /// call. Ignored unless the innermost open poll is one of `proc`.
    #[inline]
    pub fn arrive(&self, proc: u32, site: u32, direct: bool) {
        self.still.store(STILL_NO, Relaxed);
        let Some(top) = self.top() else { return };
        if top.proc.load(Relaxed) == proc {
            top.site.store(site, Relaxed);
            top.arrive(u32::from(direct) * DIRECT);
            self.moved.store(1, Relaxed);
        }
    }

    /// Ends the poll at `depth`, with those above it if any were left open (R3).
    ///
    /// Returns what this call's frame was charged, or `None` if no such poll is open (R2).
    #[inline]
    pub fn poll_end(&self, call: &mut Call, depth: u32, t: u64, end: PollEnd) -> Option<Charge> {
        if depth >= self.depth() {
            self.anomaly(Anomaly::OrphanEnd);
            return None;
        }
        let writing = self.write();
        let t = self.clamp(t);
        while self.depth() > depth + 1 {
            self.anomaly(Anomaly::ForcedPop);
            self.pop(t);
        }
        let frame = self.frames.at(depth as usize);
        let row = self.rows.at(call.proc.id);
        call.leave(frame.site.load(Relaxed), frame.has(DIRECT));
        let charge = self.close(frame, row, depth, t);
        call.charge(&charge);
        if end == PollEnd::Pending {
            row.record_poll(charge.hold, charge.running, false);
            self.suspend(call, frame, row, depth, t);
        } else {
            let recorded = row.record_poll(charge.hold, charge.running, call.polls == 1);
            self.finish(call, row, t, end.outcome(), recorded);
            self.leave(frame);
        }
        drop(writing);
        Some(charge)
    }

    #[inline]
    fn suspend(&self, call: &mut Call, frame: &Frame, row: &Row, depth: u32, t: u64) {
        if frame.has(ARRIVED) || call.polls == 1 {
            call.since = t;
        }
        call.suspend(t);
        row.suspend(call.site, t);
        let base = if frame.has(ROOT) {
            depth
        } else {
            self.base.load(Relaxed)
        };
        let step = self
            .trail
            .push(depth - base, call.proc.id, call.site, call.since);
        call.trail = (self.root_poll.load(Relaxed), step);
        self.still.store(STILL_UP, Relaxed);
    }

    /// The call of a closed frame is over: its branch of the trail is gone, and where the parent
    /// goes next is not known yet if this call was what it stood at.
    #[inline]
    fn leave(&self, frame: &Frame) {
        self.trail.truncate(frame.trail_mark.load(Relaxed));
        self.still.store(STILL_NO, Relaxed);
        self.moved.store(1, Relaxed);
        if let Some(parent) = self.top()
            && parent.has(DIRECT)
        {
            parent.site.store(0, Relaxed);
            parent.arrive(0);
        }
    }

    /// Closes the innermost frame and charges it.
    fn pop(&self, t: u64) -> Charge {
        let depth = self.depth() - 1;
        let frame = self.frames.at(depth as usize);
        let row = self.rows.at(frame.proc.load(Relaxed));
        let charge = self.close(frame, row, depth, t);
        row.record_poll(charge.hold, charge.running, false);
        charge
    }

    #[inline]
    fn close(&self, frame: &Frame, row: &Row, depth: u32, t: u64) -> Charge {
        let hold = t - frame.start.load(Relaxed);
        let foreign = frame.foreign.load(Relaxed);
        let charge = Charge {
            key: frame.key.load(Relaxed),
            hold,
            running: hold - frame.nested.load(Relaxed),
            inclusive: hold - foreign,
        };
        self.depth.store(depth, Relaxed);
        self.base.store(frame.previous_base.load(Relaxed), Relaxed);
        row.add(Sum::Hold, hold);
        row.add(Sum::Running, charge.running);
        if foreign > 0 {
            row.add(Sum::Foreign, foreign);
        }
        if frame.has(OUTER) {
            row.outer_at
                .store(frame.previous_outer.load(Relaxed), Relaxed);
            row.add(Sum::Inclusive, charge.inclusive);
        }
        row.recent(self.tick.load(Relaxed), hold);
        self.charge_edges(frame, row, depth, &charge);
        charge
    }

    /// What the frames below and the creator have to do with a closed frame.
    #[inline]
    fn charge_edges(&self, frame: &Frame, row: &Row, depth: u32, charge: &Charge) {
        let creator = frame.creator.load(Relaxed).checked_sub(1);
        let Some(below) = depth.checked_sub(1) else {
            add(&self.busy, charge.hold);
            if let Some(creator) = creator {
                row.edge(creator).offspring(charge.inclusive);
            }
            return;
        };
        let parent = self.frames.at(below as usize);
        add(&parent.nested, charge.hold);
        if frame.has(ROOT) {
            add(&parent.foreign, charge.hold);
            self.moved.store(1, Relaxed);
        } else {
            let foreign = charge.hold - charge.inclusive;
            if foreign > 0 {
                add(&parent.foreign, foreign);
            }
            let caller = parent.proc.load(Relaxed);
            let edge = row.edge(caller);
            edge.polled(charge.hold);
            if creator == Some(caller) {
                edge.offspring(charge.inclusive);
                return;
            }
        }
        if let Some(creator) = creator {
            row.edge(creator).offspring(charge.inclusive);
        }
    }

    /// Ends the innermost open poll that was started under `key` (replay: events name their call).
    ///
    /// Frames above it are closed first and handed to `forced`. `None` if no such poll is open.
    pub fn poll_end_of(
        &self,
        call: &mut Call,
        key: u64,
        t: u64,
        end: PollEnd,
        mut forced: impl FnMut(Charge),
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
            forced(self.pop(t));
            drop(writing);
        }
        self.poll_end(call, at, t, end)
    }

    /// What this root poll's chain of pending calls was, outermost first; then forgets it.
    ///
    /// Returns `false`, and hands out nothing, if no call of the task came anywhere new in this poll.
    #[inline]
    pub fn take_trail(&self, each: impl FnMut(crate::trail::Step)) -> bool {
        let closed = self.frames.at(self.depth() as usize);
        let mark = closed.trail_mark.load(Relaxed);
        let moved = self.moved.load(Relaxed) != 0;
        if moved {
            self.trail.take(mark, each);
        } else {
            self.trail.truncate(mark);
        }
        moved
    }
}
