//! The thread's own account: the stack of open polls and the rows they are charged to.
//!
//! One thread writes a ledger, any thread may read it at any time. The writer uses plain stores
//! (relaxed atomics, no locked instruction) inside a sequence counter; a reader that sees the counter
//! move reads again. Nothing is queued, so nothing can be lost.
//!
//! The rules are those of the occupancy definitions: a frame charges its duration minus what was
//! directly nested in it; frames above a root frame are foreign to those below; a proc that is
//! already on its task's stack adds nothing to its inclusive time.

use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use crate::call::{Call, Outcome, PollEnd};
use crate::grow::Grow;
use crate::histogram::add;
use crate::row::{NOWHERE, Population, Rows, Sum};
use crate::tally::{ANOMALIES, Anomaly};
use crate::trail::Trail;

/// Polls nested deeper than this on one thread pass unaccounted.
pub const DEPTH_LIMIT: u32 = Grow::<Frame>::LIMIT as u32;

/// An open poll.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) key: AtomicU64,
    pub(crate) start: AtomicU64,
    pub(crate) nested: AtomicU64,
    pub(crate) foreign: AtomicU64,
    pub(crate) proc: AtomicU32,
    /// Proc that created the call, plus one; 0 if none.
    pub(crate) creator: AtomicU32,
    /// Await point last reached, plus one; 0 if unknown.
    pub(crate) site: AtomicU32,
    pub(crate) flags: AtomicU32,
    /// What `Row::outer_at` held before this frame.
    previous_outer: AtomicU32,
    /// Where the task segment below this root frame began.
    previous_base: AtomicU32,
    /// Length of the trail when this frame was opened.
    trail_mark: AtomicU32,
}

/// The frame is the top of a task.
pub(crate) const ROOT: u32 = 1;
/// The proc was not yet on its task's stack.
pub(crate) const OUTER: u32 = 2;
/// The call stands at an await point whose operand is an instrumented call itself.
const DIRECT: u32 = 4;
/// The await point was reached in this poll.
const ARRIVED: u32 = 8;

impl Frame {
    fn has(&self, flag: u32) -> bool {
        self.flags.load(Relaxed) & flag != 0
    }
}

/// No user code can have run since the last reading of the clock: going down the chain of awaits
/// (after the start of a poll), or back up (after one that ended pending).
const STILL_NO: u32 = 0;
const STILL_DOWN: u32 = 1;
const STILL_UP: u32 = 2;

/// How a poll begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// The poll is marked as the root of a task, also inside another poll.
    pub root: bool,
    /// Names the call in [`Ledger::poll_end_of`]; the live process needs none.
    pub key: u64,
}

/// What one closed frame was charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// The key given at the start.
    pub key: u64,
    /// Duration.
    pub hold: u64,
    /// Exclusive time.
    pub running: u64,
    /// Duration without foreign time.
    pub inclusive: u64,
}

impl Charge {
    /// Adds another poll's charge.
    pub(crate) const fn add(&mut self, other: &Self) {
        self.hold += other.hold;
        self.running += other.running;
        self.inclusive += other.inclusive;
    }
}

/// One thread's account. See the module's text for who may call what.
pub struct Ledger {
    epoch: u32,
    sequence: AtomicU64,
    last: AtomicU64,
    busy: AtomicU64,
    depth: AtomicU32,
    base: AtomicU32,
    still: AtomicU32,
    tick: AtomicU32,
    pub(crate) frames: Grow<Frame>,
    pub(crate) rows: Rows,
    trail: Trail,
    anomalies: [AtomicU64; ANOMALIES],
}

impl Ledger {
    /// An empty ledger. Calls that were registered under another epoch are new to it.
    #[must_use]
    pub const fn new(epoch: u32) -> Self {
        Self {
            epoch,
            sequence: AtomicU64::new(0),
            last: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            depth: AtomicU32::new(0),
            base: AtomicU32::new(0),
            still: AtomicU32::new(STILL_NO),
            tick: AtomicU32::new(1),
            frames: Grow::new(),
            rows: Rows::new(),
            trail: Trail::new(),
            anomalies: [const { AtomicU64::new(0) }; ANOMALIES],
        }
    }

    /// The stretch of armed accounting to which this ledger belongs.
    #[must_use]
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// How many polls are open.
    #[inline]
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth.load(Relaxed)
    }

    /// Polls of the thread that were open at its bottom and are closed: its busy time.
    #[must_use]
    pub fn busy(&self) -> u64 {
        self.busy.load(Relaxed)
    }

    /// The reading to reuse at the start of a poll, if no user code can have run since.
    #[inline]
    #[must_use]
    pub fn still_down(&self) -> Option<u64> {
        (self.still.load(Relaxed) == STILL_DOWN).then(|| self.last.load(Relaxed))
    }

    /// The reading to reuse at the pending end of the innermost poll, if no user code can have run.
    #[inline]
    #[must_use]
    pub fn still_up(&self) -> Option<u64> {
        let direct =
            self.still.load(Relaxed) == STILL_UP && self.top().is_some_and(|top| top.has(DIRECT));
        direct.then(|| self.last.load(Relaxed))
    }

    #[inline]
    fn write(&self) -> Writing<'_> {
        let begun = self.sequence.load(Relaxed).wrapping_add(1);
        self.sequence.store(begun, Relaxed);
        fence(Release);
        Writing {
            ledger: self,
            begun,
        }
    }

    fn anomaly(&self, kind: Anomaly) {
        add(&self.anomalies[kind as usize], 1);
    }

    /// Rule R5: a thread's time never goes back.
    #[inline]
    fn clamp(&self, t: u64) -> u64 {
        let last = self.last.load(Relaxed);
        if t < last {
            self.anomaly(Anomaly::ClockBackwards);
            return last;
        }
        self.last.store(t, Relaxed);
        t
    }

    /// A call was constructed.
    #[inline]
    pub fn create(&self, call: &mut Call, t: u64) {
        let writing = self.write();
        let t = self.clamp(t);
        self.register(call, t);
        drop(writing);
    }

    fn register(&self, call: &mut Call, t: u64) {
        call.register(self.epoch);
        let row = self.rows.at(call.proc.id);
        row.add(Sum::Calls, 1);
        row.add(Sum::Wall, t.wrapping_neg());
        row.add(Sum::Unstarted, t.wrapping_neg());
        row.future_bytes(u64::from(call.proc.future_bytes));
        if let Some(top) = self.top() {
            let creator = top.proc.load(Relaxed);
            call.creator = creator.wrapping_add(1);
            row.edge(creator).created();
        }
    }

    fn top(&self) -> Option<&Frame> {
        let depth = self.depth();
        (depth > 0).then(|| self.frames.at(depth as usize - 1))
    }

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

    #[inline]
    fn finish(&self, call: &mut Call, t: u64, outcome: Outcome) {
        let row = self.rows.at(call.proc.id);
        row.add(Sum::Wall, t);
        match outcome {
            Outcome::Ready => row.add(Sum::Ready, 1),
            Outcome::Err => {
                row.add(Sum::Ready, 1);
                row.add(Sum::Err, 1);
            }
            Outcome::Cancelled => row.add(Sum::Cancelled, 1),
            Outcome::Panicked => row.add(Sum::Panicked, 1),
        }
        if call.polls == 0 {
            row.add(Sum::NeverPolled, 1);
            row.add(Sum::Started, 1);
            row.add(Sum::Unstarted, t);
        } else {
            row.add(Sum::CallRunning, call.running);
            row.add(Sum::CallInclusive, call.inclusive);
            row.record(Population::CallRunning, call.running);
            row.record(Population::CallInclusive, call.inclusive);
        }
        call.end();
    }

    /// A call is dropped. Ignored if it ended before, or was never registered with this epoch.
    #[inline]
    pub fn drop_call(&self, call: &mut Call, t: u64) {
        if !call.is_live(self.epoch) {
            return;
        }
        let writing = self.write();
        let t = self.clamp(t);
        if call.is_suspended() {
            let row = self.rows.at(call.proc.id);
            row.resume(call.proc.sites, call.site, call.suspended, t);
            row.cancel(call.proc.sites, call.site);
        }
        self.finish(call, t, Outcome::Cancelled);
        drop(writing);
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

    /// Begins the reader's next tick: [`crate::tally::ProcTally::recent_longest`] forgets the one before last.
    pub fn next_tick(&self) {
        self.tick
            .store(self.tick.load(Relaxed).wrapping_add(1), Relaxed);
    }

    pub(crate) fn tick(&self) -> u32 {
        self.tick.load(Relaxed)
    }

    pub(crate) fn count(&self, kind: usize) -> u64 {
        self.anomalies[kind].load(Relaxed)
    }

    /// Reads with `attempt` until no write fell into the reading, at most `tries` times.
    pub(crate) fn consistent<R>(&self, tries: u32, mut attempt: impl FnMut() -> R) -> R {
        let mut result;
        let mut left = tries;
        loop {
            let before = self.sequence.load(Acquire);
            result = attempt();
            fence(Acquire);
            let clean = before & 1 == 0 && self.sequence.load(Relaxed) == before;
            left = left.saturating_sub(1);
            if clean || left == 0 {
                return result;
            }
            core::hint::spin_loop();
        }
    }
}

/// A write section; its end lets readers trust what they saw.
struct Writing<'a> {
    ledger: &'a Ledger,
    begun: u64,
}

impl Drop for Writing<'_> {
    #[inline]
    fn drop(&mut self) {
        self.ledger
            .sequence
            .store(self.begun.wrapping_add(1), Release);
    }
}
