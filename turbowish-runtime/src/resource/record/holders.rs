//! Holders of a resource or of parts of it. The exclusive holder of a lock is kept outside the
//! record's mutex.

use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use turbowish_model::account::resource::{Holder, Kind, Role};

use super::super::state::EXCLUSIVE;
use super::super::{NONE, longest};
use super::Record;
use crate::hot::clock;
use crate::hot::current::CurrentCall;
use crate::hot::events::{self, EndedUse};

impl Record {
    /// Records that a task has acquired `amount`. Returns the slot.
    #[inline]
    pub(in crate::resource) fn hold(
        &self,
        who: CurrentCall,
        role: Role,
        amount: u32,
        at: &'static Location<'static>,
        owned: bool,
    ) -> u32 {
        let since = clock::ticks();
        if self.exclusive_role() == Some(role) {
            count(&self.put, 1);
            self.exclusive.acquire(who, since, amount, at, owned);
            self.met_by(who, role);
            return EXCLUSIVE;
        }
        let holder = Holder {
            ticket: 0,
            who,
            role,
            amount,
            since,
            at,
            owned,
        };
        self.hold_part(holder)
    }

    /// The role in which a holder is exclusive, by the kind of lock.
    #[inline]
    const fn exclusive_role(&self) -> Option<Role> {
        match self.kind {
            Kind::Mutex => Some(Role::Lock),
            Kind::RwLock => Some(Role::Write),
            _ => None,
        }
    }

    /// The exclusive holder, if there is one.
    pub(super) fn exclusive_holder(&self) -> Option<Holder> {
        self.exclusive.read(self.exclusive_role()?)
    }

    fn hold_part(&self, holder: Holder) -> u32 {
        let mut state = self.state();
        state.held += u64::from(holder.amount);
        if self.counts_holds() {
            count(&self.put, 1);
            self.meet(&mut state, holder.who, holder.role);
        }
        state.add_holder(holder)
    }

    /// Ends the hold in `slot`. Returns the task that acquired it, as in [`CurrentCall`].
    #[inline]
    pub(in crate::resource) fn release(&self, slot: u32) -> u64 {
        let now = clock::ticks();
        if slot != EXCLUSIVE {
            return self.release_part(slot, now);
        }
        let (task, since) = self.exclusive.release();
        count(&self.took, 1);
        let ticks = now.saturating_sub(since);
        self.kept.record(ticks);
        if self.longest.hold.is_beaten_by(ticks) {
            self.keep_exclusive(now);
        }
        if ticks >= events::FEW {
            self.tell_exclusive(now);
        }
        task
    }

    /// Tells a recorder of the exclusive hold that ends now. The lock is still that holder's.
    #[cold]
    #[inline(never)]
    fn tell_exclusive(&self, now: u64) {
        let role = self.exclusive_role().unwrap_or_default();
        if let Some(holder) = self.exclusive.last(role) {
            // What it held is cleared by now: all of the lock.
            events::held(&self.ended(
                &Holder {
                    amount: 1,
                    ..holder
                },
                now,
            ));
        }
    }

    const fn ended(&self, holder: &Holder, at: u64) -> EndedUse {
        EndedUse {
            resource: self.id,
            role: holder.role,
            amount: holder.amount,
            task: holder.who.task,
            since: holder.since,
            at,
        }
    }

    /// Keeps the exclusive hold that ends now as the longest one. The lock is still that holder's.
    #[cold]
    #[inline(never)]
    fn keep_exclusive(&self, now: u64) {
        let role = self.exclusive_role().unwrap_or_default();
        if let Some(holder) = self.exclusive.last(role) {
            self.longest.hold.keep(&longest::held(&holder, now));
        }
    }

    /// The task that has the lock to itself, as in [`CurrentCall`]; 0 if it is not known.
    pub(in crate::resource) fn exclusive_task(&self) -> u64 {
        self.exclusive_holder().map_or(0, |holder| holder.who.task)
    }

    fn release_part(&self, slot: u32, now: u64) -> u64 {
        let mut state = self.state();
        let Some(holder) = state.remove_holder(slot) else {
            return 0;
        };
        state.held -= u64::from(holder.amount);
        if self.counts_holds() {
            count(&self.took, 1);
            let used = longest::held(&holder, now);
            self.kept.record(used.ticks);
            if self.longest.hold.is_beaten_by(used.ticks) {
                self.longest.hold.keep(&used);
            }
        }
        drop(state);
        events::held(&self.ended(&holder, now));
        holder.who.task
    }

    /// Channels count their items instead of reserved capacity.
    const fn counts_holds(&self) -> bool {
        !matches!(self.kind, Kind::Mpsc)
    }

    /// Ends the hold in `slot` without a release: it is never returned. Returns the task that
    /// acquired it.
    pub(in crate::resource) fn forget(&self, slot: u32) -> u64 {
        let mut state = self.state();
        let Some(holder) = state.remove_holder(slot) else {
            return 0;
        };
        let amount = u64::from(holder.amount);
        state.held -= amount;
        state.forgotten += amount;
        let capacity = self.capacity.load(Ordering::Relaxed);
        if capacity != NONE {
            self.capacity
                .store(capacity.saturating_sub(amount), Ordering::Relaxed);
        }
        holder.who.task
    }

    /// Splits `amount` off the hold in `slot`, into a slot of its own.
    pub(in crate::resource) fn split(&self, slot: u32, amount: u32) -> u32 {
        self.state().split(slot, amount)
    }

    /// Merges the hold in `from` into `slot`.
    pub(in crate::resource) fn merge(&self, slot: u32, from: u32) {
        self.state().merge(slot, from);
    }

    /// Turns an exclusive hold into a shared one of the same call. Returns the slot.
    pub(in crate::resource) fn share(&self, slot: u32, role: Role) -> u32 {
        let Some(holder) = self.holder_in(slot) else {
            return slot;
        };
        let mut state = self.state();
        state.held += u64::from(holder.amount);
        let slot = state.add_holder(Holder { role, ..holder });
        // The record's lock is held, so a reader sees one of the two.
        self.exclusive.release();
        drop(state);
        slot
    }

    /// The call that acquired the hold in `slot`.
    pub(in crate::resource) fn holder(&self, slot: u32) -> Option<CurrentCall> {
        Some(self.holder_in(slot)?.who)
    }

    fn holder_in(&self, slot: u32) -> Option<Holder> {
        if slot == EXCLUSIVE {
            return self.exclusive.read(self.exclusive_role()?);
        }
        *self.state().holders.get(slot as usize)?
    }
}

/// Adds `more` to a counter with a single writer at a time.
#[inline]
pub(super) fn count(counter: &AtomicU64, more: u64) {
    let counted = counter.load(Ordering::Relaxed) + more;
    // Release: a reader that sees this value sees what was counted before.
    counter.store(counted, Ordering::Release);
}
