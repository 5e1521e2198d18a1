//! Snapshot: one instant of a process, with rates over one window.
//!
//! Every time is in nanoseconds and every count an integer. Rows use the vocabulary of the
//! occupancy definitions (`running`, `inclusive`, `hold`, `yielded`, `unstarted`, `wall`). Sums and
//! histograms cover the window [`Snapshot::window_ns`].

pub mod alert;
mod awaits;
pub mod column;
pub mod combinator;
mod counters;
pub mod delays;
pub mod expression;
pub mod json;
mod lost;
mod merge;
pub mod minute;
pub mod natural;
pub mod pitfall;
mod procs;
pub mod quantile;
pub mod report;
mod resources;
mod row;
pub mod sanitize;
pub mod slowest;
mod tables;
mod tasks;
pub mod text_table;
pub mod unique_suffix;
pub mod units;

use alloc::string::String;
use alloc::vec::Vec;

pub use self::awaits::AwaitRow;
pub use self::counters::{CounterRow, MetricKind, Overhead};
pub use self::delays::DelayRow;
pub use self::lost::{Lost, Reason};
pub use self::procs::{Caller, ProcRow};
pub use self::resources::{
    Aim, Claim, HolderRow, IntentRow, LongestRow, ResourceRow, Spot, WaiterRow,
};
pub use self::slowest::SlowestRow;
pub use self::tables::{InTable, Table, TableVisitor};
pub(crate) use self::tasks::{JUDGED, SEARCHED};
pub use self::tasks::{
    PauseRow, PollRow, StackRow, TaskGroup, TaskParts, TaskRow, TaskState, WakerRow,
};
use crate::snapshot::quantile::Distribution;

/// Placeholder for an expression that the attribute could not see: inside a macro, or reached
/// before accounting was armed.
pub const UNSEEN: &str = "?";

/// The fields of [`Snapshot`], with a page for each table.
macro_rules! snapshot {
    ($($(#[doc = $about:literal])+ $field:ident: $table:ident, $row:ty, $page:ident;)+) => {
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
            /// Number of alerts of the last ten minutes that are over and are not in the table:
            /// there was no room for them.
            pub alerts_forgotten: u64,
            /// The minute before, in a few numbers; empty of a process that does not tell.
            pub minute: minute::LastMinute,
            /// All tasks that match the filter, in the requested groups; empty if `tasks` contains
            /// them all.
            pub task_groups: Vec<TaskGroup>,
            $($(#[doc = $about])+ pub $field: Page<$row>,)+
        }
    };
}

crate::tables!(snapshot);

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
