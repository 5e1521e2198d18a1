//! The longest hold of a resource, and the longest wait for it: when, where and by which call.
//!
//! A use is compared with the maximum and, if it is no longer, that is all.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use turbowish_model::account::resource::{Holder, LongestUse, Role, Waiter};
use turbowish_model::account::seqlock::SeqLock;
use turbowish_unsafe::atomic_location::AtomicLocation;

use crate::hot::current::{self, CurrentCall};

/// A longest use, in a seqlock. One thread at a time writes it: the one that has the lock, or that
/// of the record.
#[derive(Debug)]
pub(super) struct LongestCell {
    ticks: AtomicU64,
    sequence: SeqLock,
    end: AtomicU64,
    task: AtomicU64,
    poll: AtomicU64,
    behind: AtomicU64,
    at: AtomicLocation,
    proc: AtomicU32,
    thread: AtomicU32,
    site: AtomicU16,
    role: AtomicU8,
}

/// The longest uses of a resource.
#[derive(Debug, Default)]
pub(super) struct LongestUses {
    pub(super) hold: LongestCell,
    pub(super) wait: LongestCell,
}

/// Stands for no thread.
const NOWHERE: u32 = u32::MAX;
/// Maximum number of read attempts.
const TRIES: u32 = 64;

impl Default for LongestCell {
    fn default() -> Self {
        Self {
            ticks: AtomicU64::new(0),
            sequence: SeqLock::default(),
            end: AtomicU64::new(0),
            task: AtomicU64::new(0),
            poll: AtomicU64::new(0),
            behind: AtomicU64::new(0),
            at: AtomicLocation::default(),
            proc: AtomicU32::new(0),
            thread: AtomicU32::new(NOWHERE),
            site: AtomicU16::new(0),
            role: AtomicU8::new(0),
        }
    }
}

/// A hold that ended at `end`.
pub(super) const fn held(holder: &Holder, end: u64) -> LongestUse {
    LongestUse {
        ticks: end.saturating_sub(holder.since),
        end,
        who: holder.who,
        role: holder.role,
        at: Some(holder.at),
        thread: None,
        behind: 0,
    }
}

/// A wait that ended at `end`.
pub(super) const fn waited(waiter: &Waiter, behind: u64, end: u64) -> LongestUse {
    LongestUse {
        ticks: end.saturating_sub(waiter.since),
        end,
        who: waiter.who,
        role: waiter.role,
        at: Some(waiter.at),
        thread: None,
        behind,
    }
}

/// An item that was inside for so many ticks, until the current call took it out.
pub(super) fn taken_out(ticks: u64, end: u64) -> LongestUse {
    LongestUse {
        ticks,
        end,
        who: current::current_call(),
        role: Role::Receive,
        at: None,
        thread: None,
        behind: 0,
    }
}

impl LongestCell {
    /// Whether a use of this duration would be the longest one.
    #[inline(always)]
    pub(super) fn is_beaten_by(&self, ticks: u64) -> bool {
        ticks > self.ticks.load(Relaxed)
    }

    /// Keeps a use that is the longest one, and ends on this thread.
    #[cold]
    #[inline(never)]
    pub(super) fn keep(&self, used: &LongestUse) {
        let thread = current::thread_index().unwrap_or(NOWHERE);
        let writing = self.sequence.write();
        self.ticks.store(used.ticks, Relaxed);
        self.end.store(used.end, Relaxed);
        self.task.store(used.who.task, Relaxed);
        self.poll.store(used.who.poll, Relaxed);
        self.behind.store(used.behind, Relaxed);
        // Of one kind of use all have a location, or none.
        if let Some(at) = used.at {
            self.at.set(at);
        }
        self.proc.store(used.who.proc, Relaxed);
        self.thread.store(thread, Relaxed);
        self.site.store(used.who.site, Relaxed);
        self.role.store(used.role as u8, Relaxed);
        drop(writing);
    }

    fn used(&self) -> LongestUse {
        let thread = self.thread.load(Relaxed);
        let role = usize::from(self.role.load(Relaxed));
        LongestUse {
            ticks: self.ticks.load(Relaxed),
            end: self.end.load(Relaxed),
            who: CurrentCall {
                task: self.task.load(Relaxed),
                proc: self.proc.load(Relaxed),
                site: self.site.load(Relaxed),
                poll: self.poll.load(Relaxed),
            },
            role: Role::ALL.get(role).copied().unwrap_or_default(),
            at: self.at.get(),
            thread: (thread != NOWHERE).then_some(thread),
            behind: self.behind.load(Relaxed),
        }
    }

    /// The longest use, if there was one. One that is just being written is not shown: the reader
    /// does not wait for its thread, which may not be running.
    pub(super) fn read(&self) -> Option<LongestUse> {
        let used = self.sequence.try_read(TRIES, || self.used())?;
        (used.ticks > 0).then_some(used)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::sync::atomic::{AtomicBool, Ordering};

    use turbowish_model::account::resource::{Holder, Role};

    use super::{LongestCell, held};
    use crate::hot::current::CurrentCall;

    /// Number of uses that have to be read.
    const ENOUGH: u64 = 2_000;

    #[test]
    fn a_reader_sees_one_use_whole_or_none() {
        let (cell, over) = (LongestCell::default(), AtomicBool::new(false));
        assert_eq!(cell.read(), None);
        let at = Location::caller();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 1.. {
                    let role = Role::ALL[turn as usize % Role::ALL.len()];
                    let holder = Holder {
                        ticket: 0,
                        who: CurrentCall {
                            task: turn,
                            poll: turn,
                            ..CurrentCall::default()
                        },
                        role,
                        amount: 1,
                        since: turn,
                        at,
                        owned: false,
                    };
                    assert!(cell.is_beaten_by(turn) && !cell.is_beaten_by(turn - 1));
                    cell.keep(&held(&holder, 2 * turn));
                    if over.load(Ordering::Acquire) {
                        return;
                    }
                }
            });
            let mut seen = 0;
            while seen < ENOUGH {
                let Some(used) = cell.read() else {
                    continue;
                };
                let turn = used.ticks;
                assert_eq!((used.end, used.who.task), (2 * turn, turn));
                assert_eq!(used.role, Role::ALL[turn as usize % Role::ALL.len()]);
                assert_eq!((used.who.poll, used.at), (turn, Some(at)));
                seen += 1;
            }
            over.store(true, Ordering::Release);
        });
    }
}
