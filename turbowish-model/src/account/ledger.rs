//! Lock-free per-thread ledger: the stack of open polls and the counters they are charged to.
//!
//! One thread writes a ledger; any thread may read it at any time. The writer uses plain stores
//! (relaxed atomics, no locked instruction) inside a seqlock; a reader that sees the sequence
//! change reads again. Nothing is queued, so nothing can be lost.
//!
//! The rules follow the occupancy definitions. A frame charges its duration minus the time of the
//! frames directly nested in it. Frames above a root frame are foreign to the frames below it. A
//! proc that is already on its task's stack adds nothing to its inclusive time: the path of a call
//! says so.

mod branch;
mod capture;
mod delays;
mod drop_group;
mod frame;
mod longest;
mod on_path;
mod poll;
mod poll_end;
mod publish;
mod quick;
mod quick_end;
mod recorded;
mod side_effects;
mod slow;
mod straight;

use alloc::sync::Arc;
use core::sync::atomic::Ordering::Relaxed;

use self::capture::Capture;
pub(crate) use self::capture::Captured;
use self::delays::Shares;
pub use self::drop_group::DropGroup;
use self::drop_group::LastDrop;
pub(crate) use self::frame::{COUNTED_BEFORE, FIRST, Frame, OVER, ROOT};
pub use self::frame::{Charge, Opened, Start};
use self::frame::{REUSE_DOWN, REUSE_NONE, REUSE_UNCHANGED, REUSE_UP};
pub use self::publish::TakenStack;
pub use self::quick_end::Unwritten;
pub use self::side_effects::{ChainHead, Marked};
use self::slow::LastReady;
pub use self::straight::PollSpan;
use self::straight::StraightPolls;
use crate::account::aggregate::{ANOMALIES, Anomaly};
use crate::account::append_vec::AppendVec;
use crate::account::await_stack::{AwaitStack, LEVEL_LIMIT};
use crate::account::call::{Call, DIRECT, Origin, Outcome, ProcKey, SITE};
use crate::account::counters::{PROC_LIMIT, Pages, PathCounters, ProcCounters, Word, chunks};
use crate::account::histogram::add;
use crate::account::paths::{PATH_IDS, PathId, Paths};
use crate::account::poll_ring::PollRing;
use crate::account::resource::CurrentCall;
use crate::account::seqlock::{SeqLock, WriteGuard};
use crate::account::sync::{AtomicU32, AtomicU64, in_place};

/// Frames stored in place; deeper frames cost a few more instructions.
const FRAMES: usize = in_place(64);

/// Maximum number of nested polls on one thread; deeper polls are not accounted.
pub const DEPTH_LIMIT: u32 = AppendVec::<Frame, FRAMES>::LIMIT as u32;

/// Times of a thread, in ticks of the clock, and its events.
#[derive(Default)]
struct ThreadTime {
    last: AtomicU64,
    busy: AtomicU64,
    /// Number of events so far.
    events: AtomicU64,
    /// The reader's tick.
    tick: AtomicU32,
}

/// What the current root poll will publish.
#[derive(Default)]
#[repr(C)]
struct AwaitStackOfPoll {
    /// 1 if no await stack is recorded for the current bottom poll.
    quiet: AtomicU32,
    /// 1 if a call of the current task was first polled, ended or reached another await point in
    /// this poll.
    moved: AtomicU32,
    await_stack: AwaitStack,
}

/// What the thread keeps of its past, and its number.
#[derive(Default)]
struct ThreadPast {
    drop: LastDrop,
    polls: Arc<PollRing>,
    shares: Shares,
    readied: LastReady,
    thread: u32,
}

/// One thread's ledger. The module documentation states which thread may write and which may read.
#[repr(C, align(64))]
pub struct Ledger {
    pub(crate) sequence: SeqLock,
    time: ThreadTime,
    epoch: u32,
    depth: AtomicU32,
    base: AtomicU32,
    reuse: AtomicU32,
    pub(crate) paths: Arc<Paths>,
    shown: AwaitStackOfPoll,
    straight: StraightPolls,
    pub(crate) frames: AppendVec<Frame, FRAMES>,
    pub(crate) rows: Pages<PathCounters, { chunks(PATH_IDS) }>,
    pub(crate) procs: Pages<ProcCounters, { chunks(PROC_LIMIT) }>,
    capture: Capture,
    anomalies: [AtomicU64; ANOMALIES],
    past: ThreadPast,
}

impl Ledger {
    /// Creates an empty ledger. All ledgers of a process share the `paths`. Calls registered under
    /// another epoch are new to it.
    #[must_use]
    pub fn new(epoch: u32, paths: &Arc<Paths>) -> Self {
        Self {
            epoch,
            paths: paths.clone(),
            sequence: SeqLock::default(),
            time: ThreadTime {
                events: AtomicU64::new(paths.first_event()),
                tick: AtomicU32::new(1),
                ..ThreadTime::default()
            },
            depth: AtomicU32::new(0),
            base: AtomicU32::new(0),
            reuse: AtomicU32::new(REUSE_NONE),
            straight: StraightPolls::default(),
            shown: AwaitStackOfPoll::default(),
            frames: AppendVec::default(),
            rows: Pages::default(),
            procs: Pages::default(),
            capture: Capture::default(),
            anomalies: core::array::from_fn(|_| AtomicU64::new(0)),
            past: ThreadPast::default(),
        }
    }

    /// Numbers the thread: what is read of single polls then says where they were.
    #[must_use]
    pub const fn on_thread(mut self, thread: u32) -> Self {
        self.past.thread = thread;
        self
    }

    /// Lets the polls at the bottom of the stack be kept in `polls`.
    #[must_use]
    pub fn with_polls(mut self, polls: Arc<PollRing>) -> Self {
        self.past.polls = polls;
        self
    }

    /// Epoch of this ledger: the period of armed accounting it belongs to.
    #[must_use]
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Time of the last event, in ticks.
    #[inline]
    #[must_use]
    pub fn latest(&self) -> u64 {
        self.time.last.load(Relaxed)
    }

    /// Number of open polls.
    #[inline]
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth.load(Relaxed)
    }

    /// Busy time of the thread, in ticks: the duration of all finished polls at the bottom of its
    /// stack.
    #[must_use]
    pub fn busy(&self) -> u64 {
        self.time.busy.load(Relaxed)
    }

    /// Clock reading to reuse at the start of a poll; `None` if user code may have run since.
    #[inline]
    #[must_use]
    pub fn still_down(&self) -> Option<u64> {
        let reuse = self.reuse.load(Relaxed);
        (reuse == REUSE_DOWN || reuse == REUSE_UNCHANGED).then(|| self.time.last.load(Relaxed))
    }

    /// Clock reading to reuse when the innermost poll ends pending; `None` if user code may have
    /// run since.
    #[inline]
    #[must_use]
    pub fn still_up(&self) -> Option<u64> {
        (self.reuse.load(Relaxed) == REUSE_UP).then(|| self.time.last.load(Relaxed))
    }

    /// Invalidates the last clock reading: code that emits no event may run from here on.
    pub fn user_code(&self) {
        self.reuse.store(REUSE_NONE, Relaxed);
    }

    /// Begins or ends a poll that is not accounted, below the innermost one: whatever is polled in
    /// it is not the operand of the innermost call's await.
    pub fn unseen(&self) {
        self.user_code();
        if let Some(top) = self.top() {
            let place = top.place.load(Relaxed);
            top.place.store(place & !DIRECT, Relaxed);
        }
    }

    #[inline(always)]
    fn write(&self) -> WriteGuard<'_, AtomicU64> {
        let writing = self.sequence.write();
        self.notice();
        writing
    }

    #[cold]
    fn anomaly(&self, kind: Anomaly) {
        add(&self.anomalies[kind as usize], 1);
    }

    /// Advances the thread's time to `t`, or counts an anomaly if that is earlier: a thread's time
    /// never decreases (R5). Returns the time from now on.
    #[inline]
    pub fn clamp(&self, t: u64) -> u64 {
        let last = self.time.last.load(Relaxed);
        if t < last {
            self.anomaly(Anomaly::ClockBackwards);
            return last;
        }
        self.time.last.store(t, Relaxed);
        t
    }

    /// Origin of a call that is created now, without a reading of the clock. If nothing happens on
    /// this thread before its first poll, that poll is the time of its creation; otherwise that
    /// time is unknown, and taken to be the first poll.
    #[inline(always)]
    pub fn born(&self) -> Origin {
        let creator = self.top().map_or(0, |top| top.path.load(Relaxed));
        Origin::new(self.epoch, creator, self.event())
    }

    /// Same as [`Ledger::born`], unless very many polls are open.
    #[inline(always)]
    pub fn born_quick(&self) -> Option<Origin> {
        let creator = match self.depth() {
            0 => 0,
            depth => self.frames.in_place(depth - 1)?.path.load(Relaxed),
        };
        Some(Origin::new(self.epoch, creator, self.event()))
    }

    /// Records that a call of `proc` was created at `t`.
    pub fn create(&self, proc: ProcKey, t: u64) -> Origin {
        let writing = self.write();
        let t = self.clamp(t);
        let origin = self.register(proc, t);
        drop(writing);
        origin
    }

    #[inline]
    fn register(&self, proc: ProcKey, t: u64) -> Origin {
        self.step();
        self.future_bytes(proc);
        let creator = self.top().map_or(0, |top| top.path.load(Relaxed));
        let row = self.row(self.path_of_root(proc.id, self.proc_on(creator)));
        row.add(Word::Created, 1);
        row.subtract(Word::CreatedAt, t);
        Origin::counted(self.epoch, creator, t)
    }

    /// Records the size of a call's future.
    pub fn future_bytes(&self, proc: ProcKey) {
        self.procs.at(proc.id).future_bytes(proc.future_bytes);
    }

    /// The proc whose call created a call that was not polled yet.
    #[must_use]
    pub fn maker(&self, call: &Call) -> Option<u32> {
        if call.is_polled() {
            None
        } else {
            self.proc_on(call.unit())
        }
    }

    /// Proc of a path.
    #[inline]
    fn proc_on(&self, path: PathId) -> Option<u32> {
        (path != 0).then(|| self.paths.key(path).proc())
    }

    /// The counters of a path, to be written: within a write section.
    #[inline(always)]
    fn row(&self, path: PathId) -> &PathCounters {
        let row = self.rows.at(path);
        row.keep_for(self.capture.noticed.load(Relaxed));
        row
    }

    /// Counts an event.
    #[inline(always)]
    fn step(&self) {
        add(&self.time.events, 1);
    }

    /// Distance of the poll at `depth` from its task's root.
    #[inline(always)]
    fn level(&self, depth: u32) -> u32 {
        let base = self.base.load(Relaxed);
        match self.frames.in_place(base) {
            Some(bottom) if bottom.has(ROOT) => depth - base,
            _ => depth - base + self.skipped(base),
        }
    }

    /// Same as [`Ledger::level`], unless it is very far from the root.
    #[inline(always)]
    fn level_in_place(&self, depth: u32) -> Option<u32> {
        let base = self.base.load(Relaxed);
        let bottom = self.frames.in_place(base)?;
        let skipped = match bottom.has(ROOT) {
            true => 0,
            false => self.paths.level(bottom.path.load(Relaxed)),
        };
        let level = depth - base + skipped;
        (level < LEVEL_LIMIT).then_some(level)
    }

    /// Calls of the task whose first frame is at `base`, from its root on, that have no frame.
    #[inline(never)]
    fn skipped(&self, base: u32) -> u32 {
        let bottom = self.frames.at(base as usize);
        if bottom.has(ROOT) {
            return 0;
        }
        self.paths.level(bottom.path.load(Relaxed))
    }

    #[inline]
    fn top(&self) -> Option<&Frame> {
        let depth = self.depth();
        (depth > 0).then(|| self.frames.at(depth as usize - 1))
    }

    /// The frame of the root poll that is in progress; if there is none, that of the last one.
    #[inline(always)]
    fn root_frame(&self) -> &Frame {
        self.frames.at(self.base.load(Relaxed) as usize)
    }

    /// Returns the call that is currently polled on this thread. Only the owning thread may call
    /// this.
    #[inline]
    #[must_use]
    pub fn current_call(&self) -> CurrentCall {
        let Some(top) = self.top() else {
            return CurrentCall::default();
        };
        let root = self.root_frame();
        CurrentCall {
            task: root.key.load(Relaxed),
            proc: top.proc().wrapping_add(1),
            site: (top.place.load(Relaxed) & SITE) as u16,
            poll: root.start.load(Relaxed),
        }
    }

    /// The path of the call that is currently polled on this thread; 0 if there is none, or if it
    /// is not known.
    #[inline]
    #[must_use]
    pub fn current_path(&self) -> PathId {
        self.top().map_or(0, |top| top.path.load(Relaxed))
    }

    /// The task of the call that is currently polled on this thread; 0 if there is none.
    #[inline]
    #[must_use]
    pub fn current_task(&self) -> u64 {
        if self.depth() == 0 {
            return 0;
        }
        self.root_frame().key.load(Relaxed)
    }

    /// When the root poll began that is in progress: there must be one.
    #[inline]
    #[must_use]
    pub fn root_began(&self) -> u64 {
        self.root_frame().start.load(Relaxed)
    }

    /// Sets the task of the innermost poll, which must be a root poll: [`Ledger::current_call`]
    /// then returns `task`.
    #[inline]
    pub fn name_root(&self, task: u64) {
        if let Some(top) = self.top() {
            top.key.store(task, Relaxed);
        }
    }

    /// Records the drop of a call. Ignored if the call has ended, or was never registered with this
    /// epoch.
    #[inline]
    pub fn drop_call(&self, call: &mut Call, proc: u32, t: u64) {
        if !call.is_live(self.epoch) {
            return;
        }
        let writing = self.write();
        let t = self.clamp(t);
        self.step();
        if !call.is_polled() {
            self.drop_unpolled(call, proc, t);
            return drop(writing);
        }
        let path = self.paths.polled_by(call.unit());
        let suspended = self.suspended_with_caller(call, path, t);
        if call.is_suspended()
            && let Some(top) = self.top()
        {
            // The poll that drops the call is no longer known to be unchanged.
            top.invalidate();
            self.user_code();
            self.retract(call, proc, suspended);
            self.shown.moved.store(1, Relaxed);
            self.fall(top, suspended, proc);
        }
        let unit = if call.is_suspended() { call.unit() } else { 0 };
        if unit != 0 {
            let row = self.row(unit);
            row.add(Word::Waited, t);
            row.subtract(Word::Open, 1);
            self.procs.at(proc).site(call.site()).cancel();
        }
        self.charge_dropped(call, (path, unit), (suspended, t));
        self.outcome(self.row(path), t, Outcome::Cancelled);
        call.end();
        drop(writing);
    }

    fn drop_unpolled(&self, call: &mut Call, proc: u32, t: u64) {
        let row = self.row(self.path_of_root(proc, self.proc_on(call.unit())));
        if call.is_counted() {
            row.add(Word::Started, 1);
            row.add(Word::StartedAt, t);
        } else {
            row.add(Word::Counted, 1);
            row.add(Word::CountedAt, t);
        }
        row.add(Word::EndedAt, t);
        row.add(Word::Cancelled, 1);
        row.add(Word::NeverPolled, 1);
        call.end();
    }

    /// Starts the reader's next tick: [`crate::account::aggregate::ProcStats::recent_longest`] then
    /// covers this tick and the previous one.
    pub fn next_tick(&self) {
        self.time
            .tick
            .store(self.time.tick.load(Relaxed).wrapping_add(1), Relaxed);
        self.rows.iter().for_each(|(_, row)| row.lower_bars());
    }

    /// The depth, as another thread reads it.
    pub(crate) fn published_depth(&self) -> u32 {
        self.depth.load(core::sync::atomic::Ordering::Acquire)
    }

    /// Number of events so far. No two threads have the same.
    #[inline(always)]
    #[must_use]
    pub fn event(&self) -> u64 {
        self.time.events.load(Relaxed)
    }

    pub(crate) const fn thread(&self) -> u32 {
        self.past.thread
    }

    pub(crate) fn tick(&self) -> u32 {
        self.time.tick.load(Relaxed)
    }

    pub(crate) fn anomalies(&self, kind: usize) -> u64 {
        self.anomalies[kind].load(Relaxed)
    }
}
