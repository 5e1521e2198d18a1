//! Validation of intents and of the program's own data: an intent becomes certain or ends, and a
//! name keeps its kind.

use turbowish_model::account::resource::Strength;
use turbowish_model::event::{IntentEvent, UserEvent};

use super::known::{Ends, Known};
use super::report::{Reporter, Subject};
use super::rule::Rule;

#[derive(Debug, Default)]
pub(super) struct Intents(Known<u64, Progress>);

/// Progress of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    May,
    Will,
    Over,
}

impl Ends for Progress {
    fn is_over(&self) -> bool {
        *self == Self::Over
    }
}

impl Intents {
    pub(super) fn event(&mut self, id: u64, kind: IntentEvent, reporter: &mut Reporter<'_>) {
        let subject = Subject::Intent(id);
        let stage = self.0.get(id).copied();
        let next = match (kind, stage) {
            (IntentEvent::Made { strength, .. }, None) => match strength {
                Strength::May => Progress::May,
                Strength::Will => Progress::Will,
            },
            (IntentEvent::Made { .. }, Some(_)) => {
                return reporter.report(Rule::IntentTwice, subject);
            }
            (_, None) => {
                if !self.0.is_unsure() {
                    reporter.report(Rule::UnknownIntent, subject);
                }
                return;
            }
            (_, Some(Progress::Over)) => return reporter.report(Rule::EndedIntent, subject),
            (IntentEvent::Sure, Some(Progress::Will)) => {
                return reporter.report(Rule::SureTwice, subject);
            }
            (IntentEvent::Sure, Some(Progress::May)) => Progress::Will,
            (IntentEvent::Done | IntentEvent::Gone, Some(_)) => Progress::Over,
        };
        self.0.enter(id, next);
    }

    pub(super) fn forget(&mut self) {
        self.0.forget_all();
    }
}

#[derive(Debug, Default)]
pub(super) struct Users(Known<u32, Sort>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Counter,
    Gauge,
    Attribute,
}

impl Ends for Sort {
    fn is_over(&self) -> bool {
        false
    }
}

impl Users {
    pub(super) fn event(&mut self, name: u32, kind: UserEvent, reporter: &mut Reporter<'_>) {
        let sort = match kind {
            UserEvent::Count { .. } => Sort::Counter,
            UserEvent::Gauge { .. } => Sort::Gauge,
            UserEvent::Attribute { .. } => Sort::Attribute,
        };
        match self.0.get(name) {
            Some(known) if *known != sort => reporter.report(Rule::KindChanged, Subject::User),
            Some(_) => {}
            None => self.0.enter(name, sort),
        }
    }
}
