//! Intents come, are met and go under the record's lock; operations look for them only while there are some that are to be met once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turbowish_model::account::resource::{Intent, Role};

use super::super::intents::Link;
use super::{Record, ResourceState};
use crate::hot::current::{CurrentCall, here};

impl Record {
    /// A call means to use it. Returns that intent, which names the `next` one of the call; or that one, if there are too many.
    pub(in crate::resource) fn intend(
        self: &Arc<Self>,
        intent: Intent,
        (again, said): (bool, bool),
        next: Option<Link>,
    ) -> Option<Link> {
        let mut state = self.state();
        let seated = state.intents.seat(intent, (again, said), next);
        match seated {
            Ok(slot) => {
                if !again {
                    self.unmet.fetch_add(1, Ordering::Relaxed);
                }
                Some(Link::new(self.clone(), slot))
            }
            Err(next) => next,
        }
    }

    /// That one is let go of. Returns the next one of its call.
    pub(in crate::resource) fn give_up(&self, slot: u32) -> Option<Link> {
        let took = self.took.load(Ordering::Relaxed);
        let gone = self.state().intents.unseat(slot, took)?;
        if gone.unmet {
            self.unmet.fetch_sub(1, Ordering::Relaxed);
        }
        gone.next
    }

    /// What may be done there will be.
    pub(in crate::resource) fn will(&self, slot: u32) {
        self.state().intents.will(slot);
    }

    /// The current task has done what it may have meant to do.
    #[inline]
    pub(in crate::resource) fn met(&self, role: Role) {
        if self.unmet.load(Ordering::Relaxed) != 0 {
            self.meet_here(role);
        }
    }

    /// `who` has done it.
    #[inline]
    pub(super) fn met_by(&self, who: CurrentCall, role: Role) {
        if self.unmet.load(Ordering::Relaxed) != 0 {
            self.meet(&mut self.state(), who, role);
        }
    }

    #[cold]
    fn meet_here(&self, role: Role) {
        let who = here();
        self.meet(&mut self.state(), who, role);
    }

    pub(super) fn meet(&self, state: &mut ResourceState, who: CurrentCall, role: Role) {
        if self.unmet.load(Ordering::Relaxed) != 0 && state.intents.meet(who, role) {
            self.unmet.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
