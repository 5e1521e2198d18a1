//! Rows of counters and gauges, and what TurboWish itself costs.

use alloc::string::String;

use super::Spot;

/// A number of the program's own: how often something happened, or how much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricKind {
    /// It only grows.
    #[default]
    Counter,
    /// It is set.
    Gauge,
}

impl MetricKind {
    /// The word that tables and JSON print.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

/// A counter or a gauge of one proc: all places of one name in it, on all threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterRow {
    /// Name, as the program gives it.
    pub name: String,
    /// What it is.
    pub kind: MetricKind,
    /// Path of the proc that was innermost; `None` outside of every one.
    pub proc: Option<String>,
    /// Where it stands; of several places one.
    pub at: Spot,
    /// How often it was counted or set in the window.
    pub updates: u64,
    /// What a counter grew by in the window.
    pub added: Option<u64>,
    /// What a counter grew by since the start of accounting.
    pub total: Option<u64>,
    /// What a gauge was set to last.
    pub value: Option<i64>,
    /// The least that a gauge was set to since the start of accounting.
    pub min: Option<i64>,
    /// The most.
    pub max: Option<i64>,
}

/// What accounting costs: an estimate, what each kind of event costs times how many there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// On the application's threads, over the window, in millionths of one core.
    pub ppm: u64,
    /// The monitor's thread, which also serves consoles, over the window, as the system measures it, in
    /// millionths of one core; `None` where it does not.
    pub monitor_ppm: Option<u64>,
    /// A poll, its beginning and its end, in picoseconds.
    pub poll_ps: u64,
    /// A wake-up.
    pub wake_ps: u64,
    /// A count.
    pub counter_ps: u64,
    /// A use of a resource.
    pub resource_ps: u64,
}
