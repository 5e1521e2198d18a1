//! A task's await tree: which calls stand where, and what must happen for each to go on.

use alloc::string::String;

use crate::snapshot::Place;

/// What a node needs of its children to go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeKind {
    /// A call that awaits its child, or what its [`super::Waiter`] waits for, *directly*: no timeout and no combinator stands between.
    Call,
    /// All children must end; none can end it early (`try_join!` is a [`Self::Select`]).
    Join,
    /// Any one of its branches is enough.
    Select,
    /// Many futures, taken as they end: `FuturesUnordered`, `buffered`.
    Unordered,
    /// Somebody else's future: what goes on inside of it is not known.
    #[default]
    Unknown,
}

/// A future of a task: a call, or a combinator that polls several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Unique within the task's tree.
    pub id: u32,
    /// The node that polls it; `None` for the root.
    pub parent: Option<u32>,
    /// What it needs.
    pub kind: NodeKind,
    /// How many branches a [`NodeKind::Select`] or [`NodeKind::Unordered`] has, those that are not among the nodes included.
    pub branches: Option<u32>,
    /// It is alive, but what would poll it was not polled in the last poll of its task: it has no parent, or one of a former poll. What
    /// hangs on a `FuturesUnordered` that was polled is not aside, though only those are polled that were woken.
    pub aside: bool,
    /// Path of its proc.
    pub proc: String,
    /// The await point at which it stands.
    pub place: Option<Place>,
    /// Since when.
    pub since: u64,
    /// Its own waker, where it has one.
    pub wake: Option<NodeWake>,
    /// The branch that it is, unique within the process; 0 if none.
    pub branch: u64,
    /// What polled it last, if it is a branch: a stream goes on where its next item is taken.
    pub fork: NodeKind,
}

/// What is known of a node that is polled with a waker of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeWake {
    /// How many root polls of its task had begun when it was polled last.
    pub polled: u64,
    /// When its own waker was woken, if it was not polled since.
    pub woken: Option<u64>,
}
