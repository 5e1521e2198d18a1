//! The creation of a call.

use turbowish_model::account::call::Origin;
use turbowish_model::event::CallEvent;

use super::recorded;
use crate::hot::proc::Proc;
use crate::hot::thread::ThreadLedger;
use crate::hot::{clock, events, switch, thread};

/// Origin of a call that is created now. It reads the clock only if calls of this proc are known to
/// be created before other things happen.
pub(super) extern "C" fn create(proc: &'static Proc, bytes: usize) -> Origin {
    // First of all: the compiler takes this for a call, around which it saves all that it has.
    let here = thread::this();
    if let Some(epoch) = switch::quick()
        && !proc.is_large(bytes)
        && !proc.is_early()
        && let Some(Some(origin)) = here.with_current(epoch, |thread| thread.ledger.born_quick())
    {
        events::call(|| CallEvent::Create {
            proc: proc.id().unwrap_or_default(),
        });
        return origin;
    }
    // At the end, so that the compiler saves no register for it.
    create_with(proc, bytes)
}

#[cold]
#[inline(never)]
extern "C" fn create_with(proc: &'static Proc, bytes: usize) -> Origin {
    let Some(epoch) = switch::quick() else {
        return recorded::create(proc, bytes);
    };
    let origin = thread::with(epoch, |thread| {
        if proc.is_large(bytes) || proc.is_early() {
            create_early(thread, proc, bytes)
        } else {
            thread.ledger.born()
        }
    });
    events::call(|| CallEvent::Create {
        proc: proc.id().unwrap_or_default(),
    });
    origin.unwrap_or(Origin::UNSEEN)
}

#[cold]
#[inline(never)]
fn create_early(thread: &ThreadLedger, proc: &'static Proc, bytes: usize) -> Origin {
    let Some(key) = proc.key(bytes) else {
        return Origin::UNSEEN;
    };
    let ledger = &thread.ledger;
    if proc.is_early() {
        return ledger.create(key, clock::ticks());
    }
    proc.grows(bytes);
    ledger.future_bytes(key);
    ledger.born()
}
