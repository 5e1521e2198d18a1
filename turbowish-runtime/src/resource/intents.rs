//! Who means to use a resource: a list in its record, which the calls that mean to keep a place in.
//!
//! An entry that is done stays where it is until its call lets go of it, because it names the next one of that call; it is not shown
//! any more. The list grows to what there was at once, and allocates nothing after that.

use std::collections::HashMap;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use turbowish_model::account::resource::{
    AGAIN, CurrentCall, Intent, PROVEN, Role, SAID, SHOWN, Strength, WILL,
};

use super::Resource;
use super::ends::End;
use super::record::Record;
use super::state::NO_SLOT;
use crate::hot::{clock, dropped};

/// What an intent names: a resource, or nothing that is seen.
#[derive(Clone, Copy, Debug)]
pub struct ResourceRef<'a> {
    resource: Option<&'a Resource>,
    end: Option<&'a End>,
    /// Not worth a record of its own, unless somebody says so.
    brief: bool,
}

impl ResourceRef<'_> {
    pub(crate) const NOTHING: Self = Self {
        resource: None,
        end: None,
        brief: false,
    };

    /// `who` means to use it. Returns that intent, which names the `next` one.
    pub(crate) fn link(
        self,
        who: CurrentCall,
        role: Role,
        how: u8,
        next: Option<Link>,
    ) -> Option<Link> {
        let said = how & SAID != 0;
        let record = self
            .resource
            .and_then(|resource| match self.brief && !said {
                true => resource.known(),
                false => resource.record(),
            });
        let Some(record) = record else {
            return next;
        };
        let intent = Intent {
            ticket: 0,
            who,
            role,
            strength: match how & WILL {
                0 => Strength::May,
                _ => Strength::Will,
            },
            proven: how & PROVEN != 0,
            end: self.end.map(End::number),
        };
        record.intend(intent, (how & AGAIN != 0, said), next)
    }
}

impl Resource {
    /// What intents name.
    pub(crate) const fn meant(&self) -> ResourceRef<'_> {
        ResourceRef {
            resource: Some(self),
            end: None,
            brief: false,
        }
    }

    /// The same, of something that is mostly over before it is looked at.
    pub(crate) const fn meant_briefly(&self) -> ResourceRef<'_> {
        ResourceRef {
            resource: Some(self),
            end: None,
            brief: true,
        }
    }

    /// The same, of one end of it.
    pub(crate) const fn meant_by<'a>(&'a self, end: &'a End) -> ResourceRef<'a> {
        ResourceRef {
            resource: Some(self),
            end: Some(end),
            brief: false,
        }
    }

    /// The current task has done what it may have meant to do.
    #[inline]
    pub(crate) fn met(&self, role: Role) {
        if let Some(record) = self.known() {
            record.met(role);
        }
    }
}

/// An intent that is kept; it ends, and so does the one that it names, when this is dropped.
#[derive(Debug)]
pub struct Link {
    record: Arc<Record>,
    slot: u32,
}

// It gives access to nothing that an unwinding call could have left half done.
impl UnwindSafe for Link {}
impl RefUnwindSafe for Link {}

impl Link {
    pub(super) const fn new(record: Arc<Record>, slot: u32) -> Self {
        Self { record, slot }
    }

    /// What may be done will be done.
    pub(crate) fn will(&self) {
        self.record.will(self.slot);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        drop(self.record.give_up(self.slot));
    }
}

/// More are not kept.
const LIMIT: usize = 1 << 16;

/// All intents to use one resource.
#[derive(Debug, Default)]
pub(super) struct Intended {
    tickets: u64,
    /// By slot; a [`Link`] knows its own.
    entries: Vec<Option<IntentEntry>>,
    free: Vec<u32>,
    /// The newest of each task.
    of_task: HashMap<u64, u32>,
    /// Those who will, and who may.
    counts: (u64, u64),
    /// Those who mean to receive.
    receiving: u64,
    /// When the last of those gave up, and how many items had been taken by then.
    deserted: Option<(u64, u64)>,
    /// Not kept.
    lost: u64,
}

#[derive(Debug)]
struct IntentEntry {
    intent: Intent,
    again: bool,
    /// Its author said so: what the calls below do counts as well.
    said: bool,
    done: bool,
    /// The one before of the same task, and the one after, unless it is done.
    older: u32,
    newer: u32,
    next: Option<Link>,
}

/// How an intent went.
pub(super) struct Gone {
    pub(super) next: Option<Link>,
    /// Nobody had done it, and it was to be done once.
    pub(super) unmet: bool,
}

impl Intended {
    /// One more. Its slot; `next` again if there is no room.
    pub(super) fn seat(
        &mut self,
        intent: Intent,
        (again, said): (bool, bool),
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
            again,
            said,
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
                // There are never so many.
                u32::try_from(self.entries.len() - 1).unwrap_or(NO_SLOT)
            }
        };
        self.of_task.insert(task, slot);
        if let Some(before) = self.entry(older) {
            before.newer = slot;
        }
        Ok(slot)
    }

    /// Counts one in, or out.
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

    /// That one is let go of; so many items were taken by then.
    pub(super) fn unseat(&mut self, slot: u32, took: u64) -> Option<Gone> {
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
            unmet: !entry.done && !entry.again,
            next: entry.next,
        })
    }

    /// Takes what stood between those two out of the list of its task, which may be long: nobody walks it for that.
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

    /// `who` has done it. Whether that was meant, once: by the call itself, or else by one above that says so.
    pub(super) fn meet(&mut self, who: CurrentCall, role: Role) -> bool {
        let (mut at, mut found) = (self.of_task.get(&who.task).copied(), None);
        while let Some(slot) = at
            && let Some(entry) = self.entry(slot)
        {
            if entry.intent.role == role {
                if entry.intent.who.proc == who.proc {
                    found = Some(slot);
                    break;
                }
                found = found.or(entry.said.then_some(slot));
            }
            at = Some(entry.older);
        }
        let Some(entry) = found.and_then(|slot| self.entry(slot)) else {
            return false;
        };
        if entry.again {
            return false;
        }
        entry.done = true;
        let (intent, older, newer) = (entry.intent, entry.older, entry.newer);
        self.count(&intent, false);
        self.unchain(intent.who.task, older, newer);
        true
    }

    /// What may be done there will be.
    pub(super) fn will(&mut self, slot: u32) {
        let Some(entry) = self.entry(slot) else {
            return;
        };
        if !entry.done && entry.intent.strength == Strength::May {
            entry.intent.strength = Strength::Will;
            (self.counts.0, self.counts.1) = (self.counts.0 + 1, self.counts.1.saturating_sub(1));
        }
    }

    /// Some of them, the unconditional ones first.
    pub(super) fn read(&self) -> Vec<Intent> {
        let live = self.entries.iter().flatten().filter(|entry| !entry.done);
        // Not the very first ones if there are very many: the lock is not held for all of them.
        let mut all: Vec<Intent> = live.take(4 * SHOWN).map(|entry| entry.intent).collect();
        all.sort_unstable_by_key(|intent| (intent.strength, intent.ticket));
        all.truncate(SHOWN);
        all
    }

    /// The ticket that was given last.
    pub(super) const fn last(&self) -> u64 {
        self.tickets
    }

    /// Those in `places` slots from one on; `None` behind the last one.
    pub(super) fn part(&self, from: usize, places: usize) -> Option<impl Iterator<Item = Intent>> {
        let part = self.entries.get(from..).filter(|part| !part.is_empty())?;
        let live = part.iter().take(places).flatten();
        Some(live.filter(|entry| !entry.done).map(|entry| entry.intent))
    }

    /// How many will, and how many may; what could not be kept may.
    pub(super) const fn counts(&self) -> (u64, u64) {
        (self.counts.0, self.counts.1 + self.lost)
    }

    /// Since when nobody means to receive, unless somebody has received since.
    pub(super) fn deserted(&self, took: u64) -> Option<u64> {
        let (since, taken) = self.deserted?;
        (taken == took).then_some(since)
    }
}

#[cfg(test)]
mod tests {
    use turbowish_model::account::resource::{CurrentCall, Intent, Role, Strength};

    use super::Intended;

    fn who(proc: u32) -> CurrentCall {
        CurrentCall {
            task: 7,
            proc,
            ..CurrentCall::default()
        }
    }

    /// One task means to lock in calls of procs 1 to 5; `done` do, `ended` end, in that order. What is left is `met` by the procs in turn.
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
            assert_eq!(all.seat(intent, (false, false), None).ok(), Some(proc - 1));
        }
        for &proc in done {
            assert!(all.meet(who(proc), Role::Lock));
        }
        for &proc in ended {
            let gone = all.unseat(proc - 1, 0).expect("it was there");
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
