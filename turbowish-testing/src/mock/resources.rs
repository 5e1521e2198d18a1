//! Locks that serve in order, and queues of a few items, as the real ones do it.

use std::collections::VecDeque;

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::event::{ResourceClaim, ResourceEvent, TaskEvent};

use super::{Mock, ROOM, Step};

/// Held by one at a time; who waits is served in order, and has the next turn before it is polled.
#[derive(Debug, Default)]
pub(super) struct Lock {
    held: Option<u64>,
    granted: Option<u64>,
    line: VecDeque<u64>,
    tickets: Vec<Ticket>,
    told: bool,
}

#[derive(Debug)]
pub(super) struct Ticket {
    ticket: u64,
    call: u64,
    /// Its wait was seen.
    waits: bool,
    /// What it holds was seen when it was taken.
    holds: bool,
    /// Its waker was seen when it was cloned, and is there.
    waker: bool,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) inside: u64,
    /// Of each item, whether it was seen when it came.
    items: VecDeque<bool>,
    told: bool,
}

pub(super) fn lock_id(lock: usize) -> u64 {
    1 + lock as u64
}

fn queue_id(queue: usize) -> u64 {
    100 + queue as u64
}

impl Lock {
    pub(super) fn is_free(&self) -> bool {
        self.held.is_none() && self.granted.is_none() && self.line.is_empty()
    }

    /// Whether it is the turn of a ticket.
    pub(super) fn is_next(&self, ticket: u64) -> bool {
        self.granted == Some(ticket)
    }

    /// Whether it was seen when it was used.
    pub(super) fn is_told(&self) -> bool {
        self.told
    }

    fn ticket(&mut self, ticket: u64) -> Option<&mut Ticket> {
        self.tickets.iter_mut().find(|known| known.ticket == ticket)
    }
}

impl Mock {
    /// A call asks for a lock.
    pub(super) fn claim(&mut self, lock: usize, ticket: u64, call: u64) {
        self.locks[lock].tickets.push(Ticket {
            ticket,
            call,
            waits: false,
            holds: false,
            waker: false,
        });
    }

    /// Locks that a call holds, with their tickets.
    pub(super) fn guards(&self, call: u64) -> Vec<(usize, u64)> {
        let held = |(at, lock): (usize, &super::Lock)| {
            let held = lock.held?;
            let owner = lock.tickets.iter().find(|known| known.ticket == held)?;
            (owner.call == call).then_some((at, held))
        };
        self.locks.iter().enumerate().filter_map(held).collect()
    }

    /// Number of holders and of waiters of a lock that a process shows: those that it saw come.
    #[must_use]
    pub fn shown(&self, lock: usize) -> (u64, u64) {
        let lock = &self.locks[lock];
        let holders = lock.tickets.iter().filter(|known| known.holds).count();
        let waiters = lock.tickets.iter().filter(|known| known.waits).count();
        (holders as u64, waiters as u64)
    }

    pub(super) fn lock(&mut self, lock: usize, ticket: u64, ready: bool) {
        let armed = self.accounting.armed;
        let state = &mut self.locks[lock];
        let Some(known) = state.ticket(ticket) else {
            return;
        };
        let call = known.call;
        let is_new = !known.waits && armed;
        known.waits = (known.waits || armed) && !ready;
        known.holds = ready && armed;
        if ready {
            (state.held, state.granted) = (Some(ticket), None);
            self.call_mut(call).waits = None;
            self.tell_claim(lock, ticket, call, ResourceEvent::Taken);
            return;
        }
        if self.call(call).waits.is_none() {
            self.locks[lock].line.push_back(ticket);
            self.call_mut(call).waits = Some((lock, ticket));
        }
        if is_new {
            self.tell_claim(lock, ticket, call, ResourceEvent::Wait);
            self.tell_task(self.call(call).task, TaskEvent::Cloned);
            if let Some(known) = self.locks[lock].ticket(ticket) {
                known.waker = true;
            }
        }
    }

    fn tell_claim(
        &mut self,
        lock: usize,
        ticket: u64,
        call: u64,
        kind: impl FnOnce(ResourceClaim) -> ResourceEvent,
    ) {
        let id = lock_id(lock);
        if self.accounting.armed && !std::mem::replace(&mut self.locks[lock].told, true) {
            let (kind, capacity) = (Kind::Mutex, Some(1));
            self.tell_resource(id, ResourceEvent::Made { kind, capacity });
        }
        let claim = ResourceClaim {
            ticket,
            task: self.call(call).task,
            role: Role::Lock,
            amount: 1,
        };
        self.tell_resource(id, kind(claim));
    }

    pub(super) fn unlock(&mut self, lock: usize, ticket: u64) {
        let state = &mut self.locks[lock];
        state.held = None;
        let seen = state.ticket(ticket).is_some_and(|known| known.holds);
        state.tickets.retain(|known| known.ticket != ticket);
        if seen {
            self.tell_resource(lock_id(lock), ResourceEvent::Released { ticket });
        }
        self.grant(lock);
    }

    /// The first of the line has the next turn, and is woken.
    fn grant(&mut self, lock: usize) {
        let state = &mut self.locks[lock];
        let Some(next) = state.line.pop_front() else {
            return;
        };
        state.granted = Some(next);
        let Some(known) = state.ticket(next) else {
            return;
        };
        let (call, seen) = (known.call, std::mem::take(&mut known.waker));
        let task = self.call(call).task;
        self.tell(Step::Wake { task });
        if seen {
            self.tell_task(task, TaskEvent::Dropped);
        }
    }

    pub(super) fn leave(&mut self, lock: usize, ticket: u64) {
        let state = &mut self.locks[lock];
        let Some(at) = state
            .tickets
            .iter()
            .position(|known| known.ticket == ticket)
        else {
            return;
        };
        let known = state.tickets.remove(at);
        state.line.retain(|&waiting| waiting != ticket);
        let granted = state.granted.take_if(|granted| *granted == ticket);
        self.call_mut(known.call).waits = None;
        if known.waits {
            self.tell_resource(lock_id(lock), ResourceEvent::Left { ticket });
        }
        if known.waker {
            self.tell_task(self.call(known.call).task, TaskEvent::Dropped);
        }
        if granted.is_some() {
            self.grant(lock);
        }
    }

    pub(super) fn put(&mut self, queue: usize) {
        let armed = self.accounting.armed;
        let state = &mut self.queues[queue];
        state.inside += 1;
        state.items.push_back(armed);
        if armed && !std::mem::replace(&mut state.told, true) {
            let (kind, capacity) = (Kind::Mpsc, Some(ROOM));
            self.tell_resource(queue_id(queue), ResourceEvent::Made { kind, capacity });
        }
        self.tell_resource(queue_id(queue), ResourceEvent::Put { items: 1 });
    }

    pub(super) fn take(&mut self, queue: usize) {
        let state = &mut self.queues[queue];
        state.inside -= 1;
        if state.items.pop_front() == Some(true) {
            self.tell_resource(queue_id(queue), ResourceEvent::Took { items: 1 });
        }
    }
}
