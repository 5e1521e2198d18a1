//! Table of all alerts: the console, the JSON, `check` and the documentation take names, severities
//! and texts from here.

use alloc::string::String;

use super::limits::Limit;
use super::rules;
use super::words;
use crate::snapshot::alert::Severity;
use crate::snapshot::pitfall::Pitfall;

/// An alert as documented.
#[derive(Clone, Copy, Debug)]
pub struct PitfallRule {
    /// The pitfall that the row describes.
    pub pitfall: Pitfall,
    /// Severity, unless the rule sets another one.
    pub severity: Severity,
    /// A sentence: when the rule sets another severity. Empty if it sets none.
    pub also: &'static str,
    /// How long the pitfall must be present.
    pub hold: Option<Limit>,
    /// Number of scans in which it must be seen.
    pub scans: u32,
    /// The pitfall is an event: the alert stays for [`Limit::Linger`] after the last sighting.
    pub lingers: bool,
    /// Template of the reason, with names in braces.
    pub why: &'static str,
    /// Templates of the fixes, with names in braces.
    pub fixes: &'static [&'static str],
    /// Thresholds of the rule.
    pub limits: &'static [Limit],
}

/// The row of each pitfall, in the order of [`Pitfall`].
pub const TABLE: &[PitfallRule] = &[
    rules::deadlock::DEADLOCK,
    rules::deadlock::SELF_DEADLOCK,
    rules::futurelock::FUTURELOCK,
    rules::open_polls::BLOCKED_WORKER,
    rules::open_polls::NEVER_YIELDS,
    rules::wakes::LOST_WAKER,
    rules::channels::BLOCKED_SENDER,
    rules::after_end::POLLED_AFTER_END,
    rules::futures::DETACHED_FAILURE,
    rules::polls::LONG_POLL,
    rules::polls::YIELDS_RARELY,
    rules::crowded::CROWDED_TASK,
    rules::polls::STARVATION,
    rules::timers::LATE_TIMERS,
    rules::snoozed::SNOOZED_FUTURE,
    rules::snoozed::STREAM_STALL,
    rules::cancelled::CANCEL_UNSAFE_SELECT,
    rules::cancelled::TIMEOUT_HALF_DONE,
    rules::order::LOCK_ORDER_INVERSION,
    rules::channels::UNBOUNDED_GROWTH,
    rules::leaks::TASK_LEAK,
    rules::channels::BUFFER_BLOAT,
    rules::locks::GUARD_ACROSS_AWAIT,
    rules::locks::LOCK_CONVOY,
    rules::wakes::SELF_WAKE_SPIN,
    rules::wakes::SPURIOUS_POLLS,
    rules::futures::NEVER_POLLED,
    rules::futures::LARGE_FUTURE,
    rules::overload::OVERLOAD,
    rules::wakes::WAKER_CHURN,
    rules::budget::BUDGET_EXHAUSTED,
];

/// Returns the row of a pitfall.
#[must_use]
pub const fn row(pitfall: Pitfall) -> &'static PitfallRule {
    &TABLE[pitfall as usize]
}

impl PitfallRule {
    /// Defaults of a row: a warning, raised at once, without texts.
    pub(super) const fn new(pitfall: Pitfall) -> Self {
        Self {
            pitfall,
            severity: Severity::Warning,
            also: "",
            hold: None,
            scans: 1,
            lingers: false,
            why: "",
            fixes: &[],
            limits: &[],
        }
    }

    /// Fills a template; `None` if a name in it has no value.
    pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> Option<String> {
        words::fill(template, values)
    }
}
