//! Rows of resources: what tasks wait for, who holds it, and its traffic.

use alloc::string::String;
use alloc::vec::Vec;

use crate::account::resource::{Kind, Role};
use crate::snapshot::quantile::Distribution;

/// A resource that was used and still exists. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceRow {
    /// Unique within the process; never reused.
    pub id: u64,
    /// Kind of the resource.
    pub kind: Kind,
    /// Kind and given name, or kind and source location: `mutex db`, `mutex db.rs:21`.
    pub name: String,
    /// Source location of its construction.
    pub made_at: Spot,
    /// Time since the first use.
    pub age_ns: u64,
    /// Number of permits, or of items that fit in; `None` if unbounded or not applicable.
    pub capacity: Option<u64>,
    /// Amount held, or number of items inside; `None` if not applicable.
    pub level: Option<u64>,
    /// The resource is closed: nothing more will arrive.
    pub closed: bool,
    /// The holders, oldest hold first; some are omitted if there are very many.
    pub holders: Vec<HolderRow>,
    /// Number of all holders.
    pub holder_count: u64,
    /// The waiters, in order; some are omitted if there are very many.
    pub waiters: Vec<WaiterRow>,
    /// Number of all waiters.
    pub waiter_count: u64,
    /// The last task to use each sending end; `None` for an end that was not used, or by no
    /// instrumented task.
    pub senders: Vec<Option<String>>,
    /// Same as `senders`, for receiving ends.
    pub receivers: Vec<Option<String>>,
    /// Calls that will use the resource; some are omitted if there are very many.
    pub will: Vec<IntentRow>,
    /// Number of all such calls.
    pub will_count: u64,
    /// Calls that may use the resource; some are omitted if there are very many.
    pub may: Vec<IntentRow>,
    /// Number of all such calls.
    pub may_count: u64,
    /// Items put in, or acquisitions, since the first use.
    pub put: u64,
    /// Items taken out, or releases, since the first use.
    pub took: u64,
    /// Waits started.
    pub waits: u64,
    /// Duration of waits that were served.
    pub waited: Distribution,
    /// Duration of holds, or time that items spent inside.
    pub kept: Distribution,
}

/// A source location.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Source file, as the compiler names it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A task that holds a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HolderRow {
    /// Name of the task; `None` if it is not instrumented.
    pub task: Option<String>,
    /// The kind of hold.
    pub role: Role,
    /// Number of permits or items held.
    pub amount: u64,
    /// Duration of the hold so far.
    pub since_ns: u64,
    /// Source location of the acquisition.
    pub at: Spot,
}

/// A task that waits for a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaiterRow {
    /// Name of the task; `None` if it is not instrumented.
    pub task: Option<String>,
    /// The requested use.
    pub role: Role,
    /// Number of permits or items requested.
    pub amount: u64,
    /// Duration of the wait so far.
    pub since_ns: u64,
    /// Source location of the request.
    pub at: Spot,
    /// Time since the waiter was woken, if it was not polled since.
    pub woken_ns: Option<u64>,
}

/// Intent of a call to use a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntentRow {
    /// Name of the call's task; `None` if the task has ended.
    pub task: Option<String>,
    /// The intended use.
    pub role: Role,
    /// Path of the call's proc; empty if unknown.
    pub proc: String,
}

/// Intent of a task's call, as seen from the task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aim {
    /// Id of the resource.
    pub resource_id: u64,
    /// Name of the resource.
    pub resource: String,
    /// The intended use.
    pub role: Role,
    /// Path of the call's proc; empty if unknown.
    pub proc: String,
}

/// A hold or a wait, as seen from the task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Id of the resource.
    pub resource_id: u64,
    /// Name of the resource.
    pub resource: String,
    /// The kind of use.
    pub role: Role,
    /// Number of permits or items.
    pub amount: u64,
    /// Duration so far.
    pub since_ns: u64,
    /// Source location of the acquisition or request.
    pub at: Spot,
}
