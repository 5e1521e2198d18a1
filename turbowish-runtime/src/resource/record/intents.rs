//! Intents are added, met and released under the record's lock. Operations look for them only while
//! there are unmet ones that are to be done once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turbowish_model::account::resource::{Intent, Role};
use turbowish_model::event::IntentEvent;

use super::super::intents::{Declared, Link};
use super::{Record, ResourceState};
use crate::hot::current::{CurrentCall, current_call};
use crate::hot::events;

impl Record {
    /// Records an intent. Returns it, with a reference to the call's `next` one; or `next` itself,
    /// if there are too many.
    pub(in crate::resource) fn intend(
        self: &Arc<Self>,
        intent: Intent,
        declared: Declared,
        next: Option<Link>,
    ) -> Option<Link> {
        let made = IntentEvent::Made {
            task: intent.who.task,
            resource: self.id,
            role: intent.role,
            strength: intent.strength,
        };
        let mut state = self.state();
        let seated = state.intents.insert(intent, declared, next);
        match seated {
            Ok(slot) => {
                if !declared.again {
                    self.unmet.fetch_add(1, Ordering::Relaxed);
                }
                events::intent(|| made);
                Some(Link::new(self.clone(), slot))
            }
            Err(next) => next,
        }
    }

    /// Releases the intent in `slot`. Returns the call's next one.
    pub(in crate::resource) fn give_up(&self, slot: u32) -> Option<Link> {
        let took = self.took.load(Ordering::Relaxed);
        let gone = self.state().intents.remove(slot, took)?;
        if gone.unmet {
            self.unmet.fetch_sub(1, Ordering::Relaxed);
        }
        events::intent(|| IntentEvent::Gone);
        gone.next
    }

    /// Turns the `may` in `slot` into a `will`.
    pub(in crate::resource) fn will(&self, slot: u32) {
        self.state().intents.will(slot);
        events::intent(|| IntentEvent::Sure);
    }

    /// Records that the current task has done an operation that it may have intended.
    #[inline]
    pub(in crate::resource) fn met(&self, role: Role) {
        if self.unmet.load(Ordering::Relaxed) != 0 {
            self.meet_here(role);
        }
    }

    /// Records that `who` has done an operation.
    #[inline]
    pub(super) fn met_by(&self, who: CurrentCall, role: Role) {
        if self.unmet.load(Ordering::Relaxed) != 0 {
            self.meet(&mut self.state(), who, role);
        }
    }

    #[cold]
    fn meet_here(&self, role: Role) {
        let who = current_call();
        self.meet(&mut self.state(), who, role);
    }

    pub(super) fn meet(&self, state: &mut ResourceState, who: CurrentCall, role: Role) {
        if self.unmet.load(Ordering::Relaxed) != 0 && state.intents.meet(who, role) {
            self.unmet.fetch_sub(1, Ordering::Relaxed);
            events::intent(|| IntentEvent::Done);
        }
    }
}
