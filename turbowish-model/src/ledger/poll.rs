//! A poll from its start to its end: the stack, the charge, and where pending calls stand.

use core::sync::atomic::Ordering::Relaxed;

use super::frame::{
    ARRIVED, Charge, DIRECT, Frame, OUTER, ROOT, STILL_DOWN, STILL_NO, STILL_UP, Start,
};
use super::{DEPTH_LIMIT, Ledger};
use crate::call::{Call, PollEnd};
use crate::histogram::add;
use crate::row::{NOWHERE, Population, Sum};
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
            row.resume(call.proc.sites, call.site, call.suspended, t);
        }
        self.push(call, t, depth, start);
        call.polls = call.polls.saturating_add(1);
        let direct = call.direct && call.polls > 1;
        self.still
            .store(if direct { STILL_DOWN } else { STILL_NO }, Relaxed);
        drop(writing);
        Some(depth)
    }

    #[inline]
    fn push(&self, call: &Call, t: u64, depth: u32, start: Start) {
        let frame = self.frames.at(depth as usize);
        let row = self.rows.at(call.proc.id);
        let root = start.root || depth == 0;
        frame.previous_base.store(self.base.load(Relaxed), Relaxed);
        if root {
            self.base.store(depth, Relaxed);
        }
        let outer_at = row.outer_at.load(Relaxed);
        let outer = outer_at == NOWHERE || outer_at < self.base.load(Relaxed);
        frame.previous_outer.store(outer_at, Relaxed);
        if outer {
            row.outer_at.store(depth, Relaxed);
        }
        frame.key.store(start.key, Relaxed);
        frame.start.store(t, Relaxed);
        frame.nested.store(0, Relaxed);
        frame.foreign.store(0, Relaxed);
        frame.proc.store(call.proc.id, Relaxed);
        frame.creator.store(call.creator, Relaxed);
        frame.site.store(u32::from(call.site), Relaxed);
        let flags =
            u32::from(root) * ROOT + u32::from(outer) * OUTER + u32::from(call.direct) * DIRECT;
        frame.flags.store(flags, Relaxed);
        if depth == 0 {
            self.trail.truncate(0);
        }
        frame.trail_mark.store(self.trail.len(), Relaxed);
        self.depth.store(depth + 1, Relaxed);
    }

    /// The innermost poll's body reaches an await point; `direct` if its operand is an instrumented
    /// call. Ignored unless the innermost open poll is one of `proc`.
    #[inline]
    pub fn arrive(&self, proc: u32, site: u16, direct: bool) {
        self.still.store(STILL_NO, Relaxed);
        let Some(top) = self.top() else { return };
        if top.proc.load(Relaxed) == proc {
            top.site.store(u32::from(site), Relaxed);
            let kept = top.flags.load(Relaxed) & (ROOT | OUTER);
            top.flags
                .store(kept | ARRIVED | (u32::from(direct) * DIRECT), Relaxed);
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
        call.leave(frame.site.load(Relaxed) as u16, frame.has(DIRECT));
        let arrived = frame.has(ARRIVED);
        let charge = self.pop(t);
        call.charge(&charge);
        if end == PollEnd::Pending {
            self.suspend(call, t, arrived);
        } else {
            self.finish(call, t, end.outcome());
        }
        self.trail_end(call, depth, end);
        let still = if end == PollEnd::Pending {
            STILL_UP
        } else {
            STILL_NO
        };
        self.still.store(still, Relaxed);
        drop(writing);
        Some(charge)
    }

    #[inline]
    fn suspend(&self, call: &mut Call, t: u64, arrived: bool) {
        if arrived || call.polls == 1 {
            call.since = t;
        }
        call.suspend(t);
        self.rows
            .at(call.proc.id)
            .suspend(call.proc.sites, call.site, t);
    }

    #[inline]
    fn trail_end(&self, call: &Call, depth: u32, end: PollEnd) {
        let frame = self.frames.at(depth as usize);
        if end == PollEnd::Pending {
            let level = depth - self.segment_of(frame, depth);
            self.trail.push(level, call.proc.id, call.site, call.since);
        } else {
            self.trail.truncate(frame.trail_mark.load(Relaxed));
            // The operand that the parent stood at is done: where it goes next is not known yet.
            if let Some(parent) = self.top()
                && parent.has(DIRECT)
            {
                parent.site.store(0, Relaxed);
                parent.flags.store(
                    parent.flags.load(Relaxed) & (ROOT | OUTER) | ARRIVED,
                    Relaxed,
                );
            }
        }
    }

    fn segment_of(&self, frame: &Frame, depth: u32) -> u32 {
        if frame.has(ROOT) {
            depth
        } else {
            self.base.load(Relaxed)
        }
    }

    /// Closes the innermost frame and charges it.
    #[inline]
    fn pop(&self, t: u64) -> Charge {
        let depth = self.depth() - 1;
        let frame = self.frames.at(depth as usize);
        let proc = frame.proc.load(Relaxed);
        let row = self.rows.at(proc);
        let hold = t - frame.start.load(Relaxed);
        let foreign = frame.foreign.load(Relaxed);
        let root = frame.has(ROOT);
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
        row.add(Sum::Foreign, foreign);
        if frame.has(OUTER) {
            row.outer_at
                .store(frame.previous_outer.load(Relaxed), Relaxed);
            row.add(Sum::Inclusive, charge.inclusive);
        }
        row.record(Population::PollHold, hold);
        row.record(Population::PollRunning, charge.running);
        row.recent(self.tick.load(Relaxed), hold);
        if let Some(creator) = frame.creator.load(Relaxed).checked_sub(1) {
            row.edge(creator).offspring(charge.inclusive);
        }
        match self.top() {
            Some(parent) => {
                add(&parent.nested, hold);
                add(&parent.foreign, if root { hold } else { foreign });
                if !root {
                    row.edge(parent.proc.load(Relaxed)).polled(hold);
                }
            }
            None => add(&self.busy, hold),
        }
        charge
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

    /// What this poll's chain of pending calls was, outermost first; then forgets it.
    pub fn take_trail(&self, each: impl FnMut(crate::trail::Step)) {
        let closed = self.frames.at(self.depth() as usize);
        self.trail.take(closed.trail_mark.load(Relaxed), each);
    }
}
