//! Validation of consoles: connections, armed state, and paused tasks.

use turbowish_model::event::{ConsoleEvent, EventKind};

use super::known::{Ends, Known};
use super::report::{Reporter, Subject};
use super::rule::Rule;

#[derive(Debug, Default)]
pub(super) struct Console {
    clients: Known<u64, Link>,
    /// `None` before the first event that shows it.
    armed: Option<bool>,
    paused: Known<u64, Pause>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Open,
    Closed,
}

impl Ends for Link {
    fn is_over(&self) -> bool {
        *self == Self::Closed
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    On,
    Off,
}

impl Ends for Pause {
    fn is_over(&self) -> bool {
        *self == Self::Off
    }
}

/// Accounting was armed or disarmed.
pub(super) struct Switched;

impl Console {
    /// Whether the program can be observed at this event.
    pub(super) fn sees(&mut self, kind: &EventKind, reporter: &mut Reporter<'_>) -> bool {
        if matches!(kind, EventKind::Console { .. }) {
            return true;
        }
        let armed = *self.armed.get_or_insert(true);
        if !armed {
            let subject = match kind {
                EventKind::Call { id, .. } => Subject::Call(*id),
                EventKind::Task { id, .. } => Subject::Task(*id),
                EventKind::Resource { id, .. } => Subject::Resource(*id),
                EventKind::Intent { id, .. } => Subject::Intent(*id),
                EventKind::User { .. } => Subject::User,
                EventKind::Console { client, .. } => Subject::Client(*client),
            };
            reporter.report(Rule::Unarmed, subject);
        }
        armed
    }

    /// `live` is the number of live calls, if known.
    pub(super) fn event(
        &mut self,
        client: u64,
        kind: ConsoleEvent,
        live: Option<u64>,
        reporter: &mut Reporter<'_>,
    ) -> Option<Switched> {
        let subject = Subject::Client(client);
        let open = self.clients.get(client) == Some(&Link::Open);
        if kind == ConsoleEvent::Connect {
            if open {
                reporter.report(Rule::ClientTwice, subject);
            }
            self.clients.enter(client, Link::Open);
            return None;
        }
        if !open && !self.clients.is_unsure() {
            reporter.report(Rule::UnknownClient, subject);
        }
        match kind {
            ConsoleEvent::Connect | ConsoleEvent::Query => None,
            ConsoleEvent::Disconnect => {
                self.clients.enter(client, Link::Closed);
                None
            }
            ConsoleEvent::Reply { calls } => {
                let live = live.filter(|_| self.armed == Some(true));
                if live.is_some_and(|live| live != calls) {
                    reporter.report(Rule::ReplyDiffers, subject);
                }
                None
            }
            ConsoleEvent::Arm => self.switch(true, subject, reporter),
            ConsoleEvent::Disarm => self.switch(false, subject, reporter),
            ConsoleEvent::Pause { task } => self.pause(task, Pause::On, subject, reporter),
            ConsoleEvent::Resume { task } => self.pause(task, Pause::Off, subject, reporter),
        }
    }

    fn switch(
        &mut self,
        armed: bool,
        subject: Subject,
        reporter: &mut Reporter<'_>,
    ) -> Option<Switched> {
        if self.armed == Some(armed) {
            reporter.report(Rule::SwitchedTwice, subject);
        }
        self.armed = Some(armed);
        Some(Switched)
    }

    fn pause(
        &mut self,
        task: u64,
        pause: Pause,
        client: Subject,
        reporter: &mut Reporter<'_>,
    ) -> Option<Switched> {
        let rule = match (pause, self.is_paused(task)) {
            (Pause::On, true) => Some(Rule::PausedTwice),
            (Pause::Off, false) if !self.paused.is_unsure() => Some(Rule::NotPaused),
            _ => None,
        };
        if let Some(rule) = rule {
            reporter.report_with(rule, Subject::Task(task), client);
        }
        self.paused.enter(task, pause);
        None
    }

    /// Whether a console has paused a task.
    pub(super) fn is_paused(&self, task: u64) -> bool {
        self.paused.get(task) == Some(&Pause::On)
    }
}
