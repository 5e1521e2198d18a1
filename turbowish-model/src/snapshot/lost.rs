//! Losses of accounting: what was not accounted in full, how often, for which reason, and when
//! last.

/// Losses of accounting since the start, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Live tasks beyond the limit: accounted, but without their own row.
    pub tasks: u64,
    /// Resources beyond the limit: used, but not observed.
    pub resources: u64,
    /// Procs beyond the limit: their calls are not accounted.
    pub procs: u64,
    /// Calls first seen after their creation (armed late).
    pub late_attach: u64,
    /// Ends of polls that began before accounting did.
    pub orphan_end: u64,
    /// Polls that were closed because one below them ended.
    pub forced_pop: u64,
    /// Clock readings that went backwards and were clamped.
    pub clock_backwards: u64,
    /// Updates of counters and gauges that were discarded: no room, or a value that the metric
    /// cannot represent.
    pub counters: u64,
    /// Records discarded because a table was full: branches, effects, timers, lock orders, intents,
    /// calls dropped unpolled. Alerts may be missing.
    pub details: u64,
    /// Time since the last of these was counted, accurate to a second; `None` if there was none, or
    /// it was not observed.
    pub last_ago_ns: Option<u64>,
}

/// A reason for losses.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// Number of losses for this reason.
    pub count: fn(&Lost) -> u64,
    /// Its field in [`Lost`].
    pub key: &'static str,
    /// What was lost, in the words of the console: of one, and of several.
    what: [&'static str; 2],
    /// Expected when accounting is armed while calls are in flight.
    pub at_switch: bool,
}

impl Reason {
    /// What was lost, after its number: `1 call began before accounting`.
    #[must_use]
    pub const fn what(&self, count: u64) -> &'static str {
        self.what[(count != 1) as usize]
    }
}

const fn reason(key: &'static str, what: [&'static str; 2], count: fn(&Lost) -> u64) -> Reason {
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
        reason(
            "tasks",
            [
                "task beyond the limit has no row",
                "tasks beyond the limit have no row",
            ],
            |lost| lost.tasks,
        ),
        reason(
            "resources",
            [
                "resource beyond the limit is not seen",
                "resources beyond the limit are not seen",
            ],
            |lost| lost.resources,
        ),
        reason(
            "procs",
            [
                "function beyond the limit is not measured",
                "functions beyond the limit are not measured",
            ],
            |lost| lost.procs,
        ),
        Reason {
            at_switch: true,
            ..reason(
                "late_attach",
                [
                    "call began before accounting",
                    "calls began before accounting",
                ],
                |lost| lost.late_attach,
            )
        },
        Reason {
            at_switch: true,
            ..reason(
                "orphan_end",
                [
                    "poll began before accounting",
                    "polls began before accounting",
                ],
                |lost| lost.orphan_end,
            )
        },
        reason(
            "forced_pop",
            ["poll did not end in order", "polls did not end in order"],
            |lost| lost.forced_pop,
        ),
        reason(
            "clock_backwards",
            [
                "clock reading went backwards",
                "clock readings went backwards",
            ],
            |lost| lost.clock_backwards,
        ),
        reason(
            "counters",
            [
                "count had no room or an invalid value",
                "counts had no room or an invalid value",
            ],
            |lost| lost.counters,
        ),
        reason(
            "details",
            [
                "detail had no room: alerts may be missing",
                "details had no room: alerts may be missing",
            ],
            |lost| lost.details,
        ),
    ];

    /// Sum over all reasons.
    #[must_use]
    pub fn total(&self) -> u64 {
        let counts = Self::REASONS.iter().map(|reason| (reason.count)(self));
        counts.fold(0, u64::saturating_add)
    }

    /// Yields the reasons with losses, and their number.
    pub fn reasons(&self) -> impl Iterator<Item = (u64, &'static Reason)> {
        let lost = *self;
        let all = const { &Self::REASONS }.iter();
        all.map(move |reason| ((reason.count)(&lost), reason))
            .filter(|(count, _)| *count > 0)
    }
}
