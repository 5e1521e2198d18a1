//! The monitor as a source for consoles, with a thread of its own and a history.

mod calls;
mod poll_chunks;
mod polls;

use std::time::Duration;

use turbowish_model::event::{EventClass, EventClasses};
use turbowish_model::query::{Budget, Query, QueryError};
use turbowish_model::snapshot::{Accounting, Process, Snapshot};
use turbowish_wire::PauseTask;

pub(super) use self::polls::{PollReader, now};
use super::Monitor;
use crate::hot::{proc, switch, thread};
use crate::lock::lock;
use crate::monitor::cpu_time;
use crate::server::{NewPolls, News, Refused, Source};

impl Source for Monitor {
    fn snapshot(&self, query: &Query, budget: &Budget<'_>) -> Result<Snapshot, QueryError> {
        // This is a thread of the server.
        thread::disown();
        if budget.age_ns() > 0 {
            self.could_share();
        }
        self.snapshot_within(query, budget)
    }

    fn process(&self) -> Process {
        let switched = self.state().switched;
        self.identity(switched, &proc::all())
    }

    fn used(&self) -> Duration {
        cpu_time::used()
    }

    fn answered(&self, took: Duration) {
        self.thread.cpu_time.answered(took);
    }

    fn news(&self) -> Option<Vec<News>> {
        switch::epoch()?;
        Some(self.alert_news())
    }

    fn polls(&self) -> NewPolls {
        lock(&self.thread.polls).read(now(self.scale))
    }

    fn names(&self) -> Vec<u8> {
        lock(&self.thread.polls).names()
    }

    fn set_accounting(&self, accounting: Accounting) {
        match accounting {
            Accounting::Armed => self.arm(),
            Accounting::Disarmed => self.disarm(),
        }
    }

    fn recorded(&self) -> EventClasses {
        thread::recorded_classes()
    }

    fn record_events(&self, classes: EventClasses) {
        if self.is_closed() {
            return;
        }
        thread::record_classes(classes);
        self.record_calls(classes.has(EventClass::Calls));
    }

    fn pause_task(&self, order: &PauseTask) -> Result<(), Refused> {
        self.pause(order)
    }

    fn resume_task(&self, task: u64) -> Result<(), Refused> {
        self.resume(task)
    }
}

#[cfg(test)]
impl Monitor {
    /// What the threads did since the last call, by a clock that the test sets.
    pub(crate) fn polls_at(&self, clock: turbowish_recording::ClockReading) -> NewPolls {
        lock(&self.thread.polls).read(clock)
    }
}
