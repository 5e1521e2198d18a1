//! A part of a resource that a task has, until this is dropped.

use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use super::record::Record;
use super::{Resource, Role, order};
use crate::here::{self, Here};

/// Goes where the guard goes.
#[derive(Debug, Default)]
pub(crate) struct Hold<'a>(Option<Seat<'a>>);

#[derive(Debug)]
struct Seat<'a> {
    record: Shared<'a>,
    slot: u32,
}

/// A record, borrowed from the primitive or kept alive.
#[derive(Debug)]
enum Shared<'a> {
    Borrowed(&'a Arc<Record>),
    Owned(Arc<Record>),
}

impl Deref for Shared<'_> {
    type Target = Record;
    fn deref(&self) -> &Record {
        match self {
            Self::Borrowed(record) => record,
            Self::Owned(record) => record,
        }
    }
}

impl Clone for Shared<'_> {
    fn clone(&self) -> Self {
        match self {
            Self::Borrowed(record) => Self::Borrowed(record),
            Self::Owned(record) => Self::Owned(record.clone()),
        }
    }
}

impl Resource {
    /// The current task has so much from now on.
    #[inline]
    pub(crate) fn hold(&self, role: Role, amount: u32, at: &'static Location<'static>) -> Hold<'_> {
        Hold(self.record().map(|record| Seat {
            slot: take(record, role, amount, at, false),
            record: Shared::Borrowed(record),
        }))
    }

    /// The same, for guards that borrow nothing.
    #[inline]
    pub(crate) fn hold_owned(
        &self,
        role: Role,
        amount: u32,
        at: &'static Location<'static>,
    ) -> Hold<'static> {
        Hold(self.record().map(|record| Seat {
            slot: take(record, role, amount, at, true),
            record: Shared::Owned(record.clone()),
        }))
    }
}

/// The current task has so much of it; this thread's ledger is looked up once for all who want to know.
#[inline]
fn take(
    record: &Record,
    role: Role,
    amount: u32,
    at: &'static Location<'static>,
    owned: bool,
) -> u32 {
    let taken = here::ledger(|ledger| {
        let who = ledger.here();
        let slot = record.hold(who, role, amount, at, owned);
        order::taken(ledger, record, (slot, who), (role, at), owned);
        slot
    });
    taken.unwrap_or_else(|| record.hold(Here::default(), role, amount, at, owned))
}

impl<'a> Hold<'a> {
    /// Splits `amount` off.
    pub(crate) fn split(&mut self, amount: u32) -> Self {
        Self(self.0.as_ref().map(|seat| Seat {
            slot: seat.record.split(seat.slot, amount),
            record: seat.record.clone(),
        }))
    }

    /// Adds `other`, which is of the same resource.
    pub(crate) fn merge(&mut self, mut other: Self) {
        match (&self.0, other.0.take()) {
            (Some(seat), Some(part)) => seat.record.merge(seat.slot, part.slot),
            // Taken while accounting was off: from now on all of it is known.
            (None, part) => self.0 = part,
            (Some(_), None) => {}
        }
    }

    /// What it had alone it has together with others, who may come from now on.
    pub(crate) fn share(&mut self, role: Role) {
        if let Some(seat) = &mut self.0 {
            let alone = seat.slot;
            seat.slot = seat.record.share(alone, role);
            order::shared(&seat.record, (alone, seat.slot), role);
        }
    }

    /// Runs `f`, and gives back if that panics: before the guard does, whose caller's frame is left first.
    #[inline]
    pub(crate) fn during<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let held = std::mem::take(self);
        let result = f();
        *self = held;
        result
    }

    /// It is never given back.
    pub(crate) fn forget(mut self) {
        if let Some(seat) = self.0.take() {
            let task = seat.record.forget(seat.slot);
            order::released(&seat.record, seat.slot, task);
        }
    }
}

impl Drop for Hold<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(seat) = &self.0 {
            let task = seat.record.release(seat.slot);
            order::released(&seat.record, seat.slot, task);
        }
    }
}
