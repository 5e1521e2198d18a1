//! Rows of counters and gauges, and TurboWish's overhead.

use alloc::string::String;

use super::Spot;

/// Kind of a metric of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricKind {
    /// A count that only grows.
    #[default]
    Counter,
    /// A value that is set.
    Gauge,
}

impl MetricKind {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

/// A counter or gauge in one proc: all sites with that name, on all threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterRow {
    /// Name given by the program.
    pub name: String,
    /// Counter or gauge.
    pub kind: MetricKind,
    /// Path of the innermost proc; `None` outside of any proc.
    pub proc: Option<String>,
    /// Source location of one of its sites.
    pub at: Spot,
    /// Number of updates in the window.
    pub updates: u64,
    /// Growth of a counter in the window; `None` for a gauge.
    pub added: Option<u64>,
    /// Growth of a counter since the start of accounting; `None` for a gauge.
    pub total: Option<u64>,
    /// Last value of a gauge.
    pub value: Option<i64>,
    /// Lowest value of a gauge since the start of accounting.
    pub min: Option<i64>,
    /// Highest value of a gauge since the start of accounting.
    pub max: Option<i64>,
}

/// Estimated overhead of accounting: the cost of each kind of event times the number of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// On the application's threads, over the window, in millionths of one core.
    pub ppm: u64,
    /// On the monitor's thread, which also serves consoles, over the window, as measured by the
    /// operating system, in millionths of one core; `None` where it is not measured.
    pub monitor_ppm: Option<u64>,
    /// Cost of a poll's start and end, in picoseconds.
    pub poll_ps: u64,
    /// Cost of a wake, in picoseconds.
    pub wake_ps: u64,
    /// Cost of a counter update, in picoseconds.
    pub counter_ps: u64,
    /// Cost of a use of a resource, in picoseconds.
    pub resource_ps: u64,
}
