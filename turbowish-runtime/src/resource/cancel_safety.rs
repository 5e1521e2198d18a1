//! What calls have taken or given that is lost, or left half-way, if they are dropped before they return: an item that was received,
//! one that was sent where more were to follow, a lock that is held.
//!
//! Only calls are marked that somebody could drop: a chain in which each call awaits the next one directly, from the task's root on, ends
//! together. What a call has done is kept beside it while it waits, goes up to who called it when it returns, and is told when it is dropped
//! in the poll of another one.

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

#[cfg(feature = "server")]
pub(crate) use self::interrupted::{Count, Cut, cuts};
use crate::hot::dropped as losses;
use crate::hot::events::{self, MarkedCalls};
use crate::hot::thread::ThreadLedger;
use crate::resource;

/// Has the hot path tell of marked calls. Each resource does so when it begins, before it can mark one.
pub(super) fn listen() {
    events::on_marked_calls(MarkedCalls {
        closed,
        dropped,
        forgotten: forget,
        task_over: resource::over,
    });
}

/// A resource, as long as something is to be said of it.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(feature = "server"),
    expect(dead_code, reason = "asked for by the alerts")
)]
pub(crate) struct EffectSource {
    pub(crate) id: u64,
    pub(crate) kind: Kind,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) place: &'static Location<'static>,
}

/// An item that went in or out.
#[derive(Clone, Copy, Debug)]
struct Item {
    role: Role,
    resource: u64,
    /// Where the call stood.
    site: u16,
    /// It has come round to the same place since, for the next one.
    over: bool,
}

/// A lock that was taken.
#[derive(Clone, Copy, Debug)]
struct Lock {
    role: Role,
    resource: u64,
    slot: u32,
    who: CurrentCall,
}

/// What a call has done last.
#[derive(Clone, Copy, Debug, Default)]
struct PendingEffects {
    item: Option<Item>,
    lock: Option<Lock>,
    /// It has asked for the next item.
    again: bool,
}

impl PendingEffects {
    /// With what came later.
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
    /// What the open polls of this thread have done, by depth.
    static FRESH: RefCell<Vec<(u32, PendingEffects)>> = const { RefCell::new(Vec::new()) };
}

/// What calls that wait have done: by their address, since a call that was polled does not move, with their proc.
static KEPT: LazyLock<DashMap<usize, (u32, PendingEffects)>> =
    LazyLock::new(|| DashMap::with_shard_amount(SHARDS));
static COUNT: AtomicUsize = AtomicUsize::new(0);

const SHARDS: usize = 64;

/// Calls of which it is kept.
const LIMIT: usize = 100_000;

/// Notes something that a call has done in its open poll.
fn note(marked: Marked, change: impl FnOnce(&mut PendingEffects)) {
    let noted = FRESH.try_with(|fresh| {
        let Ok(mut fresh) = fresh.try_borrow_mut() else {
            return;
        };
        // Polls above it are over.
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

/// The innermost call has put something in or taken it out.
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

/// The innermost call asks for an item: it is done with the one before.
#[inline]
pub(crate) fn asks(ledger: &Ledger) {
    if let Some(marked) = ledger.marked() {
        note(marked, |effects| effects.again = true);
    }
}

/// The innermost call, whose chain has this head, has taken a lock, for itself.
#[inline]
pub(crate) fn lock(
    ledger: &Ledger,
    head: &ChainHead,
    (role, resource): (Role, u64),
    (slot, who): (u32, CurrentCall),
) {
    if let Some(marked) = ledger.mark_under(head) {
        let lock = Lock {
            role,
            resource,
            slot,
            who,
        };
        note(marked, |effects| effects.lock = Some(lock));
    }
}

/// A poll at `depth` that has marked its call, or an earlier one has, is closed; it may be that of a task's root.
#[cold]
fn closed(
    ledger: &Ledger,
    account: &mut Account,
    proc: u32,
    (depth, is_root): (u32, bool),
    end: PollEnd,
) {
    if is_root {
        return closed_root(ledger, account, (proc, depth), end);
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

/// The root of a task is marked if it has taken locks: those that it still has are looked for from other threads, too.
/// What the call did when another one polled it is nobody's to drop any more once it has ended, or is marked no longer.
fn closed_root(ledger: &Ledger, account: &mut Account, (proc, depth): (u32, u32), end: PollEnd) {
    let task = ledger.closed_task(depth);
    if end != PollEnd::Pending {
        forget(account, proc);
        resource::over(task);
    } else if ledger.has_marked(depth) && !resource::leave(task) {
        forget(account, proc);
        account.unmark();
    }
}

/// A call has returned: what it has done is now done by who called it, at `site`.
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
    if COUNT.load(Ordering::Relaxed) >= LIMIT && !KEPT.contains_key(&key(account)) {
        losses::detail();
        return;
    }
    let mut entry = KEPT.entry(key(account)).or_insert_with(|| {
        COUNT.fetch_add(1, Ordering::Relaxed);
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
    if COUNT.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let (_, (of, effects)) = KEPT.remove(&key(account))?;
    COUNT.fetch_sub(1, Ordering::Relaxed);
    (of == proc).then_some(effects)
}

/// Calls of an epoch that is over are let go of.
pub(crate) fn clear() {
    KEPT.retain(|_, _| {
        COUNT.fetch_sub(1, Ordering::Relaxed);
        false
    });
    resource::clear();
}

/// Of how many calls it is kept.
#[cfg(all(test, feature = "server"))]
pub(crate) fn kept() -> usize {
    KEPT.len()
}

/// A marked call is dropped, and nothing is to be said of it.
#[cold]
fn forget(account: &Account, proc: u32) {
    let _ = take(account, proc);
}

/// A marked call was dropped while it waited, which its ledger has noted.
#[cold]
fn dropped(thread: &ThreadLedger, account: &Account, proc: u32) {
    if let Some(effects) = take(account, proc) {
        interrupted::tell(&thread.ledger, proc, account.site() as u16, &effects);
    }
}
