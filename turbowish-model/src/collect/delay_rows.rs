//! Rows of delays: names and times.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::account::counters::Sum;
use crate::account::delays::{Culprit, DelayKey, DelayStats};
use crate::collect::assemble::{Assembly, Names, positive, ratio_ppm};
use crate::snapshot::DelayRow;
use crate::snapshot::delays::{EARLIER, IDLE, OTHER};

impl<N: Names> Assembly<'_, N> {
    /// Returns a row for each root function and each other one that it was behind in the window.
    #[must_use]
    pub fn delays(&self) -> Vec<DelayRow> {
        let aggregate = &self.window.aggregate;
        let row = |(key, stats): (&DelayKey, &DelayStats)| {
            let proc = |id| Some(self.names.proc(id)?.path.to_string());
            let victim = match key.victim {
                Some(id) => proc(id)?,
                None => String::from(OTHER),
            };
            let behind = match key.culprit {
                Culprit::Proc(id) => proc(id)?,
                Culprit::Idle => String::from(IDLE),
                Culprit::Earlier => String::from(EARLIER),
                Culprit::Other => String::from(OTHER),
            };
            let ready = key.victim.and_then(|id| aggregate.procs.get(id as usize));
            let ready = ready.map_or(stats.ticks, |proc| positive(proc.sum(Sum::ReadyLatency)));
            Some(DelayRow {
                victim,
                behind,
                time_ns: self.scale.ns(stats.ticks),
                ready_ns: self.scale.ns(ready),
                share_ppm: ratio_ppm(stats.ticks, ready),
                polls: stats.polls,
            })
        };
        aggregate.delays.iter().filter_map(row).collect()
    }
}
