//! Resource in a situation: its holders, its waiters in order, the users of its ends, and its
//! intents.

use alloc::string::String;
use alloc::vec::Vec;

use super::Spot;
pub use crate::account::resource::{End, Strength};
use crate::account::resource::{Kind, Role};
use crate::snapshot::Place;

/// A resource that tasks wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Unique within the process; never reused.
    pub id: u64,
    /// Kind of the resource.
    pub kind: Kind,
    /// Displayed name: kind and name, or kind and source location. `mutex db`, `mutex db.rs:21`
    pub name: String,
    /// Source location of its construction.
    pub made: Option<Spot>,
    /// Number of permits, or of items that fit in; `None` if unbounded, unknown or not applicable.
    pub capacity: Option<u64>,
    /// Number of items inside: put in and not yet taken out. Slots that are reserved or granted to
    /// a waiter are not items.
    pub length: u64,
    /// The resource is closed: waiters are about to be notified.
    pub closed: bool,
    /// Holders of a part of it: guards, permits, reserved slots.
    pub holders: Vec<HoldingTask>,
    /// Total amount held, including holders that are not listed.
    pub held: u64,
    /// The listed waiters, in the order in which they are served.
    pub waiters: Vec<WaitingTask>,
    /// Number of waiters, including those not listed.
    pub waiting: u64,
    /// Ends of a channel. If some are omitted, one listed end has no user.
    pub ends: Vec<End>,
    /// The listed intents to use the resource.
    pub intents: Vec<IntendingTask>,
    /// Number of intents, including those not listed.
    pub intending: u64,
    /// Traffic of the resource.
    pub flow: ResourceFlow,
}

impl Default for Resource {
    fn default() -> Self {
        Self {
            id: 0,
            kind: Kind::Notify,
            name: String::new(),
            made: None,
            capacity: None,
            length: 0,
            closed: false,
            holders: Vec::new(),
            held: 0,
            waiters: Vec::new(),
            waiting: 0,
            ends: Vec::new(),
            intents: Vec::new(),
            intending: 0,
            flow: ResourceFlow::default(),
        }
    }
}

/// The future of a task that waits or holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FutureRef {
    /// It is not known which future of the task.
    #[default]
    Unknown,
    /// This node of the task's tree; for a holder, the guard may also be in a node above it.
    Node(u32),
    /// A live future that the task does not poll any more: see [`super::Node::aside`].
    Aside,
}

/// A task that holds a part of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldingTask {
    /// Id of the task; `None` if it is not instrumented, or if the guard is an owned one, which may
    /// have moved to another task since.
    pub task: Option<u64>,
    /// The future that holds.
    pub future: FutureRef,
    /// The kind of hold.
    pub role: Role,
    /// Number of permits or items held.
    pub amount: u64,
    /// Start of the hold.
    pub since: u64,
    /// Source location of the acquisition.
    pub spot: Option<Spot>,
    /// Path of the acquiring proc.
    pub proc: Option<String>,
}

/// A task that waits for a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingTask {
    /// Id of the task; `None` if it is not instrumented.
    pub task: Option<u64>,
    /// The future that waits. [`FutureRef::Node`] only if the node awaits this wait directly.
    pub future: FutureRef,
    /// The operation that it waits for.
    pub role: Role,
    /// Number of permits or items requested.
    pub amount: u64,
    /// Start of the wait.
    pub since: u64,
    /// Path of the waiting proc.
    pub proc: Option<String>,
    /// The await point at which it waits.
    pub place: Option<Place>,
    /// When the waiter was woken and thereby granted its turn, if it was not polled since.
    pub woken: Option<u64>,
    /// Number of root polls of its task that had begun at that moment; `None`: not counted.
    pub woken_poll: Option<u64>,
}

/// Intent of a task to use a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntendingTask {
    /// Id of the task.
    pub task: u64,
    /// The operation that the task intends.
    pub role: Role,
    /// Whether the use is certain.
    pub strength: Strength,
    /// The source shows the intent; it is not only declared by the author. While the intent exists,
    /// the end belongs to this task and to no other.
    pub proven: bool,
    /// Number of the end that the task intends to use.
    pub end: Option<u64>,
}

/// Traffic of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceFlow {
    /// Items put in; for locks, the number of acquisitions.
    pub put: u64,
    /// Items taken out; for locks, the number of releases.
    pub took: u64,
    /// Time that an item spends inside: 99th percentile of the last seconds.
    pub inside_p99_ns: Option<u64>,
    /// Since when no task intends to receive any more; `None` if one does, or none ever did.
    pub deserted: Option<u64>,
}
