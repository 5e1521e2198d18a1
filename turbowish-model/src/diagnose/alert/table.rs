//! Every alert there is. The console, the JSON, `check` and the documentation take names, severities and texts from here.

use alloc::string::String;

use super::limits::Limit;
use super::rules;
use super::words;
use crate::snapshot::alert::Severity;
use crate::snapshot::pitfall::Pitfall;

/// An alert as documented.
#[derive(Clone, Copy, Debug)]
pub struct RuleRow {
    /// Which.
    pub pitfall: Pitfall,
    /// How bad it is, unless the rule says that one is worse or better.
    pub severity: Severity,
    /// How long it must hold.
    pub hold: Option<Limit>,
    /// In how many scans it must be seen.
    pub scans: u32,
    /// It is about something that happened: it stays for [`Limit::Linger`] after it was seen.
    pub lingers: bool,
    /// The reason, with names in braces.
    pub why: &'static str,
    /// What can be done, with names in braces.
    pub fixes: &'static [&'static str],
    /// Its thresholds.
    pub limits: &'static [Limit],
}

/// The rule of every pitfall, in the order of [`Pitfall`].
pub const TABLE: &[RuleRow] = &[
    rules::deadlock::DEADLOCK,
    rules::deadlock::SELF_DEADLOCK,
    rules::futurelock::FUTURELOCK,
    rules::open_polls::BLOCKED_WORKER,
    rules::open_polls::NEVER_YIELDS,
    rules::wakes::LOST_WAKER,
    rules::channels::BLOCKED_SENDER,
    rules::futures::DETACHED_FAILURE,
    rules::polls::LONG_POLL,
    rules::polls::YIELDS_RARELY,
    rules::polls::STARVATION,
    rules::snoozed::SNOOZED_FUTURE,
    rules::snoozed::STREAM_STALL,
    rules::cancelled::CANCEL_UNSAFE_SELECT,
    rules::cancelled::TIMEOUT_HALF_DONE,
    rules::order::LOCK_ORDER_INVERSION,
    rules::channels::UNBOUNDED_GROWTH,
    rules::channels::BUFFER_BLOAT,
    rules::locks::GUARD_ACROSS_AWAIT,
    rules::locks::LOCK_CONVOY,
    rules::wakes::SELF_WAKE_SPIN,
    rules::wakes::SPURIOUS_POLLS,
    rules::futures::NEVER_POLLED,
    rules::futures::LARGE_FUTURE,
    rules::overload::OVERLOAD,
    rules::wakes::WAKER_CHURN,
];

/// The rule of a pitfall.
#[must_use]
pub const fn row(pitfall: Pitfall) -> &'static RuleRow {
    &TABLE[pitfall as usize]
}

impl RuleRow {
    /// What most rows are: raised at once, a warning, with nothing to say.
    pub(super) const fn new(pitfall: Pitfall) -> Self {
        Self {
            pitfall,
            severity: Severity::Warning,
            hold: None,
            scans: 1,
            lingers: false,
            why: "",
            fixes: &[],
            limits: &[],
        }
    }

    /// The text of a template, if each name in it has a value.
    pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> Option<String> {
        words::fill(template, values)
    }
}
