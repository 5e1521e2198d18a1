//! Losses: what accounting had to discard, and when last.

use turbowish_model::account::aggregate::Anomaly;
use turbowish_model::collect::history::Totals;
use turbowish_model::snapshot::Lost;

use crate::hot::{dropped, proc, task};
use crate::{metrics, resource};

/// Time of the last loss.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// Total at the last check; there is none without the monitor's thread.
    seen: Option<u64>,
    last: Option<u64>,
}

impl Losses {
    /// Checks the total at `now`.
    pub(super) fn look(&mut self, lost: u64, now: u64) {
        if self.seen.replace(lost).unwrap_or(0) < lost {
            self.last = Some(now);
        }
    }

    /// Time of the last loss, if the total is `lost` at `now`.
    pub(super) fn last(&self, lost: u64, now: u64) -> Option<u64> {
        if self.seen? < lost {
            return Some(now);
        }
        self.last
    }
}

/// Losses since the start.
pub(super) fn lost(totals: &Totals) -> Lost {
    let count = |kind: Anomaly| totals.aggregate.anomalies[kind as usize];
    Lost {
        tasks: task::lost(),
        resources: resource::lost(),
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
