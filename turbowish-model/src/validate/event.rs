//! What a stream can tell: one event says one thing of one subject.

use alloc::string::String;

use crate::account::resource::{Kind, Role};
use crate::diagnose::situation::Strength;
use crate::replay;

/// One event, on thread `thread` at time `t`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time in the unit of the stream.
    pub t: u64,
    /// Thread on which it happened.
    pub thread: u64,
    /// What happened.
    pub act: EventKind,
}

/// What happened, and to what. Ids are of their own kind: a call and a task may have the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// To a call, in the words of a recording.
    Call {
        /// The call's id; free again when the call has ended.
        id: u64,
        /// What.
        kind: replay::Kind,
    },
    /// To a task or its waker.
    Task {
        /// The task's id; never used twice.
        id: u64,
        /// What.
        kind: TaskEvent,
    },
    /// To a resource.
    Resource {
        /// The resource's id; never used twice.
        id: u64,
        /// What.
        kind: ResourceEvent,
    },
    /// To an intent.
    Intent {
        /// The intent's id; never used twice.
        id: u64,
        /// What.
        kind: IntentEvent,
    },
    /// The program's own data.
    User {
        /// The name that the program gave it.
        name: String,
        /// What.
        kind: UserEvent,
    },
    /// A console does something.
    Console {
        /// The connection's number.
        client: u64,
        /// What.
        kind: ConsoleEvent,
    },
}

/// What happens to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskEvent {
    /// It begins: its root is polled for the first time that is seen.
    Begin {
        /// Id of the root call, whose poll is open on this thread.
        root: u64,
    },
    /// A waker of it was cloned.
    Cloned,
    /// A clone of its waker was dropped, or used up by a wake.
    Dropped,
    /// It was woken.
    Woken,
    /// It is over: its root has returned, panicked or was dropped.
    End,
}

/// A part of a resource that somebody waits for or has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Unique within the resource, ascending in the order in which they came.
    pub ticket: u64,
    /// Whose it is; 0 for none of ours.
    pub task: u64,
    /// As what.
    pub role: Role,
    /// How much.
    pub amount: u64,
}

/// What happens to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceEvent {
    /// It is used for the first time that is seen.
    Made {
        /// What it is.
        kind: Kind,
        /// Permits, or items that fit in; `None` if there is no such limit.
        capacity: Option<u64>,
    },
    /// Somebody waits for it.
    Wait(Claim),
    /// Somebody has it, who waited under this ticket, or came and took it.
    Taken(Claim),
    /// The one who waited under this ticket does not want it any more.
    Left {
        /// Of the claim.
        ticket: u64,
    },
    /// What was taken under this ticket is given back.
    Released {
        /// Of the claim.
        ticket: u64,
    },
    /// So many items came in.
    Put {
        /// How many.
        items: u64,
    },
    /// So many items went out.
    Took {
        /// How many.
        items: u64,
    },
    /// Nothing comes any more.
    Closed,
    /// It is gone.
    Dropped,
}

/// What happens to an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentEvent {
    /// A task means to use a resource.
    Made {
        /// Whose it is; 0 for none of ours.
        task: u64,
        /// What it is about.
        resource: u64,
        /// As what.
        role: Role,
        /// Whether it depends on anything.
        strength: Strength,
    },
    /// It depended, and does not any more.
    Sure,
    /// It was carried out.
    Done,
    /// It will not be carried out.
    Gone,
}

/// What a program says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserEvent {
    /// A counter grows.
    Count {
        /// By how much.
        by: u64,
    },
    /// A gauge stands at a value.
    Gauge {
        /// The value.
        value: i64,
    },
    /// An attribute has a value.
    Attribute {
        /// The value.
        value: String,
    },
}

/// What a console does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleEvent {
    /// It connects.
    Connect,
    /// It is gone.
    Disconnect,
    /// It asks for a snapshot.
    Query,
    /// It is answered.
    Reply {
        /// Live calls that the answer counts.
        calls: u64,
    },
    /// It turns accounting on.
    Arm,
    /// It turns accounting off.
    Disarm,
    /// It pauses a task.
    Pause {
        /// The task.
        task: u64,
    },
    /// It lets a task go on.
    Resume {
        /// The task.
        task: u64,
    },
}

impl Event {
    /// The event as a replay takes it, if it is one of a call.
    #[must_use]
    pub fn replayed(&self) -> Option<replay::Event> {
        let EventKind::Call { id, kind } = &self.act else {
            return None;
        };
        Some(replay::Event {
            t: self.t,
            thread: self.thread,
            id: *id,
            kind: kind.clone(),
        })
    }
}

impl From<replay::Event> for Event {
    fn from(event: replay::Event) -> Self {
        let replay::Event {
            t,
            thread,
            id,
            kind,
        } = event;
        Self {
            t,
            thread,
            act: EventKind::Call { id, kind },
        }
    }
}
