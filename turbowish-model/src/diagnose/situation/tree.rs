//! Await tree of a task in a situation: the await point of each call, and the condition under which
//! it can resume.

use alloc::string::String;

use crate::snapshot::Place;

/// Condition on a node's children under which the node can resume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeKind {
    /// A call that awaits its child, or what its [`super::WaitingTask`] waits for, *directly*:
    /// without a timeout or combinator in between.
    Call,
    /// All children must end; none can end the node early (`try_join!` is a [`Self::Select`]).
    Join,
    /// Any one branch suffices.
    Select,
    /// Many futures, taken as they end: `FuturesUnordered`, `buffered`.
    Unordered,
    /// An external future, whose inside is unknown.
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
    /// The condition under which it can resume.
    pub kind: NodeKind,
    /// Number of branches of a [`NodeKind::Select`] or [`NodeKind::Unordered`], including those
    /// that are not nodes of the tree.
    pub branches: Option<u32>,
    /// The node is alive, but its caller was not polled in the last poll of the task: it has no
    /// parent, or one of an earlier poll. Children of a `FuturesUnordered` that was polled are not
    /// aside, although only woken ones are polled.
    pub aside: bool,
    /// Path of the proc.
    pub proc: String,
    /// The await point it has reached.
    pub place: Option<Place>,
    /// When it reached the await point.
    pub since: u64,
    /// State of the node's own waker, if it has one.
    pub wake: Option<NodeWake>,
    /// Id of the branch, unique within the process; 0 if the node is no branch.
    pub branch: u64,
    /// Kind of the node that last polled it, if it is a branch: a stream resumes where its next
    /// item is taken.
    pub fork: NodeKind,
}

/// State of a node that is polled with its own waker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeWake {
    /// Number of root polls of its task that had begun when it was last polled.
    pub polled: u64,
    /// When its own waker was woken, if it was not polled since.
    pub woken: Option<u64>,
}

/// The futures of a stream, such as a `FuturesUnordered`, for whose next item a task waited when
/// its last poll ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFutures {
    /// Id of the task.
    pub task: u64,
    /// Path of the proc that takes the items.
    pub proc: String,
    /// The await point at which it does.
    pub place: Option<Place>,
    /// Number of futures that are alive and have wakers of their own, or that were alive when the
    /// last poll ended, whichever is more; at most 512.
    pub live: u64,
    /// Number of live futures that were woken and not polled since.
    pub woken: u64,
    /// The first of these wakes.
    pub woken_at: Option<u64>,
}
