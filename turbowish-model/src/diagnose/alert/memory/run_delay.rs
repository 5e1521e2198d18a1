//! Run delay of workers in the last windows.

use alloc::vec::Vec;

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

/// Time between two looks, in nanoseconds; sooner ones count as one.
const APART: u64 = 100_000_000;

impl KnownDelays {
    /// Longest run delay between a reading and the next but one; the last one is `now`.
    fn longest(&self, worker: &WorkerThread, now: u64) -> u64 {
        let [last, before] = self.recent;
        let mut readings = Vec::from([before, last]);
        let mut at = 0_u64;
        for look in &worker.looks {
            if let Some(delay) = look.run_delay_ns.filter(|_| look.from >= at) {
                readings.push(delay);
                at = look.from.saturating_add(APART);
            }
        }
        readings.push(now);
        let delays = readings
            .windows(3)
            .map(|three| three[2].saturating_sub(three[0]));
        delays.max().unwrap_or(0)
    }
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

    /// Longest run delay of a worker between a reading and the next but one, since the situation
    /// before the last one. What it delayed may have been seen only now.
    pub(super) fn recent(&self, situation: &Situation) -> u64 {
        let workers = situation.workers.iter();
        let delays = workers.filter_map(|worker| {
            let delay = worker.run_delay_ns?;
            let known = self.0.get(&worker.id);
            Some(known.map_or(delay, |known| known.longest(worker, delay)))
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
