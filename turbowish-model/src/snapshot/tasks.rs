//! The table of tasks: state, calls, waker and last poll of each task.

mod columns;

use alloc::string::String;
use alloc::vec::Vec;

pub(super) use self::columns::expression;
pub(crate) use self::columns::{JUDGED, SEARCHED, leaf};
use super::row::row;
use super::{Aim, Claim, Place, Spot};
use crate::snapshot::combinator::Combinator;

/// State of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskState {
    /// In a poll now.
    Polling,
    /// Woken, and not polled yet.
    Ready,
    /// The last poll ended pending.
    #[default]
    Waiting,
    /// Not in a poll, and kept from the next one by a console.
    Paused,
}

impl TaskState {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Polling => "polling",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
        }
    }
}

row! {
    $ task_row

    /// One live task. Times are in nanoseconds.
    TaskRow {
        /// Unique within the process; never reused.
        id: u64 [first];
        /// Given name; otherwise the end of the root proc's path and the task's ordinal there.
        name: String [first];
        /// Current state.
        state: TaskState [first];
        /// Time in the current state.
        since_ns: u64 [first];
        /// Time since the first poll or the creation.
        age_ns: u64 [max];
        /// Root polls started.
        polls: u64 [sum];
        /// Exclusive time of all the task's calls since its creation, the poll in progress
        /// included.
        running_ns: u64 [sum];
        /// Longest root poll, including one in progress.
        max_poll_ns: u64 [max];
        /// Path of the root proc.
        root: String [first];
        /// Size of the root future, in bytes.
        future_bytes: u64 [max];
        /// The task's calls, each before those that it polls: where it waits or, during a poll,
        /// what is on the stack. Calls that are not polled any more come last.
        stack: Vec<StackRow> [first];
        /// The await stack was longer than the part that is kept.
        stack_truncated: bool [first];
        /// State of the waker; `None` during the first poll, and where wakers are not wrapped.
        waker: Option<WakerRow> [sum];
        /// The pause by which a console keeps the task from being polled; also set during the last
        /// poll before the pause.
        pause: Option<PauseRow> [some];
        /// The last poll, including one in progress; `None` if there may have been a poll that was
        /// not seen.
        last_poll: Option<PollRow> [first];
        /// Operating system's id of the thread that polls the task now, as debuggers show it;
        /// `None` if no thread does, or if unknown.
        os_thread_id: Option<u64> [first];
        /// The resources that the task waits for, in the order of its branches.
        waits_on: Vec<Claim> [first];
        /// The task waits, and it is unknown whether for a resource: resources or timers exceed the
        /// limit, or the task was not polled since accounting was armed.
        waits_unknown: bool [first];
        /// The resources that the task holds.
        holds: Vec<Claim> [first];
        /// Certain intents of the task's calls.
        will: Vec<Aim> [first];
        /// Possible intents of the task's calls.
        may: Vec<Aim> [first];
        /// The task that spawned it; `None` if unknown.
        parent: Option<String> [first];
        /// The calls of that task that ran then, as in [`WakerRow::woken_in`]; `None` if unknown.
        spawned_in: Option<String> [first];
        /// Source location of the spawn; `None` if unknown.
        spawned_at: Option<Spot> [first];
        /// Attributes given to the task.
        attributes: Vec<(String, String)> [first];
    }
    // The state is that of the task that has been in it for the longest time; a poll wins. The
    // order of the rows does not matter.
    merged also by |into, other| {
        let rank = |row: &Self| (row.state == TaskState::Polling, row.since_ns, row.state);
        if rank(other) > rank(into) {
            (into.state, into.since_ns) = (other.state, other.since_ns);
        }
    };
}

/// The parts of a [`TaskRow`] that are expensive to build. Id, numbers, state and pause are always
/// filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskParts {
    /// [`TaskRow::name`].
    pub name: bool,
    /// [`TaskRow::root`].
    pub root: bool,
    /// [`TaskRow::stack`].
    pub stack: bool,
    /// The names in [`TaskRow::waker`].
    pub waker: bool,
    /// The names in [`TaskRow::last_poll`].
    pub last_poll: bool,
    /// [`TaskRow::waits_on`], [`TaskRow::waits_unknown`], [`TaskRow::holds`], [`TaskRow::will`] and
    /// [`TaskRow::may`].
    pub claims: bool,
    /// [`TaskRow::parent`], [`TaskRow::spawned_in`] and [`TaskRow::spawned_at`].
    pub origin: bool,
    /// [`TaskRow::attributes`].
    pub attributes: bool,
}

impl TaskParts {
    /// None of the parts.
    pub const NONE: Self = Self {
        name: false,
        root: false,
        stack: false,
        waker: false,
        last_poll: false,
        claims: false,
        origin: false,
        attributes: false,
    };

    /// All parts.
    pub const ALL: Self = Self {
        name: true,
        root: true,
        stack: true,
        waker: true,
        last_poll: true,
        claims: true,
        origin: true,
        attributes: true,
    };

    /// Adds the part from which the JSON field `field` is built, if there is one.
    pub fn add(&mut self, field: &str) {
        let part = match field {
            "name" => &mut self.name,
            "root" => &mut self.root,
            "stack" => &mut self.stack,
            "waker" => &mut self.waker,
            "last_poll" => &mut self.last_poll,
            "waits_on" | "waits_unknown" | "holds" | "will" | "may" => &mut self.claims,
            "parent" | "spawned_in" | "spawned_at" => &mut self.origin,
            "attributes" => &mut self.attributes,
            _ => return,
        };
        *part = true;
    }
}

/// A pause: a console keeps the task from being polled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseRow {
    /// Name by which the console identifies itself: `console pid 4711`.
    pub by: String,
    /// Time until the pause ends automatically; `None` if it does not.
    pub left_ns: Option<u64>,
    /// The executor has tried to poll the task since: it will be polled as soon as the pause ends.
    pub woken: bool,
    /// Memory address of the root future, for debuggers; 0 if unknown.
    pub address: u64,
}

/// Tasks grouped by a common property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskGroup {
    /// Value of the property.
    pub key: String,
    /// Number of tasks in the group.
    pub tasks: u64,
    /// The first task, with numbers and ages aggregated over the group.
    pub row: TaskRow,
}

/// One call of a task's await tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackRow {
    /// Distance from the root, or from the call that is not polled any more. Two rows of equal
    /// depth are branches of the row above them.
    pub depth: u32,
    /// Path of the proc.
    pub proc: String,
    /// The await point of the call; `None` if unknown.
    pub place: Option<Place>,
    /// Time since the call reached that await point; during a poll, age of the call's poll.
    pub since_ns: u64,
    /// How the call polls the next rows, where it polls several.
    pub fork: Option<Combinator>,
    /// Time since the call's own waker was woken, if it was not polled since.
    pub woken_ns: Option<u64>,
    /// The call is alive, but its caller has moved on and does not poll it any more.
    pub aside: bool,
    /// The call awaits something that is not shown.
    pub cut: bool,
}

/// State of a task's waker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WakerRow {
    /// The task that woke it last; `thread w1`, or `thread NAME` of no worker, for a wake from
    /// outside instrumented tasks on a known thread; `None` if unknown.
    pub woken_by: Option<String>,
    /// The calls of that task that ran then, from the root to the innermost one, each with the
    /// await point at which it polled the next one: `serve src/conn.rs:70 > push`. `None` if they
    /// are not known.
    pub woken_in: Option<String>,
    /// Number of wakes.
    pub wakes: u64,
    /// Number of wakes from within the task's own poll; part of `wakes`.
    pub own_wakes: u64,
    /// Number of clones made of its waker.
    pub clones: u64,
    /// Number of clones that exist now and could wake the task.
    pub live: u64,
}

/// A task's last poll, and its cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollRow {
    /// Time since the poll began.
    pub ago_ns: u64,
    /// Duration of the poll; `None` while it is in progress.
    pub took_ns: Option<u64>,
    /// Name of the polling thread, if the thread is still alive.
    pub thread: Option<String>,
    /// Index of the thread in [`Snapshot::workers`](super::Snapshot::workers), if it is there.
    pub worker: Option<u32>,
    /// Time for which the task had been ready; `None` if no wake was seen.
    pub ready_ns: Option<u64>,
    /// What woke the task, as in [`WakerRow::woken_by`]; for the first poll, the task that spawned
    /// it.
    pub ready_by: Option<String>,
    /// The calls of that task that ran then, as in [`WakerRow::woken_in`].
    pub ready_in: Option<String>,
}
