//! Late timers in earlier situations, apart from those for which the machine may be to blame.

use alloc::string::String;

use super::{LONG, Rolling};
use crate::diagnose::situation::{Situation, TimerWaits};
use crate::ordered::Map;

/// Timers by proc, and line and column of the await point.
#[derive(Clone, Debug, Default)]
pub(in crate::diagnose::alert) struct LateTimers(Map<(String, u32, u32), TimerPace>);

/// Counts of timers.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::diagnose::alert) struct TimerCounts {
    pub(in crate::diagnose::alert) completed: u64,
    pub(in crate::diagnose::alert) late: u64,
}

/// The latest timer at an await point.
#[derive(Clone, Copy, Debug)]
pub(in crate::diagnose::alert) struct LatestTimer {
    at: u64,
    pub(in crate::diagnose::alert) ns: u64,
    /// Part of `ns` within the poll that came to it.
    pub(in crate::diagnose::alert) polling_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct TimerPace {
    /// As counted in the last situation: `completed`, `late` and `late_ns`.
    last: [u64; 3],
    counts: TimerCounts,
    long: Rolling<TimerCounts>,
    latest: Option<LatestTimer>,
}

fn key(timers: &TimerWaits) -> (String, u32, u32) {
    let place = timers.place.as_ref();
    let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
    (timers.proc.clone(), line, column)
}

impl LateTimers {
    /// Timers of an await point in the last ten windows, and the latest of them.
    pub(in crate::diagnose::alert) fn long(
        &self,
        timers: &TimerWaits,
        now: u64,
    ) -> Option<(TimerCounts, LatestTimer)> {
        let pace = self.0.get(&key(timers))?;
        let (_, base) = pace.long.base(now);
        let counts = TimerCounts {
            completed: pace.counts.completed.saturating_sub(base.completed),
            late: pace.counts.late.saturating_sub(base.late),
        };
        Some((counts, pace.latest?))
    }

    /// `run_delay`: the longest recent run delay of a worker, in ns; `is_first`: what was counted
    /// in this situation may be older than the window.
    pub(super) fn record(
        &mut self,
        situation: &Situation,
        window: u64,
        run_delay: u64,
        is_first: bool,
    ) {
        let now = situation.now;
        let mut known = core::mem::take(&mut self.0);
        for timers in &situation.timers {
            let key = key(timers);
            let raw = [timers.completed, timers.late, timers.late_ns];
            let mut pace = known.remove(&key).unwrap_or(TimerPace {
                last: if is_first { raw } else { [0; 3] },
                counts: TimerCounts::default(),
                long: Rolling::new(now, TimerCounts::default()),
                latest: None,
            });
            let [completed, late, late_ns] =
                core::array::from_fn(|at| raw[at].saturating_sub(pace.last[at]));
            pace.last = raw;
            pace.counts.completed = pace.counts.completed.saturating_add(completed);
            pace.latest = pace
                .latest
                .filter(|latest| now.saturating_sub(latest.at) <= LONG * window);
            // A thread that the machine does not run is late with everything.
            let mean = late_ns.checked_div(late);
            if mean.is_some_and(|mean| run_delay < mean.div_ceil(2)) {
                pace.counts.late = pace.counts.late.saturating_add(late);
                let fresh = LatestTimer {
                    at: now,
                    ns: timers.worst_ns,
                    polling_ns: timers.polling_ns,
                };
                let is_worse = |latest: &LatestTimer| latest.ns < fresh.ns;
                if pace.latest.as_ref().is_none_or(is_worse) {
                    pace.latest = Some(fresh);
                }
            }
            pace.long.record(now, LONG * window, pace.counts);
            self.0.insert(key, pace);
        }
    }
}
