//! Validator of event streams: reports, by rule, each event that is inconsistent with earlier ones.
//!
//! A report never ends the validation: it continues as a replay would, so that an error is reported
//! once and not again with each later event. Memory is bounded. What the validator had to forget,
//! and what happened while accounting was off, is believed.
//!
//! ```
//! use turbowish_model::account::call::PollEnd;
//! use turbowish_model::event::{CallEvent, Event, EventKind};
//! use turbowish_testing::validate::{Rule, Validator};
//!
//! let mut validator = Validator::default();
//! let kind = CallEvent::PollEnd(PollEnd::Pending);
//! let event = Event { t: 100, thread: 1, kind: EventKind::Call { id: 7, kind } };
//! let mut rules = Vec::new();
//! validator.event(&event, &mut |report| rules.push(report.rule));
//! assert_eq!(rules, [Rule::OrphanEnd]);
//! ```

mod calls;
mod console;
mod intents;
mod known;
mod report;
mod resources;
mod rule;
mod tasks;

use turbowish_model::event::{
    CallEvent, ConsoleEvent, Event, EventKind, IntentEvent, ResourceEvent,
};

use self::calls::Calls;
use self::console::Console;
use self::intents::{Intents, Users};
pub use self::known::LIMIT;
use self::report::{Counts, Reporter};
pub use self::report::{Report, Subject};
use self::resources::Resources;
pub use self::rule::{RULES, Rule, RuleRow};
use self::tasks::Tasks;

/// Validates a stream, event by event.
#[derive(Debug)]
pub struct Validator {
    nth: u64,
    counts: Counts,
    unseen: u64,
    model: Model,
}

/// The state after the events so far.
#[derive(Debug, Default)]
struct Model {
    calls: Calls,
    tasks: Tasks,
    resources: Resources,
    intents: Intents,
    users: Users,
    console: Console,
}

impl Default for Validator {
    fn default() -> Self {
        Self {
            nth: 0,
            counts: [0; RULES.len()],
            unseen: 0,
            model: Model::default(),
        }
    }
}

impl Validator {
    /// Validates the next event and passes each violation to `report`.
    pub fn event(&mut self, event: &Event, report: &mut dyn FnMut(Report)) {
        self.nth += 1;
        let model = &mut self.model;
        let mut reporter = Reporter::new(self.nth, event, &mut self.counts, report);
        if !model.calls.reach(event.t, &mut reporter) {
            self.unseen += 1;
        } else if model.console.sees(&event.kind, &mut reporter) {
            model.event(event.kind, &mut reporter);
        }
    }

    /// Number of events so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.nth
    }

    /// Number of events that were ignored because there were too many threads.
    #[must_use]
    pub const fn unseen(&self) -> u64 {
        self.unseen
    }

    /// Yields the rules violated so far, with the number of violations.
    pub fn broken(&self) -> impl Iterator<Item = (&'static RuleRow, u64)> {
        let each = RULES.iter().zip(self.counts);
        each.filter(|(_, count)| *count > 0)
    }
}

impl Model {
    fn event(&mut self, kind: EventKind, reporter: &mut Reporter<'_>) {
        match kind {
            EventKind::Call { id, kind } => {
                let task = self.calls.task_of(id);
                if let (CallEvent::PollStart { .. }, Some(task)) = (kind, task)
                    && self.console.is_paused(task)
                {
                    reporter.report_with(Rule::PausedPoll, Subject::Task(task), Subject::Call(id));
                }
                self.calls.event(id, kind, reporter);
            }
            EventKind::Task { id, kind } => self.tasks.event(id, kind, &mut self.calls, reporter),
            EventKind::Resource { id, kind } => {
                if let ResourceEvent::Wait(wanted) | ResourceEvent::Taken(wanted) = kind {
                    let other = Subject::Resource(id);
                    self.tasks.acts(wanted.task, other, &self.calls, reporter);
                }
                self.resources.event(id, kind, reporter);
            }
            EventKind::Intent { id, kind } => {
                if let IntentEvent::Made { task, resource, .. } = kind {
                    let other = Subject::Intent(id);
                    self.tasks.acts(task, other, &self.calls, reporter);
                    self.resources.may_be_used(resource, reporter);
                }
                self.intents.event(id, kind, reporter);
            }
            EventKind::User { name, kind } => self.users.event(name, kind, reporter),
            EventKind::Console { client, kind } => self.console(client, kind, reporter),
        }
    }

    fn console(&mut self, client: u64, kind: ConsoleEvent, reporter: &mut Reporter<'_>) {
        if let ConsoleEvent::Pause { task } | ConsoleEvent::Resume { task } = kind {
            self.tasks.is_known(task, Subject::Client(client), reporter);
        }
        let live = self.calls.live();
        if self.console.event(client, kind, live, reporter).is_some() {
            self.calls.forget();
            self.tasks.forget();
            self.resources.forget();
            self.intents.forget();
        }
    }
}
