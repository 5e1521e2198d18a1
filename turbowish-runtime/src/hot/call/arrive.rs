//! Wrappers that the attribute puts around the operand of an await.

use super::recorded;
use crate::hot::proc::Proc;
use crate::hot::thread::ThreadLedger;
use crate::hot::{switch, thread};

/// Records that the body of a call of `proc` arrives at its await point `site`; returns the
/// operand.
#[inline]
pub fn at<T>(proc: &'static Proc, site: u32, operand: T) -> T {
    if switch::is_armed() {
        arrive(proc, site, shape::<T>());
    }
    operand
}

/// Like [`at`], inside a future that wraps the body: what that future does around the body's polls
/// is the proc's own time.
#[inline]
pub fn within<T>(proc: &'static Proc, site: u32, operand: T) -> T {
    if switch::is_armed() {
        arrive(proc, site, 0);
    }
    operand
}

extern "C" fn arrive(proc: &'static Proc, site: u32, shape: usize) {
    // First of all: the compiler takes this for a call, around which it saves all that it has.
    let here = thread::this();
    let (direct, bytes) = (shape & 1 != 0, shape >> 1);
    if bytes < LARGE
        && (direct || !proc.is_fork(site))
        && let (Some(epoch), Some(id)) = (switch::quick(), proc.known())
    {
        let arrived = here.with_current(epoch, |thread| {
            thread.ledger.arrive_quick(id, site + 1, direct)
        });
        if arrived == Some(true) {
            return;
        }
    }
    // At the end, so that the compiler saves no register for it.
    arrive_with(proc, site, shape);
}

/// Arrives at any await point.
#[cold]
#[inline(never)]
extern "C" fn arrive_with(proc: &'static Proc, site: u32, shape: usize) {
    let Some(epoch) = switch::quick() else {
        return recorded::arrive(proc, site, shape);
    };
    if let Some(id) = proc.id() {
        thread::with_current(epoch, |thread| {
            arrive_in(thread, (proc, id), site, shape);
        });
    }
}

#[inline(always)]
pub(super) fn arrive_in(
    thread: &ThreadLedger,
    (proc, id): (&'static Proc, u32),
    site: u32,
    shape: usize,
) {
    let (direct, bytes) = (shape & 1 != 0, shape >> 1);
    thread.ledger.arrive(id, site + 1, direct);
    if !direct && proc.is_fork(site) {
        thread.ledger.fork(id);
    }
    if bytes >= LARGE {
        thread.ledger.awaits(id, site + 1, bytes as u64);
    }
}

/// Bytes from which an operand is recorded as large.
const LARGE: usize = 1024;

/// Size of an operand in bytes, shifted left by one; the lowest bit says whether it is a
/// [`Call`](super::Call).
#[inline]
extern "C" fn shape<T>() -> usize {
    size_of::<T>() << 1 | is_call::<T>() as usize
}

/// Whether a future is a [`Call`], also behind `impl Future`. Then no user code runs between the
/// polls of the two, and one clock reading serves both.
#[inline]
pub(crate) extern "C" fn is_call<T>() -> bool {
    let name = std::any::type_name::<T>().strip_prefix(super::PATH);
    name.is_some_and(|rest| rest.starts_with("::Call<"))
}
