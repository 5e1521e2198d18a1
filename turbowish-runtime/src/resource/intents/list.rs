//! The list of intents in the record of a resource, in which calls with intents keep a slot.
//!
//! An entry whose operation is done stays in the list until its call releases it, because it refers
//! to the call's next intent; it is not shown any more. The list grows to the maximum number of
//! concurrent intents, and allocates nothing after that.

use std::collections::HashMap;

use turbowish_model::account::resource::{CurrentCall, Intent, Role, SHOWN, Strength};

use super::Link;
use crate::hot::{clock, dropped};
use crate::resource::state::NO_SLOT;
use turbowish_model::sorting;

/// Maximum number of intents per resource.
const LIMIT: usize = 1 << 16;

/// All intents to use one resource.
#[derive(Debug, Default)]
pub(in crate::resource) struct Intended {
    tickets: u64,
    /// By slot; a [`Link`] knows its own.
    entries: Vec<Option<IntentEntry>>,
    free: Vec<u32>,
    /// Slot of each task's newest intent.
    of_task: HashMap<u64, u32>,
    /// Number of `will` and of `may` intents.
    counts: (u64, u64),
    /// Number of intents to receive.
    receiving: u64,
    /// When the last intent to receive ended, and how many items had been taken by then.
    deserted: Option<(u64, u64)>,
    /// Number of intents beyond the limit.
    lost: u64,
}

/// How an intent was declared.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::resource) struct Declared {
    /// For more than one operation: the first one does not end it.
    pub(in crate::resource) again: bool,
    /// By its author: operations of the calls below count as well.
    pub(in crate::resource) said: bool,
}

#[derive(Debug)]
struct IntentEntry {
    intent: Intent,
    declared: Declared,
    done: bool,
    /// Slots of the previous and the next intent of the same task; without those that are done.
    older: u32,
    newer: u32,
    next: Option<Link>,
}

/// Result of releasing an intent.
pub(in crate::resource) struct Gone {
    pub(in crate::resource) next: Option<Link>,
    /// Whether it was not done, and was to be done once.
    pub(in crate::resource) unmet: bool,
}

impl Intended {
    /// Adds an intent and returns its slot; returns `next` if there is no room.
    pub(in crate::resource) fn insert(
        &mut self,
        intent: Intent,
        declared: Declared,
        next: Option<Link>,
    ) -> Result<u32, Option<Link>> {
        if self.entries.len() - self.free.len() >= LIMIT {
            self.lost += 1;
            dropped::detail();
            return Err(next);
        }
        self.tickets += 1;
        let task = intent.who.task;
        let older = self.of_task.get(&task).copied().unwrap_or(NO_SLOT);
        let entry = IntentEntry {
            intent: Intent {
                ticket: self.tickets,
                ..intent
            },
            declared,
            done: false,
            older,
            newer: NO_SLOT,
            next,
        };
        self.count(&entry.intent, true);
        if intent.role == Role::Receive {
            self.deserted = None;
        }
        let slot = match self.free.pop() {
            Some(slot) => {
                self.entries[slot as usize] = Some(entry);
                slot
            }
            None => {
                self.entries.push(Some(entry));
                // The slots are limited to less than that.
                u32::try_from(self.entries.len() - 1).unwrap_or(NO_SLOT)
            }
        };
        self.of_task.insert(task, slot);
        if let Some(before) = self.entry(older) {
            before.newer = slot;
        }
        Ok(slot)
    }

    /// Counts an intent in or out.
    fn count(&mut self, intent: &Intent, comes: bool) {
        let count = match intent.strength {
            Strength::Will => &mut self.counts.0,
            Strength::May => &mut self.counts.1,
        };
        let both = match intent.role {
            Role::Receive => [Some(count), Some(&mut self.receiving)],
            _ => [Some(count), None],
        };
        for count in both.into_iter().flatten() {
            *count = match comes {
                true => *count + 1,
                false => count.saturating_sub(1),
            };
        }
    }

    fn entry(&mut self, slot: u32) -> Option<&mut IntentEntry> {
        self.entries.get_mut(slot as usize)?.as_mut()
    }

    /// Releases the intent in `slot`; `took` items were taken by then.
    pub(in crate::resource) fn remove(&mut self, slot: u32, took: u64) -> Option<Gone> {
        let entry = self.entries.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        if !entry.done {
            self.unchain(entry.intent.who.task, entry.older, entry.newer);
            self.count(&entry.intent, false);
            if entry.intent.role == Role::Receive && self.receiving == 0 {
                self.deserted = Some((clock::ticks(), took));
            }
        }
        Some(Gone {
            unmet: !entry.done && !entry.declared.again,
            next: entry.next,
        })
    }

    /// Removes the entry between two others from the list of its task. The list may be long, so it
    /// is not walked.
    fn unchain(&mut self, task: u64, older: u32, newer: u32) {
        match self.entry(newer) {
            Some(after) => after.older = older,
            None if older == NO_SLOT => drop(self.of_task.remove(&task)),
            None => drop(self.of_task.insert(task, older)),
        }
        if let Some(before) = self.entry(older) {
            before.newer = newer;
        }
    }

    /// Marks the intent as done: that of the call itself, or else one declared by an author in a
    /// call above. Returns whether an intent to do it once was found.
    pub(in crate::resource) fn meet(&mut self, who: CurrentCall, role: Role) -> bool {
        let (mut at, mut found) = (self.of_task.get(&who.task).copied(), None);
        while let Some(slot) = at
            && let Some(entry) = self.entry(slot)
        {
            if entry.intent.role == role {
                if entry.intent.who.proc == who.proc {
                    found = Some(slot);
                    break;
                }
                found = found.or(entry.declared.said.then_some(slot));
            }
            at = Some(entry.older);
        }
        let Some(entry) = found.and_then(|slot| self.entry(slot)) else {
            return false;
        };
        if entry.declared.again {
            return false;
        }
        entry.done = true;
        let (intent, older, newer) = (entry.intent, entry.older, entry.newer);
        self.count(&intent, false);
        self.unchain(intent.who.task, older, newer);
        true
    }

    /// Turns the `may` in `slot` into a `will`.
    pub(in crate::resource) fn will(&mut self, slot: u32) {
        let Some(entry) = self.entry(slot) else {
            return;
        };
        if !entry.done && entry.intent.strength == Strength::May {
            entry.intent.strength = Strength::Will;
            (self.counts.0, self.counts.1) = (self.counts.0 + 1, self.counts.1.saturating_sub(1));
        }
    }

    /// Some of the intents, unconditional ones first.
    pub(in crate::resource) fn read(&self) -> Vec<Intent> {
        let live = self.entries.iter().flatten().filter(|entry| !entry.done);
        // Not sorted over all if there are very many: the lock is not held for all of them.
        let mut all: Vec<Intent> = live.take(4 * SHOWN).map(|entry| entry.intent).collect();
        sorting::by_key(&mut all, |intent| (intent.strength, intent.ticket));
        all.truncate(SHOWN);
        all
    }

    /// The last ticket.
    pub(in crate::resource) const fn last(&self) -> u64 {
        self.tickets
    }

    /// The intents in `places` slots from `from` on; `None` after the last slot.
    pub(in crate::resource) fn part(
        &self,
        from: usize,
        places: usize,
    ) -> Option<impl Iterator<Item = Intent>> {
        let part = self.entries.get(from..).filter(|part| !part.is_empty())?;
        let live = part.iter().take(places).flatten();
        Some(live.filter(|entry| !entry.done).map(|entry| entry.intent))
    }

    /// Number of `will` and of `may` intents; those beyond the limit count as `may`.
    pub(in crate::resource) const fn counts(&self) -> (u64, u64) {
        (self.counts.0, self.counts.1 + self.lost)
    }

    /// Since when no intent to receive is left, unless something was received since.
    pub(in crate::resource) fn deserted(&self, took: u64) -> Option<u64> {
        let (since, taken) = self.deserted?;
        (taken == took).then_some(since)
    }
}

#[cfg(test)]
mod tests {
    use turbowish_model::account::resource::{CurrentCall, Intent, Role, Strength};

    use super::{Declared, Intended};

    fn who(proc: u32) -> CurrentCall {
        CurrentCall {
            task: 7,
            proc,
            ..CurrentCall::default()
        }
    }

    /// One task intends to lock in calls of procs 1 to 5. Those in `done` do, those in `ended` end,
    /// in that order; the rest is `met` by the procs in turn.
    fn check(done: &[u32], ended: &[u32], left: &[u32]) {
        let mut all = Intended::default();
        for proc in 1..=5 {
            let intent = Intent {
                ticket: 0,
                who: who(proc),
                role: Role::Lock,
                strength: Strength::Will,
                proven: false,
                end: None,
            };
            assert_eq!(
                all.insert(intent, Declared::default(), None).ok(),
                Some(proc - 1)
            );
        }
        for &proc in done {
            assert!(all.meet(who(proc), Role::Lock));
        }
        for &proc in ended {
            let gone = all.remove(proc - 1, 0).expect("it was there");
            assert_eq!(gone.unmet, !done.contains(&proc));
        }
        assert_eq!(all.counts(), (left.len() as u64, 0));
        let met: Vec<u32> = (1..=5)
            .filter(|&proc| all.meet(who(proc), Role::Lock))
            .collect();
        assert_eq!(met, left);
        assert!(all.of_task.is_empty(), "nothing is meant any more");
    }

    #[test]
    fn a_task_that_means_much_is_done_with_each_in_any_order() {
        check(&[], &[], &[1, 2, 3, 4, 5]);
        check(&[], &[1, 3, 5], &[2, 4]);
        check(&[5, 1], &[], &[2, 3, 4]);
        check(&[3], &[2, 4], &[1, 5]);
        check(&[2, 3], &[3, 2, 1], &[4, 5]);
        check(&[5, 4, 3, 2, 1], &[1, 5, 3], &[]);
        check(&[], &[5, 4, 3, 2, 1], &[]);
    }
}
