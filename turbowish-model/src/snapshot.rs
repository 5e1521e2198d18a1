//! Snapshot: one instant of a process, with rates over one window.
//!
//! Every time is in nanoseconds and every count an integer. Rows use the vocabulary of the
//! occupancy definitions (`running`, `inclusive`, `hold`, `yielded`, `unstarted`, `wall`). Sums and
//! histograms cover the window [`Snapshot::window_ns`].

pub mod alert;
pub mod column;
pub mod combinator;
mod counters;
pub mod expression;
pub mod json;
mod lost;
pub mod natural;
pub mod pitfall;
pub mod quantile;
pub mod report;
mod resources;
pub mod sanitize;
mod tasks;
pub mod text_table;
pub mod unique_suffix;
pub mod units;

use alloc::string::String;
use alloc::vec::Vec;

pub use self::counters::{CounterRow, MetricKind, Overhead};
pub use self::lost::{Lost, Reason};
pub use self::resources::{Aim, Claim, HolderRow, IntentRow, ResourceRow, Spot, WaiterRow};
pub use self::tasks::{
    PauseRow, PollRow, StackRow, TaskGroup, TaskParts, TaskRow, TaskState, WakerRow,
};
use crate::snapshot::alert::Alert;
use crate::snapshot::quantile::Distribution;

/// Placeholder for an expression that the attribute could not see: inside a macro, or reached
/// before accounting was armed.
pub const UNSEEN: &str = "?";

/// One instant of a process: totals of a window, and what is pending now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The process described by the snapshot.
    pub process: Process,
    /// Wall-clock time of the snapshot, nanoseconds since the Unix epoch.
    pub at_unix_ns: u64,
    /// Actual length of the window that the sums below cover.
    pub window_ns: u64,
    /// The window begins at the start of accounting.
    pub since_start: bool,
    /// Live threads that polled a covered task, in order of their first poll.
    pub workers: Vec<Worker>,
    /// Number of live tasks by state.
    pub tasks_by_state: TasksByState,
    /// Losses of accounting, by reason; all zero in a healthy process.
    pub lost: Lost,
    /// Time from wake to poll, of all tasks in the window.
    pub ready_latency: Distribution,
    /// The requested rows, after filter, order and limit.
    pub procs: Page<ProcRow>,
    /// The requested rows, after filter, order and limit.
    pub tasks: Page<TaskRow>,
    /// The requested rows, after filter, order and limit.
    pub awaits: Page<AwaitRow>,
    /// The requested rows, after filter, order and limit.
    pub resources: Page<ResourceRow>,
    /// Active alerts, worst first: the requested ones, or all if none were requested.
    pub alerts: Page<Alert>,
    /// The requested rows, after filter, order and limit.
    pub counters: Page<CounterRow>,
    /// All tasks that match the filter, in the requested groups; empty if `tasks` contains them
    /// all.
    pub task_groups: Vec<TaskGroup>,
}

/// The rows that a query requested, and how many it omitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<R> {
    /// The rows, in the requested order.
    pub rows: Vec<R>,
    /// Number of existing rows.
    pub total: u64,
    /// Number of rows that match the filter; equals `total` without a filter.
    pub matched: u64,
}

impl<R> Page<R> {
    /// Number of rows that match the filter and were not sent.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.matched.saturating_sub(self.rows.len() as u64)
    }
}

impl<R> Default for Page<R> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            total: 0,
            matched: 0,
        }
    }
}

/// The process that a snapshot describes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Name passed to `turbowish::init`, otherwise the name of the executable.
    pub name: String,
    /// Process ID of the operating system.
    pub pid: u32,
    /// Command line: words joined by spaces.
    pub command: String,
    /// Time since `turbowish::init`, in nanoseconds.
    pub uptime_ns: u64,
    /// Whether accounting is armed.
    pub accounting: Accounting,
    /// Wall-clock time of the last change of `accounting`, nanoseconds since the Unix epoch.
    pub accounting_since_unix_ns: u64,
    /// Number of procs the program has registered so far; a proc registers at its first call.
    pub procs_known: u64,
    /// Live tasks of the application's runtimes, where their number is known, plus covered tasks
    /// outside of runtimes.
    pub runtime_tasks: Option<u64>,
    /// TurboWish's overhead; `None` while it is not known.
    pub own_cost: Option<Overhead>,
}

/// Whether accounting is armed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounting {
    /// Every poll of an instrumented call is accounted.
    Armed,
    /// Polls pass through unaccounted; the tables end at the moment of disarming.
    #[default]
    Disarmed,
}

/// A thread that polls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worker {
    /// The thread's name; without a name, its number among the threads.
    pub name: String,
    /// Time in polls of covered tasks within the window.
    pub busy_ns: u64,
    /// The poll in progress; `None` if there is none.
    pub polling: Option<Polling>,
}

/// A poll in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polling {
    /// Path of the innermost proc on the thread's stack, which is charged.
    pub proc: String,
    /// Age of the innermost poll.
    pub since_ns: u64,
    /// Age of the root poll.
    pub root_since_ns: u64,
}

/// Number of live covered tasks, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TasksByState {
    /// In a poll now.
    pub polling: u64,
    /// Woken and not polled yet; `None` while wakes are not observed.
    pub ready: Option<u64>,
    /// Waiting: the last poll ended pending, and no wake was seen since.
    pub waiting: u64,
    /// Kept from being polled by a console.
    pub paused: u64,
}

/// Totals of one proc over the window; live calls and polls in progress are included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcRow {
    /// Path of the proc: `crate::module::Type::function`.
    pub proc: String,
    /// Source file, as the compiler names it.
    pub file: String,
    /// Line of the proc's signature, from 1.
    pub line: u32,
    /// Size of one call's future in bytes, largest instance seen.
    pub future_bytes: u64,
    /// Exclusive time inside polls.
    pub running_ns: u64,
    /// Share of one core (`running`) over the last minute, independent of the window: millionths
    /// per 3 s, oldest first; the last value is in progress.
    pub trend_ppm: Vec<u64>,
    /// Time with the proc on a task's stack; recursion counts once.
    pub inclusive_ns: u64,
    /// Sum of poll durations.
    pub hold_ns: u64,
    /// Time between the polls of started calls.
    pub yielded_ns: u64,
    /// Time between creation and first poll.
    pub unstarted_ns: u64,
    /// Time between creation and end.
    pub wall_ns: u64,
    /// Longest poll, including one in progress.
    pub max_poll_ns: u64,
    /// The longest poll is still in progress.
    pub max_poll_open: bool,
    /// Calls created.
    pub calls: u64,
    /// Polls started.
    pub polls: u64,
    /// Calls alive now.
    pub live: u64,
    /// Calls that returned, `Err` included.
    pub ready: u64,
    /// Calls that returned an `Err`; part of `ready`.
    pub err: u64,
    /// Calls dropped before they returned, including those never polled.
    pub cancelled: u64,
    /// Calls that panicked.
    pub panicked: u64,
    /// Calls dropped before their first poll; part of `cancelled`.
    pub never_polled: u64,
    /// `running / window` of one core, in millionths.
    pub occupancy_ppm: u64,
    /// Exclusive time per ended call.
    pub call_running: Distribution,
    /// Inclusive time per ended call.
    pub call_inclusive: Distribution,
    /// Duration per finished poll.
    pub poll_hold: Distribution,
    /// Exclusive time per finished poll.
    pub poll_running: Distribution,
    /// Time from wake to poll, of tasks whose root is this proc.
    pub ready_latency: Distribution,
    /// The procs that poll this proc's calls, most hold first.
    pub callers: Vec<Caller>,
    /// Attributes declared at the proc, by name.
    pub attributes: Vec<(String, String)>,
}

/// A proc whose polls contain polls of another proc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Path of the calling proc.
    pub proc: String,
    /// Polls directly nested in the caller's polls.
    pub polls: u64,
    /// Hold of those polls.
    pub hold_ns: u64,
}

/// An await point in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Source file.
    pub file: String,
    /// First line of the awaited expression, from 1.
    pub line: u32,
    /// First column, from 1.
    pub column: u32,
    /// Last line: that of `.await`.
    pub end_line: u32,
    /// Last column inside the expression, from 1.
    pub end_column: u32,
    /// Text of the expression without `.await`.
    pub expr: String,
}

/// Totals of one await point over the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AwaitRow {
    /// Path of the proc.
    pub proc: String,
    /// Source location of the await point.
    pub place: Place,
    /// Polls that ended pending here.
    pub waits: u64,
    /// Calls that wait here now.
    pub now: u64,
    /// Time waited here, open waits included.
    pub waited_ns: u64,
    /// Longest single wait that ended since the start of accounting.
    pub max_wait_ns: u64,
    /// `waited_ns` as a share of the proc's `yielded_ns`, in millionths.
    pub share_ppm: u64,
    /// Calls dropped while suspended here.
    pub cancelled: u64,
}
