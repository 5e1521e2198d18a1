//! Async stacks: which calls each thread polls, and where they stand, as the events of calls tell.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::CallItem;
use crate::account::call::PollEnd;
use crate::event::CallEvent;

/// A call that has begun and is not over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveCall {
    /// Number of the call.
    pub id: u64,
    /// Id of its proc, if an event told it.
    pub proc: Option<u32>,
    /// Await point plus one that its body reached last; 0 if that is not known.
    pub site: u32,
}

/// The async stacks of all threads at an instant of a recording: that after the items that were
/// taken in. A call that is dropped, for example, is dropped by the calls that its thread polls.
#[derive(Clone, Debug, Default)]
pub struct AsyncStacks {
    /// Numbers of the calls that each thread polls, outermost first.
    threads: BTreeMap<u64, Vec<u64>>,
    calls: BTreeMap<u64, LiveCall>,
}

impl AsyncStacks {
    /// Takes in the next item.
    pub fn item(&mut self, item: &CallItem) {
        match *item {
            CallItem::Event { event, .. } => {
                if let Some((id, kind)) = event.call() {
                    self.event(event.thread, id, kind);
                }
            }
            CallItem::GapBegin { thread, .. } | CallItem::GapEnd { thread, .. } => {
                self.gap(thread);
            }
            // The numbers of calls begin anew.
            CallItem::EpochEnd { .. } => *self = Self::default(),
        }
    }

    /// What is missing may have ended any poll of a thread, and moved any call that no other thread
    /// polls.
    fn gap(&mut self, thread: u64) {
        self.threads.remove(&thread);
        let polled: BTreeSet<u64> = self.threads.values().flatten().copied().collect();
        let moved = self.calls.values_mut();
        let moved = moved.filter(|call| !polled.contains(&call.id));
        moved.for_each(|call| call.site = 0);
    }

    fn event(&mut self, thread: u64, id: u64, kind: CallEvent) {
        match kind {
            CallEvent::Create { proc } => self.call_mut(id).proc = Some(proc),
            CallEvent::PollStart { proc, .. } => {
                let call = self.call_mut(id);
                call.proc = proc.or(call.proc);
                self.threads.entry(thread).or_default().push(id);
            }
            CallEvent::Await { proc, site, .. } => {
                let call = self.call_mut(id);
                if call.proc == Some(proc) {
                    call.site = site;
                }
            }
            CallEvent::PollEnd(end) => {
                if let Some(polled) = self.threads.get_mut(&thread) {
                    let at = polled.iter().rposition(|polled| *polled == id);
                    polled.truncate(at.unwrap_or(polled.len()));
                }
                if end != PollEnd::Pending {
                    self.calls.remove(&id);
                }
            }
            CallEvent::Drop => {
                self.calls.remove(&id);
            }
            CallEvent::Wake | CallEvent::Unaccounted => {}
        }
    }

    fn call_mut(&mut self, id: u64) -> &mut LiveCall {
        self.calls.entry(id).or_insert(LiveCall {
            id,
            ..LiveCall::default()
        })
    }

    /// A call that has begun and is not over, if an event of it was taken in. Its end may be among
    /// events that are missing.
    #[must_use]
    pub fn call(&self, id: u64) -> Option<LiveCall> {
        self.calls.get(&id).copied()
    }

    /// The calls that a thread polls, outermost first.
    pub fn polled(&self, thread: u64) -> impl DoubleEndedIterator<Item = LiveCall> {
        let ids = self.threads.get(&thread).into_iter().flatten();
        ids.filter_map(|id| self.call(*id))
    }

    /// The calls that all threads poll.
    pub fn all_polled(&self) -> impl Iterator<Item = LiveCall> {
        let ids = self.threads.values().flatten();
        ids.filter_map(|id| self.call(*id))
    }
}
