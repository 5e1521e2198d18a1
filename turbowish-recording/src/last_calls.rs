//! The last events of calls of a recording, as many as have room in memory.

use std::collections::{BTreeMap, VecDeque};

use turbowish_model::collect::call_events::{CallRun, RecordedCalls};

/// Events of calls that a reader has in memory at most.
pub const MOST_CALL_EVENTS: usize = 1 << 24;

/// The runs of events that were added last.
pub(crate) struct LastCalls {
    runs: VecDeque<CallRun>,
    /// Number of the events in them.
    events: usize,
    most: usize,
    /// Number of the events that were dropped, by thread.
    dropped: BTreeMap<u64, u64>,
}

impl LastCalls {
    pub(crate) const fn new(most: usize) -> Self {
        Self {
            runs: VecDeque::new(),
            events: 0,
            most,
            dropped: BTreeMap::new(),
        }
    }

    pub(crate) fn add(&mut self, run: CallRun) {
        self.events += run.events.len();
        self.runs.push_back(run);
        while self.events > self.most
            && let Some(oldest) = self.runs.pop_front()
        {
            self.events -= oldest.events.len();
            let lost = self.dropped.entry(oldest.thread).or_default();
            *lost = lost
                .saturating_add(oldest.lost)
                .saturating_add(oldest.events.len() as u64);
        }
    }

    pub(crate) fn end(mut self) -> RecordedCalls {
        let mut calls = RecordedCalls::default();
        for mut run in self.runs {
            // Where events have numbers, these say that some are missing.
            let dropped = self.dropped.remove(&run.thread);
            if let (None, Some(dropped)) = (run.first, dropped) {
                run.lost = run.lost.saturating_add(dropped);
            }
            calls.add(run);
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use turbowish_model::collect::call_events::{CallItem, CallRun};
    use turbowish_model::event::CallEvent;
    use turbowish_model::event::call_ring::CallRecord;

    use super::LastCalls;

    /// Three events of a thread, from this time on.
    fn run(thread: u64, first: Option<u64>, at: u64) -> CallRun {
        let record = |after| CallRecord {
            at: at + after,
            number: 7,
            event: CallEvent::Drop,
        };
        CallRun {
            thread,
            first,
            events: (0..3).map(record).collect(),
            ..CallRun::default()
        }
    }

    #[test]
    fn those_before_the_last_ones_are_a_gap() {
        for has_numbers in [false, true] {
            let first = |first: u64| has_numbers.then_some(first);
            let mut last = LastCalls::new(8);
            last.add(run(1, first(0), 10));
            last.add(run(1, first(3), 20));
            last.add(run(2, first(0), 30));
            last.add(run(1, first(6), 40));
            let items: Vec<CallItem> = last.end().into_iter().collect();
            let gaps = items.iter().filter(|item| item.cut().is_some());
            let expected = CallItem::GapEnd {
                t: 40,
                thread: 1,
                lost: 6,
            };
            assert_eq!(gaps.collect::<Vec<_>>(), [&expected]);
            assert_eq!(items.len(), 7);
        }
    }
}
