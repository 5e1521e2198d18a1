//! Users of a resource beyond those that a reading lists: every task shows what it holds and waits
//! for, however many others do.
//!
//! They are copied in parts, and the record's lock is held for one part at a time. So there may be
//! fewer than were counted, because some leave in between. Users that come after the first part are
//! left out.

use std::ops::Bound::{Excluded, Included};

use turbowish_model::account::resource::{Holder, Intent, Reading, Rest, SHOWN, Waiter};

use super::Record;
use turbowish_model::sorting;

/// Entries looked at per part, while the lock is held.
const PART: usize = 4 * SHOWN;

impl Record {
    /// The users that `reading`, which is of this resource, only counts.
    pub(crate) fn rest(&self, reading: &Reading) -> Rest {
        if !reading.is_cut() {
            return Rest::default();
        }
        let state = self.state();
        let (last, last_intent) = (state.tickets, state.intents.last());
        drop(state);
        let shown = reading.waiters.last().map_or(0, |waiter| waiter.ticket);
        Rest {
            holders: self.holders_but(&tickets(&reading.holders, |one| one.ticket), last),
            waiters: self.waiters_between(shown, last, usize::MAX, |_| true),
            intents: self.intents_but(&tickets(&reading.intents, |one| one.ticket), last_intent),
        }
    }

    /// The first waiters that `reading`, which is of this resource, only counts, and whose tasks
    /// are `wanted`.
    pub(crate) fn waiters_of(
        &self,
        reading: &Reading,
        wanted: impl Fn(u64) -> bool,
    ) -> Vec<Waiter> {
        let shown = reading.waiters.last().map_or(0, |waiter| waiter.ticket);
        if reading.waiter_count <= reading.waiters.len() as u64 {
            return Vec::new();
        }
        let last = self.state().tickets;
        self.waiters_between(shown, last, SHOWN, wanted)
    }

    /// At most `most` waiters with a ticket after `shown`, up to `last`, whose tasks are `wanted`.
    fn waiters_between(
        &self,
        mut shown: u64,
        last: u64,
        most: usize,
        wanted: impl Fn(u64) -> bool,
    ) -> Vec<Waiter> {
        let mut all = Vec::new();
        while shown < last && all.len() < most {
            let state = self.state();
            let range = state.waiters.range((Excluded(shown), Included(last)));
            let (mut looked, before) = (0, shown);
            for (&ticket, (waiter, node)) in range.take(PART) {
                (looked, shown) = (looked + 1, ticket);
                if waiter.who.task != 0 && wanted(waiter.who.task) {
                    all.push(node.shown(waiter));
                }
            }
            drop(state);
            if looked < PART || shown == before {
                break;
            }
        }
        all.truncate(most);
        all
    }

    fn holders_but(&self, listed: &[u64], last: u64) -> Vec<Holder> {
        let mut all = Vec::new();
        for from in (0..).step_by(PART) {
            let state = self.state();
            let Some(part) = state.holders.get(from..).filter(|part| !part.is_empty()) else {
                break;
            };
            let part = part.iter().take(PART).flatten();
            all.extend(part.filter(|one| one.who.task != 0 && is_new(one.ticket, listed, last)));
        }
        all
    }

    fn intents_but(&self, listed: &[u64], last: u64) -> Vec<Intent> {
        let mut all = Vec::new();
        for from in (0..).step_by(PART) {
            let state = self.state();
            let Some(part) = state.intents.part(from, PART) else {
                break;
            };
            all.extend(part.filter(|one| is_new(one.ticket, listed, last)));
        }
        all
    }
}

/// Sorted tickets of the listed entries.
fn tickets<T>(listed: &[T], ticket: impl Fn(&T) -> u64) -> Vec<u64> {
    let mut tickets: Vec<u64> = listed.iter().map(ticket).collect();
    sorting::ascending(&mut tickets);
    tickets
}

/// Whether it is not listed, and existed when the reading of the rest began.
fn is_new(ticket: u64, listed: &[u64], last: u64) -> bool {
    ticket <= last && listed.binary_search(&ticket).is_err()
}
