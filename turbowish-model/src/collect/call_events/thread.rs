//! The events of one thread in one epoch, with the gaps between them.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::CallRun;
use crate::event::call_ring::CallRecord;
use crate::event::{CallEvent, EventKind};

/// The steps of a thread in their order, and what is known of its open polls.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadCalls {
    steps: VecDeque<KeptStep>,
    /// Number of the next event, once one was added.
    next: Option<u64>,
    /// Time of the last step that was added.
    last: u64,
    /// Numbers of the calls whose polls are open.
    open: Vec<u64>,
}

const _: () = assert!(size_of::<KeptStep>() == 32);

/// A step as it is kept.
#[derive(Clone, Debug)]
enum KeptStep {
    /// An event, and its time as it was recorded.
    Event(CallRecord, u64),
    GapBegin(u64),
    GapEnd(u64, u64),
}

/// The time of a step, and its rank among those of that time.
pub(super) type Turn = (u64, u8);

/// A step of a thread.
pub(super) enum CallStep {
    /// An event.
    Event {
        /// Its time on the clock that all share.
        t: u64,
        /// Its time as it was recorded.
        at: u64,
        kind: EventKind,
    },
    /// The time from which on events are missing.
    GapBegin(u64),
    /// The time at which they go on, and how many are missing.
    GapEnd(u64, u64),
}

impl ThreadCalls {
    /// Adds events of the thread; those that are known already are left out.
    pub(super) fn add(&mut self, run: CallRun, ended: Option<u64>) {
        let next = self.next.unwrap_or_default();
        let first = run.first.unwrap_or_else(|| next.saturating_add(run.lost));
        let lost = first.saturating_sub(next);
        let known = next.saturating_sub(first);
        let steady = |at: u64| at.wrapping_add_signed(run.steady);
        let mut new = run.events.into_iter();
        let new = new
            .by_ref()
            .skip(usize::try_from(known).unwrap_or(usize::MAX));
        let mut new = new.peekable();
        if lost > 0 {
            let again = new.peek().map(|event| steady(event.at)).or(ended);
            let again = again.unwrap_or(self.last).max(self.last);
            // Where nothing is known of before, the gap has no beginning.
            let begin = self.next.map(|_| KeptStep::GapBegin(self.last));
            let both = begin.into_iter().chain([KeptStep::GapEnd(again, lost)]);
            self.steps.extend(both);
            self.last = again;
        }
        let mut count = first.max(next);
        for event in new {
            let at = event.at;
            self.last = steady(at);
            let event = CallRecord {
                at: self.last,
                ..event
            };
            self.steps.push_back(KeptStep::Event(event, at));
            count = count.saturating_add(1);
        }
        self.next = Some(count);
    }

    /// The next step. `None` if there is none, or if it is an event of an innermost poll that is
    /// not known.
    pub(super) fn next(&mut self) -> Option<CallStep> {
        let (
            CallRecord {
                at: t,
                number,
                event,
            },
            at,
        ) = match self.steps.pop_front()? {
            KeptStep::Event(record, at) => (record, at),
            KeptStep::GapBegin(t) => {
                self.open.clear();
                return Some(CallStep::GapBegin(t));
            }
            KeptStep::GapEnd(t, lost) => return Some(CallStep::GapEnd(t, lost)),
        };
        let number = u64::from(number);
        let id = match event {
            CallEvent::Await { .. } | CallEvent::Unaccounted => *self.open.last()?,
            CallEvent::PollStart { .. } => {
                self.open.push(number);
                number
            }
            CallEvent::PollEnd(_) => {
                if let Some(at) = self.open.iter().rposition(|open| *open == number) {
                    self.open.truncate(at);
                }
                number
            }
            CallEvent::Create { .. } | CallEvent::Drop | CallEvent::Wake => number,
        };
        let kind = EventKind::Call { id, kind: event };
        Some(CallStep::Event { t, at, kind })
    }

    /// Time of the next step, and its turn among those of the same time: what makes a call, or
    /// leaves it, comes before what takes it up on another thread.
    pub(super) fn turn(&self) -> Option<Turn> {
        Some(match self.steps.front()? {
            KeptStep::GapEnd(t, _) => (*t, 0),
            KeptStep::GapBegin(t) => (*t, 2),
            KeptStep::Event(CallRecord { at, event, .. }, _) => match event {
                CallEvent::Create { .. } | CallEvent::PollEnd(_) => (*at, 0),
                CallEvent::PollStart { .. } | CallEvent::Drop => (*at, 2),
                CallEvent::Wake | CallEvent::Await { .. } | CallEvent::Unaccounted => (*at, 1),
            },
        })
    }
}
