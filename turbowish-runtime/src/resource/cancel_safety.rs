//! Effects of calls that are lost or interrupted if the call is dropped before it returns: an item
//! that was received, an item that was sent before others of the same series, a lock that is held.
//!
//! Only calls that could be dropped are marked: a chain in which each call awaits the next one
//! directly, from the task's root on, ends together. The effects of a call are kept beside it while
//! it is pending, pass to its caller when it returns, and are reported when it is dropped in the
//! poll of another call.

mod interrupted;

use std::cell::RefCell;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use dashmap::DashMap;
use turbowish_model::account::call::{Call as Account, PollEnd};
use turbowish_model::account::ledger::{ChainHead, Ledger, Marked};
use turbowish_model::account::resource::{CurrentCall, Kind, Role};

use self::interrupted::Cuts;
pub(crate) use self::interrupted::{Count, Cut, cuts};
use super::registry::{RESOURCES, SHARDS};
use crate::hot::dropped as losses;
use crate::hot::events::{self, MarkedCalls};
use crate::hot::thread::ThreadLedger;
use crate::resource;

/// Registers the callbacks for marked calls. Every resource does so when it is created, before it
/// can mark a call.
pub(super) fn listen() {
    events::on_marked_calls(MarkedCalls {
        closed,
        dropped,
        forgotten: forget,
        task_over: resource::over,
    });
}

/// Description of a resource, kept as long as something may be reported about it.
#[derive(Clone, Debug)]
pub(crate) struct EffectSource {
    pub(crate) id: u64,
    pub(crate) kind: Kind,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) place: &'static Location<'static>,
}

/// An item that was put in or taken out.
#[derive(Clone, Copy, Debug)]
struct Item {
    role: Role,
    resource: u64,
    /// Await point of the call at that time.
    site: u16,
    /// Whether the call has come back to the same await point since, for the next item.
    over: bool,
}

/// A lock that was acquired.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lock {
    pub(super) role: Role,
    pub(super) resource: u64,
    pub(super) slot: u32,
    pub(super) who: CurrentCall,
}

/// Last effects of a call.
#[derive(Clone, Copy, Debug, Default)]
struct PendingEffects {
    item: Option<Item>,
    lock: Option<Lock>,
    /// Whether it has asked for the next item.
    again: bool,
}

impl PendingEffects {
    /// Merges effects with later ones.
    fn then(self, later: Self) -> Self {
        let mut item = later.item.or(self.item);
        if let Some(item) = &mut item {
            item.over |= later.again;
        }
        Self {
            item,
            lock: later.lock.or(self.lock),
            again: false,
        }
    }
}

thread_local! {
    /// Effects of the open polls of this thread, by depth.
    static FRESH: RefCell<Vec<(u32, PendingEffects)>> = const { RefCell::new(Vec::new()) };
}

/// Effects of the pending calls of this process, and interrupted calls.
pub(super) struct Effects {
    /// Effects of pending calls with their proc. The key is the address of the call: a call that
    /// was polled does not move.
    kept: LazyLock<DashMap<usize, (u32, PendingEffects)>>,
    count: AtomicUsize,
    cuts: Cuts,
}

impl Effects {
    pub(super) const fn new() -> Self {
        Self {
            kept: LazyLock::new(|| DashMap::with_shard_amount(SHARDS)),
            count: AtomicUsize::new(0),
            cuts: Cuts::new(),
        }
    }
}

/// Maximum number of calls whose effects are kept.
const LIMIT: usize = 100_000;

/// Records an effect of a call in its open poll.
fn note(marked: Marked, change: impl FnOnce(&mut PendingEffects)) {
    let noted = FRESH.try_with(|fresh| {
        let Ok(mut fresh) = fresh.try_borrow_mut() else {
            return;
        };
        // Deeper polls are over.
        while fresh.last().is_some_and(|last| last.0 > marked.depth) {
            fresh.pop();
        }
        match fresh.last_mut() {
            Some((depth, effects)) if *depth == marked.depth => {
                if marked.first {
                    *effects = PendingEffects::default();
                }
                change(effects);
            }
            _ => {
                let mut effects = PendingEffects::default();
                change(&mut effects);
                fresh.push((marked.depth, effects));
            }
        }
    });
    let _ = noted;
}

/// Records that the innermost call has put in or taken out an item.
#[inline]
pub(crate) fn item(ledger: &Ledger, role: Role, resource: u64) {
    if let Some(marked) = ledger.mark() {
        note_item(marked, role, resource);
    }
}

#[cold]
fn note_item(marked: Marked, role: Role, resource: u64) {
    let item = Item {
        role,
        resource,
        site: marked.site,
        over: false,
    };
    note(marked, |effects| {
        effects.item = Some(item);
        effects.again = false;
    });
}

/// Records that the innermost call asks for an item: it is done with the one before.
#[inline]
pub(crate) fn asks(ledger: &Ledger) {
    if let Some(marked) = ledger.marked() {
        note(marked, |effects| effects.again = true);
    }
}

/// Records that the innermost call, whose chain has this head, has acquired a lock.
#[inline]
pub(in crate::resource) fn lock(ledger: &Ledger, head: &ChainHead, lock: Lock) {
    if let Some(marked) = ledger.mark_under(head) {
        note(marked, |effects| effects.lock = Some(lock));
    }
}

/// Handles the closed poll at `depth` of a call that is marked, now or by an earlier poll; it may
/// be a task's root.
#[cold]
fn closed(
    ledger: &Ledger,
    account: &mut Account,
    proc: u32,
    (depth, is_root): (u32, bool),
    end: PollEnd,
) {
    if is_root {
        return closed_root(ledger, account, proc, depth, end);
    }
    let fresh = ledger.has_marked(depth).then(|| take_fresh(depth));
    if end == PollEnd::Pending {
        if let Some(fresh) = fresh {
            keep(account, proc, fresh);
        }
        return;
    }
    let kept = take(account, proc);
    let effects = kept.unwrap_or_default().then(fresh.unwrap_or_default());
    if end == PollEnd::Ready {
        hand_up(ledger, effects, ledger.called_at(depth));
    }
}

/// The root of a task is marked if it has acquired locks: those that it still holds are looked up
/// from other threads, too. Effects of the root while another call polled it cannot be interrupted
/// any more once the root has ended or is no longer marked.
fn closed_root(ledger: &Ledger, account: &mut Account, proc: u32, depth: u32, end: PollEnd) {
    let task = ledger.closed_task(depth);
    if end != PollEnd::Pending {
        forget(account, proc);
        resource::over(task);
    } else if ledger.has_marked(depth) && !resource::leave(task) {
        forget(account, proc);
        account.unmark();
    }
}

/// A call has returned: its effects pass to its caller, at await point `site`.
fn hand_up(ledger: &Ledger, effects: PendingEffects, site: u16) {
    if effects.item.is_none() && effects.lock.is_none() {
        return;
    }
    if let Some(marked) = ledger.mark() {
        note(marked, |own| {
            if let Some(item) = effects.item {
                own.item = Some(Item {
                    site,
                    over: false,
                    ..item
                });
                own.again = false;
            }
            own.lock = effects.lock.or(own.lock);
        });
    }
}

fn take_fresh(depth: u32) -> PendingEffects {
    let taken = FRESH.try_with(|fresh| {
        let mut fresh = fresh.try_borrow_mut().ok()?;
        while let Some((at, effects)) = fresh.pop() {
            if at == depth {
                return Some(effects);
            }
            if at < depth {
                fresh.push((at, effects));
                break;
            }
        }
        None
    });
    taken.ok().flatten().unwrap_or_default()
}

fn key(account: &Account) -> usize {
    ptr::from_ref(account).addr()
}

fn keep(account: &Account, proc: u32, fresh: PendingEffects) {
    let Effects { kept, count, .. } = &RESOURCES.effects;
    if count.load(Ordering::Relaxed) >= LIMIT && !kept.contains_key(&key(account)) {
        losses::detail();
        return;
    }
    let mut entry = kept.entry(key(account)).or_insert_with(|| {
        count.fetch_add(1, Ordering::Relaxed);
        (proc, PendingEffects::default())
    });
    let before = if entry.0 == proc {
        entry.1
    } else {
        PendingEffects::default()
    };
    *entry = (proc, before.then(fresh));
}

fn take(account: &Account, proc: u32) -> Option<PendingEffects> {
    let Effects { kept, count, .. } = &RESOURCES.effects;
    if count.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let (_, (of, effects)) = kept.remove(&key(account))?;
    count.fetch_sub(1, Ordering::Relaxed);
    (of == proc).then_some(effects)
}

/// Discards the effects of calls of an ended epoch.
pub(crate) fn clear() {
    RESOURCES.effects.kept.retain(|_, _| {
        RESOURCES.effects.count.fetch_sub(1, Ordering::Relaxed);
        false
    });
    resource::clear();
}

/// Number of calls whose effects are kept.
#[cfg(test)]
pub(crate) fn kept() -> usize {
    RESOURCES.effects.kept.len()
}

/// Discards the effects of a marked call that is dropped without a report.
#[cold]
fn forget(account: &Account, proc: u32) {
    let _ = take(account, proc);
}

/// Reports a marked call that was dropped while it was pending, as its ledger has recorded.
#[cold]
fn dropped(thread: &ThreadLedger, account: &Account, proc: u32) {
    if let Some(effects) = take(account, proc) {
        interrupted::tell(&thread.ledger, proc, account.site() as u16, &effects);
    }
}
