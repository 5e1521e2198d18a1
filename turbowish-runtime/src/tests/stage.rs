//! What the tests of the whole process share: one clock set by hand, one switch, and so one test at
//! a time.

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use quanta::{Clock, Mock};

use crate::hot::{clock, proc, switch, thread};
use crate::lock::lock;

/// The hand-set clock of this test process.
static TIME: LazyLock<Arc<Mock>> = LazyLock::new(|| {
    let (clock, mock) = Clock::mock();
    assert!(clock::install(clock), "nothing else has started the clock");
    mock
});

static STAGE: Mutex<()> = Mutex::new(());

/// The stage to oneself, until the answer is dropped: accounting is off, and nothing is left of
/// what was accounted before, maybe by another clock.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    LazyLock::force(&TIME);
    let alone = lock(&STAGE);
    switch::disarm();
    thread::take_enrolled();
    alone
}

/// What a test calls threads whose ledgers it counts.
pub(crate) const OURS: &str = "ours";

/// For such a thread.
pub(super) fn ours() -> std::thread::Builder {
    std::thread::Builder::new().name(OURS.to_owned())
}

/// Every creation of a call is recorded at once, with its time, until this is dropped.
pub(super) struct EarlyBirths(());

impl EarlyBirths {
    pub(super) fn of(_alone: &MutexGuard<'static, ()>) -> Self {
        proc::EARLY.store(true, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for EarlyBirths {
    fn drop(&mut self) {
        proc::EARLY.store(false, Ordering::Relaxed);
    }
}

/// The machine's own clock, until this is dropped.
pub(super) struct OwnClock(());

impl OwnClock {
    pub(super) fn of(_alone: &MutexGuard<'static, ()>) -> Self {
        clock::BY_ITSELF.store(true, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for OwnClock {
    fn drop(&mut self) {
        clock::BY_ITSELF.store(false, Ordering::Relaxed);
    }
}

pub(super) fn set_time(t: u64) {
    let now = TIME.value();
    if t >= now {
        TIME.increment(t - now);
    } else {
        TIME.decrement(now - t);
    }
}

/// Time goes by, on all threads.
pub(crate) fn advance(by: u64) {
    TIME.increment(by);
}
