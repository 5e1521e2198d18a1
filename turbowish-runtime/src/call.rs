//! The future that the attribute prints: every poll of it is a frame on its thread's stack.
//!
//! Nothing here allocates after warm-up, locks, or panics. Off, a poll costs one relaxed load.

use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use turbowish_model::call::{Call as Account, Origin, PollEnd};
use turbowish_model::ledger::{Charge, Start};

use crate::probe::Probe;
use crate::proc::Proc;
use crate::task::{self, Task};
use crate::thread::ThreadLedger;
use crate::{clock, switch, thread};

pin_project! {
    /// One call of an instrumented `async fn`.
    // In this order: bytes left over behind a small future would otherwise be copied with what comes after them, across its words.
    #[repr(C)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    #[derive(Debug)]
    pub struct Call<F, E> {
        life: Life,
        probe: E,
        #[pin]
        future: F,
    }
}

/// What is accounted of one call, apart from its future.
///
/// A call is moved a few times before its first poll, so it is small; and what writes it is not given its address, so that most
/// of these moves are none.
#[derive(Debug)]
#[repr(C)]
struct Life {
    account: Account,
    /// Given up in [`forget`], so that a call's drop has nothing else to do after it.
    task: ManuallyDrop<Option<Task>>,
    proc: &'static Proc,
}

/// Wraps the future of a call of `proc`; `probe` tells a returned `Err` from other values.
#[inline]
pub fn call<F, E>(proc: &'static Proc, probe: E, future: F) -> Call<F, E> {
    let origin = if switch::is_armed() {
        create(proc, size_of::<F>())
    } else {
        Origin::UNSEEN
    };
    Call {
        life: Life {
            account: Account::new(origin),
            task: ManuallyDrop::new(None),
            proc,
        },
        probe,
        future,
    }
}

impl<F, E> Future for Call<F, E>
where
    F: Future,
    E: Probe<F::Output>,
{
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        // Built here and ended in place: a guard that is moved would be copied through memory.
        let mut open = OpenPoll {
            life: this.life,
            epoch: 0,
            depth: CLOSED,
        };
        if switch::is_armed() {
            begin(&mut open, size_of::<F>());
        }
        // One place for both: what stands twice is compiled twice.
        let polled = this.future.poll(cx);
        if open.epoch != 0 {
            end(
                &mut open,
                match &polled {
                    Poll::Pending => PollEnd::Pending,
                    Poll::Ready(value) if this.probe.is_err(value) => PollEnd::Err,
                    Poll::Ready(_) => PollEnd::Ready,
                },
            );
        }
        polled
    }
}

impl Drop for Life {
    #[inline]
    fn drop(&mut self) {
        if self.account.is_open() {
            forget(self);
        }
    }
}

/// No frame is open: the poll is not accounted, or its end was.
const CLOSED: u32 = u32::MAX;

/// A call is created.
extern "C" fn create(proc: &'static Proc, bytes: usize) -> Origin {
    let (Some(epoch), Some(key)) = (switch::epoch(), proc.key(bytes)) else {
        return Origin::UNSEEN;
    };
    thread::with(epoch, |thread| thread.ledger.create(key, clock::ticks()))
        .unwrap_or(Origin::UNSEEN)
}

/// Opens a frame, unless this poll is not accounted.
extern "C" fn begin(open: &mut OpenPoll<'_>, bytes: usize) {
    let Some(epoch) = switch::epoch() else { return };
    open.epoch = epoch;
    let life = &mut *open.life;
    if life.account.is_live(epoch) || is_new(life, epoch) {
        let opened = thread::with(epoch, |thread| open_in(thread, life, epoch, bytes));
        if let Some(Some(depth)) = opened {
            open.depth = depth;
            return;
        }
    }
    unseen(epoch);
}

/// A poll that has no frame begins or ends: what its future does is that of the frame around it.
#[cold]
fn unseen(epoch: u32) {
    thread::with_current(epoch, |thread| thread.ledger.user_code());
}

/// Whether this epoch has not seen the call yet, and it is not over.
#[cold]
fn is_new(life: &Life, epoch: u32) -> bool {
    !life.account.is_over() && life.account.epoch() != epoch
}

#[inline]
fn open_in(thread: &ThreadLedger, life: &mut Life, epoch: u32, bytes: usize) -> Option<u32> {
    let ledger = &thread.ledger;
    let key = life.proc.key(bytes)?;
    let t = reused(ledger.still_down()).unwrap_or_else(clock::ticks);
    let depth = ledger.poll_start(&mut life.account, key, t, Start::default())?;
    if depth == 0 {
        open_root(thread, life, epoch, bytes);
    } else if life.task.is_some() {
        // It was a root before and is polled by another call now.
        leave_task(life);
    }
    Some(depth)
}

fn open_root(thread: &ThreadLedger, life: &Life, epoch: u32, bytes: usize) {
    let t = thread.ledger.latest();
    match &*life.task {
        Some(task) => task.begin(epoch, thread.index, t),
        None if life.account.is_rowless() => {}
        None => {
            thread.ledger.show_all();
            if let Some(birth) = task::birth(life.proc, bytes, t) {
                thread.newborn.begin(&birth);
            }
        }
    }
}

#[cold]
fn leave_task(life: &mut Life) {
    *life.task = None;
}

/// A reading of the clock that may be used again.
#[cfg(not(test))]
#[inline]
const fn reused(reading: Option<u64>) -> Option<u64> {
    reading
}

/// Tests compare with what comes without.
#[cfg(test)]
fn reused(reading: Option<u64>) -> Option<u64> {
    reading.filter(|_| REUSE.load(std::sync::atomic::Ordering::Relaxed))
}

#[cfg(test)]
pub(crate) static REUSE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);

/// A call is dropped.
extern "C" fn forget(life: &mut Life) {
    life.cancel();
    *life.task = None;
}

impl Life {
    fn cancel(&mut self) {
        let epoch = self.account.epoch();
        if switch::epoch() != Some(epoch) || !self.account.is_live(epoch) {
            return;
        }
        let Some(proc) = self.proc.id() else { return };
        let account = &mut self.account;
        let drop_in = |thread: &ThreadLedger, account: &mut Account| {
            thread.ledger.drop_call(account, proc, clock::ticks());
        };
        if thread::with(epoch, |thread| drop_in(thread, account)).is_none() {
            thread::with_stray(epoch, |thread| drop_in(thread, account));
        }
    }
}

/// A frame that is open; dropped before its end, its poll unwound or was torn down.
struct OpenPoll<'a> {
    life: &'a mut Life,
    epoch: u32,
    depth: u32,
}

/// Closes the frame.
extern "C" fn end(open: &mut OpenPoll<'_>, end: PollEnd) {
    let depth = std::mem::replace(&mut open.depth, CLOSED);
    let life = &mut *open.life;
    if depth == CLOSED {
        unseen(open.epoch);
    } else if switch::epoch() == Some(open.epoch) {
        thread::with_current(open.epoch, |thread| close_in(thread, life, depth, end));
    } else if depth == 0 && life.task.is_none() {
        outlast(open.epoch, life, end == PollEnd::Pending);
    }
    if end != PollEnd::Pending && life.task.is_some() {
        leave_task(life);
    }
}

#[inline]
fn close_in(thread: &ThreadLedger, life: &mut Life, depth: u32, end: PollEnd) {
    let ledger = &thread.ledger;
    let pending = end == PollEnd::Pending;
    let still = if pending { ledger.still_up() } else { None };
    let t = reused(still).unwrap_or_else(clock::ticks);
    let charge = ledger.poll_end(&mut life.account, depth, t, end);
    if depth == 0
        && let Some(charge) = charge
    {
        close_root(thread, life, t, &charge, pending);
    }
}

/// The poll of a task's root is closed: if the task is not over, it shows where it stands, and gets a row for it after its first poll.
#[inline(never)]
fn close_root(thread: &ThreadLedger, life: &mut Life, t: u64, charge: &Charge, pending: bool) {
    let ledger = &thread.ledger;
    if life.task.is_none() && !life.account.is_rowless() {
        let newborn = thread.newborn.own();
        if pending {
            match task::enter(newborn, ledger.epoch(), thread.index) {
                Some(task) => *life.task = Some(task),
                None => life.account.set_rowless(),
            }
        }
        thread.newborn.end();
    }
    if let (true, Some(task)) = (pending, &*life.task) {
        task.end(t, charge.hold, charge.inclusive, |each| {
            ledger.take_trail(each)
        });
    }
}

/// Accounting was switched off in the first poll of a task: if it waits now it has its row, though where it waits is not known.
#[cold]
fn outlast(epoch: u32, life: &mut Life, pending: bool) {
    thread::with_current(epoch, |thread| {
        let newborn = thread.newborn.own();
        if pending && newborn.id != 0 {
            *life.task = task::enter(newborn, epoch, thread.index);
        }
        thread.newborn.end();
    });
    if let Some(task) = &*life.task {
        task.end(clock::ticks(), 0, 0, |_| false);
    }
}

impl Drop for OpenPoll<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.depth != CLOSED {
            unwound(self);
        }
    }
}

/// Closes a frame that has no result.
#[cold]
extern "C" fn unwound(open: &mut OpenPoll<'_>) {
    let how = if std::thread::panicking() {
        PollEnd::Panic
    } else {
        PollEnd::Torn
    };
    end(open, how);
}

/// The body of a call of `proc` comes to its await point `site`: notes it, gives the operand back.
#[inline]
pub fn at<T>(proc: &'static Proc, site: u32, operand: T) -> T {
    if switch::is_armed() {
        arrive(proc, site, is_call::<T>());
    }
    operand
}

/// The same inside of a future that wraps the body: what it does around the body's polls is the proc's own time.
#[inline]
pub fn within<T>(proc: &'static Proc, site: u32, operand: T) -> T {
    if switch::is_armed() {
        arrive(proc, site, false);
    }
    operand
}

extern "C" fn arrive(proc: &'static Proc, site: u32, direct: bool) {
    if let (Some(epoch), Some(id)) = (switch::epoch(), proc.id()) {
        thread::with_current(epoch, |thread| thread.ledger.arrive(id, site + 1, direct));
    }
}

/// Whether a future is a [`Call`], also behind `impl Future`: then no user code runs between the
/// polls of the two, and one reading of the clock serves both.
#[inline]
extern "C" fn is_call<T>() -> bool {
    const PREFIX: &str = concat!(module_path!(), "::Call<");
    std::any::type_name::<T>().starts_with(PREFIX)
}

/// A call of a plain function: accounted as one poll, until dropped.
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct Entered {
    account: Account,
    epoch: u32,
    depth: u32,
    /// The thread unwound already when the function was called: from a destructor.
    unwinding: bool,
}

/// What is polled below it belongs to no task that is shown.
const PLAIN: Start = Start {
    root: false,
    quiet: true,
    key: 0,
};

/// A plain function begins.
pub fn enter(proc: &'static Proc) -> Entered {
    let mut entered = Entered {
        account: Account::new(Origin::UNSEEN),
        epoch: 0,
        depth: CLOSED,
        unwinding: false,
    };
    if let (Some(epoch), Some(key)) = (switch::epoch(), proc.key(0)) {
        let depth = thread::with(epoch, |thread| {
            let t = clock::ticks();
            entered.account = Account::new(thread.ledger.create(key, t));
            thread
                .ledger
                .poll_start(&mut entered.account, key, t, PLAIN)
        });
        entered.epoch = epoch;
        entered.depth = depth.flatten().unwrap_or(CLOSED);
        entered.unwinding = std::thread::panicking();
    }
    entered
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        if self.depth == CLOSED || switch::epoch() != Some(self.epoch) {
            return;
        }
        let panics = std::thread::panicking() && !self.unwinding;
        let end = if panics {
            PollEnd::Panic
        } else {
            PollEnd::Ready
        };
        thread::with_current(self.epoch, |thread| {
            let (account, depth) = (&mut self.account, self.depth);
            thread.ledger.poll_end(account, depth, clock::ticks(), end);
        });
    }
}
