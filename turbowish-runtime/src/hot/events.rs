//! Doors out of the poll path: one for each kind of [event](turbowish_model::event), and callbacks
//! for marked calls. Listeners are set from outside, so that nothing in here names them.
//!
//! The doors of single steps pass events on to tests only: a door gets a closure, so that an event
//! that nobody takes is not even built. A recorder gets long waits and holds, and the program's own
//! events, from the ring of the thread in which they end; polls have rings of their own, and events
//! of calls logs.

use std::sync::OnceLock;

use turbowish_model::account::call::{Call, PollEnd};
use turbowish_model::account::event_ring::{EventFact, EventRecord, ResourceUse};
use turbowish_model::account::ledger::Ledger;
use turbowish_model::account::resource::Role;
use turbowish_model::event::{
    CallEvent, ConsoleEvent, EventClass, EventKind, IntentEvent, ResourceEvent, TaskEvent,
    UserEvent,
};

use crate::hot::switch;
use crate::hot::thread::{self, ThreadLedger};

/// Passes on one event. In tests, to the test that watches.
#[inline(always)]
fn emit(event: impl FnOnce() -> EventKind) {
    #[cfg(test)]
    watched::pass(event);
    #[cfg(not(test))]
    let _ = event;
}

/// Something happened to a call. Calls have a number only while their events are recorded: those go
/// to the log of the thread.
#[inline(always)]
pub(crate) fn call(event: impl FnOnce() -> CallEvent) {
    emit(|| EventKind::Call {
        id: 0,
        kind: event(),
    });
}

/// Something happened to the task with this id, or to its waker.
#[inline(always)]
pub(crate) fn task(id: u64, event: impl FnOnce() -> TaskEvent) {
    emit(|| EventKind::Task { id, kind: event() });
}

/// Something happened to the resource with this id.
#[inline(always)]
pub(crate) fn resource(id: u64, event: impl FnOnce() -> ResourceEvent) {
    emit(|| EventKind::Resource { id, kind: event() });
}

/// Something happened to an intent. Intents have no ids yet.
#[inline(always)]
pub(crate) fn intent(event: impl FnOnce() -> IntentEvent) {
    emit(|| EventKind::Intent {
        id: 0,
        kind: event(),
    });
}

/// A wait for a resource, or a hold of it, that has ended. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedUse {
    pub(crate) resource: u64,
    pub(crate) role: Role,
    pub(crate) amount: u32,
    pub(crate) task: u64,
    pub(crate) since: u64,
    pub(crate) at: u64,
}

/// A wait has ended, and the task was `served` or gave up.
pub(crate) fn waited(ended: &EndedUse, served: bool) {
    record(ended, |of| EventFact::Waited { of, served });
}

/// A hold has ended.
pub(crate) fn held(ended: &EndedUse) {
    record(ended, EventFact::Held);
}

/// Holds of fewer ticks are short on every machine.
pub(crate) const FEW: u64 = 1_024;

/// Keeps it for a recorder, unless it was short.
fn record(ended: &EndedUse, fact: impl FnOnce(ResourceUse) -> EventFact) {
    let EndedUse { at, task, .. } = *ended;
    let ticks = at.saturating_sub(ended.since);
    if ticks < FEW || ticks < thread::late() || !thread::records(EventClass::Waits) {
        return;
    }
    let fact = fact(ResourceUse {
        resource: ended.resource,
        ticks,
        role: ended.role,
        amount: ended.amount,
    });
    // Also on a thread that polls no task, such as one for blocking calls.
    if let Some(epoch) = switch::epoch() {
        thread::with(epoch, |thread| {
            thread.events.push(&EventRecord { at, task, fact });
        });
    }
}

/// The program counts or sets the number at the site `name`.
#[inline(always)]
pub(crate) fn user(name: u32, event: impl FnOnce() -> UserEvent) {
    emit(|| EventKind::User {
        name,
        kind: event(),
    });
}

/// A console, or the program itself, controls accounting or a task.
#[inline(always)]
pub(crate) fn console(event: impl FnOnce() -> ConsoleEvent) {
    emit(|| EventKind::Console {
        client: 0,
        kind: event(),
    });
}

/// Callbacks for marked calls: those whose drop would lose an effect.
pub(crate) struct MarkedCalls {
    /// The poll of a marked call is closed. The pair is its depth, and whether the call is a task's
    /// root.
    pub(crate) closed: fn(&Ledger, &mut Call, u32, (u32, bool), PollEnd),
    /// A marked call was dropped while it was pending.
    pub(crate) dropped: fn(&ThreadLedger, &Call, u32),
    /// A marked call is dropped, and nothing is to be reported.
    pub(crate) forgotten: fn(&Call, u32),
    /// A task whose root was marked is over.
    pub(crate) task_over: fn(u64),
}

static MARKED_CALLS: OnceLock<MarkedCalls> = OnceLock::new();

/// Sets the listener for marked calls. The first listener stays.
pub(crate) fn on_marked_calls(listener: MarkedCalls) {
    let _ = MARKED_CALLS.set(listener);
}

/// The listener for marked calls. No call is marked before there is a listener.
#[cold]
pub(crate) fn marked_calls() -> Option<&'static MarkedCalls> {
    MARKED_CALLS.get()
}

/// The events of one test.
#[cfg(test)]
pub(crate) mod watched {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use turbowish_model::event::EventKind;

    use crate::lock::lock;

    static ON: AtomicBool = AtomicBool::new(false);
    static EVENTS: Mutex<Vec<EventKind>> = Mutex::new(Vec::new());

    pub(super) fn pass(event: impl FnOnce() -> EventKind) {
        if ON.load(Ordering::Relaxed) {
            lock(&EVENTS).push(event());
        }
    }

    /// All events of the process while `f` runs, of every thread.
    pub(crate) fn during(f: impl FnOnce()) -> Vec<EventKind> {
        lock(&EVENTS).clear();
        ON.store(true, Ordering::Relaxed);
        f();
        ON.store(false, Ordering::Relaxed);
        std::mem::take(&mut lock(&EVENTS))
    }
}
