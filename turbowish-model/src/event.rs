//! Events: the one vocabulary for what happens in a process, of live tests, the validator and
//! recordings.
//!
//! An event is a few words: ids and numbers, no text, no allocation. Names are interned: an event
//! holds the id of a proc or a text, and the source of the events keeps the names.
//!
//! Each kind of subject has its own ids: a call and a task may have the same number.

pub mod call_ring;
mod class;

pub use self::class::{EventClass, EventClasses, UnknownClass};
use crate::account::call::PollEnd;
use crate::account::resource::{Kind, Role, Strength};

/// One event, on thread `thread` at time `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds on the process's clock, from an origin that all its threads share. Times are
    /// only compared and subtracted, so a file may use another unit throughout.
    pub t: u64,
    /// Number of the thread. Times of a thread do not go back.
    pub thread: u64,
    /// Kind of the event, with its subject.
    pub kind: EventKind,
}

const _: () = assert!(size_of::<Event>() <= 64, "an event fits a cache line");

impl Event {
    /// The call's id and what happened to it. `None` for an event of another subject.
    #[must_use]
    pub const fn call(&self) -> Option<(u64, CallEvent)> {
        match self.kind {
            EventKind::Call { id, kind } => Some((id, kind)),
            _ => None,
        }
    }
}

/// Kind of an event, with its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An event of a call.
    Call {
        /// Id of the call; free again when the call has ended.
        id: u64,
        /// Kind of the event.
        kind: CallEvent,
    },
    /// An event of a task or its waker.
    Task {
        /// Id of the task; never reused.
        id: u64,
        /// Kind of the event.
        kind: TaskEvent,
    },
    /// An event of a resource.
    Resource {
        /// Id of the resource; never reused.
        id: u64,
        /// Kind of the event.
        kind: ResourceEvent,
    },
    /// An event of an intent.
    Intent {
        /// Id of the intent; never reused.
        id: u64,
        /// Kind of the event.
        kind: IntentEvent,
    },
    /// An event of the program's own data.
    User {
        /// Id of the text that is its name.
        name: u32,
        /// Kind of the event.
        kind: UserEvent,
    },
    /// An event of a console.
    Console {
        /// Number of the connection.
        client: u64,
        /// Kind of the event.
        kind: ConsoleEvent,
    },
}

/// Kind of an event of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEvent {
    /// The call was constructed.
    Create {
        /// Id of the proc.
        proc: u32,
    },
    /// A poll of the call began.
    PollStart {
        /// Id of the proc, if the event repeats it: for a call whose creation may not be recorded.
        proc: Option<u32>,
        /// The poll is marked as the root of a task.
        root: bool,
    },
    /// A poll of the call ended.
    PollEnd(PollEnd),
    /// The call was dropped.
    Drop,
    /// The call was woken.
    Wake,
    /// The body that runs in the call's poll reaches an await point. It is that of another call if
    /// `proc` is not the call's.
    Await {
        /// Id of the proc.
        proc: u32,
        /// Await point plus one.
        site: u32,
        /// The operand is itself an instrumented call.
        direct: bool,
    },
    /// A poll that is not accounted begins or ends within the call's poll.
    Unaccounted,
}

/// Kind of an event of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskEvent {
    /// The task begins: the first observed poll of its root.
    Begin {
        /// Id of the root call, whose poll is open on this thread.
        root: u64,
    },
    /// A waker of the task was cloned.
    Cloned,
    /// A clone of its waker was dropped, or consumed by a wake.
    Dropped,
    /// The task was woken.
    Woken,
    /// The task has ended: its root has returned, panicked or was dropped.
    End,
}

/// The claim of a task on a resource, from its wait to its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceClaim {
    /// Unique within the resource, ascending in the order of arrival.
    pub ticket: u64,
    /// Id of the task; 0 if it is not instrumented.
    pub task: u64,
    /// The kind of use.
    pub role: Role,
    /// Number of permits or items.
    pub amount: u64,
}

/// Kind of an event of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceEvent {
    /// The first observed use of the resource.
    Made {
        /// Kind of the resource.
        kind: Kind,
        /// Number of permits, or of items that fit in; `None` if unlimited.
        capacity: Option<u64>,
    },
    /// A task begins to wait.
    Wait(ResourceClaim),
    /// A task acquires the resource, after a wait with the same ticket or at once.
    Taken(ResourceClaim),
    /// The waiter with this ticket gives up.
    Left {
        /// Ticket of the claim.
        ticket: u64,
    },
    /// The hold with this ticket is released.
    Released {
        /// Ticket of the claim.
        ticket: u64,
    },
    /// Items were put in.
    Put {
        /// Number of items.
        items: u64,
    },
    /// Items were taken out.
    Took {
        /// Number of items.
        items: u64,
    },
    /// The resource is closed: nothing more will arrive.
    Closed,
    /// The resource is dropped.
    Dropped,
}

/// Kind of an event of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentEvent {
    /// A task declares an intent to use a resource.
    Made {
        /// Id of the task; 0 if it is not instrumented.
        task: u64,
        /// Id of the resource.
        resource: u64,
        /// The intended use.
        role: Role,
        /// Whether the use is certain.
        strength: Strength,
    },
    /// A possible use becomes certain.
    Sure,
    /// The use took place.
    Done,
    /// The use will not take place.
    Gone,
}

/// Kind of an event of the program's own data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserEvent {
    /// A counter grows.
    Count {
        /// The increment.
        by: u64,
    },
    /// A gauge is set.
    Gauge {
        /// The value.
        value: i64,
    },
    /// An attribute is set.
    Attribute {
        /// Id of the text that is its value.
        value: u32,
    },
}

/// Kind of an event of a console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleEvent {
    /// The console connects.
    Connect,
    /// The console disconnects.
    Disconnect,
    /// The console requests a snapshot.
    Query,
    /// The console gets an answer.
    Reply {
        /// Number of live calls in the answer.
        calls: u64,
    },
    /// The console arms accounting.
    Arm,
    /// The console disarms accounting.
    Disarm,
    /// The console pauses a task.
    Pause {
        /// Id of the task.
        task: u64,
    },
    /// The console resumes a task.
    Resume {
        /// Id of the task.
        task: u64,
    },
}
