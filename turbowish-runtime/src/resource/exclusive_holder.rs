//! Who has all of a lock: written by whoever has that lock, so by one at a time and without a lock of its own, and read by any.

use std::panic::Location;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64};

use turbowish_model::account::resource::{Holder, Role};
use turbowish_model::account::seqlock::SeqLock;
use turbowish_unsafe::place::Place;

use crate::hot::current::CurrentCall;

/// A seat for one.
#[derive(Debug, Default)]
pub(super) struct ExclusiveHolder {
    sequence: SeqLock,
    /// How much is held; 0 while nobody sits here.
    amount: AtomicU32,
    task: AtomicU64,
    proc: AtomicU32,
    site: AtomicU16,
    poll: AtomicU64,
    since: AtomicU64,
    at: Place,
    owned: AtomicBool,
}

/// Readings that are tried.
const TRIES: u32 = 64;

impl ExclusiveHolder {
    /// Somebody has it from now on, and nobody else can.
    #[inline]
    pub(super) fn seat(
        &self,
        (who, since): (CurrentCall, u64),
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

    /// Whoever sits here gives it back. Returns the task, and since when.
    #[inline]
    pub(super) fn leave(&self) -> (u64, u64) {
        let writing = self.sequence.write();
        self.amount.store(0, Relaxed);
        drop(writing);
        (self.task.load(Relaxed), self.since.load(Relaxed))
    }

    fn holder(&self, role: Role) -> Option<Holder> {
        let amount = self.amount.load(Relaxed);
        let at = self.at.get().filter(|_| amount != 0)?;
        Some(Holder {
            // There is no other.
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

    /// Whoever sits here. Who is just coming or going does not yet, or no longer: nobody waits for them, whose thread may not run.
    pub(super) fn seated(&self, role: Role) -> Option<Holder> {
        let read = self.sequence.try_read(TRIES, || self.holder(role));
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

    /// Holders that are seen.
    const ENOUGH: u64 = 2_000;

    #[test]
    fn who_reads_sees_one_holder_whole_or_none() {
        let (sole, over) = (ExclusiveHolder::default(), AtomicBool::new(false));
        let at = Location::caller();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 1.. {
                    let who = CurrentCall {
                        task: turn,
                        poll: turn,
                        ..CurrentCall::default()
                    };
                    sole.seat((who, turn), 1, at, turn % 2 == 0);
                    assert_eq!(sole.leave(), (turn, turn));
                    if over.load(Ordering::Acquire) {
                        return;
                    }
                }
            });
            let mut seen = 0;
            while seen < ENOUGH {
                let Some(holder) = sole.seated(Role::Lock) else {
                    continue;
                };
                let turn = holder.since;
                assert_eq!((holder.who.task, holder.who.poll), (turn, turn));
                assert_eq!((holder.owned, holder.at), (turn % 2 == 0, at));
                seen += 1;
            }
            over.store(true, Ordering::Release);
        });
        assert_eq!(sole.seated(Role::Lock), None);
    }

    /// Its thread has lost its processor, maybe for long.
    #[test]
    fn who_is_just_coming_does_not_sit_there_yet() {
        let sole = ExclusiveHolder::default();
        let who = CurrentCall {
            task: 1,
            ..CurrentCall::default()
        };
        sole.seat((who, 0), 1, Location::caller(), false);
        sole.leave();
        let coming = sole.sequence.write();
        sole.amount.store(1, Relaxed);
        assert_eq!(sole.seated(Role::Lock), None);
        drop(coming);
        let seated = sole.seated(Role::Lock);
        assert_eq!(seated.map(|holder| holder.who), Some(who));
    }
}
