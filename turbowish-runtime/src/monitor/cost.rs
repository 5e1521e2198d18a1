//! Overhead of accounting in a window, from the number of events of each kind.

use std::collections::VecDeque;

use turbowish_model::account::counters::{Population, Sum};
use turbowish_model::account::resource::Reading;
use turbowish_model::collect::assemble::{Assembly, Names};
use turbowish_model::snapshot::Overhead;

use super::Monitor;
use crate::monitor::overhead::{Costs, Events};

/// Number of readings kept: those of more than a minute of ticks, as in the history, and of the
/// scans between them.
const KEPT: usize = 1024;

/// A count over time: uses of resources, or processor time of the monitor's thread.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// Total since the start.
    pub(super) total: u64,
    /// Time and total at each reading, the oldest first.
    past: VecDeque<(u64, u64)>,
}

impl Series {
    /// Adds `more` at `now`.
    pub(super) fn tick(&mut self, now: u64, more: u64) {
        self.raise(now, self.total.saturating_add(more));
    }

    /// Raises the total to `total` at `now`.
    pub(super) fn raise(&mut self, now: u64, total: u64) {
        self.total = self.total.max(total);
        if self.past.len() == KEPT {
            self.past.pop_front();
        }
        self.past.push_back((now, self.total));
    }

    fn nearest(&self, begin: u64) -> Option<(u64, u64)> {
        let past = self.past.iter().copied();
        past.min_by_key(|(at, _)| at.abs_diff(begin))
    }

    /// The count since `begin`, to the precision of ticks.
    pub(super) fn since(&self, begin: u64) -> u64 {
        self.total - self.nearest(begin).map_or(0, |(_, total)| total)
    }

    /// The same, and the time from the tick nearest to `begin` to the last tick; `None` if they are
    /// the same tick.
    pub(super) fn grown(&self, begin: u64) -> Option<(u64, u64)> {
        let (&(last, total), (first, before)) = (self.past.back()?, self.nearest(begin)?);
        (last > first).then(|| (total - before, last - first))
    }
}

/// Number of uses of a resource.
pub(super) const fn uses(reading: &Reading) -> u64 {
    let flow = &reading.flow;
    flow.put
        .saturating_add(flow.took)
        .saturating_add(flow.waits)
}

impl Monitor {
    /// Measures the costs of events, once: takes a fraction of a millisecond.
    pub(crate) fn calibrate(&self) {
        self.costs.get_or_init(Costs::measure);
    }

    /// Overhead of accounting in the assembly's window; `None` before [`Monitor::calibrate`].
    pub(super) fn own_cost<N: Names>(
        &self,
        assembly: &Assembly<'_, N>,
        uptime_ns: u64,
    ) -> Option<Overhead> {
        let aggregate = &assembly.window.aggregate;
        let woken = |population: Population| {
            let procs = aggregate.procs.iter();
            procs.map(move |proc| proc.populations[population as usize].total())
        };
        let events = Events {
            polls: aggregate
                .procs
                .iter()
                .map(|proc| proc.sum(Sum::Polls))
                .sum(),
            // Excludes wakes that were followed by no poll of their own.
            wakes: woken(Population::ReadyLatency).sum(),
            counts: aggregate
                .metrics
                .values()
                .map(|metric| metric.updates)
                .sum(),
            uses: self.uses(assembly),
            within_ns: assembly.scale.ns(assembly.window.length),
        };
        let costs = self.costs.get()?;
        Some(costs.overhead(&events, self.monitor_ppm(assembly, uptime_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Series};

    #[test]
    fn uses_are_those_of_the_ticks_in_the_window() {
        let mut uses = Series::default();
        assert_eq!(uses.since(0), 0);
        for tick in 1..=2000 {
            uses.tick(tick * 250, 10);
        }
        let check = |begin, expected| assert_eq!(uses.since(begin), expected, "{begin}");
        check(500_000, 0);
        check(499_000, 40);
        check(499_100, 40);
        check(0, (KEPT as u64 - 1) * 10);
        assert_eq!((uses.total, uses.past.len()), (20_000, KEPT));
    }

    #[test]
    fn what_a_series_grew_by_is_held_against_the_time_that_it_took() {
        let mut spent = Series::default();
        assert_eq!(spent.grown(0), None);
        spent.raise(100, 7);
        assert_eq!(spent.grown(0), None);
        spent.raise(350, 9);
        spent.raise(600, 29);
        let check = |begin, expected| assert_eq!(spent.grown(begin), expected, "{begin}");
        check(0, Some((22, 500)));
        check(400, Some((20, 250)));
        check(600, None);
    }
}
