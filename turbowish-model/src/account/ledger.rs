//! Lock-free per-thread ledger: the stack of open polls and the counters they are charged to.
//!
//! One thread writes a ledger; any thread may read it at any time. The writer uses plain stores
//! (relaxed atomics, no locked instruction) inside a seqlock; a reader that sees the sequence
//! change reads again. Nothing is queued, so nothing can be lost.
//!
//! The rules follow the occupancy definitions. A frame charges its duration minus the time of the
//! frames directly nested in it. Frames above a root frame are foreign to the frames below it. A
//! proc that is already on its task's stack adds nothing to its inclusive time.

mod branch;
mod drop_group;
mod frame;
mod poll;
mod publish;
mod side_effects;

use core::sync::atomic::Ordering::Relaxed;

pub use self::drop_group::DropGroup;
use self::drop_group::LastDrop;
pub use self::frame::{Charge, Start};
pub(crate) use self::frame::{Frame, OUTER, ROOT};
use self::frame::{REUSE_DOWN, REUSE_NONE, REUSE_UNCHANGED, REUSE_UP};
pub use self::side_effects::{ChainHead, Marked};
use crate::account::aggregate::{ANOMALIES, Anomaly};
use crate::account::append_vec::AppendVec;
use crate::account::await_stack::AwaitStack;
use crate::account::call::{Call, Origin, Outcome, ProcKey, SITE};
use crate::account::counters::{CounterPages, ProcCounters, Sum};
use crate::account::histogram::add;
use crate::account::resource::CurrentCall;
use crate::account::seqlock::{SeqLock, WriteGuard};
use crate::account::sync::{AtomicU32, AtomicU64, in_place};

/// Frames stored in place; deeper frames cost a few more instructions.
const FRAMES: usize = in_place(64);

/// Maximum number of nested polls on one thread; deeper polls are not accounted.
pub const DEPTH_LIMIT: u32 = AppendVec::<Frame, FRAMES>::LIMIT as u32;

/// One thread's ledger. The module documentation states which thread may write and which may read.
#[repr(C, align(64))]
pub struct Ledger {
    pub(crate) sequence: SeqLock,
    last: AtomicU64,
    busy: AtomicU64,
    epoch: u32,
    depth: AtomicU32,
    base: AtomicU32,
    reuse: AtomicU32,
    /// 1 if no await stack is recorded for the current bottom poll.
    quiet: AtomicU32,
    /// 1 if a call of the current task was first polled, ended or reached another await point in
    /// this poll.
    moved: AtomicU32,
    tick: AtomicU32,
    pub(crate) frames: AppendVec<Frame, FRAMES>,
    pub(crate) rows: CounterPages,
    await_stack: AwaitStack,
    fall: LastDrop,
    anomalies: [AtomicU64; ANOMALIES],
}

impl Ledger {
    /// Creates an empty ledger. Calls registered under another epoch are new to it.
    #[must_use]
    pub fn new(epoch: u32) -> Self {
        Self {
            epoch,
            sequence: SeqLock::default(),
            last: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            depth: AtomicU32::new(0),
            base: AtomicU32::new(0),
            reuse: AtomicU32::new(REUSE_NONE),
            quiet: AtomicU32::new(0),
            moved: AtomicU32::new(0),
            tick: AtomicU32::new(1),
            frames: AppendVec::default(),
            rows: CounterPages::default(),
            await_stack: AwaitStack::default(),
            fall: LastDrop::default(),
            anomalies: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Epoch of this ledger: the period of armed accounting it belongs to.
    #[must_use]
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Time of the last event, in ticks.
    #[must_use]
    pub fn latest(&self) -> u64 {
        self.last.load(Relaxed)
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
        self.busy.load(Relaxed)
    }

    /// Clock reading to reuse at the start of a poll; `None` if user code may have run since.
    #[inline]
    #[must_use]
    pub fn still_down(&self) -> Option<u64> {
        let reuse = self.reuse.load(Relaxed);
        (reuse == REUSE_DOWN || reuse == REUSE_UNCHANGED).then(|| self.last.load(Relaxed))
    }

    /// Clock reading to reuse when the innermost poll ends pending; `None` if user code may have
    /// run since.
    #[inline]
    #[must_use]
    pub fn still_up(&self) -> Option<u64> {
        (self.reuse.load(Relaxed) == REUSE_UP).then(|| self.last.load(Relaxed))
    }

    /// Invalidates the last clock reading: code that emits no event may run from here on.
    pub fn user_code(&self) {
        self.reuse.store(REUSE_NONE, Relaxed);
    }

    #[inline]
    fn write(&self) -> WriteGuard<'_> {
        self.sequence.write()
    }

    #[cold]
    fn anomaly(&self, kind: Anomaly) {
        add(&self.anomalies[kind as usize], 1);
    }

    /// Advances the thread's time to `t`, or counts an anomaly if that is earlier: a thread's time
    /// never decreases (R5). Returns the time from now on.
    #[inline]
    pub fn clamp(&self, t: u64) -> u64 {
        let last = self.last.load(Relaxed);
        if t < last {
            self.anomaly(Anomaly::ClockBackwards);
            return last;
        }
        self.last.store(t, Relaxed);
        t
    }

    /// Records that a call of `proc` was constructed at `t`.
    #[inline(always)]
    pub fn create(&self, proc: ProcKey, t: u64) -> Origin {
        let writing = self.write();
        let t = self.clamp(t);
        let origin = self.register(proc, t);
        drop(writing);
        origin
    }

    #[inline]
    fn register(&self, proc: ProcKey, t: u64) -> Origin {
        let row = self.rows.at(proc.id);
        row.add(Sum::Calls, 1);
        row.add(Sum::Wall, t.wrapping_neg());
        row.add(Sum::Unstarted, t.wrapping_neg());
        row.future_bytes(proc.future_bytes);
        let creator = self.top().map(|top| top.proc.load(Relaxed));
        if let Some(creator) = creator {
            row.edge(creator).created();
        }
        Origin::new(self.epoch, creator)
    }

    #[inline]
    fn top(&self) -> Option<&Frame> {
        let depth = self.depth();
        (depth > 0).then(|| self.frames.at(depth as usize - 1))
    }

    /// Returns the call that is currently polled on this thread. Only the owning thread may call
    /// this.
    #[inline]
    #[must_use]
    pub fn current_call(&self) -> CurrentCall {
        let Some(top) = self.top() else {
            return CurrentCall::default();
        };
        let root = self.frames.at(self.base.load(Relaxed) as usize);
        CurrentCall {
            task: root.key.load(Relaxed),
            proc: top.proc.load(Relaxed).wrapping_add(1),
            site: (top.place.load(Relaxed) & SITE) as u16,
            poll: root.start.load(Relaxed),
        }
    }

    /// Records the ready latency of the innermost poll, which must be the root poll of a task: the
    /// ticks from its wake to its start.
    pub fn ready(&self, latency: u64) {
        if let Some(top) = self.top() {
            let writing = self.write();
            self.rows.at(top.proc.load(Relaxed)).ready(latency);
            drop(writing);
        }
    }

    /// Sets the task of the innermost poll, which must be a root poll: [`Ledger::current_call`]
    /// then returns `task`.
    #[inline]
    pub fn name_root(&self, task: u64) {
        if let Some(top) = self.top() {
            top.key.store(task, Relaxed);
        }
    }

    /// Ends a call. `recorded` states that its populations are already up to date.
    #[inline(never)]
    fn finish(
        &self,
        call: &mut Call,
        row: &ProcCounters,
        t: u64,
        outcome: Outcome,
        recorded: bool,
    ) {
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
        if !call.is_polled() {
            row.add(Sum::NeverPolled, 1);
            row.add(Sum::Started, 1);
            row.add(Sum::Unstarted, t);
        } else {
            row.charge_call(call.running, call.inclusive, recorded);
        }
        call.end();
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
        if call.is_suspended()
            && let Some(top) = self.top()
        {
            // The poll that drops the call is no longer known to be unchanged.
            top.invalidate();
            self.user_code();
            self.retract(call, proc);
            self.moved.store(1, Relaxed);
            self.fall(top, call, proc);
        }
        let row = self.rows.at(proc);
        if call.is_suspended() {
            let site = row.site(call.site());
            site.resume(call.suspended, t);
            site.cancel();
        }
        self.finish(call, row, t, Outcome::Cancelled, false);
        drop(writing);
    }

    /// Starts the reader's next tick: [`crate::account::aggregate::ProcStats::recent_longest`] then
    /// covers this tick and the previous one.
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
}
