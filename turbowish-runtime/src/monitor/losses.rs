//! What accounting had to give up, and when last.

use turbowish_model::account::aggregate::Anomaly;
use turbowish_model::collect::history::Totals;
use turbowish_model::snapshot::Lost;

use super::resources;
use crate::hot::{dropped, proc, task};
use crate::metrics;

/// When something was lost last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// How much was at the last look; nobody looks without a monitor's thread.
    seen: Option<u64>,
    last: Option<u64>,
}

impl Losses {
    /// So much is lost at `now`.
    #[cfg(any(test, feature = "server"))]
    pub(super) fn look(&mut self, lost: u64, now: u64) {
        if self.seen.replace(lost).unwrap_or(0) < lost {
            self.last = Some(now);
        }
    }

    /// When it was last, if so much is lost at `now`.
    pub(super) fn last(&self, lost: u64, now: u64) -> Option<u64> {
        if self.seen? < lost {
            return Some(now);
        }
        self.last
    }
}

/// What was lost since the start.
pub(super) fn lost(totals: &Totals) -> Lost {
    let count = |kind: Anomaly| totals.tally.anomalies[kind as usize];
    Lost {
        tasks: task::lost(),
        resources: resources::lost(),
        procs: proc::lost(),
        late_attach: count(Anomaly::LateAttach),
        orphan_end: count(Anomaly::OrphanEnd),
        forced_pop: count(Anomaly::ForcedPop),
        clock_backwards: count(Anomaly::ClockBackwards),
        counters: metrics::lost(),
        details: dropped::details(),
        last_ago_ns: None,
    }
}
