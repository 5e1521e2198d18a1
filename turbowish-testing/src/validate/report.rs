//! Report: the rule, the event, its subject, and the other subject that the event refers to.

use std::fmt;

use turbowish_model::event::Event;

use super::rule::{RULES, Rule};

/// Subject of an event. Numbers are ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A thread.
    Thread(u64),
    /// A call.
    Call(u64),
    /// A task.
    Task(u64),
    /// A resource.
    Resource(u64),
    /// A claim on a resource.
    Claim {
        /// Id of the resource.
        resource: u64,
        /// Ticket of the claim.
        ticket: u64,
    },
    /// An intent.
    Intent(u64),
    /// The program's own data.
    User,
    /// A console.
    Client(u64),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(id) => write!(f, "thread {id}"),
            Self::Call(id) => write!(f, "call {id}"),
            Self::Task(id) => write!(f, "task {id}"),
            Self::Resource(id) => write!(f, "resource {id}"),
            Self::Claim { resource, ticket } => write!(f, "ticket {ticket} of resource {resource}"),
            Self::Intent(id) => write!(f, "intent {id}"),
            Self::User => f.write_str("user data"),
            Self::Client(id) => write!(f, "client {id}"),
        }
    }
}

/// Report of an event that is inconsistent with earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The violated rule.
    pub rule: Rule,
    /// Number of the event, from 1.
    pub nth: u64,
    /// Time of the event, as in the stream.
    pub t: u64,
    /// Thread of the event.
    pub thread: u64,
    /// The inconsistent subject.
    pub subject: Subject,
    /// The other subject involved.
    pub other: Option<Subject>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            nth,
            t,
            thread,
            subject,
            other,
        } = self;
        let row = rule.row();
        write!(f, "event {nth}, t {t}, thread {thread}: {}: ", row.id)?;
        write!(f, "{subject}: {}", row.text)?;
        match other {
            Some(other) => write!(f, " ({other})"),
            None => Ok(()),
        }
    }
}

/// Collects the reports about one event.
pub(super) struct Reporter<'a> {
    nth: u64,
    t: u64,
    pub(super) thread: u64,
    counts: &'a mut Counts,
    sink: &'a mut dyn FnMut(Report),
}

/// Number of reports by rule.
pub(super) type Counts = [u64; RULES.len()];

impl<'a> Reporter<'a> {
    pub(super) fn new(
        nth: u64,
        event: &Event,
        counts: &'a mut Counts,
        sink: &'a mut dyn FnMut(Report),
    ) -> Self {
        Self {
            nth,
            t: event.t,
            thread: event.thread,
            counts,
            sink,
        }
    }

    pub(super) fn report(&mut self, rule: Rule, subject: Subject) {
        self.tell(rule, subject, None);
    }

    pub(super) fn report_with(&mut self, rule: Rule, subject: Subject, other: Subject) {
        self.tell(rule, subject, Some(other));
    }

    fn tell(&mut self, rule: Rule, subject: Subject, other: Option<Subject>) {
        self.counts[rule as usize] += 1;
        (self.sink)(Report {
            rule,
            nth: self.nth,
            t: self.t,
            thread: self.thread,
            subject,
            other,
        });
    }
}
