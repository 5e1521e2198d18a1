//! What accounting had to give up: how often, for which reason, and when last.

/// What accounting had to give up since the start, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Live tasks beyond the limit: accounted, but without a row of their own.
    pub tasks: u64,
    /// Resources beyond the limit: used, but not seen.
    pub resources: u64,
    /// Procs beyond the limit: their calls are not accounted.
    pub procs: u64,
    /// Calls seen first in the middle of their life (armed late).
    pub late_attach: u64,
    /// Ends of polls that began before accounting did.
    pub orphan_end: u64,
    /// Polls closed because one below them ended.
    pub forced_pop: u64,
    /// Readings of the clock that went backwards, clamped.
    pub clock_backwards: u64,
    /// Counts and settings of counters and gauges that found no room, or were no number that they hold.
    pub counters: u64,
    /// Times that something which calls did, meant or left was beyond what is kept of it: branches, effects, timers, orders of locks, intents, calls that were dropped
    /// unpolled. An alert may be missing for it.
    pub details: u64,
    /// How long ago the last of these was counted, to a quarter of a second; `None` where nothing was
    /// lost, or nobody looked.
    pub last_ago_ns: Option<u64>,
}

/// Why something was given up.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// How often.
    pub count: fn(&Lost) -> u64,
    /// Its field in [`Lost`].
    pub key: &'static str,
    /// What was given up, in the words of the console.
    pub what: &'static str,
    /// It is the rule after accounting was switched on while calls were under way.
    pub at_switch: bool,
}

const fn reason(key: &'static str, what: &'static str, count: fn(&Lost) -> u64) -> Reason {
    Reason {
        count,
        key,
        what,
        at_switch: false,
    }
}

impl Lost {
    /// All reasons.
    pub const REASONS: [Reason; 9] = [
        reason("tasks", "tasks beyond the limit have no row", |lost| {
            lost.tasks
        }),
        reason(
            "resources",
            "resources beyond the limit are not seen",
            |lost| lost.resources,
        ),
        reason(
            "procs",
            "procs beyond the limit are not accounted",
            |lost| lost.procs,
        ),
        Reason {
            at_switch: true,
            ..reason("late_attach", "calls began before accounting", |lost| {
                lost.late_attach
            })
        },
        Reason {
            at_switch: true,
            ..reason("orphan_end", "polls began before accounting", |lost| {
                lost.orphan_end
            })
        },
        reason("forced_pop", "polls did not end in order", |lost| {
            lost.forced_pop
        }),
        reason("clock_backwards", "clock readings went backwards", |lost| {
            lost.clock_backwards
        }),
        reason(
            "counters",
            "counts had no room or an invalid value",
            |lost| lost.counters,
        ),
        reason(
            "details",
            "details had no room: alerts may be missing",
            |lost| lost.details,
        ),
    ];

    /// All reasons together.
    #[must_use]
    pub fn total(&self) -> u64 {
        let counts = Self::REASONS.iter().map(|reason| (reason.count)(self));
        counts.fold(0, u64::saturating_add)
    }

    /// Those for which something was lost, and how often.
    pub fn reasons(&self) -> impl Iterator<Item = (u64, &'static Reason)> {
        let lost = *self;
        let all = const { &Self::REASONS }.iter();
        all.map(move |reason| ((reason.count)(&lost), reason))
            .filter(|(count, _)| *count > 0)
    }
}
