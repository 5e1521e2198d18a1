//! Rows of the table of tasks: what each does now, its calls, its waker, its last poll.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Aim, Claim, Place, Spot};
use crate::snapshot::combinator::Combinator;

/// What a task does now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskState {
    /// In a poll.
    Polling,
    /// Woken, not polled yet.
    Ready,
    /// Pending.
    #[default]
    Waiting,
    /// Not in a poll, and kept from the next one by a console.
    Paused,
}

impl TaskState {
    /// The word that tables and JSON print.
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

/// One live task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskRow {
    /// Unique within the process; never used twice.
    pub id: u64,
    /// Given name, else the end of the root proc's path and the ordinal of the task there.
    pub name: String,
    /// What it does now.
    pub state: TaskState,
    /// Time in that state.
    pub since_ns: u64,
    /// Time since its first poll or creation.
    pub age_ns: u64,
    /// Root polls begun.
    pub polls: u64,
    /// Running time of all its calls, the poll in progress included, since it was created.
    pub running_ns: u64,
    /// Longest root poll, one in progress included.
    pub max_poll_ns: u64,
    /// Path of the root proc.
    pub root: String,
    /// Bytes of the root future.
    pub future_bytes: u64,
    /// Its calls, each before those that it polls: where it waits, or while it polls, what is on the stack. Behind them come those that it
    /// has left aside.
    pub stack: Vec<StackRow>,
    /// The chain is longer than what is kept of it.
    pub stack_truncated: bool,
    /// Its waker; `None` in its first poll, and where wakers are left alone.
    pub waker: Option<WakerRow>,
    /// A console keeps it from being polled; also while the poll lasts that is to be its last one for now.
    pub pause: Option<PauseRow>,
    /// Its last poll, one in progress included; `None` if there may have been one that was not seen.
    pub last_poll: Option<PollRow>,
    /// Id of the operating system's thread that polls it now, as debuggers know it; `None` if none does, or that is not known.
    pub os_thread_id: Option<u64>,
    /// Resources that it waits for, by the order of its branches.
    pub waits_on: Vec<Claim>,
    /// It waits, and it is not known whether for a resource: resources or timers are beyond the limit, or it was not polled since
    /// accounting was switched on.
    pub waits_unknown: bool,
    /// Resources that it holds.
    pub holds: Vec<Claim>,
    /// What its calls will do.
    pub will: Vec<Aim>,
    /// What its calls may do.
    pub may: Vec<Aim>,
    /// The task that spawned it; `None` if that is not known.
    pub parent: Option<String>,
    /// Where it was spawned; `None` if that is not known.
    pub spawned_at: Option<Spot>,
    /// Attributes given to it.
    pub attributes: Vec<(String, String)>,
}

/// Parts of a [`TaskRow`] that take time to make. Its id, its numbers, its state and a pause are always there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskParts {
    /// [`TaskRow::name`].
    pub name: bool,
    /// [`TaskRow::root`].
    pub root: bool,
    /// [`TaskRow::stack`].
    pub stack: bool,
    /// Names in [`TaskRow::waker`].
    pub waker: bool,
    /// Names in [`TaskRow::last_poll`].
    pub last_poll: bool,
    /// [`TaskRow::waits_on`], [`TaskRow::waits_unknown`], [`TaskRow::holds`], [`TaskRow::will`] and [`TaskRow::may`].
    pub claims: bool,
    /// [`TaskRow::parent`] and [`TaskRow::spawned_at`].
    pub origin: bool,
    /// [`TaskRow::attributes`].
    pub attributes: bool,
}

impl TaskParts {
    /// None of them.
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

    /// The whole row.
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

    /// Adds the part that a field of the row's JSON is made of, if it is one.
    pub fn add(&mut self, field: &str) {
        let part = match field {
            "name" => &mut self.name,
            "root" => &mut self.root,
            "stack" => &mut self.stack,
            "waker" => &mut self.waker,
            "last_poll" => &mut self.last_poll,
            "waits_on" | "waits_unknown" | "holds" | "will" | "may" => &mut self.claims,
            "parent" | "spawned_at" => &mut self.origin,
            "attributes" => &mut self.attributes,
            _ => return,
        };
        *part = true;
    }
}

/// A console keeps a task from being polled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseRow {
    /// Who, as it calls itself: `console pid 4711`.
    pub by: String,
    /// It ends by itself after so long; `None`: it does not.
    pub left_ns: Option<u64>,
    /// The executor wanted to poll the task since: it will be polled as soon as the pause ends.
    pub woken: bool,
    /// Where the root future lies in memory, for debuggers; 0 if that is not known.
    pub address: u64,
}

/// Tasks that have something in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskGroup {
    /// What that is.
    pub key: String,
    /// How many they are.
    pub tasks: u64,
    /// All of them as one: the first one, with its numbers and ages those of all.
    pub row: TaskRow,
}

/// One call of a task's chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackRow {
    /// Distance from the root, or from the future that was left aside; two rows of one depth are branches of what is above them.
    pub depth: u32,
    /// Path of the proc.
    pub proc: String,
    /// The await point at which the call stands, if it is known.
    pub place: Option<Place>,
    /// How long the call has stood at that await point (or, while polled, age of its poll).
    pub since_ns: u64,
    /// What it polls the next rows with, where it polls several.
    pub fork: Option<Combinator>,
    /// It has a waker of its own, which was woken so long ago; it was not polled since.
    pub woken_ns: Option<u64>,
    /// It is alive, and what would poll it has gone on to something else.
    pub aside: bool,
    /// What it awaits is not shown.
    pub cut: bool,
}

/// What is known of a task's waker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WakerRow {
    /// The task that has made it ready last; `thread NAME` if it was none of ours, but a thread on which such ones run; `None`: not known.
    pub woken_by: Option<String>,
    /// Times that it was woken.
    pub wakes: u64,
    /// Times out of its own poll; part of `wakes`.
    pub own_wakes: u64,
    /// Clones of its waker made so far.
    pub clones: u64,
    /// Clones that are out there now: who could wake it.
    pub live: u64,
}

/// A task's last poll, and what it was for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollRow {
    /// How long ago it began.
    pub ago_ns: u64,
    /// How long it took; `None`: it is in progress.
    pub took_ns: Option<u64>,
    /// Name of the thread that did it, if it still runs.
    pub thread: Option<String>,
    /// The thread's place in [`Snapshot::workers`](super::Snapshot::workers), from 0, if it is there.
    pub worker: Option<u32>,
    /// How long the task had been ready; `None` if nobody was seen to make it so.
    pub ready_ns: Option<u64>,
    /// Who did, as in [`WakerRow::woken_by`]; the first time, the task that has spawned it.
    pub ready_by: Option<String>,
}
