//! Record of one resource.

mod holders;
mod intents;
mod rest;

use std::cell::Cell;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use turbowish_model::account::histogram::{Buckets, Histogram};
use turbowish_model::account::resource::{
    Flow, Holder, Kind, LongestQueue, Reading, Role, SHOWN, Times, Waiter,
};

use turbowish_model::event::{ResourceClaim, ResourceEvent};

use super::NONE;
use super::ends::Ends;
use super::exclusive_holder::ExclusiveHolder;
use super::longest::{self, LongestUses};
use super::state::ResourceState;
use super::wait::WaitNode;
use crate::hot::current::CurrentCall;
use crate::hot::events::{self, EndedUse};
use crate::hot::{clock, switch};
use crate::lock::lock;
use crate::resource::cancel_safety::{self, EffectSource};
use turbowish_model::sorting;

/// State of one resource.
pub(crate) struct Record {
    /// Unique within the process.
    pub(crate) id: u64,
    kind: Kind,
    place: &'static Location<'static>,
    created: u64,
    name: OnceLock<Arc<str>>,
    capacity: AtomicU64,
    closed: AtomicBool,
    put: AtomicU64,
    took: AtomicU64,
    /// Number of unmet intents to do something once: without any, operations do not look for them.
    unmet: AtomicU64,
    ends: Arc<Ends>,
    exclusive: ExclusiveHolder,
    state: Mutex<ResourceState>,
    /// Distribution of the time items were inside, or the resource was held.
    kept: Histogram,
    longest: LongestUses,
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record").field("id", &self.id).finish()
    }
}

/// Receives writes to a record in a child of `fork`, where the record's lock may be held by a
/// thread of the parent.
#[cold]
fn discarded() -> MutexGuard<'static, ResourceState> {
    thread_local! {
        /// Leaked, and private to this thread, so that the lock is free.
        static DISCARDED: Cell<Option<&'static Mutex<ResourceState>>> = const { Cell::new(None) };
    }
    let state = DISCARDED.get().unwrap_or_else(|| {
        let state: &'static Mutex<ResourceState> = Box::leak(Box::default());
        DISCARDED.set(Some(state));
        state
    });
    lock(state)
}

impl Record {
    pub(super) fn new(
        id: u64,
        kind: Kind,
        place: &'static Location<'static>,
        capacity: u64,
        ends: Arc<Ends>,
    ) -> Self {
        cancel_safety::listen();
        events::resource(id, || ResourceEvent::Made {
            kind,
            capacity: Some(capacity),
        });
        Self {
            id,
            kind,
            place,
            created: clock::ticks(),
            name: OnceLock::new(),
            capacity: AtomicU64::new(capacity),
            closed: AtomicBool::new(false),
            put: AtomicU64::new(0),
            took: AtomicU64::new(0),
            unmet: AtomicU64::new(0),
            ends,
            exclusive: ExclusiveHolder::default(),
            state: Mutex::default(),
            kept: Histogram::default(),
            longest: LongestUses::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, ResourceState> {
        if switch::is_child() {
            return discarded();
        }
        lock(&self.state)
    }

    pub(super) fn name(&self, name: &Arc<str>) {
        self.name.get_or_init(|| name.clone());
    }

    pub(super) fn set_capacity(&self, capacity: u64) {
        self.capacity.store(capacity, Ordering::Relaxed);
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        events::resource(self.id, || ResourceEvent::Closed);
    }

    #[inline]
    pub(super) fn put(&self, items: u64) {
        self.put.fetch_add(items, Ordering::Relaxed);
        events::resource(self.id, || ResourceEvent::Put { items });
        self.met(Role::Send);
    }

    #[inline]
    pub(super) fn took(&self, items: u64) {
        self.took.fetch_add(items, Ordering::Relaxed);
        events::resource(self.id, || ResourceEvent::Took { items });
        self.met(Role::Receive);
    }

    /// The same where one task at a time may take items out.
    #[inline]
    pub(super) fn took_alone(&self, items: u64) {
        holders::count(&self.took, items);
        events::resource(self.id, || ResourceEvent::Took { items });
        self.met(Role::Receive);
    }

    /// Reverts the last put.
    pub(super) fn put_back(&self) {
        self.put.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts one item out, if one more was counted in.
    pub(super) fn took_known(&self) {
        let put = self.put.load(Ordering::Relaxed);
        let more = |took: u64| (took < put).then_some(took + 1);
        let _all_out = self
            .took
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    /// Records how long an item was inside that was taken out `now`, in ticks.
    #[inline]
    pub(super) fn kept(&self, ticks: u64, now: u64) {
        self.kept.record(ticks);
        if self.longest.hold.is_beaten_by(ticks) {
            self.longest.hold.keep(&longest::taken_out(ticks, now));
        }
    }

    /// Counts all items inside as taken out.
    pub(super) fn emptied(&self) {
        self.took
            .store(self.put.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Records that a task begins to wait. Returns the wait's ticket.
    pub(super) fn wait(
        &self,
        who: CurrentCall,
        role: Role,
        amount: u32,
        at: &'static Location<'static>,
        node: Arc<WaitNode>,
    ) -> u64 {
        let since = clock::ticks();
        let mut state = self.state();
        state.tickets += 1;
        state.waits += 1;
        let ticket = state.tickets;
        let waiter = Waiter {
            ticket,
            who,
            role,
            amount,
            since,
            at,
            woken: None,
            wakeable: true,
            polled: who.poll,
        };
        state.add_waiter(waiter, node);
        drop(state);
        events::resource(self.id, || {
            ResourceEvent::Wait(ResourceClaim {
                ticket,
                task: who.task,
                role,
                amount: u64::from(amount),
            })
        });
        ticket
    }

    /// Assigns the wait to another call.
    pub(super) fn adopt(&self, ticket: u64, who: CurrentCall) {
        if let Some((waiter, _)) = self.state().waiters.get_mut(&ticket) {
            waiter.who = who;
        }
    }

    /// Ends the wait; `served` if it was not given up.
    pub(super) fn leave(&self, ticket: u64, served: bool) {
        let now = clock::ticks();
        let mut state = self.state();
        let left = state.waiters.remove(&ticket);
        if let Some((waiter, node)) = &left
            && served
        {
            let used = longest::waited(waiter, node.behind, now);
            let waited = state.waited.get_or_insert_default();
            waited.record(used.ticks);
            if self.longest.wait.is_beaten_by(used.ticks) {
                self.longest.wait.keep(&used);
            }
        }
        drop(state);
        events::resource(self.id, || ResourceEvent::Left { ticket });
        if let Some((waiter, _)) = &left {
            let ended = EndedUse {
                resource: self.id,
                role: waiter.role,
                amount: waiter.amount,
                task: waiter.who.task,
                since: waiter.since,
                at: now,
            };
            events::waited(&ended, served);
        }
        // The waiter's state may hold the last clone of an executor's waker.
        drop(left);
    }

    /// Whether it is a lock: only one task can have it, or it has a side for readers.
    pub(super) fn is_lock(&self) -> bool {
        match self.kind {
            Kind::Mutex | Kind::RwLock => true,
            Kind::Semaphore => self.capacity.load(Ordering::Relaxed) == 1,
            _ => false,
        }
    }

    /// Description of the resource that can outlive it.
    pub(super) fn source(&self) -> EffectSource {
        EffectSource {
            id: self.id,
            kind: self.kind,
            name: self.name.get().cloned(),
            place: self.place,
        }
    }

    /// Current state of the resource.
    pub(crate) fn read(&self) -> Reading {
        self.read_with(true)
    }

    /// What the alert rules judge. Of the populations of times, it has one: how long items were in
    /// a channel.
    pub(crate) fn judged(&self) -> Reading {
        self.read_with(false)
    }

    /// Current state, with the times of all waits and holds or without them.
    fn read_with(&self, all_times: bool) -> Reading {
        let state = self.state();
        let exclusive = self.exclusive_holder();
        let parts = state.holders.iter().flatten();
        let seated = parts.chain(&exclusive);
        // Not sorted over all if there are very many: the lock is not held for all of them.
        let mut holders: Vec<Holder> = seated.take(4 * SHOWN).copied().collect();
        let holder_count = state.holder_count() + u64::from(exclusive.is_some());
        let shown = state.waiters.values().take(SHOWN);
        let waiters = shown.map(|(waiter, node)| node.shown(waiter)).collect();
        let waiter_count = state.waiters.len() as u64;
        let held = state.held + exclusive.map_or(0, |exclusive| u64::from(exclusive.amount));
        let (waits, forgotten) = (state.waits, state.forgotten);
        let (intents, intent_counts) = (state.intents.read(), state.intents.counts());
        let deserted = state.intents.deserted(self.took.load(Ordering::Relaxed));
        let longest_queue = state.longest_queue;
        let mut waited = Buckets::default();
        if let Some(histogram) = state.waited.as_ref().filter(|_| all_times) {
            histogram.collect(&mut waited);
        }
        drop(state);
        sorting::by_key(&mut holders, |holder| holder.ticket);
        holders.truncate(SHOWN);
        let capacity = self.capacity.load(Ordering::Relaxed);
        // `took` is read before `put`, so that the difference is never negative.
        let took = self.took.load(Ordering::Acquire);
        Reading {
            id: self.id,
            kind: self.kind,
            name: self.name.get().cloned(),
            place: self.place,
            created: self.created,
            capacity: (capacity != NONE).then_some(capacity),
            closed: self.closed.load(Ordering::Relaxed),
            holders,
            holder_count,
            held,
            waiters,
            waiter_count,
            ends: self.ends.read(),
            intents,
            intent_counts,
            deserted,
            flow: Flow {
                put: match self.kind {
                    // Every receiver takes every item.
                    Kind::Broadcast => self.put.load(Ordering::Relaxed),
                    _ => self.put.load(Ordering::Relaxed).max(took),
                },
                took,
                waits,
                forgotten,
            },
            times: self.times(all_times, waited, longest_queue),
        }
    }

    fn times(
        &self,
        all_times: bool,
        waited: Buckets,
        longest_queue: Option<LongestQueue>,
    ) -> Times {
        let mut kept = Buckets::default();
        if all_times || self.kind.has_queue_time() {
            self.kept.collect(&mut kept);
        }
        Times {
            waited,
            kept,
            longest_queue,
            longest_wait: self.longest.wait.read(),
            longest_hold: self.longest.hold.read(),
        }
    }
}
