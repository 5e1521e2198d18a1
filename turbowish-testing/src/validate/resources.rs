//! Validation of resources: each waiter is served once, each holder releases once, and no more is
//! held than exists.

use std::collections::BTreeSet;

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::event::{ResourceClaim, ResourceEvent};

use super::known::{Ends, Known};
use super::report::{Reporter, Subject};
use super::rule::Rule;

#[derive(Debug, Default)]
pub(super) struct Resources {
    known: Known<u64, KnownResource>,
    claims: Known<(u64, u64), ClaimState>,
}

#[derive(Debug)]
struct KnownResource {
    kind: Kind,
    capacity: Option<u64>,
    closed: bool,
    over: bool,
    /// Number of items inside, or amount held.
    inside: u64,
    /// Ticket of the exclusive holder.
    alone: Option<u64>,
    /// Tickets of holders and waiters, as far as their claims are remembered.
    held: BTreeSet<u64>,
    line: BTreeSet<u64>,
}

impl Ends for KnownResource {
    fn is_over(&self) -> bool {
        self.over
    }
}

/// State of a claim.
#[derive(Debug)]
enum ClaimState {
    Waits(ResourceClaim),
    Holds(ResourceClaim),
    Over,
}

impl Ends for ClaimState {
    fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }
}

/// Whether a hold in this role is exclusive.
const fn is_alone(role: Role) -> bool {
    matches!(role, Role::Lock | Role::Write)
}

impl KnownResource {
    /// Whether each item put in is taken out once.
    const fn is_queue(&self) -> bool {
        matches!(self.kind, Kind::Mpsc | Kind::Oneshot)
    }
}

impl Resources {
    pub(super) fn event(&mut self, id: u64, kind: ResourceEvent, reporter: &mut Reporter<'_>) {
        if let ResourceEvent::Made { kind, capacity } = kind {
            return self.make(id, kind, capacity, reporter);
        }
        if !self.may_be_used(id, reporter) {
            return;
        }
        match kind {
            ResourceEvent::Made { .. } => {}
            ResourceEvent::Wait(claim) => self.wait(id, claim, reporter),
            ResourceEvent::Taken(claim) => self.take(id, claim, reporter),
            ResourceEvent::Left { ticket } => self.leave(id, ticket, reporter),
            ResourceEvent::Released { ticket } => self.release(id, ticket, reporter),
            ResourceEvent::Put { items } => self.put(id, items, reporter),
            ResourceEvent::Took { items } => self.took(id, items, reporter),
            ResourceEvent::Closed => {
                if let Some(resource) = self.known.get_mut(id) {
                    resource.closed = true;
                }
            }
            ResourceEvent::Dropped => self.drop_resource(id, reporter),
        }
    }

    fn make(&mut self, id: u64, kind: Kind, capacity: Option<u64>, reporter: &mut Reporter<'_>) {
        if self.known.get(id).is_some() {
            return reporter.report(Rule::ResourceTwice, Subject::Resource(id));
        }
        let resource = KnownResource {
            kind,
            capacity,
            closed: false,
            over: false,
            inside: 0,
            alone: None,
            held: BTreeSet::new(),
            line: BTreeSet::new(),
        };
        self.known.enter(id, resource);
    }

    /// Whether a resource that an event refers to exists, or may exist.
    pub(super) fn may_be_used(&self, id: u64, reporter: &mut Reporter<'_>) -> bool {
        let subject = Subject::Resource(id);
        match self.known.get(id) {
            Some(resource) if resource.over => reporter.report(Rule::GoneResource, subject),
            None if !self.known.is_unsure() => reporter.report(Rule::UnknownResource, subject),
            _ => return true,
        }
        false
    }

    fn wait(&mut self, id: u64, claim: ResourceClaim, reporter: &mut Reporter<'_>) {
        let ticket = claim.ticket;
        if self.claims.get((id, ticket)).is_some() {
            let resource = id;
            return reporter.report(Rule::TicketTwice, Subject::Claim { resource, ticket });
        }
        self.claims.enter((id, ticket), ClaimState::Waits(claim));
        if self.claims.get((id, ticket)).is_some()
            && let Some(resource) = self.known.get_mut(id)
        {
            resource.line.insert(ticket);
        }
    }

    fn take(&mut self, id: u64, claim: ResourceClaim, reporter: &mut Reporter<'_>) {
        let ticket = claim.ticket;
        let subject = Subject::Claim {
            resource: id,
            ticket,
        };
        match self.claims.get((id, ticket)) {
            Some(ClaimState::Holds(_) | ClaimState::Over) => {
                return reporter.report(Rule::ServedTwice, subject);
            }
            Some(ClaimState::Waits(wanted)) if *wanted != claim => {
                reporter.report(Rule::OtherClaim, subject);
            }
            Some(ClaimState::Waits(_)) | None => {}
        }
        self.claims.enter((id, ticket), ClaimState::Holds(claim));
        let remembered = self.claims.get((id, ticket)).is_some();
        let Some(resource) = self.known.get_mut(id).filter(|_| remembered) else {
            return;
        };
        resource.line.remove(&ticket);
        let inside = resource.inside.checked_add(claim.amount);
        let first = resource.line.first().filter(|&&first| first < ticket);
        let other = |ticket: u64| Subject::Claim {
            resource: id,
            ticket,
        };
        if let Some(&holder) = resource.alone.as_ref().or_else(|| {
            let exclusive = is_alone(claim.role);
            resource.held.first().filter(|_| exclusive)
        }) {
            reporter.report_with(Rule::TwoHolders, subject, other(holder));
        } else if inside.is_none() || inside > Some(resource.capacity.unwrap_or(u64::MAX)) {
            reporter.report(Rule::OverCapacity, subject);
        } else if let (Kind::Mutex, Some(&first)) = (resource.kind, first) {
            reporter.report_with(Rule::OutOfTurn, subject, other(first));
        }
        resource.inside = inside.unwrap_or(u64::MAX);
        resource.held.insert(ticket);
        if is_alone(claim.role) {
            resource.alone = Some(ticket);
        }
    }

    fn leave(&mut self, id: u64, ticket: u64, reporter: &mut Reporter<'_>) {
        match self.claims.get((id, ticket)) {
            Some(ClaimState::Waits(_)) => {
                self.claims.enter((id, ticket), ClaimState::Over);
                if let Some(resource) = self.known.get_mut(id) {
                    resource.line.remove(&ticket);
                }
            }
            None if self.claims.is_unsure() => {}
            _ => {
                let resource = id;
                reporter.report(Rule::NotWaiting, Subject::Claim { resource, ticket });
            }
        }
    }

    fn release(&mut self, id: u64, ticket: u64, reporter: &mut Reporter<'_>) {
        match self.claims.get((id, ticket)) {
            Some(ClaimState::Holds(claim)) => {
                let amount = claim.amount;
                self.claims.enter((id, ticket), ClaimState::Over);
                if let Some(resource) = self.known.get_mut(id) {
                    resource.inside = resource.inside.saturating_sub(amount);
                    resource.held.remove(&ticket);
                    resource.alone = resource.alone.filter(|&holder| holder != ticket);
                }
            }
            None if self.claims.is_unsure() => {}
            _ => {
                let resource = id;
                reporter.report(Rule::NotHeld, Subject::Claim { resource, ticket });
            }
        }
    }

    fn put(&mut self, id: u64, items: u64, reporter: &mut Reporter<'_>) {
        let Some(resource) = self.known.get_mut(id).filter(|known| known.is_queue()) else {
            return;
        };
        let subject = Subject::Resource(id);
        if resource.closed {
            reporter.report(Rule::ClosedResource, subject);
        }
        let inside = resource.inside.checked_add(items);
        if inside.is_none() || inside > Some(resource.capacity.unwrap_or(u64::MAX)) {
            reporter.report(Rule::Overfull, subject);
        }
        resource.inside = inside.unwrap_or(u64::MAX);
    }

    fn took(&mut self, id: u64, items: u64, reporter: &mut Reporter<'_>) {
        let Some(resource) = self.known.get_mut(id).filter(|known| known.is_queue()) else {
            return;
        };
        if items > resource.inside {
            reporter.report(Rule::TookTooMany, Subject::Resource(id));
        }
        resource.inside = resource.inside.saturating_sub(items);
    }

    fn drop_resource(&mut self, id: u64, reporter: &mut Reporter<'_>) {
        let Some(resource) = self.known.get_mut(id) else {
            return;
        };
        resource.over = true;
        let claimed = resource.held.first().or(resource.line.first());
        if let Some(&ticket) = claimed {
            let claim = Subject::Claim {
                resource: id,
                ticket,
            };
            reporter.report_with(Rule::DroppedInUse, Subject::Resource(id), claim);
        }
    }

    pub(super) fn forget(&mut self) {
        self.known.forget_all();
        self.claims.forget_all();
    }
}
