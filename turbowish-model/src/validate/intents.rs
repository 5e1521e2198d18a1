//! Validation of intents and of the program's own data: an intent becomes certain or ends, and a
//! name keeps its kind.

use super::calls::fingerprint;
use super::event::{IntentEvent, UserEvent};
use super::known::{Ends, Known};
use super::report::{Reporter, Subject};
use super::rule::Rule;
use crate::diagnose::situation::Strength;

#[derive(Debug, Default)]
pub(super) struct Intents(Known<u64, Stage>);

/// Progress of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    May,
    Will,
    Over,
}

impl Ends for Stage {
    fn is_over(&self) -> bool {
        *self == Self::Over
    }
}

impl Intents {
    pub(super) fn event(&mut self, id: u64, kind: IntentEvent, desk: &mut Reporter<'_>) {
        let subject = Subject::Intent(id);
        let stage = self.0.get(id).copied();
        let next = match (kind, stage) {
            (IntentEvent::Made { strength, .. }, None) => match strength {
                Strength::May => Stage::May,
                Strength::Will => Stage::Will,
            },
            (IntentEvent::Made { .. }, Some(_)) => {
                return desk.report(Rule::IntentTwice, subject);
            }
            (_, None) => {
                if !self.0.is_unsure() {
                    desk.report(Rule::UnknownIntent, subject);
                }
                return;
            }
            (_, Some(Stage::Over)) => return desk.report(Rule::EndedIntent, subject),
            (IntentEvent::Sure, Some(Stage::Will)) => return desk.report(Rule::SureTwice, subject),
            (IntentEvent::Sure, Some(Stage::May)) => Stage::Will,
            (IntentEvent::Done | IntentEvent::Gone, Some(_)) => Stage::Over,
        };
        self.0.enter(id, next);
    }

    pub(super) fn forget(&mut self) {
        self.0.forget_all();
    }
}

#[derive(Debug, Default)]
pub(super) struct Users(Known<u64, Sort>);

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
    pub(super) fn event(&mut self, name: &str, kind: &UserEvent, desk: &mut Reporter<'_>) {
        let sort = match kind {
            UserEvent::Count { .. } => Sort::Counter,
            UserEvent::Gauge { .. } => Sort::Gauge,
            UserEvent::Attribute { .. } => Sort::Attribute,
        };
        let name = fingerprint(name);
        match self.0.get(name) {
            Some(known) if *known != sort => desk.report(Rule::KindChanged, Subject::User),
            Some(_) => {}
            None => self.0.enter(name, sort),
        }
    }
}
