//! State of a resource under its record's lock: waiters, and holders of its parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use turbowish_model::account::histogram::Histogram;
use turbowish_model::account::resource::{Holder, LongestQueue, Waiter};

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
    pub(super) longest_queue: Option<LongestQueue>,
    pub(super) intents: Intended,
}

/// Stands for no slot: an unknown hold is not released.
pub(super) const NO_SLOT: u32 = u32::MAX;
/// Stands for the exclusive holder, which is kept outside of this state.
pub(super) const EXCLUSIVE: u32 = u32::MAX - 1;

impl ResourceState {
    /// Adds a waiter.
    pub(super) fn add_waiter(&mut self, waiter: Waiter, node: Arc<WaitNode>) {
        self.waiters.insert(waiter.ticket, (waiter, node));
        let count = self.waiters.len() as u64;
        if self
            .longest_queue
            .is_none_or(|longest| count > longest.count)
        {
            let at = waiter.since;
            self.longest_queue = Some(LongestQueue { count, at });
        }
    }

    /// Adds a holder of a part. Returns the slot.
    pub(super) fn add_holder(&mut self, mut holder: Holder) -> u32 {
        self.tickets += 1;
        holder.ticket = self.tickets;
        if let Some(slot) = self.free.pop() {
            self.holders[slot as usize] = Some(holder);
            return slot;
        }
        self.holders.push(Some(holder));
        // Each holder occupies memory, so the number of slots stays below that.
        u32::try_from(self.holders.len() - 1).unwrap_or(NO_SLOT)
    }

    pub(super) fn remove_holder(&mut self, slot: u32) -> Option<Holder> {
        let holder = self.holders.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        Some(holder)
    }

    /// Number of holders of a part.
    pub(super) const fn holder_count(&self) -> u64 {
        (self.holders.len() - self.free.len()) as u64
    }

    /// Splits `amount` off the hold in `slot`, into a slot of its own.
    pub(super) fn split(&mut self, slot: u32, amount: u32) -> u32 {
        let Some(Some(holder)) = self.holders.get_mut(slot as usize) else {
            return NO_SLOT;
        };
        holder.amount = holder.amount.saturating_sub(amount);
        let part = Holder { amount, ..*holder };
        self.add_holder(part)
    }

    /// Merges the hold in `from` into `slot`.
    pub(super) fn merge(&mut self, slot: u32, from: u32) {
        if let Some(part) = self.remove_holder(from)
            && let Some(Some(holder)) = self.holders.get_mut(slot as usize)
        {
            holder.amount = holder.amount.saturating_add(part.amount);
        }
    }
}
