//! Rows of resources: what tasks wait for, who has it, and what went through.

use alloc::string::String;
use alloc::vec::Vec;

use crate::account::resource::{Kind, Role};
use crate::snapshot::quantile::Distribution;

/// One resource that was used and still exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceRow {
    /// Unique within the process; never used twice.
    pub id: u64,
    /// What it is.
    pub kind: Kind,
    /// Kind and given name, or kind and the place where it was made: `mutex db`, `mutex db.rs:21`.
    pub name: String,
    /// Where it was made.
    pub made_at: Spot,
    /// Time since its first use.
    pub age_ns: u64,
    /// Permits, or items that fit in; `None` if unbounded, or there is no such thing.
    pub capacity: Option<u64>,
    /// What is held, or the number of items inside; `None` if there is no such thing.
    pub level: Option<u64>,
    /// Nothing comes any more.
    pub closed: bool,
    /// Those who hold it, the first ones first; not all, if there are very many.
    pub holders: Vec<HolderRow>,
    /// How many there are.
    pub holder_count: u64,
    /// Those who wait for it, in order; not all, if there are very many.
    pub waiters: Vec<WaiterRow>,
    /// How many there are.
    pub waiter_count: u64,
    /// Tasks that used each sending end last; `None` for one that was not used, or by no task of ours.
    pub senders: Vec<Option<String>>,
    /// The same of receiving ends.
    pub receivers: Vec<Option<String>>,
    /// Calls that will use it; not all, if there are very many.
    pub will: Vec<IntentRow>,
    /// How many there are.
    pub will_count: u64,
    /// Calls that may use it.
    pub may: Vec<IntentRow>,
    /// How many there are.
    pub may_count: u64,
    /// Items put in, or times that it was taken, since its first use.
    pub put: u64,
    /// Items taken out, or times that it was given back.
    pub took: u64,
    /// Waits begun.
    pub waits: u64,
    /// Time from the beginning to the end of waits that were served.
    pub waited: Distribution,
    /// Time that it was held, or that items spent inside.
    pub kept: Distribution,
}

/// Where something stands in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A task that holds a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HolderRow {
    /// The task's name; `None` if it is none of ours.
    pub task: Option<String>,
    /// As what.
    pub role: Role,
    /// How much.
    pub amount: u64,
    /// For how long.
    pub since_ns: u64,
    /// Where it was taken.
    pub at: Spot,
}

/// A task that waits for a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaiterRow {
    /// The task's name; `None` if it is none of ours.
    pub task: Option<String>,
    /// For what.
    pub role: Role,
    /// How much.
    pub amount: u64,
    /// For how long.
    pub since_ns: u64,
    /// Where it was asked for.
    pub at: Spot,
    /// It was woken so long ago, and not polled since.
    pub woken_ns: Option<u64>,
}

/// A call that means to use a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntentRow {
    /// Name of its task; `None` if that is gone.
    pub task: Option<String>,
    /// As what.
    pub role: Role,
    /// Path of its proc; empty if that is not known.
    pub proc: String,
}

/// What a call of a task means to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aim {
    /// Id of the resource.
    pub resource_id: u64,
    /// Its name.
    pub resource: String,
    /// As what.
    pub role: Role,
    /// Path of the call's proc; empty if that is not known.
    pub proc: String,
}

/// What a task has, or waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Id of the resource.
    pub resource_id: u64,
    /// Its name.
    pub resource: String,
    /// As what.
    pub role: Role,
    /// How much.
    pub amount: u64,
    /// For how long.
    pub since_ns: u64,
    /// Where in the source.
    pub at: Spot,
}
