//! Run delay of workers in the last windows.

use super::{LONG, Rolling};
use crate::diagnose::situation::{Situation, WorkerThread};
use crate::ordered::Map;

/// Run delay of live workers, by thread.
#[derive(Clone, Debug, Default)]
pub(in crate::diagnose::alert) struct RunDelays(Map<u64, KnownDelays>);

#[derive(Clone, Copy, Debug)]
struct KnownDelays {
    long: Rolling<u64>,
    /// At the last situation, and at the one before.
    recent: [u64; 2],
}

impl RunDelays {
    /// Longest run delay of a worker in the last ten windows.
    pub(in crate::diagnose::alert) fn longest(&self, situation: &Situation) -> u64 {
        let workers = situation.workers.iter();
        let delays = workers.filter_map(|worker| self.long(worker, situation.now));
        delays.map(|(_, delay)| delay).max().unwrap_or(0)
    }

    /// Run delay of a worker in the last ten windows, and their length.
    pub(in crate::diagnose::alert) fn long(
        &self,
        worker: &WorkerThread,
        now: u64,
    ) -> Option<(u64, u64)> {
        let (length, before) = self.0.get(&worker.id)?.long.base(now);
        Some((length, worker.run_delay_ns?.saturating_sub(before)))
    }

    /// Longest run delay of a worker since the situation before the last one. What it delayed may
    /// have been seen only now.
    pub(super) fn recent(&self, situation: &Situation) -> u64 {
        let workers = situation.workers.iter();
        let delays = workers.filter_map(|worker| {
            let before = self.0.get(&worker.id).map_or(0, |known| known.recent[1]);
            Some(worker.run_delay_ns?.saturating_sub(before))
        });
        delays.max().unwrap_or(0)
    }

    pub(super) fn record(&mut self, situation: &Situation, window: u64) {
        let mut known = core::mem::take(&mut self.0);
        for worker in &situation.workers {
            let Some(delay) = worker.run_delay_ns else {
                continue;
            };
            let before = known.remove(&worker.id);
            let mut long =
                before.map_or_else(|| Rolling::new(situation.now, delay), |known| known.long);
            long.record(situation.now, LONG * window, delay);
            let last = before.map_or(delay, |known| known.recent[0]);
            let recent = [delay, last];
            self.0.insert(worker.id, KnownDelays { long, recent });
        }
    }
}
