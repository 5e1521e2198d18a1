//! Holds: the part of a resource that a task has acquired, until the guard is dropped.

use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use turbowish_model::event::{ResourceClaim, ResourceEvent};

use super::record::Record;
use super::{Resource, Role, order};
use crate::hot::current::{self, CurrentCall};
use crate::hot::events;

/// Lives beside the primitive's guard, and ends the hold when dropped. `R` refers to the record:
/// the guard borrows the primitive, or keeps it alive.
#[derive(Debug)]
pub(crate) struct HoldGuard<R: Deref<Target = Record>>(Option<HoldSlot<R>>);

/// Hold of a guard that borrows its primitive.
pub(crate) type Hold<'a> = HoldGuard<&'a Record>;
/// Hold of a guard that keeps its primitive alive.
pub(crate) type OwnedHold = HoldGuard<Arc<Record>>;

#[derive(Debug)]
struct HoldSlot<R> {
    record: R,
    slot: u32,
}

impl<R: Deref<Target = Record>> Default for HoldGuard<R> {
    #[inline]
    fn default() -> Self {
        Self(None)
    }
}

impl Resource {
    /// Records that the current task has acquired `amount`.
    #[inline]
    pub(crate) fn hold(&self, role: Role, amount: u32, at: &'static Location<'static>) -> Hold<'_> {
        HoldGuard(self.record().map(|record| HoldSlot {
            slot: take(record, role, amount, at, false),
            record: &**record,
        }))
    }

    /// The same for guards that borrow nothing.
    #[inline]
    pub(crate) fn hold_owned(
        &self,
        role: Role,
        amount: u32,
        at: &'static Location<'static>,
    ) -> OwnedHold {
        HoldGuard(self.record().map(|record| HoldSlot {
            slot: take(record, role, amount, at, true),
            record: record.clone(),
        }))
    }
}

/// Records a hold of the current task. The thread's ledger is looked up once for all uses.
#[inline]
fn take(
    record: &Record,
    role: Role,
    amount: u32,
    at: &'static Location<'static>,
    owned: bool,
) -> u32 {
    let emit = |who: CurrentCall, slot: u32| {
        events::resource(record.id, || {
            ResourceEvent::Taken(ResourceClaim {
                ticket: u64::from(slot),
                task: who.task,
                role,
                amount: u64::from(amount),
            })
        });
    };
    let taken = current::ledger(|ledger| {
        let who = ledger.current_call();
        let slot = record.hold(who, role, amount, at, owned);
        order::taken(ledger, record, slot, who, role, at, owned);
        emit(who, slot);
        slot
    });
    taken.unwrap_or_else(|| {
        let slot = record.hold(CurrentCall::default(), role, amount, at, owned);
        emit(CurrentCall::default(), slot);
        slot
    })
}

impl<R: Deref<Target = Record> + Clone> HoldGuard<R> {
    /// Moves `part` of `all` into a new hold. A hold of nothing is empty.
    pub(crate) fn part(&mut self, all: usize, part: usize) -> Self {
        match u32::try_from(part) {
            Ok(0) => Self::default(),
            Ok(amount) if part < all => self.split(amount),
            _ => std::mem::take(self),
        }
    }

    /// Splits `amount` off into a new hold.
    pub(crate) fn split(&self, amount: u32) -> Self {
        Self(self.0.as_ref().map(|inner| HoldSlot {
            slot: inner.record.split(inner.slot, amount),
            record: inner.record.clone(),
        }))
    }
}

impl<R: Deref<Target = Record>> HoldGuard<R> {
    /// Merges `other`, a hold of the same resource.
    pub(crate) fn merge(&mut self, mut other: Self) {
        match (&self.0, other.0.take()) {
            (Some(inner), Some(part)) => inner.record.merge(inner.slot, part.slot),
            // Acquired while accounting was off: from now on all of it is known.
            (None, part) => self.0 = part,
            (Some(_), None) => {}
        }
    }

    /// Turns an exclusive hold into a shared one.
    pub(crate) fn share(&mut self, role: Role) {
        if let Some(inner) = &mut self.0 {
            let alone = inner.slot;
            inner.slot = inner.record.share(alone, role);
            order::shared(&inner.record, alone, inner.slot, role);
        }
    }

    /// Runs `f`. If `f` panics the hold ends, before the primitive's guard is dropped by the
    /// caller.
    #[inline]
    pub(crate) fn during<T>(&mut self, f: impl FnOnce() -> T) -> T {
        let held = std::mem::take(self);
        let result = f();
        *self = held;
        result
    }

    /// Ends the hold without a release: the amount is never returned.
    pub(crate) fn forget(mut self) {
        if let Some(inner) = self.0.take() {
            let task = inner.record.forget(inner.slot);
            order::released(&inner.record, inner.slot, task);
        }
    }
}

impl<R: Deref<Target = Record>> Drop for HoldGuard<R> {
    #[inline]
    fn drop(&mut self) {
        if let Some(inner) = &self.0 {
            let task = inner.record.release(inner.slot);
            order::released(&inner.record, inner.slot, task);
            events::resource(inner.record.id, || ResourceEvent::Released {
                ticket: u64::from(inner.slot),
            });
        }
    }
}
