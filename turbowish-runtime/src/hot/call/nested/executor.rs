//! Wakers with which tokio's `block_on` polls, learned from tokio: only `block_on` makes such
//! wakers.

use std::sync::{Arc, OnceLock};
use std::task::{RawWakerVTable, Waker};

use crate::hot::thread;
use crate::{features, runtimes};

/// Their vtables.
static KNOWN: OnceLock<Option<[&'static RawWakerVTable; 2]>> = OnceLock::new();

/// Asks tokio, once, on a separate thread: the caller may be inside a runtime.
pub(crate) fn learn() {
    if !features::RUNTIMES {
        return;
    }
    KNOWN.get_or_init(|| {
        // Not through a channel, whose code takes 20 KB.
        let told = Arc::new(OnceLock::new());
        let tell = Arc::clone(&told);
        let asks = move || _ = tell.set(runtimes::blocking_wakers());
        thread::start("turbowish-asks", asks).ok()?.join().ok()?;
        told.get().copied().flatten()
    });
}

/// Whether `block_on` polls with this waker.
pub(crate) fn is_blocking(waker: &Waker) -> bool {
    if !features::RUNTIMES {
        return false;
    }
    let known = KNOWN.get().copied().flatten();
    known.is_some_and(|known| known.contains(&waker.vtable()))
}
