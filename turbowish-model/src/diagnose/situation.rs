//! Situation: one instant of a process as the alert rules see it, in plain rows, with every name
//! resolved and unknown facts marked as unknown.
//!
//! *Instants* (`now`, `since`, `created`, `at`, `woken`) are nanoseconds on one clock, that of
//! [`Situation::now`]; *durations* end in `_ns`. Counters count from the start of accounting and
//! never decrease. The order of rows has no meaning, except in [`Resource::waiters`]. An `Option`
//! that is `None` is unknown: a rule that needs it stays silent.

mod misuse;
mod resource;
mod timers;
mod tree;

use alloc::string::String;
use alloc::vec::Vec;

pub use self::misuse::{ForcedYields, PollsAfterEnd};
pub use self::resource::{
    End, FutureRef, HoldingTask, IntendingTask, Resource, ResourceFlow, Strength, WaitingTask,
};
pub use self::timers::TimerWaits;
pub use self::tree::{Node, NodeKind, NodeWake, StreamFutures};
use crate::account::resource::Role;
pub(crate) use crate::snapshot::expression::last_method;
pub use crate::snapshot::expression::{asks_directly, awaits_a_resource};
use crate::snapshot::{Place, Spot, TaskState};

/// One instant of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Situation {
    /// The instant, in nanoseconds.
    pub now: u64,
    /// The instant on the wall clock, nanoseconds since the Unix epoch; 0 if unknown.
    pub unix_ns: u64,
    /// Live tasks. A task may be omitted if it waits, can be woken, was not polled since the
    /// previous situation, and has no relation to any resource: it holds none, waits for none, uses
    /// no end and has no intent. A task that a resource names and that is not here is treated as
    /// ended.
    pub tasks: Vec<Task>,
    /// Number of all live tasks, those that are omitted included, by the proc of their root.
    pub roots: Vec<RootTasks>,
    /// Streams of which tasks take items. Known while a task is polled, too.
    pub streams: Vec<StreamFutures>,
    /// Tasks that ended by a panic, kept while an alert may report them (one minute).
    pub ended: Vec<Ended>,
    /// Resources that were used and still exist.
    pub resources: Vec<Resource>,
    /// Live threads that polled a task.
    pub workers: Vec<WorkerThread>,
    /// Procs that were called.
    pub procs: Vec<Proc>,
    /// Polls of calls that were over.
    pub polled_after_end: Vec<PollsAfterEnd>,
    /// Await points at which calls waited for timers.
    pub timers: Vec<TimerWaits>,
    /// Pairs of resources of which one was requested while the other was held, as counted by the
    /// runtime. Pairs that a situation itself shows are found without it.
    pub orders: Vec<LockOrder>,
    /// Tasks that may have received what another task acquired. If there are very many, the most
    /// recently created ones.
    pub candidates: Vec<HandoffCandidate>,
    /// Sources of events, and their number of events.
    pub sources: Vec<Source>,
    /// Until when the heartbeat task was polled as soon as it was woken. It is the task whose only
    /// work is to be polled on the application's runtime. `None`: there is no such task.
    pub heartbeat: Option<u64>,
}

/// A live task that another task created (or whose creator is unknown) before that other task began
/// to wait. What the other task acquired before, a guard or an end of a channel, may have moved
/// there: a move is not observed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandoffCandidate {
    /// Id of the waiting task.
    pub of: u64,
    /// Id of the created task.
    pub task: u64,
    /// Name of the created task.
    pub name: String,
    /// When it was created. What was acquired later is not there.
    pub made: u64,
}

/// What polls the root of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskKind {
    /// An executor polls it when it is woken.
    #[default]
    Spawned,
    /// A thread that blocks on the task: it may poll without a wake.
    BlockOn,
    /// Nothing: a blocking function on its own thread, which cannot yield and need not.
    Blocking,
}

/// A live task, with its await tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Unique within the process; never reused.
    pub id: u64,
    /// The name that consoles show.
    pub name: String,
    /// Path of the root proc.
    pub root: String,
    /// What polls the task.
    pub kind: TaskKind,
    /// State at the instant of the situation.
    pub state: TaskState,
    /// Start of the present state: start of the poll, wake that made the task ready, or end of the
    /// last poll.
    pub since: u64,
    /// When the task was first seen.
    pub created: u64,
    /// Number of root polls started.
    pub polls: u64,
    /// Time in the task's root polls, the one in progress included.
    pub busy_ns: u64,
    /// Root polls that changed nothing observable: no call was made or ended, none reached another
    /// await point, no resource was acquired or released.
    pub idle_polls: Option<u64>,
    /// Wakes and wakers of the task. `None`: not observed.
    pub wakes: Option<Wakes>,
    /// Size of the root future, in bytes.
    pub future_bytes: u64,
    /// Source location of the spawn.
    pub spawned: Option<Spot>,
    /// A console keeps the task from being polled: it raises no alert.
    pub paused: bool,
    /// The await tree: the task's calls, and its known live futures that are not polled. Empty:
    /// unknown.
    pub tree: Vec<Node>,
}

/// The tasks whose root is a call of one proc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootTasks {
    /// Path of the proc.
    pub path: String,
    /// Number of live tasks.
    pub live: u64,
    /// Part of `live` that wait, and were neither polled nor woken for
    /// [`Limit::TaskLeakIdle`](crate::diagnose::alert::Limit::TaskLeakIdle).
    pub idle: u64,
    /// Calls of the proc that ended. If some of them were not roots, this is too many.
    pub ended: u64,
}

/// Wakes of a task, and the wakers that could cause more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wakes {
    /// Times that the task was woken.
    pub total: u64,
    /// Number of wakes from within the task's own polls; part of `total`.
    pub by_itself: u64,
    /// The last wake; `None` before the first one.
    pub last: Option<Wake>,
    /// Number of clones made of its waker.
    pub clones: u64,
    /// Number of live clones outside of the task and its executor.
    pub live: Option<u64>,
}

/// A wake and its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wake {
    /// Time of the wake.
    pub at: u64,
    /// Name of the task that woke it; for a wake from elsewhere, the thread.
    pub by: String,
}

/// A task that ended by a panic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Id of the task.
    pub id: u64,
    /// Name of the task.
    pub name: String,
    /// Path of the root proc.
    pub root: String,
    /// Time of the panic.
    pub at: u64,
    /// The result cannot be observed: the handle was dropped. `None`: unknown.
    pub detached: Option<bool>,
    /// Message and place of the panic; `None` if the panic hook does not record them.
    pub panic: Option<Panic>,
    /// Source location of the spawn.
    pub spawned: Option<Spot>,
    /// The await point it had reached.
    pub place: Option<Place>,
}

/// A panic, as the panic hook sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panic {
    /// The message, on one line; `None` if it is no text.
    pub message: Option<String>,
    /// The place in the source.
    pub place: Option<Spot>,
}

/// A thread that polls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerThread {
    /// Number of the thread, unique within the process; names are not unique.
    pub id: u64,
    /// Name of the worker as in the list of workers, `w1`; of a thread that is not in it, the
    /// thread's own name.
    pub name: String,
    /// Name that the program gave the thread. Many threads share one.
    pub thread: String,
    /// Run delay since the thread started: time in which it was ready to run and the machine ran
    /// other threads. A delay in progress counts when it ends. `None`: the system does not report
    /// it.
    pub run_delay_ns: Option<u64>,
    /// Time on a processor since the thread started. `None`: the system does not report it.
    pub cpu_ns: Option<u64>,
    /// During its poll it sleeps or waits in the kernel at present: it is neither on a processor,
    /// nor ready to run, nor stopped. `false` if unknown.
    pub sleeps: bool,
    /// Instant of its last covered event: a poll began or ended, or a call was created. It covers
    /// nothing since then, apart from a poll in progress.
    pub last_event: Option<u64>,
    /// The root poll in progress.
    pub poll: Option<OpenPoll>,
    /// Polls that ended on it since the last situation and were longer than the limit
    /// `long_poll.warn`, and shorter than `blocked_worker`.
    pub long_polls: Vec<LongPolls>,
    /// Readings of its times between the last situation and this one, oldest first.
    pub looks: Vec<WorkerLook>,
    /// Root polls that ended on it since the last situation and took as long as the limit
    /// `blocked_worker`, or longer; oldest first.
    pub ended_polls: Vec<FinishedPoll>,
}

/// The times of a thread at an instant between two situations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerLook {
    /// Before the times were read.
    pub from: u64,
    /// After they were read.
    pub to: u64,
    /// As [`WorkerThread::run_delay_ns`].
    pub run_delay_ns: Option<u64>,
    /// As [`WorkerThread::cpu_ns`].
    pub cpu_ns: Option<u64>,
    /// As [`WorkerThread::sleeps`].
    pub sleeps: bool,
}

/// A root poll that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinishedPoll {
    /// The task, and its name.
    pub task: u64,
    /// `None` if it is unknown.
    pub name: Option<String>,
    /// Start of the poll.
    pub since: u64,
    /// End of the poll.
    pub until: u64,
    /// The procs whose polls took as long as the limit, outermost first.
    pub stack: Vec<String>,
    /// The await point at which the innermost of them waited before the poll; `None` if it is
    /// unknown, or it was its first poll.
    pub passed: Option<Place>,
}

/// Finished polls of one proc on one thread that were about as long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LongPolls {
    /// Path of the innermost proc whose own poll exceeded the limit.
    pub proc: String,
    /// Number of polls.
    pub polls: u64,
    /// Each of them was at least this long.
    pub least_ns: u64,
}

impl WorkerThread {
    /// `w1 (thread tokio-rt-worker)`, for those who look for it with other tools.
    #[must_use]
    pub fn with_thread(&self) -> String {
        match self.thread.is_empty() || self.thread == self.name {
            true => self.name.clone(),
            false => alloc::format!("{} (thread {})", self.name, self.thread),
        }
    }
}

/// A root poll in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenPoll {
    /// The task; `None` if it is not instrumented.
    pub task: Option<u64>,
    /// Start of the poll.
    pub since: u64,
    /// The procs on the thread's stack, outermost first, each with the start of its poll.
    pub stack: Vec<(String, u64)>,
    /// The last await point that the innermost call passed; `None` if it passed none.
    pub passed: Option<Place>,
}

/// An instrumented function, with its counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proc {
    /// Path of the proc.
    pub path: String,
    /// Source location of its signature.
    pub spot: Spot,
    /// Calls dropped before their first poll.
    pub never_polled: u64,
    /// Part of `never_polled` that were branches of a `select!` or similar, dropped because another
    /// branch was ready first.
    pub lost_races: Option<u64>,
    /// Number of polls started.
    pub polls: u64,
    /// Polls that ended pending although nothing nested in them had changed.
    pub spurious: Option<u64>,
    /// Finished polls longer than the limit `long_poll.warn` and shorter than `blocked_worker`,
    /// counted in the innermost proc whose own poll exceeded it.
    pub slow: u64,
    /// Root polls of its tasks that tokio made end.
    pub forced: ForcedYields,
    /// Longest poll that finished within the last seconds.
    pub longest_ns: u64,
    /// Size of its largest future, in bytes.
    pub future_bytes: u64,
    /// The awaited futures that make it large, largest first, with their size in bytes.
    pub parts: Vec<(String, u64)>,
    /// The proc's await points.
    pub sites: Vec<Site>,
}

/// An await point of a proc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Source location of the await point.
    pub place: Place,
    /// Branches of a `select!` here that were dropped after a resource had given them something
    /// (received, locked, sent) and before they returned.
    pub cut_in_select: Option<u64>,
    /// Same as `cut_in_select`, for futures inside a `timeout`.
    pub cut_in_timeout: Option<u64>,
    /// What the last of these had done, and where: `recv` on `mpsc jobs`.
    pub cut: Option<Cut>,
}

/// What a dropped future had done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Proc of the dropped future, or of the innermost call in it.
    pub proc: String,
    /// The await point it had reached.
    pub place: Option<Place>,
    /// The operation: `recv`, `lock`, `send`.
    pub did: String,
    /// Name of the resource.
    pub resource: String,
    /// Id of the resource; 0 if unknown.
    pub resource_id: u64,
}

/// A pair of resources: one was requested while the same chain of calls, not another branch of a
/// `join!`, held the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockOrder {
    /// The resource that was held.
    pub first: Taken,
    /// The resource that was requested.
    pub second: Taken,
    /// Id of the task.
    pub task: u64,
    /// Name of the task.
    pub name: String,
    /// Ids of other resources that the task held.
    pub gates: Vec<u64>,
}

/// A resource as a task acquires it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Id of the resource.
    pub resource: u64,
    /// The kind of hold; `None` for the only holder.
    pub role: Option<Role>,
    /// Source location of the acquisition.
    pub spot: Option<Spot>,
}

/// A source of events: a component of the instrumentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Name of the component: `polls`, `wake-ups`, `counters`, `resources`.
    pub name: String,
    /// Number of events in 100 ms.
    pub events: u64,
    /// The proc with most of the events.
    pub noisiest: Option<String>,
    /// For the component `resources`: id and name of the most used resource.
    pub resource: Option<(u64, String)>,
}

#[cfg(test)]
mod tests {
    use super::WorkerThread;

    #[test]
    fn the_thread_of_a_worker_is_named_where_its_name_says_more() {
        let check = |name: &str, thread: &str, expected| {
            let worker = WorkerThread {
                name: name.into(),
                thread: thread.into(),
                ..WorkerThread::default()
            };
            assert_eq!(worker.with_thread(), expected);
        };
        check("w1", "tokio-rt-worker", "w1 (thread tokio-rt-worker)");
        check("main", "main", "main");
        check("w1", "", "w1");
    }
}
