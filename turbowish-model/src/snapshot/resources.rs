//! The table of resources: what tasks wait for, who holds it, and its traffic.

mod columns;

use alloc::string::String;
use alloc::vec::Vec;

pub(crate) use self::columns::oldest;
use super::json::FieldValue;
use super::quantile::Distribution;
use super::row::row;
use crate::account::resource::{Kind, Role};

row! {
    $ resource_row

    /// A resource that was used and still exists. Times are in nanoseconds.
    ResourceRow {
        /// Unique within the process; never reused.
        id: u64 [first];
        /// Kind of the resource.
        kind: Kind [first];
        /// Kind and given name, or kind and source location: `mutex db`, `mutex db.rs:21`.
        name: String [first];
        /// Source location of its construction.
        made_at: Spot [first];
        /// Time since the first use.
        age_ns: u64 [max];
        /// Number of permits, or of items that fit in; `None` if unbounded or not applicable.
        capacity: Option<u64> [sum];
        /// Amount held, or number of items inside; `None` if not applicable.
        level: Option<u64> [sum];
        /// The resource is closed: nothing more will arrive.
        closed: bool [first];
        /// The holders, oldest hold first; some are omitted if there are very many.
        holders: Vec<HolderRow> [append];
        /// Number of all holders.
        holder_count: u64 [sum];
        /// The waiters, in order; some are omitted if there are very many.
        waiters: Vec<WaiterRow> [append];
        /// Number of all waiters.
        waiter_count: u64 [sum];
        // The longest wait of `waiters`, which are read.
        + oldest_wait_ns(|row| FieldValue::Optional(oldest(row)), |_, _| Some(()));
        /// The last task to use each sending end; `None` for an end that was not used, or by no
        /// instrumented task.
        senders: Vec<Option<String>> [append];
        /// Same as `senders`, for receiving ends.
        receivers: Vec<Option<String>> [append];
        /// Calls that will use the resource; some are omitted if there are very many.
        will: Vec<IntentRow> [append];
        /// Number of all such calls.
        will_count: u64 [sum];
        /// Calls that may use the resource; some are omitted if there are very many.
        may: Vec<IntentRow> [append];
        /// Number of all such calls.
        may_count: u64 [sum];
        /// Items put in, or acquisitions, since the first use.
        put: u64 [sum];
        /// Items taken out, or releases, since the first use.
        took: u64 [sum];
        /// Waits started.
        waits: u64 [sum];
        /// Duration of waits that were served.
        waited: Distribution [samples];
        /// Duration of holds, or time that items spent inside.
        kept: Distribution [samples];
        /// The longest of `waited`, since the first use.
        longest_wait: Option<LongestRow> [longest];
        /// The longest of `kept`, since the first use.
        longest_hold: Option<LongestRow> [longest];
        /// Largest number of waiters at a time, since the first use; 0 if there were none.
        longest_queue: u64 [first];
        /// Time since there were so many; 0 if there were none.
        longest_queue_ago_ns: u64 [first];
    }
    merged also by |into, other| {
        if other.longest_queue > into.longest_queue {
            into.longest_queue = other.longest_queue;
            into.longest_queue_ago_ns = other.longest_queue_ago_ns;
        }
    };
}

/// The longest hold of a resource that has ended, the longest wait that was served, or the longest
/// stay of an item inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LongestRow {
    /// Duration.
    pub took_ns: u64,
    /// Time since it ended.
    pub ago_ns: u64,
    /// The kind of use.
    pub role: Role,
    /// Name of the task that held it, waited, or took the item out; it may have ended since. `None`
    /// if it is not instrumented.
    pub task: Option<String>,
    /// Path of the proc whose call did; empty if unknown.
    pub proc: String,
    /// Source location of the acquisition or the request; `None` for an item.
    pub at: Option<Spot>,
    /// Where it ended: `w1` for a worker, else the name of the thread; `None` if the thread has
    /// ended, or is not known.
    pub on: Option<String>,
    /// Of a wait: name of the task that had the lock to itself when the wait began; `None` if there
    /// was none, or it is not known.
    pub behind: Option<String>,
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
