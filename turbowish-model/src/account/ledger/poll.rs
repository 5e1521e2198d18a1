//! A poll from start to end: the stack of frames, the charge, and the await points of pending
//! calls.

use core::sync::atomic::Ordering::Relaxed;

use super::frame::{
    ARRIVED, BRANCH, COUNTED_BEFORE, Charge, FIRST, Frame, LINKED, OVER, Opened, REPATHED,
    REUSE_DOWN, REUSE_NONE, REUSE_UNCHANGED, REUSE_UP, ROOT, Start, UNCHANGED,
};
use super::{DEPTH_LIMIT, Ledger};
use crate::account::aggregate::Anomaly;
use crate::account::await_stack::AwaitFrame;
use crate::account::call::{COUNTED, Call, DIRECT, MARK, Outcome, PENDING, PollEnd, ProcKey, SITE};
use crate::account::counters::{ALONE, PathCounters, SPANS, Shared, Word};
use crate::account::histogram::add;
use crate::account::paths::{PathKey, PathKind};

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
    #[inline(always)]
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
        let mut place = call.enter();
        if place & PENDING != 0 {
            self.retract(call, proc.id);
        }
        let before = self.reuse.load(Relaxed);
        let mut unchanged = before == REUSE_UNCHANGED;
        let mut caller = None;
        if start.straight {
            unchanged = true;
        } else if start.root || depth == 0 {
            place |= ROOT;
            unchanged = true;
        } else {
            place |= OVER;
            let frame = self.frames.at(depth as usize - 1);
            caller = Some(frame);
            if before == REUSE_NONE {
                place |= frame.branch(if is_first { 0 } else { call.suspended });
            }
        }
        let (mut writing, mut unknown_birth) = (None, false);
        let reuse = if is_first {
            place |= FIRST;
            self.enter_path(call, proc.id, caller);
            if call.suspended != self.event() {
                writing = Some(self.write());
                (place, unknown_birth) = self.begin_known(call, place, t);
            }
            self.moved.store(1, Relaxed);
            REUSE_NONE
        } else {
            if !start.straight {
                place |= self.stay_on_path(call, proc.id, caller);
            }
            if place & DIRECT == 0 {
                REUSE_NONE
            } else if unchanged && place & PENDING != 0 {
                place |= UNCHANGED;
                REUSE_UNCHANGED
            } else {
                REUSE_DOWN
            }
        };
        self.step();
        self.push(call, proc.id, t, place, &start);
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
    fn begin_known(&self, call: &Call, place: u32, t: u64) -> (u32, bool) {
        let row = self.row(call.path);
        if call.suspended != COUNTED {
            row.add(Word::UnknownBirths, 1);
            return (place, true);
        }
        row.add(Word::Started, 1);
        row.add(Word::StartedAt, t);
        (place | COUNTED_BEFORE, false)
    }

    /// Gives a call in its first poll its path.
    #[inline(always)]
    fn enter_path(&self, call: &mut Call, proc: u32, caller: Option<&Frame>) {
        let creator = core::mem::take(&mut call.unit);
        let Some(caller) = caller else {
            call.path = self.path_of_root(proc, self.proc_on(creator));
            return;
        };
        let (place, above) = (caller.place.load(Relaxed), caller.path.load(Relaxed));
        let (mut kind, mut site) = (PathKind::Inner, 0);
        if place & DIRECT != 0 {
            call.fuse();
            (kind, site) = (PathKind::Direct, place & SITE);
        }
        let known = (creator == above)
            .then(|| self.paths.intern(PathKey::new(above, proc, site, kind)))
            .flatten();
        call.path = match known {
            Some(path) => path,
            None => self.path_below(caller, proc, self.proc_on(creator), site, kind),
        };
    }

    /// The path of a task's root that was created by a call of `maker`.
    pub(super) fn path_of_root(&self, proc: u32, maker: Option<u32>) -> u32 {
        let root = crate::account::paths::Paths::root(proc);
        let Some(maker) = maker else { return root };
        let creator = self
            .paths
            .intern(PathKey::new(0, maker, 0, PathKind::Creator));
        let path = creator.and_then(|creator| {
            let key = PathKey::new(creator, proc, 0, PathKind::Root);
            self.paths.intern(key)
        });
        path.unwrap_or(root)
    }

    /// The path of a call that `caller` polls.
    #[inline(never)]
    fn path_below(
        &self,
        caller: &Frame,
        proc: u32,
        maker: Option<u32>,
        site: u32,
        kind: PathKind,
    ) -> u32 {
        let above = caller.path.load(Relaxed);
        let polled_by = self.paths.key(above).proc();
        let parent = if maker == Some(polled_by) {
            Some(above)
        } else {
            self.creator_below(above, maker)
        };
        let path = parent.and_then(|parent| {
            let key = PathKey::new(parent, proc, site, kind);
            self.paths.intern(key)
        });
        path.unwrap_or_else(|| self.path_without_entry(proc))
    }

    fn creator_below(&self, above: u32, maker: Option<u32>) -> Option<u32> {
        let maker = maker.unwrap_or(crate::account::paths::NOBODY);
        self.paths
            .intern(PathKey::new(above, maker, 0, PathKind::Creator))
    }

    #[cold]
    fn path_without_entry(&self, proc: u32) -> u32 {
        let segment = self.base.load(Relaxed)..self.depth();
        let mut paths = segment.map(|depth| self.frames.at(depth as usize).path.load(Relaxed));
        let again = paths.any(|path| self.paths.has(path, proc));
        self.paths.without_entry(proc, again)
    }

    /// Finds the path of a call that was polled before. Returns [`REPATHED`] if another call polls
    /// it now, otherwise 0.
    #[inline]
    fn stay_on_path(&self, call: &mut Call, proc: u32, caller: Option<&Frame>) -> u32 {
        let above = caller.map_or(0, |caller| caller.path.load(Relaxed));
        if self.paths.key(call.path).parent() == above {
            return 0;
        }
        self.change_path(call, proc, caller, above)
    }

    #[inline(never)]
    fn change_path(&self, call: &mut Call, proc: u32, caller: Option<&Frame>, above: u32) -> u32 {
        let path = call.path;
        let key = self.paths.key(path);
        if self.paths.caller(path) == above && key.is(PathKind::Root) == caller.is_none() {
            return 0;
        }
        let maker = self.paths.creator(path);
        call.path = match caller {
            None => self.path_of_root(proc, maker),
            Some(caller) if key.is(PathKind::Direct) => {
                self.path_below(caller, proc, maker, key.site(), PathKind::Direct)
            }
            Some(caller) => self.path_below(caller, proc, maker, 0, PathKind::Inner),
        };
        if call.path == path { 0 } else { REPATHED }
    }

    #[inline(always)]
    fn push(&self, call: &Call, proc: u32, t: u64, place: u32, start: &Start) {
        let depth = self.depth();
        let frame = self.frames.at(depth as usize);
        if place & ROOT != 0 {
            self.begin_segment(depth, start.quiet);
        }
        let key = match start.straight {
            true => self.straight_task.load(Relaxed),
            false => start.key,
        };
        frame.key.store(key, Relaxed);
        frame.start.store(t, Relaxed);
        frame.nested.store(0, Relaxed);
        frame.foreign.store(0, Relaxed);
        frame.carry.store(0, Relaxed);
        frame
            .suspended
            .store(self.suspended(call, depth, place), Relaxed);
        frame.path.store(call.path, Relaxed);
        let unit = if place & PENDING != 0 { call.unit } else { 0 };
        frame.unit.store(unit, Relaxed);
        frame.place.store(place, Relaxed);
        frame.set_proc(proc, self.await_stack.len());
        // Release: a reader that sees the depth also sees the frame.
        self.depth
            .store(depth + 1, core::sync::atomic::Ordering::Release);
    }

    /// When the last poll of a call ended. A call that had nothing to do in that poll knows it from
    /// its caller: the two ended as one.
    #[inline(always)]
    fn suspended(&self, call: &Call, depth: u32, place: u32) -> u64 {
        if place & OVER != 0 && call.is_fused() {
            let caller = self.frames.at(depth as usize - 1);
            if caller.unit.load(Relaxed) != 0 {
                return caller.suspended.load(Relaxed);
            }
        }
        call.suspended
    }

    /// Starts a task segment of the stack.
    #[inline]
    pub(super) fn begin_segment(&self, depth: u32, quiet: bool) {
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
                level: self.level(self.depth()),
                proc,
                site: call.site() as u16,
                direct: call.place() & DIRECT != 0,
                since: call.since,
            };
            let floor = self.top().map_or(0, |top| top.stack_mark());
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
    #[inline]
    pub(super) fn come(&self, frame: &Frame, place: u32) {
        let before = frame.arrive(place);
        self.end_wait(frame, before);
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
        self.step();
        if open > depth + 1 {
            self.force(depth + 1, t);
        }
        let frame = self.frames.at(depth as usize);
        let place = frame.place.load(Relaxed);
        let passes = place & (DIRECT | LINKED | MARK) == DIRECT | LINKED
            && self.reuse.load(Relaxed) == REUSE_UP;
        let charge = self.close(frame, place, depth, t, end == PollEnd::Pending);
        call.leave(place);
        call.charge(&charge);
        call.inclusive = call.inclusive.wrapping_add(frame.carry.load(Relaxed));
        call.set_passes(passes);
        if end == PollEnd::Pending {
            self.suspend(call, frame, place, &charge, depth, t);
        } else {
            self.end_call(call, frame, place, &charge, t, end.outcome());
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
        charge: &Charge,
        depth: u32,
        t: u64,
    ) {
        if place & (ARRIVED | FIRST) != 0 {
            call.since = t;
        }
        if place & OVER != 0 && call.is_fused() {
            self.tell(call, charge, depth);
        }
        if place & (FIRST | COUNTED_BEFORE) == FIRST {
            return self.suspend_first(call, frame, place, charge, depth, t);
        }
        let waited_at = frame.unit.load(Relaxed);
        let stays = waited_at != 0 && place & (ARRIVED | REPATHED) == 0;
        let unit = if stays {
            waited_at
        } else {
            self.unit(frame, place)
        };
        let row = self.row(unit);
        if stays {
            let (since, start) = (frame.suspended.load(Relaxed), frame.start.load(Relaxed));
            row.add(wait(place), start.wrapping_sub(t));
            row.raise(longest_wait(place), start.saturating_sub(since));
        } else {
            self.end_wait(frame, place);
            row.subtract(wait(place), t);
            row.add(open(place), 1);
        }
        call.suspend(t);
        call.unit = unit;
        if place & OVER != 0 {
            row.longest(&ALONE, self.tick.load(Relaxed), charge.hold);
            row.add(Word::Waits, 1);
            record_alone(row, charge);
        } else {
            row.longest(&SPANS, self.tick.load(Relaxed), charge.hold);
            record_span(row, charge);
        }
        if place & UNCHANGED == 0 && self.quiet.load(Relaxed) == 0 {
            self.push_pending(call, frame, place, depth);
        }
    }

    /// Tells the caller of a call, which polled it, that the call is pending. The caller knows its
    /// inclusive time up to here.
    #[inline(always)]
    fn tell(&self, call: &mut Call, charge: &Charge, depth: u32) {
        call.told = call.told.wrapping_add(charge.inclusive);
        let caller = self.frames.at(depth as usize - 1);
        let place = caller.place.load(Relaxed);
        if self.paths.caller(call.path) == caller.path.load(Relaxed) {
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
        row.longest(&ALONE, self.tick.load(Relaxed), charge.hold);
        record_nested(row, charge);
        row.record_poll(charge, Shared::Leaf, Shared::Nested);
        call.suspend(t);
        call.unit = unit;
        if self.quiet.load(Relaxed) == 0 {
            self.push_pending(call, frame, place, depth);
        }
    }

    /// The path of the await point at which the call stands.
    #[inline]
    pub(super) fn unit(&self, frame: &Frame, place: u32) -> u32 {
        let path = frame.path.load(Relaxed);
        let proc = self.paths.key(path).proc();
        let key = PathKey::new(path, proc, place & SITE, PathKind::Wait);
        // Without an entry the waits of the call's path are counted as those at no known place.
        self.paths.intern(key).unwrap_or(path)
    }

    /// Adds a pending call to the await stack.
    #[inline(always)]
    fn push_pending(&self, call: &Call, frame: &Frame, place: u32, depth: u32) {
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
        self.await_stack.push(level, proc, call.place(), call.since);
    }

    /// Ends a call with its poll.
    #[inline(always)]
    fn end_call(
        &self,
        call: &mut Call,
        frame: &Frame,
        place: u32,
        charge: &Charge,
        t: u64,
        outcome: Outcome,
    ) {
        self.end_wait(frame, place);
        let row = self.row(frame.path.load(Relaxed));
        row.longest(&ALONE, self.tick.load(Relaxed), charge.hold);
        if place & FIRST != 0 {
            self.end_only(call, row, place, charge, t, outcome);
        } else if outcome == Outcome::Ready {
            row.add(Word::LastPolls, 1);
            row.add(Word::LastHold, charge.hold);
            row.add(Word::LastEnds, t);
            record_nested(row, charge);
            row.record_poll(charge, Shared::Leaf, Shared::Nested);
            row.charge_call(call.running, call.inclusive);
            call.end();
        } else {
            record_alone(row, charge);
            self.finish(call, row, t, outcome);
        }
        if place & MARK != 0 {
            self.hand_up(frame);
        }
        if place & (ROOT | OVER) == 0 {
            self.turn(call, frame, charge);
            return;
        }
        self.leave(frame);
        if place & OVER != 0 && call.is_fused() {
            let untold = call.inclusive.wrapping_sub(call.told);
            if let Some(caller) = self.top().filter(|_| untold != charge.inclusive) {
                add(&caller.carry, untold.wrapping_sub(charge.inclusive));
            }
        }
    }

    /// Makes the frame of an ended call that of its caller, which goes on: it had nothing to do in
    /// this poll until now.
    #[inline(never)]
    fn turn(&self, call: &Call, frame: &Frame, charge: &Charge) {
        let path = self.paths.caller(call.path);
        let key = self.paths.key(path);
        let mut place = ARRIVED;
        if key.is(PathKind::Root) {
            place |= ROOT | self.root_marks.load(Relaxed);
        }
        frame.path.store(path, Relaxed);
        frame.set_proc(key.proc(), frame.stack_mark());
        frame.place.store(place, Relaxed);
        frame.nested.store(charge.hold, Relaxed);
        frame.foreign.store(charge.hold - charge.inclusive, Relaxed);
        let untold = call.inclusive.wrapping_sub(call.told);
        frame
            .carry
            .store(untold.wrapping_sub(charge.inclusive), Relaxed);
        self.await_stack.truncate(frame.stack_mark());
        self.reuse.store(REUSE_NONE, Relaxed);
        self.moved.store(1, Relaxed);
        self.depth.store(self.depth() + 1, Relaxed);
    }

    /// Ends a call with its first poll.
    #[inline(always)]
    fn end_only(
        &self,
        call: &mut Call,
        row: &PathCounters,
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
        self.end_first(call, row, place, charge, t, outcome);
    }

    #[inline(never)]
    fn end_first(
        &self,
        call: &mut Call,
        row: &PathCounters,
        place: u32,
        charge: &Charge,
        t: u64,
        outcome: Outcome,
    ) {
        row.add(Word::Immediate, 1);
        self.count(row, place, t - charge.hold);
        record_alone(row, charge);
        self.finish(call, row, t, outcome);
    }

    /// Counts a call in its first poll, which began at `t`, if it was not counted before.
    #[inline]
    fn count(&self, row: &PathCounters, place: u32, t: u64) {
        if place & (FIRST | COUNTED_BEFORE) == FIRST {
            row.add(Word::Counted, 1);
            row.add(Word::CountedAt, t);
        }
    }

    /// Ends a call that was polled.
    #[inline(always)]
    fn finish(&self, call: &mut Call, row: &PathCounters, t: u64, outcome: Outcome) {
        row.charge_call(call.running, call.inclusive);
        self.outcome(row, t, outcome);
        call.end();
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
    fn leave(&self, frame: &Frame) {
        self.await_stack.truncate(frame.stack_mark());
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
        let place = frame.place.load(Relaxed);
        let charge = self.close(frame, place, depth, t, true);
        self.end_wait(frame, place);
        let row = self.row(frame.path.load(Relaxed));
        row.longest(&ALONE, self.tick.load(Relaxed), charge.hold);
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
            self.close_root(depth, &charge);
            return charge;
        }
        if place & OVER == 0 {
            self.reuse.store(REUSE_UP, Relaxed);
            if is_last {
                self.close_bottom(depth, &charge);
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

    fn close_root(&self, depth: u32, charge: &Charge) {
        self.close_segment(depth);
        self.close_bottom(depth, charge);
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
    fn close_bottom(&self, depth: u32, charge: &Charge) {
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

    /// Ends the wait that preceded the frame's poll, unless that was done before.
    #[inline(always)]
    fn end_wait(&self, frame: &Frame, place: u32) {
        let unit = frame.unit.load(Relaxed);
        if unit != 0 {
            let (since, start) = (frame.suspended.load(Relaxed), frame.start.load(Relaxed));
            frame.unit.store(0, Relaxed);
            let row = self.row(unit);
            row.add(wait(place), start);
            row.subtract(open(place), 1);
            row.raise(longest_wait(place), start.saturating_sub(since));
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

/// The moment to which the waits of a frame's call belong.
#[inline(always)]
const fn wait(place: u32) -> Word {
    if place & OVER != 0 {
        Word::Waited
    } else {
        Word::SpanWaited
    }
}

/// The count to which the waits of a frame's call belong.
#[inline(always)]
const fn open(place: u32) -> Word {
    if place & OVER != 0 {
        Word::Open
    } else {
        Word::SpanOpen
    }
}

/// The maximum to which the waits of a frame's call belong.
#[inline(always)]
const fn longest_wait(place: u32) -> Word {
    if place & OVER != 0 {
        Word::LongestWait
    } else {
        Word::SpanLongestWait
    }
}

/// Records a poll of one level.
#[inline(always)]
fn record_alone(row: &PathCounters, charge: &Charge) {
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
