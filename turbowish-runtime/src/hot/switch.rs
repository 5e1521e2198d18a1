//! Accounting switch: one word says whether accounting is armed, and which epoch it is. Even while
//! disarmed, odd while armed. While armed so that the events of calls are recorded, it is even and
//! has the bit [`RECORDED`]: then no poll takes a quick way, since those ask for an odd word.
//!
//! It also says that this process is a child of `fork`. A thread that the child does not have may
//! have held a lock at the fork, so accounting is off for good in a child, from before its first
//! event. Inherited objects take no lock either: code that would take a lock while accounting is
//! disarmed asks [`is_child`] first.

use std::sync::atomic::{AtomicU32, Ordering};

/// The switch of this process.
struct Switch {
    /// The epoch, and whether this is a child of `fork`.
    state: AtomicU32,
    /// Process ID of the process that called `init`.
    parent: AtomicU32,
}

static SWITCH: Switch = Switch {
    state: AtomicU32::new(0),
    parent: AtomicU32::new(0),
};

/// A child of `fork` that has polled nothing yet.
const NEW_CHILD: u32 = 1 << 31;
/// A child of `fork` that has reported so.
const CHILD: u32 = 1 << 30;

/// Armed, and the events of calls are recorded.
///
/// Each stretch of time, armed in either way or disarmed, has its own number: disarmed it is a
/// multiple of four, and armed the same with one of two bits. Numbers stay small, so that a task
/// has room for them.
const RECORDED: u32 = 1 << 1;
/// Armed in either way.
const ARMED: u32 = RECORDED | 1;

/// Disarms children of this process. If the C library offers no hook, children are not recognized.
pub(crate) fn watch_forks() {
    SWITCH.parent.store(std::process::id(), Ordering::Relaxed);
    #[cfg(unix)]
    let _ = turbowish_unsafe::fork::mark_children(&SWITCH.state, NEW_CHILD);
}

/// Whether this process was forked from one in which TurboWish was started.
#[inline]
pub(crate) fn is_child() -> bool {
    SWITCH.state.load(Ordering::Relaxed) & (NEW_CHILD | CHILD) != 0
}

/// Whether this is such a child and this is the first call.
#[cold]
pub(crate) fn is_new_child() -> bool {
    let told =
        SWITCH
            .state
            .compare_exchange(NEW_CHILD, CHILD, Ordering::Relaxed, Ordering::Relaxed);
    told.is_ok()
}

/// Process ID of the process that called `init`; 0 if none did.
pub(crate) fn parent() -> u32 {
    SWITCH.parent.load(Ordering::Relaxed)
}

/// Whether polls need attention: accounting is armed, or this is a new child.
#[inline]
pub(crate) extern "C" fn concerns_polls() -> bool {
    SWITCH.state.load(Ordering::Relaxed) & (NEW_CHILD | ARMED) != 0
}

/// The running epoch, if accounting is armed: one relaxed load.
#[inline]
pub(crate) fn epoch() -> Option<u32> {
    armed(state())
}

/// The switch as it is. No call is of a state that is no epoch.
#[inline]
pub(crate) fn state() -> u32 {
    SWITCH.state.load(Ordering::Relaxed)
}

/// The epoch of a state of the switch in which accounting is armed.
#[inline]
pub(crate) const fn armed(state: u32) -> Option<u32> {
    if state & ARMED != 0 {
        Some(state)
    } else {
        None
    }
}

/// The epoch of a state of the switch in which accounting is armed, unless the events of calls are
/// recorded in it.
#[inline]
pub(crate) const fn unrecorded(state: u32) -> Option<u32> {
    if state & 1 == 1 { Some(state) } else { None }
}

/// The running epoch, unless the events of calls are recorded in it: what quick ways ask for.
#[inline]
pub(crate) fn quick() -> Option<u32> {
    unrecorded(state())
}

/// The epoch of a state of the switch in which the events of calls are recorded.
pub(crate) const fn recorded(state: u32) -> Option<u32> {
    if state & RECORDED != 0 {
        Some(state)
    } else {
        None
    }
}

/// Whether accounting is armed: one relaxed load. Cannot unwind, and costs its callers no landing
/// pad.
#[inline]
pub(crate) extern "C" fn is_armed() -> bool {
    SWITCH.state.load(Ordering::Relaxed) & ARMED != 0
}

/// Arms accounting. Returns the epoch that begins, or `None` if it was armed.
pub(crate) fn arm() -> Option<u32> {
    change(false, |state| state | 1).map(|[_, now]| now)
}

/// Arms accounting, and lets the events of calls be recorded. Returns the epoch that begins, or
/// `None` if it was armed.
pub(crate) fn arm_recorded() -> Option<u32> {
    change(false, |state| state | RECORDED).map(|[_, now]| now)
}

/// Disarms accounting. Returns the epoch that ends, or `None` if it was disarmed.
pub(crate) fn disarm() -> Option<u32> {
    // Never used before.
    change(true, |state| (state | ARMED) + 1).map(|[before, _]| before)
}

/// Lets one epoch follow another, in which the events of calls are recorded or not: accounting is
/// never off in between. Returns the epoch that ends, and the one that begins; `None` if accounting
/// is disarmed.
pub(crate) fn renew(records: bool) -> Option<[u32; 2]> {
    match records {
        true => change(true, |state| ((state | ARMED) + 1) | RECORDED),
        false => change(true, |state| ((state | ARMED) + 1) | 1),
    }
}

/// Changes the switch if it `is_armed`, or is not. Returns what it was, and what it is.
fn change(is_armed: bool, to: fn(u32) -> u32) -> Option<[u32; 2]> {
    let may = |state: u32| state & (NEW_CHILD | CHILD) == 0 && (state & ARMED != 0) == is_armed;
    let step = |state: u32| may(state).then(|| to(state));
    SWITCH
        .state
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, step)
        .ok()
        .map(|before| [before, to(before)])
}
