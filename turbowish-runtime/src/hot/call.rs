//! The future of an instrumented call: each of its polls is a frame on the thread's stack.
//!
//! Nothing here allocates after warm-up, locks, or panics. Disarmed, a poll costs one relaxed load.
//!
//! Frequent polls have functions of their own, which leave all else to general ones. The general
//! ones are cold, so that the compiler lays the frequent ways out in a row: they jump less.

mod again;
mod arrive;
mod branch;
mod create;
mod entered;
mod first;
mod guard;
mod nested;
mod quick;
mod reading;
mod recorded;
mod root;
mod state;
mod straight;

use std::fmt;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;
use turbowish_model::account::call::{Call as Account, Origin, PollEnd};
use turbowish_model::account::ledger::{Charge, Ledger, Opened, Start};
use turbowish_model::event::CallEvent;
use turbowish_unsafe::waker::BorrowedWaker;

use self::again::begin_again;
pub(crate) use self::arrive::is_call;
pub use self::arrive::{at, within};
use self::branch::{close_branch, open_branch};
use self::create::create;
pub use self::entered::{Entered, enter};
use self::first::begin_first;
use self::guard::{CLOSED, CLOSED_ANY, CallPoll, OpenPoll};
pub(crate) use self::nested::{is_child, learn};
use self::quick::{PollShape, begin_quick, end_quick};
#[cfg(test)]
pub(crate) use self::reading::REUSE;
use self::reading::reused;
use self::root::{Closing, PollWaker, close_root, leave_task, open_root, outlast, told_of};
pub(crate) use self::state::OWN_BYTES;
use self::state::{CallState, Owned};
use crate::features;
use crate::hot::events::{self, marked_calls};
use crate::hot::pause::{self, PausedPoll};
use crate::hot::probe::Probe;
use crate::hot::proc::{Proc, StaticProc};
use crate::hot::task::{Covered, CoveredTask};
use crate::hot::thread::{ThisThread, ThreadLedger};
use crate::hot::{after_end, child, clock, switch, thread};

pin_project! {
    /// One call of an instrumented `async fn`.
    // Field order matters: padding behind a small future would otherwise be copied together with
    // the fields after it, across word boundaries.
    #[repr(C)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Call<F, E, P: ProcRef> {
        state: Owned<P>,
        probe: E,
        #[pin]
        future: F,
    }
}

/// A call's reference to its proc. The attribute writes it as a closure, which takes no room. No
/// lifetime stands in it: a future that keeps such a call would not be seen to be `Send`.
pub trait ProcRef: Copy {
    /// Returns the proc.
    fn proc(self) -> &'static Proc;
}

impl ProcRef for StaticProc {
    #[inline]
    fn proc(self) -> &'static Proc {
        self.0
    }
}

impl<P> ProcRef for P
where
    P: Fn() -> StaticProc + Copy,
{
    #[inline]
    fn proc(self) -> &'static Proc {
        self().0
    }
}

/// Path of this module, as type names have it.
const PATH: &str = module_path!();

/// Wraps the future of a call of `proc`; `probe` tells a returned `Err` from other values.
#[inline]
pub fn call<F, E, P: ProcRef>(proc: P, probe: E, future: F) -> Call<F, E, P> {
    let origin = if switch::is_armed() {
        create(proc.proc(), size_of::<F>())
    } else {
        Origin::UNSEEN
    };
    Call::of(origin, proc, probe, future)
}

impl<F, E, P: ProcRef> Call<F, E, P> {
    #[inline]
    const fn of(origin: Origin, proc: P, probe: E, future: F) -> Self {
        let state = CallState {
            account: Account::new(origin),
            task: ManuallyDrop::new(None),
        };
        Self {
            state: Owned { state, proc },
            probe,
            future,
        }
    }

    /// A call that counts as never created: its future is polled by its maker.
    pub(crate) const fn bare(proc: P, probe: E, future: F) -> Self {
        Self::of(Origin::UNSEEN, proc, probe, future)
    }

    /// Pins the wrapped future.
    pub(crate) fn future(self: Pin<&mut Self>) -> Pin<&mut F> {
        self.project().future
    }
}

impl<F, E, P> Future for Call<F, E, P>
where
    F: Future,
    E: Probe<F::Output>,
    P: ProcRef,
{
    type Output = F::Output;

    // Without `#[inline]`: a future that is awaited at several places would be compiled at each.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let Owned { state, proc } = this.state;
        let mut poll;
        let mut lent = BorrowedWaker::same(cx.waker());
        if !switch::concerns_polls() {
            poll = CallPoll::Unaccounted;
        } else if straight::is_straight(thread::this(), &state.account) {
            poll = CallPoll::Straight(state);
        } else {
            poll = CallPoll::Unaccounted;
            // Found anew each time: kept, it would cost a register in the future's poll.
            let (here, proc) = (thread::this(), proc.proc());
            match begin(here, &mut poll, proc, size_of::<F>(), cx.waker(), state) {
                Ok(given) => lent = given,
                Err(PausedPoll { .. }) => {
                    std::mem::forget(poll);
                    return Poll::Pending;
                }
            }
        }
        // One poll of the future for all cases: two would be compiled twice.
        let polled = this.future.poll(&mut Context::from_waker(lent.waker()));
        let is_over = match poll {
            CallPoll::Unaccounted => true,
            CallPoll::Straight(_) => polled.is_pending() && thread::this().is_settled(),
            CallPoll::Open(_) => false,
        };
        if !is_over {
            let how = match &polled {
                Poll::Pending => PollEnd::Pending,
                Poll::Ready(value) if this.probe.is_err(value) => PollEnd::Err,
                Poll::Ready(_) => PollEnd::Ready,
            };
            poll.end(thread::this(), how);
        }
        // Over: only a poll that unwinds drops it.
        std::mem::forget(poll);
        polled
    }
}

impl<F, E, P: ProcRef> fmt::Debug for Call<F, E, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.state.fmt(formatter)
    }
}

/// Depth of a poll of a task's root that has nothing to do in it, and no frame.
const STRAIGHT_ROOT: u32 = u32::MAX - 1;

/// Begins a poll, and opens its frame if it gets one. Returns its waker.
///
/// # Errors
/// If the task is paused: the future must not be polled.
#[allow(
    improper_ctypes_definitions,
    reason = "both sides are Rust; in C's way it cannot unwind"
)]
extern "C" fn begin<'a, 'b>(
    here: ThisThread,
    poll: &'b mut CallPoll<'a>,
    proc: &'static Proc,
    bytes: usize,
    waker: &'a Waker,
    state: &'a mut CallState,
) -> Result<BorrowedWaker<'b>, PausedPoll> {
    let epoch = switch::state();
    // Each at the end and with its arguments in this order, so that the compiler saves and moves no
    // register here.
    if !state.account.is_live(epoch) {
        return begin_unknown(here, poll, proc, bytes, waker, state);
    }
    match &*state.task {
        None => begin_call(here, poll, proc, bytes, waker, state),
        Some(_) => begin_again(here, poll, proc, bytes, waker, state),
    }
}

/// Begins a poll of a call whose word tells of no live call of the running epoch; or a poll in a
/// process in which accounting is off.
#[allow(
    improper_ctypes_definitions,
    reason = "both sides are Rust; in C's way it cannot unwind"
)]
#[cold]
#[inline(never)]
extern "C" fn begin_unknown<'a, 'b>(
    _: ThisThread,
    poll: &'b mut CallPoll<'a>,
    proc: &'static Proc,
    bytes: usize,
    waker: &'a Waker,
    state: &'a mut CallState,
) -> Result<BorrowedWaker<'b>, PausedPoll> {
    let epoch = switch::state();
    if switch::armed(epoch).is_none() {
        child::tell();
        return Ok(BorrowedWaker::same(waker));
    }
    begin_any(poll.open(state, epoch, CLOSED_ANY), proc, bytes, waker)
}

/// Opens the frame of a call that is no root with a row, and no branch with one.
#[allow(
    improper_ctypes_definitions,
    reason = "both sides are Rust; in C's way it cannot unwind"
)]
#[inline(never)]
extern "C" fn begin_call<'a, 'b>(
    here: ThisThread,
    poll: &'b mut CallPoll<'a>,
    proc: &'static Proc,
    bytes: usize,
    waker: &'a Waker,
    state: &'a mut CallState,
) -> Result<BorrowedWaker<'b>, PausedPoll> {
    let epoch = state.account.epoch();
    let begun = here.with_current(epoch, |thread| {
        begin_quick(here, thread, state, proc, epoch, waker)
    });
    if let Some(Some(begun)) = begun {
        poll.open(state, epoch, begun);
        return Ok(BorrowedWaker::same(waker));
    }
    begin_first(here, poll, proc, bytes, waker, state)
}

/// Whether a call belongs to its caller's task, and is no branch of it.
#[inline(always)]
fn is_plain(thread: &ThreadLedger, open: &OpenPoll<'_>, waker: &Waker) -> bool {
    match thread.ledger.depth() {
        0 => straight::is_below(thread::this(), &open.state.account, open.epoch),
        _ => !nested::is_suspect(thread, waker) && !thread.ledger.may_be_branch(),
    }
}

/// Opens the frame of such a call. Returns whether it did.
#[inline(never)]
fn begin_plain(
    thread: &ThreadLedger,
    open: &mut OpenPoll<'_>,
    proc: &'static Proc,
    bytes: usize,
) -> bool {
    let ledger = &thread.ledger;
    let is_bottom = ledger.depth() == 0;
    let is_first = !open.state.account.is_polled();
    let Some(key) = proc.key(bytes) else {
        return false;
    };
    straight::opened(thread::this());
    let t = reused(ledger.still_down()).unwrap_or_else(clock::ticks);
    let start = Start {
        straight: is_bottom,
        ..Start::default()
    };
    let Some(opened) = ledger.open(&mut open.state.account, key, t, start) else {
        return false;
    };
    events::call(|| CallEvent::PollStart {
        proc: Some(key.id),
        root: false,
    });
    if opened.unknown_birth {
        proc.is_created_early();
    }
    open.depth = opened.depth;
    if is_first && !is_bottom {
        open.shape = PollShape::New;
    }
    true
}

/// Opens the frame of any call.
#[allow(
    improper_ctypes_definitions,
    reason = "both sides are Rust; in C's way it cannot unwind"
)]
#[cold]
#[inline(never)]
extern "C" fn begin_any<'a, 'b>(
    open: &'b mut OpenPoll<'a>,
    proc: &'static Proc,
    bytes: usize,
    waker: &'a Waker,
) -> Result<BorrowedWaker<'b>, PausedPoll> {
    let Some(epoch) = switch::unrecorded(open.epoch) else {
        return recorded::begin(open, proc, bytes, waker);
    };
    match open_frame(open, epoch, proc, bytes, waker)? {
        true => Ok(open.waker.lent(waker)),
        false => Ok(BorrowedWaker::same(waker)),
    }
}

/// Opens the frame of any call, if there is one to open. Returns whether the poll may have got
/// another waker.
#[inline(always)]
fn open_frame<'a>(
    open: &mut OpenPoll<'a>,
    epoch: u32,
    proc: &'static Proc,
    bytes: usize,
    waker: &'a Waker,
) -> Result<bool, PausedPoll> {
    let covered = open.state.task.as_ref().map(CoveredTask::covered);
    pause::look(covered, waker)?;
    if covered.is_none() && open.state.account.is_live(epoch) {
        let begun = thread::with_current(epoch, |thread| {
            is_plain(thread, open, waker) && begin_plain(thread, open, proc, bytes)
        });
        if begun == Some(true) {
            return Ok(false);
        }
    }
    let state = &mut *open.state;
    if state.account.is_live(epoch) || is_new(state, epoch) {
        let given = &mut open.waker;
        let opened = thread::with(epoch, |thread| {
            open_any(thread, (state, covered), (proc, bytes), waker, given)
        });
        if let Some(Some(depth)) = opened {
            open.depth = depth;
            return Ok(true);
        }
    }
    if features::SERVER && open.state.account.is_over() {
        polled_again(epoch, proc);
    }
    unseen(epoch);
    Ok(false)
}

/// Opens the frame of a root, of a branch, or of a call that is polled as neither.
#[inline(always)]
fn open_any<'a>(
    thread: &ThreadLedger,
    (state, covered): (&mut CallState, Option<Covered>),
    (proc, bytes): (&'static Proc, usize),
    waker: &'a Waker,
    given: &mut PollWaker<'a>,
) -> Option<u32> {
    straight::opened(thread::this());
    if nested::is_suspect(thread, waker) {
        return nested::open(thread, state, (proc, bytes), waker, given);
    }
    let Opened {
        depth, is_branch, ..
    } = open_in(thread, state, proc, bytes)?;
    if depth == 0 {
        open_root(thread, (state, covered), (proc, bytes), waker, None, given);
    } else if is_branch || state.task.is_some() {
        *given = open_branch(thread, state, bytes, waker, None);
    } else {
        return Some(depth);
    }
    nested::record_waker(thread, given, waker);
    Some(depth)
}

/// Records a poll of a call that is over. What its future does now is its own affair.
#[cold]
fn polled_again(epoch: u32, proc: &'static Proc) {
    if let Some(proc) = proc.id() {
        thread::with_current(epoch, |thread| after_end::polled(&thread.ledger, proc));
    }
}

/// Begin or end of a poll without a frame: what its future does is accounted to the frame around
/// it.
#[cold]
fn unseen(epoch: u32) {
    thread::with_current(epoch, |thread| thread.ledger.unseen());
}

/// Whether the call has not been seen in this epoch and is not over.
#[cold]
fn is_new(state: &CallState, epoch: u32) -> bool {
    !state.account.is_over() && state.account.epoch() != epoch
}

#[inline(never)]
fn open_in(
    thread: &ThreadLedger,
    state: &mut CallState,
    proc: &'static Proc,
    bytes: usize,
) -> Option<Opened> {
    let ledger = &thread.ledger;
    let key = proc.key(bytes)?;
    let t = reused(ledger.still_down()).unwrap_or_else(clock::ticks);
    let opened = ledger.open(&mut state.account, key, t, Start::default())?;
    events::call(|| CallEvent::PollStart {
        proc: Some(key.id),
        root: false,
    });
    if opened.unknown_birth {
        proc.is_created_early();
    }
    Some(opened)
}

/// Closes the frame of any poll, which ends at `read` if the clock was read.
#[allow(
    improper_ctypes_definitions,
    reason = "both sides are Rust; in C's way it cannot unwind"
)]
#[cold]
#[inline(never)]
extern "C" fn end_any(open: &mut OpenPoll<'_>, end: PollEnd, read: Option<u64>) {
    open.waker.end_task();
    // At the end, so that the compiler saves no register here.
    end_rest(open, end, read);
}

/// The same after the end of the waker that the poll was given.
#[allow(
    improper_ctypes_definitions,
    reason = "both sides are Rust; in C's way it cannot unwind"
)]
#[cold]
#[inline(never)]
extern "C" fn end_rest(open: &mut OpenPoll<'_>, end: PollEnd, read: Option<u64>) {
    let depth = std::mem::replace(&mut open.depth, CLOSED);
    let state = &mut *open.state;
    let given = &mut open.waker;
    let is_current = switch::epoch() == Some(open.epoch);
    let closing = Closing { end, given, read };
    if depth == CLOSED {
        recorded::unseen_end(state, open.epoch);
    } else if depth == STRAIGHT_ROOT {
        if is_current {
            straight::end_root(open.epoch, state, &closing);
        }
    } else if is_current && matches!(given, PollWaker::Inherited) {
        thread::with_current(open.epoch, |thread| {
            close_plain(thread, state, depth, (end, read));
        });
    } else if is_current {
        thread::with_current(open.epoch, |thread| {
            close_in(thread, state, depth, &closing)
        });
    } else {
        recorded::end_rarely(open.epoch, state, depth, &closing);
    }
    if end == PollEnd::Panic && !switch::is_child() {
        told_of(state, given.first());
    }
    given.let_go();
    if end != PollEnd::Pending && state.task.is_some() {
        leave_task(state);
    }
}

/// Closes the frame of a call that belongs to its caller's task and was given its caller's waker.
#[cold]
#[inline(never)]
fn close_plain(
    thread: &ThreadLedger,
    state: &mut CallState,
    depth: u32,
    (end, read): (PollEnd, Option<u64>),
) {
    let ledger = &thread.ledger;
    let proc = ledger.proc_at(depth);
    let pending = end == PollEnd::Pending;
    let t = read.unwrap_or_else(|| end_time(ledger, pending));
    ledger.poll_end(&mut state.account, depth, t, end);
    straight::closed(thread, depth, pending);
    events::call(|| CallEvent::PollEnd(end));
    if features::TOKIO && state.account.is_marked() {
        close_marked(ledger, state, proc, (depth, false), end);
    }
}

/// The time of an end.
fn end_time(ledger: &Ledger, pending: bool) -> u64 {
    let still = if pending { ledger.still_up() } else { None };
    reused(still).unwrap_or_else(clock::ticks)
}

#[cold]
#[inline(never)]
fn close_marked(ledger: &Ledger, state: &mut CallState, proc: u32, at: (u32, bool), end: PollEnd) {
    if let Some(listener) = marked_calls() {
        (listener.closed)(ledger, &mut state.account, proc, at, end);
    }
}

#[inline(never)]
fn close_in(thread: &ThreadLedger, state: &mut CallState, depth: u32, closing: &Closing<'_>) {
    let ledger = &thread.ledger;
    let end = closing.end;
    let pending = end == PollEnd::Pending;
    let proc = ledger.proc_at(depth);
    let t = closing.read.unwrap_or_else(|| end_time(ledger, pending));
    let charge = ledger.poll_end(&mut state.account, depth, t, end);
    straight::closed(thread, depth, pending);
    events::call(|| CallEvent::PollEnd(end));
    if features::TOKIO && state.account.is_marked() {
        let is_nested = || closing.given.outer().is_some_and(|outer| outer.is_task());
        let is_root = depth == 0 || is_nested();
        close_marked(ledger, state, proc, (depth, is_root), end);
    }
    let Some(charge) = charge else { return };
    if depth == 0 {
        close_root(thread, state, t, depth, &charge, closing);
    } else {
        close_given(thread, state, t, depth, &charge, closing);
    }
}

/// Closes a frame inside another poll, when the call was given a waker of its own.
#[inline(never)]
fn close_given(
    thread: &ThreadLedger,
    state: &mut CallState,
    t: u64,
    depth: u32,
    charge: &Charge,
    closing: &Closing<'_>,
) {
    let given = closing.given;
    let Some(outer) = given.outer() else { return };
    outer.go_on(thread);
    if outer.is_task() {
        close_root(thread, state, t, depth, charge, closing);
    } else if given.is_ours() && closing.end == PollEnd::Pending {
        close_branch(thread, state, depth, given.first());
    }
}
