//! What changes of a resource's account under its lock: who waits, and who has which part of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use turbowish_model::account::histogram::Histogram;
use turbowish_model::account::resource::{Holder, Waiter};

use super::intents::Intended;
use super::wait::WaitNode;

#[derive(Default)]
pub(super) struct ResourceState {
    pub(super) tickets: u64,
    pub(super) waiters: BTreeMap<u64, (Waiter, Arc<WaitNode>)>,
    pub(super) waits: u64,
    /// By slot; a hold knows its own.
    pub(super) holders: Vec<Option<Holder>>,
    free: Vec<u32>,
    pub(super) held: u64,
    pub(super) forgotten: u64,
    pub(super) waited: Option<Box<Histogram>>,
    pub(super) intents: Intended,
}

/// Stands for no slot: what is not known of is not given back.
pub(super) const NO_SLOT: u32 = u32::MAX;
/// Stands for the seat of who has all of a lock, which is beside this.
pub(super) const SOLE: u32 = u32::MAX - 1;

impl ResourceState {
    /// The next one holds a part. Returns the slot.
    pub(super) fn seat(&mut self, mut holder: Holder) -> u32 {
        self.tickets += 1;
        holder.ticket = self.tickets;
        if let Some(slot) = self.free.pop() {
            self.holders[slot as usize] = Some(holder);
            return slot;
        }
        self.holders.push(Some(holder));
        // Each has its room in memory, so there are never so many.
        u32::try_from(self.holders.len() - 1).unwrap_or(NO_SLOT)
    }

    pub(super) fn unseat(&mut self, slot: u32) -> Option<Holder> {
        let holder = self.holders.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        Some(holder)
    }

    /// How many hold a part of it.
    pub(super) const fn holder_count(&self) -> u64 {
        (self.holders.len() - self.free.len()) as u64
    }

    /// Splits `amount` off what is held in a slot, into one of its own.
    pub(super) fn split(&mut self, slot: u32, amount: u32) -> u32 {
        let Some(Some(holder)) = self.holders.get_mut(slot as usize) else {
            return NO_SLOT;
        };
        holder.amount = holder.amount.saturating_sub(amount);
        let part = Holder { amount, ..*holder };
        self.seat(part)
    }

    /// Adds what is held in `from` to `slot`.
    pub(super) fn merge(&mut self, slot: u32, from: u32) {
        if let Some(part) = self.unseat(from)
            && let Some(Some(holder)) = self.holders.get_mut(slot as usize)
        {
            holder.amount = holder.amount.saturating_add(part.amount);
        }
    }
}
