//! A resource in a scene: who holds it, who waits for it in which order, who uses its ends and who means to.

use alloc::string::String;
use alloc::vec::Vec;

use super::Spot;
pub use crate::account::resource::{End, Strength};
use crate::account::resource::{Kind, Role};
use crate::snapshot::Place;

/// Something that tasks wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Unique within the process; never used twice.
    pub id: u64,
    /// What it is.
    pub kind: Kind,
    /// What is shown: its kind and name, or its kind and place. `mutex db`, `mutex db.rs:21`
    pub name: String,
    /// Where it was made.
    pub made: Option<Spot>,
    /// Permits, or items that fit in; `None` if unbounded, unknown, or there is no such thing.
    pub capacity: Option<u64>,
    /// Items inside: put in and not yet taken out. Places that are reserved, or granted to a waiter, are no items.
    pub length: u64,
    /// Nothing comes any more: who waits is about to be told.
    pub closed: bool,
    /// Those that hold a part of it: guards, permits, reserved places.
    pub holders: Vec<Holder>,
    /// What all of them hold, those that are not listed included.
    pub held: u64,
    /// Those that wait, in the order in which they are served, as far as they are listed.
    pub waiters: Vec<Waiter>,
    /// How many wait, those that are not listed included.
    pub waiting: u64,
    /// Ends of a channel. If some are left out, one that is listed has no user.
    pub ends: Vec<End>,
    /// Who means to use it, as far as they are listed.
    pub intents: Vec<Intent>,
    /// How many mean to, those that are not listed included.
    pub intending: u64,
    /// What went through.
    pub flow: Flow,
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
            flow: Flow::default(),
        }
    }
}

/// Which future of its task waits or holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FutureRef {
    /// Not known.
    #[default]
    Unknown,
    /// This node of the task's tree; for a holder, the guard may be in a node above it as well.
    Node(u32),
    /// A future that is alive, and that the task left aside: see [`super::Node::aside`].
    Aside,
}

/// A task that has a part of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The task; `None` if it is none of ours, or if the guard is an owned one, which may have gone to another task since.
    pub task: Option<u64>,
    /// Which future of it.
    pub seat: FutureRef,
    /// As what.
    pub role: Role,
    /// How much.
    pub amount: u64,
    /// Since when.
    pub since: u64,
    /// Where it was taken.
    pub spot: Option<Spot>,
    /// Path of the proc that took it.
    pub proc: Option<String>,
}

/// A task that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// The task; `None` if it is none of ours.
    pub task: Option<u64>,
    /// Which future of it. [`FutureRef::Node`] only if the node awaits this wait directly.
    pub seat: FutureRef,
    /// For what.
    pub role: Role,
    /// How much.
    pub amount: u64,
    /// Since when.
    pub since: u64,
    /// Path of the proc that waits.
    pub proc: Option<String>,
    /// The await point.
    pub place: Option<Place>,
    /// When it was woken, and with it given its turn, if it was not polled since.
    pub woken: Option<u64>,
    /// How many root polls of its task had begun at that moment; `None`: not counted.
    pub woken_poll: Option<u64>,
}

/// A task means to use a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The task.
    pub task: u64,
    /// What it means to do.
    pub role: Role,
    /// How sure that is.
    pub strength: Strength,
    /// Read from the source, and not only said by its author: as long as this is meant, the end is the task's and nobody else's.
    pub proven: bool,
    /// Number of the end that it means to use.
    pub end: Option<u64>,
}

/// What went through a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Items put in; for locks, how often they were taken.
    pub put: u64,
    /// Items taken out; for locks, how often they were given back.
    pub took: u64,
    /// Time that an item spends inside, 99th percentile of the last seconds.
    pub inside_p99_ns: Option<u64>,
    /// Since when nobody means to receive any more; `None` if somebody does, or nobody ever did.
    pub deserted: Option<u64>,
}
