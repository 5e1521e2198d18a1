//! Exclusive holder of a lock, in a seqlock. Only the lock's owner writes it, so it needs no lock
//! of its own; any thread reads it.

use std::panic::Location;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64};

use turbowish_model::account::resource::{Holder, Role};
use turbowish_model::account::seqlock::SeqLock;
use turbowish_unsafe::atomic_location::AtomicLocation;

use crate::hot::current::CurrentCall;

/// Seqlock with the exclusive holder.
#[derive(Debug, Default)]
pub(super) struct ExclusiveHolder {
    sequence: SeqLock,
    /// Amount held; 0 while there is no exclusive holder.
    amount: AtomicU32,
    task: AtomicU64,
    proc: AtomicU32,
    site: AtomicU16,
    poll: AtomicU64,
    since: AtomicU64,
    at: AtomicLocation,
    owned: AtomicBool,
}

/// Maximum number of read attempts.
const TRIES: u32 = 64;

impl ExclusiveHolder {
    /// Sets the holder, which has just acquired the lock exclusively.
    #[inline]
    pub(super) fn acquire(
        &self,
        who: CurrentCall,
        since: u64,
        amount: u32,
        at: &'static Location<'static>,
        owned: bool,
    ) {
        let writing = self.sequence.write();
        self.amount.store(amount, Relaxed);
        self.task.store(who.task, Relaxed);
        self.proc.store(who.proc, Relaxed);
        self.site.store(who.site, Relaxed);
        self.poll.store(who.poll, Relaxed);
        self.since.store(since, Relaxed);
        self.at.set(at);
        self.owned.store(owned, Relaxed);
        drop(writing);
    }

    /// Clears the holder, which is about to release the lock. Returns its task, and the time of the
    /// acquisition.
    #[inline]
    pub(super) fn release(&self) -> (u64, u64) {
        let writing = self.sequence.write();
        self.amount.store(0, Relaxed);
        drop(writing);
        (self.task.load(Relaxed), self.since.load(Relaxed))
    }

    /// The holder that was cleared last. Only for the lock's owner.
    pub(super) fn last(&self, role: Role) -> Option<Holder> {
        self.holder(role, |_| true)
    }

    fn holder(&self, role: Role, is_holder: impl FnOnce(u32) -> bool) -> Option<Holder> {
        let amount = self.amount.load(Relaxed);
        let at = self.at.get().filter(|_| is_holder(amount))?;
        Some(Holder {
            // There is only one holder, so the ticket does not matter.
            ticket: 0,
            who: CurrentCall {
                task: self.task.load(Relaxed),
                proc: self.proc.load(Relaxed),
                site: self.site.load(Relaxed),
                poll: self.poll.load(Relaxed),
            },
            role,
            amount,
            since: self.since.load(Relaxed),
            at,
            owned: self.owned.load(Relaxed),
        })
    }

    /// Reads the holder. A holder being set or cleared is not shown: the reader does not wait for
    /// its thread, which may not be running.
    pub(super) fn read(&self, role: Role) -> Option<Holder> {
        let read = self
            .sequence
            .try_read(TRIES, || self.holder(role, |amount| amount != 0));
        read.flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::sync::atomic::{AtomicBool, Ordering};

    use turbowish_model::account::resource::Role;

    use super::{ExclusiveHolder, Relaxed};
    use crate::hot::current::CurrentCall;

    /// Number of holders that have to be read.
    const ENOUGH: u64 = 2_000;

    #[test]
    fn who_reads_sees_one_holder_whole_or_none() {
        let (holder, over) = (ExclusiveHolder::default(), AtomicBool::new(false));
        let at = Location::caller();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 1.. {
                    let who = CurrentCall {
                        task: turn,
                        poll: turn,
                        ..CurrentCall::default()
                    };
                    holder.acquire(who, turn, 1, at, turn % 2 == 0);
                    assert_eq!(holder.release(), (turn, turn));
                    if over.load(Ordering::Acquire) {
                        return;
                    }
                }
            });
            let mut seen = 0;
            while seen < ENOUGH {
                let Some(holder) = holder.read(Role::Lock) else {
                    continue;
                };
                let turn = holder.since;
                assert_eq!((holder.who.task, holder.who.poll), (turn, turn));
                assert_eq!((holder.owned, holder.at), (turn % 2 == 0, at));
                seen += 1;
            }
            over.store(true, Ordering::Release);
        });
        assert_eq!(holder.read(Role::Lock), None);
    }

    /// The writer's thread was preempted, possibly for long.
    #[test]
    fn who_is_just_coming_does_not_sit_there_yet() {
        let holder = ExclusiveHolder::default();
        let who = CurrentCall {
            task: 1,
            ..CurrentCall::default()
        };
        holder.acquire(who, 0, 1, Location::caller(), false);
        holder.release();
        let coming = holder.sequence.write();
        holder.amount.store(1, Relaxed);
        assert_eq!(holder.read(Role::Lock), None);
        drop(coming);
        let read = holder.read(Role::Lock);
        assert_eq!(read.map(|holder| holder.who), Some(who));
    }
}
