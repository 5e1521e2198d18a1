//! One instant of a process as the alert rules see it: plain rows, every name resolved, and what is not known said to be unknown.
//!
//! *Instants* (`now`, `since`, `created`, `at`, `woken`) are nanoseconds on one clock, that of [`Situation::now`]; *durations* end in `_ns`.
//! Counters count from the start of accounting and never fall. The order of rows means nothing, except in [`Resource::waiters`].
//! An `Option` that is `None` is not known: a rule that needs it stays silent.

mod resource;
mod tree;

use alloc::string::String;
use alloc::vec::Vec;

pub use self::resource::{End, Flow, FutureRef, Holder, Intent, Resource, Strength, Waiter};
pub use self::tree::{Node, NodeKind, NodeWake};
use crate::account::resource::Role;
pub(crate) use crate::snapshot::expression::last_method;
pub use crate::snapshot::expression::{asks_directly, awaits_a_resource};
use crate::snapshot::{Place, Spot, TaskState};

/// One instant of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Situation {
    /// The instant.
    pub now: u64,
    /// Live tasks. One may be left out that waits, can be woken, was not polled since the scene before, and has nothing to do with any
    /// resource: it holds none, waits for none, uses no end of one and means to use none. Who is not here, and is named by a resource,
    /// is taken for ended.
    pub tasks: Vec<Task>,
    /// Tasks that ended by a panic, kept for as long as an alert shall speak of them (a minute).
    pub ended: Vec<Ended>,
    /// Resources that were used and still exist.
    pub resources: Vec<Resource>,
    /// Threads that polled a task and still live.
    pub workers: Vec<Worker>,
    /// Procs that were called.
    pub procs: Vec<Proc>,
    /// Which resource was asked for while another was held, as far as the runtime counts it. What the scenes themselves show is
    /// found without it.
    pub orders: Vec<LockOrder>,
    /// Tasks that may have been given what another one took. If there are very many, those that were made last.
    pub candidates: Vec<HandoffCandidate>,
    /// What makes events, and how many.
    pub sources: Vec<Source>,
    /// Until when the task whose only work is to be polled on the application's runtime was polled as it was woken. `None`: there is no
    /// such task.
    pub heartbeat: Option<u64>,
}

/// A live task that another one has made, or nobody knows who, before that other one began to wait: what it took before, a guard or an end of
/// a channel, may have gone there, for a move is not seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandoffCandidate {
    /// The task that waits.
    pub of: u64,
    /// The task that was made.
    pub task: u64,
    /// Its name.
    pub name: String,
    /// When it was made: what was taken later is not there.
    pub made: u64,
}

/// Who polls a task at its root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskKind {
    /// An executor.
    #[default]
    Spawned,
    /// A thread that waits for it: it may be polled without being woken.
    BlockOn,
    /// Nobody: a blocking function on a thread of its own, which cannot yield and need not.
    Blocking,
}

/// A live task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Unique within the process; never used twice.
    pub id: u64,
    /// The name that is shown.
    pub name: String,
    /// Path of the root proc.
    pub root: String,
    /// Who polls it.
    pub kind: TaskKind,
    /// What it does now.
    pub state: TaskState,
    /// Since when: begin of the poll, the wake-up that made it ready, end of the last poll.
    pub since: u64,
    /// First seen.
    pub created: u64,
    /// Root polls begun.
    pub polls: u64,
    /// Time in its root polls, the one in progress included.
    pub busy_ns: u64,
    /// Root polls that changed nothing that is known: no call was made, no call ended, none moved to another await point, no resource
    /// was taken or given back.
    pub idle_polls: Option<u64>,
    /// Its wake-ups and wakers. `None`: they are not observed.
    pub wakes: Option<Wakes>,
    /// Bytes of the root future.
    pub future_bytes: u64,
    /// Where it was spawned.
    pub spawned: Option<Spot>,
    /// The console keeps it from being polled: it raises no alert.
    pub paused: bool,
    /// Where it stands: its calls, and the futures of it that are alive without being polled, as far as they are known. Empty: unknown.
    pub tree: Vec<Node>,
}

/// Wake-ups of a task, and the wakers that could make more of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wakes {
    /// Wake-ups.
    pub total: u64,
    /// Part of them that came from inside the task's own polls.
    pub by_itself: u64,
    /// The last one.
    pub last: Option<Wake>,
    /// Clones made of its waker.
    pub clones: u64,
    /// Clones that live, outside of the task and of its executor.
    pub live: Option<u64>,
}

/// A wake-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wake {
    /// When.
    pub at: u64,
    /// The task that woke it, by name; else the thread.
    pub by: String,
}

/// A task that ended by a panic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Path of the root proc.
    pub root: String,
    /// When.
    pub at: u64,
    /// Nobody can ask for its result: the handle was dropped. `None`: not known.
    pub detached: Option<bool>,
    /// Where it was spawned.
    pub spawned: Option<Spot>,
    /// Where it stood.
    pub place: Option<Place>,
}

/// A thread that polls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worker {
    /// Number of the thread, unique within the process. Names are not.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Run delay since the thread started: how long it was ready to run and the machine ran other threads. A wait in progress counts
    /// when it ends. `None`: the system does not tell.
    pub run_delay_ns: Option<u64>,
    /// The root poll in progress.
    pub poll: Option<OpenPoll>,
}

/// A root poll in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenPoll {
    /// The task, if it is one of ours.
    pub task: Option<u64>,
    /// Its begin.
    pub since: u64,
    /// The procs on the thread's stack, outermost first, each with the begin of its poll.
    pub stack: Vec<(String, u64)>,
    /// The await point that the innermost call passed last, if it passed one.
    pub passed: Option<Place>,
}

/// An instrumented function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proc {
    /// Path.
    pub path: String,
    /// Where its signature stands.
    pub spot: Spot,
    /// Calls dropped before their first poll.
    pub never_polled: u64,
    /// Part of them that were branches of a `select!` or the like, which are dropped when another one is ready first.
    pub lost_races: Option<u64>,
    /// Polls begun.
    pub polls: u64,
    /// Polls that ended pending although nothing below them had changed.
    pub spurious: Option<u64>,
    /// Finished polls longer than the limit `long_poll.warn`. A poll counts in the innermost proc that it was long in.
    pub slow: u64,
    /// Longest poll that finished within the last seconds.
    pub longest_ns: u64,
    /// Bytes of its largest future.
    pub future_bytes: u64,
    /// What makes it large, largest first: what is awaited, and its bytes.
    pub parts: Vec<(String, u64)>,
    /// Its await points.
    pub sites: Vec<Site>,
}

/// An await point of a proc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Where.
    pub place: Place,
    /// Branches of a `select!` here that were dropped after a resource had given them something (received, locked, sent) and before they
    /// returned.
    pub cut_in_select: Option<u64>,
    /// The same for what was inside of a `timeout`.
    pub cut_in_timeout: Option<u64>,
    /// What the last of them had done, and where: `recv` on `mpsc jobs`.
    pub cut: Option<Cut>,
}

/// What a dropped future had done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Proc of the future that was dropped, or of the innermost call in it.
    pub proc: String,
    /// The await point it stood at.
    pub place: Option<Place>,
    /// What had been done: `recv`, `lock`, `send`.
    pub did: String,
    /// The resource.
    pub resource: String,
    /// Its id; 0 if unknown.
    pub resource_id: u64,
}

/// One resource was asked for while another was held by the same chain of calls: not by another branch of a `join!`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockOrder {
    /// The resource that was held.
    pub first: Taken,
    /// The one that was asked for.
    pub second: Taken,
    /// The task.
    pub task: u64,
    /// Its name.
    pub name: String,
    /// Other resources that it held.
    pub gates: Vec<u64>,
}

/// A resource as a task takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The resource.
    pub resource: u64,
    /// As what; `None` as its only holder.
    pub role: Option<Role>,
    /// Where.
    pub spot: Option<Spot>,
}

/// What makes events: a component, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The component: `polls`, `wake-ups`, `counters`, `resources`.
    pub name: String,
    /// Events in 100 ms.
    pub events: u64,
    /// The proc that made most of them.
    pub noisiest: Option<String>,
    /// Of uses of resources: the one that was used most, its id and its name.
    pub resource: Option<(u64, String)>,
}
