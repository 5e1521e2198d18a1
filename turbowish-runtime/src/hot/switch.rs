//! One word says whether accounting is on, and which stretch of it: odd while armed, even while not.
//!
//! It also says that this process is a child of `fork`. A lock of ours may have been held at the
//! fork by a thread that the child does not have, so a child is off for good, from before its first
//! event. What it has inherited takes no lock either: whoever comes to one while accounting is off
//! asks [`is_child`].

use std::sync::atomic::{AtomicU32, Ordering};

static STATE: AtomicU32 = AtomicU32::new(0);

/// A child of `fork` that has polled nothing yet.
const NEW_CHILD: u32 = 1 << 31;
/// A child that was told what it is.
const CHILD: u32 = 1 << 30;

/// Children of this process are off. Without the C library's help, none is.
pub(crate) fn watch_forks() {
    #[cfg(unix)]
    let _ = turbowish_unsafe::fork::mark_children(&STATE, NEW_CHILD);
}

/// Whether this process was forked from one that TurboWish was started in.
#[inline]
pub(crate) fn is_child() -> bool {
    STATE.load(Ordering::Relaxed) & (NEW_CHILD | CHILD) != 0
}

/// Whether this is such a process, and nobody has asked before.
#[cold]
pub(crate) fn is_new_child() -> bool {
    let told = STATE.compare_exchange(NEW_CHILD, CHILD, Ordering::Relaxed, Ordering::Relaxed);
    told.is_ok()
}

/// Whether a poll has to be looked at: accounting is on, or this is a new child.
#[inline]
pub(crate) extern "C" fn concerns_polls() -> bool {
    STATE.load(Ordering::Relaxed) & (NEW_CHILD | 1) != 0
}

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
    let may = |state: u32| state & (NEW_CHILD | CHILD) == 0 && state & 1 != parity;
    let step = |state: u32| may(state).then(|| state + 1);
    STATE
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, step)
        .ok()
        .map(|state| state + 1)
}
