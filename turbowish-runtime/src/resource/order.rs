//! Lock order: which lock was requested while another one was held, also if it was free. Two tasks
//! that acquire the same locks in opposite orders can deadlock.
//!
//! Locks that a task acquires in a poll are kept on its thread, and looked at only when another
//! lock is acquired there. Locks that it still holds at the end of the poll are moved to a map,
//! where its next poll finds them on any thread, once it acquires another one.
//!
//! An owned guard may move to another task. Locks requested while it is held count only once it is
//! released by the task that acquired it.

use std::cell::RefCell;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use dashmap::DashMap;
use turbowish_model::account::ledger::{ChainHead, Ledger};
use turbowish_model::account::resource::Role;

use super::record::Record;
use super::registry::{RESOURCES, SHARDS, source_held};
use crate::features;
use crate::hot::current::{self, CurrentCall};
use crate::hot::{dropped, switch};
use crate::lock::lock;
use crate::resource::cancel_safety;
use turbowish_model::ordered::Map;

/// A lock as acquired by a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) resource: u64,
    pub(crate) role: Role,
    /// Source location of the acquisition.
    pub(crate) at: &'static Location<'static>,
}

/// Two locks: the first was held while the second was requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) first: Taken,
    pub(crate) second: Taken,
    pub(crate) task: u64,
    /// IDs of the resources that the task held before both.
    pub(crate) gates: Vec<u64>,
}

impl Order {
    /// Whether the other one differs in the task at most.
    fn is_like(&self, other: &Self) -> bool {
        (self.first, self.second) == (other.first, other.second) && self.gates == other.gates
    }
}

/// A lock that is held, and who took it.
struct HeldLocks {
    taken: Taken,
    slot: u32,
    who: CurrentCall,
    head: ChainHead,
    owned: bool,
    /// Orders found since, which do not count yet.
    later: Vec<Order>,
}

impl HeldLocks {
    #[inline]
    const fn is(&self, resource: u64, slot: u32) -> bool {
        self.taken.resource == resource && self.slot == slot
    }
}

thread_local! {
    /// Locks acquired in the open polls of this thread, in that order.
    static HELD: RefCell<Vec<HeldLocks>> = const { RefCell::new(Vec::new()) };
}

/// Held locks and lock orders of this process.
pub(super) struct LockOrders {
    /// Locks that a task still held at the end of its last poll, by task.
    left: LazyLock<DashMap<u64, Vec<HeldLocks>>>,
    /// Number of these tasks.
    tasks: AtomicUsize,
    orders: Mutex<KnownOrders>,
}

/// Orders that were counted lately, so that the same one is not passed on again and again.
struct KnownOrders {
    /// By pair of locks.
    pairs: Map<(u64, u64), KnownPair>,
    /// Times that they were passed on since all were forgotten.
    passed: u32,
}

#[derive(Default)]
struct KnownPair {
    orders: Vec<Order>,
    /// How many of them were passed on.
    passed: usize,
}

impl KnownOrders {
    const fn new() -> Self {
        Self {
            pairs: Map::new(),
            passed: 0,
        }
    }

    /// Adds an order. Returns whether there was room for its pair.
    fn add(&mut self, order: Order) -> bool {
        let pair = (order.first.resource, order.second.resource);
        if self.pairs.len() >= PAIRS && !self.pairs.contains_key(&pair) {
            self.pairs.retain(|_, pair| pair.is_fresh());
            if self.pairs.len() >= PAIRS {
                return false;
            }
        }
        let known = &mut self.pairs.entry(pair).or_default().orders;
        let alike = known.iter().filter(|known| known.is_like(&order)).count();
        if known.len() < WAYS && alike < TASKS && !known.contains(&order) {
            known.push(order);
        }
        true
    }

    fn pass_all_again(&mut self) {
        self.pairs.values_mut().for_each(|pair| pair.passed = 0);
    }

    /// The orders that were not passed on yet.
    fn take_fresh(&mut self) -> Vec<Order> {
        let pairs = self.pairs.values_mut();
        let fresh = pairs.flat_map(|pair| pair.take_fresh().to_vec()).collect();
        self.passed += 1;
        if self.passed >= PASSES {
            *self = Self::new();
        }
        fresh
    }
}

impl KnownPair {
    /// Whether some were not passed on yet.
    const fn is_fresh(&self) -> bool {
        self.passed < self.orders.len()
    }

    /// Those that were not passed on yet.
    fn take_fresh(&mut self) -> &[Order] {
        let passed = std::mem::replace(&mut self.passed, self.orders.len());
        &self.orders[passed..]
    }
}

impl LockOrders {
    pub(super) const fn new() -> Self {
        Self {
            left: LazyLock::new(|| DashMap::with_shard_amount(SHARDS)),
            tasks: AtomicUsize::new(0),
            orders: Mutex::new(KnownOrders::new()),
        }
    }
}

/// Maximum number of tasks whose locks are kept.
const LIMIT: usize = 100_000;
/// Maximum number of pairs of locks, and of orders kept per pair.
const PAIRS: usize = 4_096;
const WAYS: usize = 8;
/// Maximum number of orders kept per pair that differ in the task alone.
const TASKS: usize = 4;
/// Orders are passed on so often before all are forgotten. Their locks may be gone, and an order
/// that the rules could not use, since a lock or a task was new to them, comes again.
const PASSES: u32 = 8;

fn with_held<R>(f: impl FnOnce(&mut Vec<HeldLocks>) -> R) -> Option<R> {
    let done = HELD.try_with(|held| held.try_borrow_mut().ok().map(|mut held| f(&mut held)));
    done.ok().flatten()
}

/// Records that the current task has acquired a lock.
#[inline]
pub(super) fn taken(
    ledger: &Ledger,
    record: &Record,
    slot: u32,
    who: CurrentCall,
    role: Role,
    at: &'static Location<'static>,
    owned: bool,
) {
    if !features::SERVER || !record.is_lock() {
        return;
    }
    let Some(head) = ledger.head() else {
        return;
    };
    if !owned && matches!(role, Role::Lock | Role::Write) {
        let lock = cancel_safety::Lock {
            role,
            resource: record.id,
            slot,
            who,
        };
        cancel_safety::lock(ledger, &head, lock);
    }
    if who.task == 0 {
        return;
    }
    let taken = Taken {
        resource: record.id,
        role,
        at,
    };
    let is_left = ledger.mark_root();
    with_held(|held| {
        if is_left {
            fetch(held, who.task);
        }
        if !held.is_empty() {
            note(held, ledger, who.task, taken);
        }
        held.push(HeldLocks {
            taken,
            slot,
            who,
            head,
            owned,
            later: Vec::new(),
        });
    });
}

/// Records that the current task begins to wait for a lock.
#[cold]
pub(super) fn asked(record: &Record, role: Role, at: &'static Location<'static>) {
    if !features::SERVER || !record.is_lock() {
        return;
    }
    let taken = Taken {
        resource: record.id,
        role,
        at,
    };
    current::ledger(|ledger| {
        let task = ledger.current_call().task;
        if task != 0 {
            let is_left = ledger.mark_root();
            with_held(|held| {
                if is_left {
                    fetch(held, task);
                }
                note(held, ledger, task, taken);
            });
        }
    });
}

/// Records that the lock that `task` held in `slot` is released, or never will be.
#[inline]
pub(super) fn released(record: &Record, slot: u32, task: u64) {
    if !features::SERVER || !record.is_lock() {
        return;
    }
    // Mostly it is the lock acquired last, without pending orders.
    let forgotten = with_held(|held| {
        let last = held
            .last()
            .filter(|last| last.is(record.id, slot) && last.later.is_empty());
        let found = last.is_some();
        held.truncate(held.len() - usize::from(found));
        found
    });
    if forgotten != Some(true) {
        settle(record.id, slot, task);
    }
}

fn settle(resource: u64, slot: u32, task: u64) {
    let held = with_held(|held| take(held, resource, slot)).flatten();
    if let Some(held) = held.or_else(|| take_left(task, resource, slot))
        && !held.later.is_empty()
        && current::current_call().task == held.who.task
    {
        held.later.into_iter().for_each(count);
    }
}

fn place(held: &[HeldLocks], resource: u64, slot: u32) -> Option<usize> {
    held.iter().rposition(|held| held.is(resource, slot))
}

fn take(held: &mut Vec<HeldLocks>, resource: u64, slot: u32) -> Option<HeldLocks> {
    let at = place(held, resource, slot)?;
    Some(held.remove(at))
}

#[cold]
fn take_left(task: u64, resource: u64, slot: u32) -> Option<HeldLocks> {
    if RESOURCES.locks.tasks.load(Ordering::Relaxed) == 0 || switch::is_child() {
        return None;
    }
    let mut left = RESOURCES.locks.left.get_mut(&task)?;
    take(&mut left, resource, slot)
}

/// Records that an exclusive hold became a shared one, in another slot.
pub(super) fn shared(record: &Record, alone: u32, slot: u32, role: Role) {
    if !features::SERVER || !record.is_lock() {
        return;
    }
    let change = |held: &mut Vec<HeldLocks>| {
        let at = place(held, record.id, alone)?;
        held[at].taken.role = role;
        held[at].slot = slot;
        Some(())
    };
    if with_held(change).flatten().is_none()
        && RESOURCES.locks.tasks.load(Ordering::Relaxed) != 0
        && !switch::is_child()
        && let Some(who) = record.holder(slot)
        && let Some(mut left) = RESOURCES.locks.left.get_mut(&who.task)
    {
        change(&mut left);
    }
}

/// Ends a poll of a task that has acquired locks. Returns whether the task still holds one of them,
/// or of earlier ones.
pub(crate) fn leave(task: u64) -> bool {
    let left = with_held(|held| {
        let of_task = held.extract_if(.., |held| held.who.task == task);
        of_task.collect::<Vec<HeldLocks>>()
    });
    let left = left.unwrap_or_default();
    if left.is_empty() {
        return RESOURCES.locks.left.contains_key(&task);
    }
    if RESOURCES.locks.tasks.load(Ordering::Relaxed) >= LIMIT
        && !RESOURCES.locks.left.contains_key(&task)
    {
        dropped::detail();
        return false;
    }
    if RESOURCES.locks.left.insert(task, left).is_none() {
        RESOURCES.locks.tasks.fetch_add(1, Ordering::Relaxed);
    }
    true
}

/// Moves the locks that a task holds since an earlier poll to this thread.
#[cold]
fn fetch(held: &mut Vec<HeldLocks>, task: u64) {
    if let Some((_, left)) = RESOURCES.locks.left.remove(&task) {
        RESOURCES.locks.tasks.fetch_sub(1, Ordering::Relaxed);
        held.splice(0..0, left);
    }
}

/// Removes the locks of a task that is over.
pub(crate) fn over(task: u64) {
    with_held(|held| held.retain(|held| held.who.task != task));
    if RESOURCES.locks.left.remove(&task).is_some() {
        RESOURCES.locks.tasks.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Discards the locks of tasks of an ended epoch. The rules begin anew, so they get all orders once
/// more.
pub(crate) fn clear() {
    lock(&RESOURCES.locks.orders).pass_all_again();
    RESOURCES.locks.left.retain(|_, _| {
        RESOURCES.locks.tasks.fetch_sub(1, Ordering::Relaxed);
        false
    });
}

/// Counts the request for `second` with each lock that the task holds.
#[cold]
fn note(held: &mut Vec<HeldLocks>, ledger: &Ledger, task: u64, second: Taken) {
    // Locks that were released on another thread are not held any more.
    held.retain(|held| held.who.task != task || is_held(held));
    let mut gates = Vec::new();
    for held in held.iter_mut().filter(|held| held.who.task == task) {
        if held.taken.resource == second.resource {
            continue;
        }
        let order = Order {
            first: held.taken,
            second,
            task,
            gates: gates.clone(),
        };
        gates.push(held.taken.resource);
        // A lock held in another branch of the task does not block this one.
        if !ledger.is_under(&held.head) {
            continue;
        }
        if !held.owned {
            count(order);
        } else if held.later.len() < WAYS {
            held.later.push(order);
        }
    }
}

fn is_held(held: &HeldLocks) -> bool {
    source_held(held.taken.resource, held.slot, held.who).is_some()
}

fn count(order: Order) {
    if !lock(&RESOURCES.locks.orders).add(order) {
        dropped::detail();
    }
}

/// The orders counted since the last call, without those that were passed on lately.
pub(crate) fn orders() -> Vec<Order> {
    lock(&RESOURCES.locks.orders).take_fresh()
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use turbowish_model::account::resource::Role;

    use super::{KnownOrders, Order, PAIRS, PASSES, TASKS, Taken, WAYS};

    fn order(task: u64, gates: &[u64]) -> Order {
        let taken = |resource| Taken {
            resource,
            role: Role::Lock,
            at: Location::caller(),
        };
        Order {
            first: taken(1),
            second: taken(2),
            task,
            gates: gates.to_vec(),
        }
    }

    fn tasks(orders: &[Order]) -> Vec<u64> {
        orders.iter().map(|order| order.task).collect()
    }

    #[test]
    fn an_order_is_passed_on_once_until_all_are_forgotten() {
        let mut known = KnownOrders::new();
        let mut passed = Vec::new();
        for _ in 0..2 * PASSES {
            assert!(known.add(order(7, &[])));
            passed.push(known.take_fresh().len());
        }
        let mut expected = vec![0; 2 * PASSES as usize];
        // The first one, and the first one after the last pass, in which it was not fresh.
        (expected[0], expected[PASSES as usize]) = (1, 1);
        assert_eq!(passed, expected);
    }

    #[test]
    fn many_tasks_leave_room_for_another_way() {
        let mut known = KnownOrders::new();
        for task in 1..=100 {
            known.add(order(task, &[]));
        }
        known.add(order(200, &[9]));
        let fresh = known.take_fresh();
        assert_eq!(tasks(&fresh), [1, 2, 3, 4, 200]);
        assert_eq!(TASKS, 4);
        known.pass_all_again();
        assert_eq!(tasks(&known.take_fresh()), [1, 2, 3, 4, 200]);
        // As many ways as there is room for.
        for gate in 10..30 {
            known.add(order(300, &[gate]));
        }
        let fresh = known.take_fresh();
        assert_eq!(fresh.len(), WAYS - TASKS - 1);
    }

    #[test]
    fn pairs_that_were_passed_on_make_room() {
        let of = |first: u64| Order {
            first: Taken {
                resource: first,
                ..order(1, &[]).first
            },
            ..order(1, &[])
        };
        let mut known = KnownOrders::new();
        let pairs = 10..10 + PAIRS as u64;
        assert!(pairs.clone().all(|first| known.add(of(first))));
        assert!(!known.add(of(5)), "none of them was passed on");
        assert_eq!(known.take_fresh().len(), PAIRS);
        assert!(known.add(of(5)));
        assert_eq!(known.take_fresh(), [of(5)]);
    }
}
