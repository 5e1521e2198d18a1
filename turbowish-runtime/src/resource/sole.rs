//! Who has all of a lock: written by whoever has that lock, so by one at a time and without a lock of its own, and read by any.

use std::panic::Location;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64};

use turbowish_model::resource::{Holder, Role};
use turbowish_model::sequence::Sequence;
use turbowish_unsafe::place::Place;

use crate::here::Here;

/// A seat for one.
#[derive(Debug, Default)]
pub(super) struct Sole {
    sequence: Sequence,
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

/// Readings that one of the application's threads tries.
const TRIES: u32 = 64;

impl Sole {
    /// Somebody has it from now on, and nobody else can.
    #[inline]
    pub(super) fn seat(
        &self,
        (who, since): (Here, u64),
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
            who: Here {
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

    /// Whoever sits here, as the monitor sees it.
    pub(super) fn read(&self, role: Role) -> Option<Holder> {
        let relax = &mut std::thread::yield_now;
        self.sequence.read(relax, || self.holder(role))
    }

    /// The same for the application's threads, which wait for nobody: where somebody is just coming or going, it is none of those who ask
    /// whether what they have taken before is still held.
    pub(super) fn seated(&self, role: Role) -> Option<Holder> {
        let read = self.sequence.try_read(TRIES, || self.holder(role));
        read.flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::sync::atomic::{AtomicBool, Ordering};

    use turbowish_model::resource::Role;

    use super::Sole;
    use crate::here::Here;

    /// Holders that are seen.
    const ENOUGH: u64 = 2_000;

    #[test]
    fn who_reads_sees_one_holder_whole_or_none() {
        let (sole, over) = (Sole::default(), AtomicBool::new(false));
        let at = Location::caller();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 1.. {
                    let who = Here {
                        task: turn,
                        poll: turn,
                        ..Here::default()
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
                for holder in [sole.read(Role::Lock), sole.seated(Role::Lock)] {
                    let Some(holder) = holder else { continue };
                    let turn = holder.since;
                    assert_eq!((holder.who.task, holder.who.poll), (turn, turn));
                    assert_eq!((holder.owned, holder.at), (turn % 2 == 0, at));
                    seen += 1;
                }
            }
            over.store(true, Ordering::Release);
        });
        assert_eq!(sole.read(Role::Lock), None);
    }
}
