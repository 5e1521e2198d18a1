//! The events of a thread's calls, while they are recorded, and the numbers of calls.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex};

use turbowish_model::account::call::CALL_NUMBERS;
use turbowish_model::event::CallEvent;
use turbowish_model::event::call_ring::{CallRecord, CallRing};
use turbowish_unsafe::zeroed;

use super::{THREADS, ThreadLedger};
use crate::hot::switch;
use crate::lock::lock;

/// Events that a thread keeps: half a mebibyte of memory, of which the system gives what is
/// written.
const KEPT: usize = 1 << 15;

/// Numbers that a thread takes at once.
const BLOCK: u32 = 1 << 10;

/// The logs of all threads.
pub(super) struct CallLogs {
    /// How many numbers the threads have taken, and one more. A call has the rest of a division by
    /// [`CALL_NUMBERS`].
    next: AtomicU64,
    /// What that was when this epoch began.
    from: AtomicU64,
    /// Those that the recorder has not taken yet.
    new: Mutex<Vec<ThreadCallLog>>,
    /// The epochs that have ended, which the recorder has not taken yet.
    ended: Mutex<Vec<EpochEnd>>,
}

/// An epoch in which events of calls were recorded has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EpochEnd {
    pub(crate) epoch: u32,
    /// When, in ticks. An event that was under way then may be later.
    pub(crate) at: u64,
}

/// The log of a thread in one epoch. It outlives both as long as somebody refers to it.
#[derive(Clone, Debug)]
pub(crate) struct ThreadCallLog {
    /// Number of the thread.
    pub(crate) index: u32,
    pub(crate) epoch: u32,
    pub(crate) log: Arc<CallLog>,
}

/// The last events of the calls of a thread.
#[derive(Debug)]
pub(crate) struct CallLog {
    pub(crate) ring: CallRing,
    /// The next number of the block that the thread has taken, and how many are left of it.
    next: AtomicU32,
    left: AtomicU32,
}

impl CallLogs {
    pub(super) const fn new() -> Self {
        Self {
            next: AtomicU64::new(1),
            from: AtomicU64::new(1),
            new: Mutex::new(Vec::new()),
            ended: Mutex::new(Vec::new()),
        }
    }

    /// The log of a thread that has a new ledger.
    pub(super) fn begin(&self, epoch: u32, index: u32) -> Option<Arc<CallLog>> {
        switch::recorded(epoch)?;
        let log = Arc::new(CallLog {
            ring: CallRing::new(zeroed::words(KEPT)),
            next: AtomicU32::new(0),
            left: AtomicU32::new(0),
        });
        let mut new = lock(&self.new);
        // Nobody takes them.
        if new.len() >= super::FOLD_AT {
            new.retain(|known| !known.is_over());
        }
        new.push(ThreadCallLog {
            index,
            epoch,
            log: Arc::clone(&log),
        });
        Some(log)
    }
}

impl ThreadCallLog {
    /// Whether the thread has ended, or has another ledger: it writes no more here.
    pub(crate) fn is_over(&self) -> bool {
        let is_last = Arc::strong_count(&self.log) == 1;
        // All that it wrote is seen from here on.
        fence(Ordering::Acquire);
        is_last
    }
}

impl CallLog {
    /// A number for a call, which no other call has had among the last 268 million. `None` if the
    /// epoch has ended.
    pub(crate) fn number(&self, epoch: u32) -> Option<u32> {
        if self.left.load(Ordering::Relaxed) == 0 {
            let next = THREADS.calls.next.fetch_add(BLOCK.into(), Ordering::AcqRel);
            // These numbers are of the epoch only if it goes on after they were taken.
            if switch::epoch() != Some(epoch) {
                return None;
            }
            // Only what is left by a division by less is asked for.
            self.next.store(next as u32, Ordering::Relaxed);
            self.left.store(BLOCK, Ordering::Relaxed);
        }
        let next = self.next.load(Ordering::Relaxed);
        self.next.store(next.wrapping_add(1), Ordering::Relaxed);
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left - 1, Ordering::Relaxed);
        match next % CALL_NUMBERS {
            // It stands for no call.
            0 => self.number(epoch),
            number => Some(number),
        }
    }
}

impl ThreadLedger {
    /// Adds an event to the log, at the time of the last one that the ledger knows of. Events of
    /// the innermost poll have the number 0.
    pub(crate) fn log_call(&self, number: u32, event: CallEvent) {
        if let Some(log) = &self.calls {
            let at = self.ledger.latest();
            log.ring.push(&CallRecord { at, number, event });
        }
    }
}

/// The numbers that calls have got so far are of earlier epochs: before one begins.
pub(crate) fn number_calls_anew() {
    let logs = &THREADS.calls;
    let next = logs.next.fetch_add(0, Ordering::AcqRel);
    logs.from.store(next, Ordering::Release);
}

/// Whether a call has got this number in the epoch that runs.
pub(crate) fn is_numbered_now(number: u32) -> bool {
    let from = THREADS.calls.from.load(Ordering::Acquire);
    let next = THREADS.calls.next.load(Ordering::Acquire);
    // Once that is all of them, a call of an earlier epoch may pass for one of this.
    u64::from(number).wrapping_sub(from) % u64::from(CALL_NUMBERS) < next - from
}

/// Takes the logs of the threads that have begun one since the last call.
pub(crate) fn take_call_logs() -> Vec<ThreadCallLog> {
    std::mem::take(&mut *lock(&THREADS.calls.new))
}

/// Records that an epoch has ended, if events of calls were recorded in it.
pub(crate) fn end_calls(epoch: u32, at: u64) {
    if switch::recorded(epoch).is_none() {
        return;
    }
    let mut ended = lock(&THREADS.calls.ended);
    if ended.len() >= super::FOLD_AT {
        // Nobody takes them.
        ended.remove(0);
    }
    ended.push(EpochEnd { epoch, at });
}

/// Takes the epochs that have ended since the last call. The logs that are taken after this have
/// all events of theirs but those that were under way.
pub(crate) fn take_call_ends() -> Vec<EpochEnd> {
    std::mem::take(&mut *lock(&THREADS.calls.ended))
}

/// Lets so many numbers pass.
#[cfg(test)]
pub(crate) fn pass_numbers(count: u64) {
    THREADS.calls.next.fetch_add(count, Ordering::AcqRel);
}
