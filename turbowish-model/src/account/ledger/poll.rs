//! The start of a poll: the stack of frames, and arrivals at await points.

use core::sync::atomic::Ordering::Relaxed;

use super::frame::{
    BRANCH, COUNTED_BEFORE, FIRST, Frame, OVER, Opened, REPATHED, REUSE_DOWN, REUSE_NONE,
    REUSE_UNCHANGED, ROOT, Start, UNCHANGED,
};
use super::{DEPTH_LIMIT, Ledger};
use crate::account::aggregate::Anomaly;
use crate::account::await_stack::AwaitFrame;
use crate::account::call::{COUNTED, Call, DIRECT, PENDING, ProcKey, SITE};
use crate::account::counters::Word;
use crate::account::paths::PathId;

impl Ledger {
    /// Starts a poll. Returns its depth on the stack, or `None` if [`DEPTH_LIMIT`] is reached.
    #[inline(always)]
    pub fn poll_start(&self, call: &mut Call, proc: ProcKey, t: u64, start: Start) -> Option<u32> {
        let opened = self.open(call, proc, t, start);
        opened.map(|opened| opened.depth)
    }

    /// Same as [`Ledger::poll_start`], and also returns what is new about the call.
    // Mostly it needs no write section: a reader takes the depth first, and looks at no frame above
    // it.
    #[inline(never)]
    pub fn open(&self, call: &mut Call, proc: ProcKey, t: u64, start: Start) -> Option<Opened> {
        let depth = self.depth();
        if depth >= DEPTH_LIMIT {
            return None;
        }
        let t = self.clamp(t);
        if call.epoch() != self.epoch {
            self.attach(call, proc, t);
        }
        let is_first = !call.is_polled();
        let suspended = self.suspended(call, t, &start);
        let mut place = call.enter();
        if place & PENDING != 0 {
            self.retract(call, proc.id, suspended);
        }
        let before = self.reuse.load(Relaxed);
        let is_root = !start.straight && (start.root || depth == 0);
        let unchanged = before == REUSE_UNCHANGED || start.straight || is_root;
        let mut caller = None;
        if is_root {
            place |= ROOT;
        } else if !start.straight {
            place |= OVER;
            let frame = self.frames.at(depth as usize - 1);
            caller = Some(frame);
            if before == REUSE_NONE {
                place |= frame.branch(if is_first { 0 } else { suspended });
            }
        }
        let (mut writing, mut unknown_birth) = (None, false);
        let (path, reuse) = if is_first {
            place |= FIRST;
            let birth = call.keep_birth(t);
            let path = self.enter_path(call, proc.id, caller);
            if birth != self.event() {
                writing = Some(self.write());
                (place, unknown_birth) = self.begin_known(path, birth, place, t);
            }
            self.shown.moved.store(1, Relaxed);
            (path, REUSE_NONE)
        } else {
            let (path, is_new) = self.stay_on_path(call, proc.id, caller, &start);
            let (flag, reuse) = reuse_below(place | is_new, unchanged);
            place |= flag | is_new;
            (path, reuse)
        };
        self.step();
        self.push((path, call.unit()), proc.id, (t, suspended), place, &start);
        if place & REPATHED != 0 {
            call.set_unit(path);
        }
        self.reuse.store(reuse, Relaxed);
        drop(writing);
        Some(Opened {
            depth,
            is_root: place & ROOT != 0,
            is_branch: place & BRANCH != 0,
            unknown_birth,
        })
    }

    /// Rule R1: a poll registers a call whose creation was not seen.
    #[cold]
    fn attach(&self, call: &mut Call, proc: ProcKey, t: u64) {
        let writing = self.write();
        self.anomaly(Anomaly::LateAttach);
        *call = Call::new(self.register(proc, t));
        drop(writing);
    }

    /// Begins the first poll of a call that was not created right before it. Returns the frame's
    /// place, and whether the time of the creation is unknown.
    #[inline(never)]
    fn begin_known(&self, path: PathId, birth: u64, place: u32, t: u64) -> (u32, bool) {
        let row = self.row(path);
        if birth & COUNTED == 0 {
            row.add(Word::UnknownBirths, 1);
            return (place, true);
        }
        row.add(Word::Started, 1);
        row.add(Word::StartedAt, t);
        (place | COUNTED_BEFORE, false)
    }

    #[inline(always)]
    fn push(
        &self,
        (path, unit): (PathId, PathId),
        proc: u32,
        (t, suspended): (u64, u64),
        place: u32,
        start: &Start,
    ) {
        let depth = self.depth();
        let frame = self.frames.at(depth as usize);
        if place & ROOT != 0 {
            self.begin_segment(depth, start.quiet);
        }
        let key = match start.straight {
            true => self.straight.task.load(Relaxed),
            false => start.key,
        };
        frame.key.store(key, Relaxed);
        frame.start.store(t, Relaxed);
        frame.nested.store(0, Relaxed);
        frame.foreign.store(0, Relaxed);
        frame.carry.store(0, Relaxed);
        let before = match place & FIRST {
            0 => suspended,
            _ => self.event(),
        };
        frame.suspended.store(before, Relaxed);
        frame.path.store(path, Relaxed);
        let unit = if place & PENDING != 0 { unit } else { 0 };
        frame.unit.store(unit, Relaxed);
        frame.place.store(place, Relaxed);
        frame.set_proc(proc, self.shown.await_stack.len());
        // Release: a reader that sees the depth also sees the frame.
        self.depth
            .store(depth + 1, core::sync::atomic::Ordering::Release);
    }

    /// When the last poll of a call ended that is polled again at `t`. The operand of an await
    /// knows it from its caller: the two ended as one.
    #[inline(always)]
    fn suspended(&self, call: &Call, t: u64, start: &Start) -> u64 {
        if let Some(suspended) = call.suspended() {
            return suspended;
        }
        if start.straight {
            return self.straight.suspended.load(Relaxed);
        }
        // A caller that does not wait there can only have begun with this poll.
        match self.top() {
            Some(caller) if caller.unit.load(Relaxed) != 0 => caller.suspended.load(Relaxed),
            Some(caller) => caller.start.load(Relaxed),
            None => t,
        }
    }

    /// Starts a task segment of the stack.
    #[inline]
    pub(super) fn begin_segment(&self, depth: u32, quiet: bool) {
        self.base.store(depth, Relaxed);
        self.shown.moved.store(0, Relaxed);
        if depth == 0 {
            self.shown.await_stack.truncate(0);
            self.shown.quiet.store(u32::from(quiet), Relaxed);
        }
    }

    /// Retracts a call from the await stack: it ended pending in this very root poll and is now
    /// polled again or dropped.
    #[inline]
    pub(super) fn retract(&self, call: &Call, proc: u32, suspended: u64) {
        if self.shown.await_stack.len() > 0 && suspended >= self.frames.at(0).start.load(Relaxed) {
            let step = AwaitFrame {
                level: self.level(self.depth()),
                proc,
                site: call.site() as u16,
                direct: call.place() & DIRECT != 0,
                since: call.since,
            };
            let floor = self.top().map_or(0, |top| top.stack_mark());
            self.shown.await_stack.blank(step, floor);
            self.shown.moved.store(1, Relaxed);
        }
    }

    /// Records that the innermost poll's body reaches an await point. `direct` states that the
    /// operand is an instrumented call. Ignored unless the innermost open poll is one of `proc`.
    #[inline]
    pub fn arrive(&self, proc: u32, site: u32, direct: bool) {
        self.reuse.store(REUSE_NONE, Relaxed);
        let Some(top) = self.top() else { return };
        if top.proc() == proc {
            let site = if site <= SITE { site } else { 0 };
            let place = site | (u32::from(direct) * DIRECT);
            // Without a wait the event is a single store; the end of a wait takes several.
            let writing = (top.unit.load(Relaxed) != 0).then(|| self.write());
            self.come(top, place);
            drop(writing);
        }
    }

    /// Records the size of a large future that the body awaits at this await point of `proc`.
    #[cold]
    pub fn awaits(&self, proc: u32, site: u32, bytes: u64) {
        let writing = self.write();
        let site = if site <= SITE { site } else { 0 };
        self.procs.at(proc).site(site).operand(bytes);
        drop(writing);
    }

    /// Moves the call of an open frame to a place and ends the wait that preceded the poll.
    #[inline(always)]
    pub(super) fn come(&self, frame: &Frame, place: u32) {
        let before = frame.arrive(place);
        self.shown.moved.store(1, Relaxed);
        if frame.unit.load(Relaxed) != 0 {
            self.end_wait_out_of_line(frame, before);
        }
    }

    #[inline(never)]
    fn end_wait_out_of_line(&self, frame: &Frame, place: u32) {
        self.end_wait(frame, place);
    }
}

/// Flag of a later poll at `place`, of which all callers are unchanged or not, and whether its
/// clock reading may be used below it.
#[inline(always)]
const fn reuse_below(place: u32, unchanged: bool) -> (u32, u32) {
    if place & DIRECT == 0 {
        (0, REUSE_NONE)
    } else if unchanged && place & PENDING != 0 {
        (UNCHANGED, REUSE_UNCHANGED)
    } else {
        (0, REUSE_DOWN)
    }
}
