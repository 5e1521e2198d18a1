//! Interrupted calls: calls that were dropped before they returned, counted by their await point
//! and by the call that dropped them.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard};

use turbowish_model::account::ledger::Ledger;
use turbowish_model::account::resource::{CurrentCall, Role};

use super::{EffectSource, PendingEffects};
use crate::lock::lock;
use crate::resource;
use crate::resource::registry::RESOURCES;
use turbowish_model::ordered::Map;

/// A place at which a call was dropped, and what the call had done by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cut {
    /// Proc, and await point plus one, of the call in whose poll it was dropped.
    pub(crate) by: (u32, u16),
    /// Proc of the outermost call that was dropped.
    pub(crate) head: u32,
    /// Proc of the call that had the effect, and its await point plus one.
    pub(crate) at: (u32, u16),
    /// The role in which it had the effect.
    pub(crate) role: Role,
    /// Whether it held a received item: it had moved on from the await point that received it, and
    /// not come back.
    pub(crate) in_hand: bool,
}

/// Interruptions of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    pub(crate) times: u64,
    /// How many of them were not the first of their task.
    pub(crate) repeated: u64,
    /// The resource of the last interruption.
    pub(crate) source: EffectSource,
    /// Ids of the tasks of the last interruptions.
    tasks: [u64; TASKS],
}

type Fall = (u32, u64);

const TASKS: usize = 8;

/// Maximum number of distinct kinds.
const LIMIT: usize = 4_096;

/// Interrupted calls of this process, by kind.
pub(super) struct Cuts(Mutex<Map<Cut, Count>>);

impl Cuts {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Map::new()))
    }
}

thread_local! {
    /// The last drop group with a reported interruption, by epoch and number, and that
    /// interruption.
    static LAST: Cell<Option<(Fall, Cut, bool)>> = const { Cell::new(None) };
}

fn counts() -> MutexGuard<'static, Map<Cut, Count>> {
    lock(&RESOURCES.effects.cuts.0)
}

/// Reports a call of `proc` with these effects that was dropped at await point `site`.
pub(super) fn tell(ledger: &Ledger, proc: u32, site: u16, effects: &PendingEffects) {
    let by = ledger.current_call();
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
    // A drop group counts once, with its worst known interruption.
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

/// The effect that is lost, if its resource still exists or its lock is still held.
fn lost(effects: &PendingEffects, site: u16) -> Option<(Role, bool, EffectSource)> {
    if let Some(item) = effects.item
        && let Some(source) = resource::source(item.resource)
    {
        // Await points are numbered from the beginning of the body: a call at an earlier one has
        // come back, and is done with the item.
        let forward = item.site != 0 && site > item.site;
        let in_hand = item.role == Role::Receive && !item.over && forward;
        return Some((item.role, in_hand, source));
    }
    let lock = effects.lock?;
    let source = resource::source_held(lock.resource, lock.slot, lock.who)?;
    Some((lock.role, false, source))
}

fn count(fall: Fall, cut: Cut, by: CurrentCall, source: EffectSource) {
    let mut cuts = counts();
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
    if let Some(count) = counts().get_mut(cut) {
        count.times -= 1;
        count.repeated -= u64::from(repeated);
    }
}

/// All counted interruptions.
pub(crate) fn cuts() -> Vec<(Cut, Count)> {
    let cuts = counts();
    cuts.iter()
        .map(|(cut, count)| (*cut, count.clone()))
        .collect()
}
