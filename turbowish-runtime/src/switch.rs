//! One word says whether accounting is on, and which stretch of it: odd while armed, even while not.

use std::sync::atomic::{AtomicU32, Ordering};

static STATE: AtomicU32 = AtomicU32::new(0);

/// The running stretch of accounting, if it is on: one relaxed load.
#[inline]
pub(crate) fn epoch() -> Option<u32> {
    let state = STATE.load(Ordering::Relaxed);
    (state & 1 == 1).then_some(state)
}

/// Whether accounting is on: one relaxed load. It cannot unwind, and costs its callers no landing pad.
#[inline]
pub(crate) extern "C" fn is_armed() -> bool {
    STATE.load(Ordering::Relaxed) & 1 == 1
}

/// Turns accounting on. Returns the epoch that begins, or `None` if it was on.
pub(crate) fn arm() -> Option<u32> {
    change(1)
}

/// Turns accounting off. Returns the epoch that ends, or `None` if it was off.
pub(crate) fn disarm() -> Option<u32> {
    change(0).map(|state| state - 1)
}

fn change(parity: u32) -> Option<u32> {
    let step = |state: u32| (state & 1 != parity).then(|| state.wrapping_add(1));
    STATE
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, step)
        .ok()
        .map(|state| state.wrapping_add(1))
}
