//! What the attribute prints around the operand of an await.

use crate::hot::proc::Proc;
use crate::hot::{switch, thread};

/// The body of a call of `proc` comes to its await point `site`: notes it, gives the operand back.
#[inline]
pub fn at<T>(proc: &'static Proc, site: u32, operand: T) -> T {
    if switch::is_armed() {
        arrive(proc, site, shape::<T>());
    }
    operand
}

/// The same inside of a future that wraps the body: what it does around the body's polls is the proc's own time.
#[inline]
pub fn within<T>(proc: &'static Proc, site: u32, operand: T) -> T {
    if switch::is_armed() {
        arrive(proc, site, 0);
    }
    operand
}

extern "C" fn arrive(proc: &'static Proc, site: u32, shape: usize) {
    if let (Some(epoch), Some(id)) = (switch::epoch(), proc.id()) {
        let (direct, bytes) = (shape & 1 != 0, shape >> 1);
        let forks = !direct && proc.is_fork(site);
        thread::with_current(epoch, |thread| {
            thread.ledger.arrive(id, site + 1, direct);
            if forks {
                thread.ledger.fork(id);
            }
            if bytes >= LARGE {
                thread.ledger.awaits(id, site + 1, bytes as u64);
            }
        });
    }
}

/// Operands of so many bytes are what makes futures large.
const LARGE: usize = 1024;

/// What is to be known of an operand, in one word: its bytes, and in the lowest bit whether it is a [`Call`](super::Call).
#[inline]
extern "C" fn shape<T>() -> usize {
    size_of::<T>() << 1 | is_call::<T>() as usize
}

/// Whether a future is a [`Call`], also behind `impl Future`: then no user code runs between the
/// polls of the two, and one reading of the clock serves both.
#[inline]
pub(crate) extern "C" fn is_call<T>() -> bool {
    let name = std::any::type_name::<T>().strip_prefix(super::PATH);
    name.is_some_and(|rest| rest.starts_with("::Call<"))
}
