//! Calls that were dropped half-way, counted by where that was and who did it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use turbowish_model::account::ledger::Ledger;
use turbowish_model::account::resource::{CurrentCall, Role};

use super::{EffectSource, PendingEffects};
use crate::resource;

/// Who dropped what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cut {
    /// Proc and await point, plus one, of the call in whose poll it was dropped.
    pub(crate) by: (u32, u16),
    /// Proc of the outermost call that was dropped.
    pub(crate) head: u32,
    /// Proc of the call that has done something, and the await point where it stood, plus one.
    pub(crate) at: (u32, u16),
    /// What it had done.
    pub(crate) role: Role,
    /// It had an item in hand: it has gone on from where it received it, and not come back.
    pub(crate) in_hand: bool,
}

/// How often.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    pub(crate) times: u64,
    /// Part of it for which the same task was not the first time.
    pub(crate) repeated: u64,
    /// What the last one has used.
    pub(crate) source: EffectSource,
    /// The last tasks.
    tasks: [u64; TASKS],
}

type Fall = (u32, u64);

const TASKS: usize = 8;

/// Different ones that are counted.
const LIMIT: usize = 4_096;

static CUTS: Mutex<BTreeMap<Cut, Count>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The last fall of which something was told, by epoch and number, and what.
    static LAST: Cell<Option<(Fall, Cut, bool)>> = const { Cell::new(None) };
}

fn lock() -> MutexGuard<'static, BTreeMap<Cut, Count>> {
    CUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call of `proc` that stood at `site` was dropped, and had done this.
pub(super) fn tell(ledger: &Ledger, proc: u32, site: u16, effects: &PendingEffects) {
    let by = ledger.here();
    let Some((fallen, dropper)) = ledger.fallen().zip(by.proc.checked_sub(1)) else {
        return;
    };
    let Some((role, in_hand, source)) = lost(effects, site) else {
        return;
    };
    let cut = Cut {
        by: (dropper, by.site),
        head: fallen.head,
        at: (proc, site),
        role,
        in_hand,
    };
    let fall = (ledger.epoch(), fallen.number);
    // One fall counts once, with the worst that is known of it.
    let told = LAST.try_with(Cell::get).ok().flatten();
    match told {
        Some((known, before, _)) if known == fall && before.in_hand >= in_hand => {}
        Some((known, before, repeated)) if known == fall => {
            uncount(&before, repeated);
            count(fall, cut, by, source);
        }
        _ => count(fall, cut, by, source),
    }
}

/// What is lost of what was done, if that still is.
fn lost(effects: &PendingEffects, site: u16) -> Option<(Role, bool, EffectSource)> {
    if let Some(item) = effects.item
        && let Some(source) = resource::source(item.resource)
    {
        // Places are numbered from the beginning of the body: who comes back is done with it.
        let forward = item.site != 0 && site > item.site;
        let in_hand = item.role == Role::Receive && !item.over && forward;
        return Some((item.role, in_hand, source));
    }
    let lock = effects.lock?;
    let source = resource::source_held(lock.resource, lock.slot, lock.who)?;
    Some((lock.role, false, source))
}

fn count(fall: Fall, cut: Cut, by: CurrentCall, source: EffectSource) {
    let mut cuts = lock();
    if cuts.len() >= LIMIT && !cuts.contains_key(&cut) {
        return;
    }
    let count = cuts.entry(cut).or_insert_with(|| Count {
        times: 0,
        repeated: 0,
        source: source.clone(),
        tasks: [0; TASKS],
    });
    let repeated = by.task != 0 && count.tasks.contains(&by.task);
    if !repeated {
        count.tasks.rotate_right(1);
        count.tasks[0] = by.task;
    }
    count.times += 1;
    count.repeated += u64::from(repeated);
    count.source = source;
    drop(cuts);
    let _ = LAST.try_with(|last| last.set(Some((fall, cut, repeated))));
}

fn uncount(cut: &Cut, repeated: bool) {
    if let Some(count) = lock().get_mut(cut) {
        count.times -= 1;
        count.repeated -= u64::from(repeated);
    }
}

/// All that were counted.
#[cfg(feature = "server")]
pub(crate) fn cuts() -> Vec<(Cut, Count)> {
    let cuts = lock();
    cuts.iter()
        .map(|(cut, count)| (*cut, count.clone()))
        .collect()
}
