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
    /// The last two readings.
    recent: [DelayReading; 2],
}

/// Time between a reading and the next but one, in nanoseconds: of those in between, the last one
/// counts.
const APART: u64 = 100_000_000;

/// Run delay of a worker since its thread started, at an instant.
type DelayReading = (u64, u64);

impl KnownDelays {
    /// The last two readings up to the last situation, and those since then; oldest first.
    fn readings(&self, worker: &WorkerThread, now: DelayReading) -> Vec<DelayReading> {
        let mut readings = Vec::from(self.recent);
        let looks = worker.looks.iter();
        let looks = looks.filter_map(|look| Some((look.from, look.run_delay_ns?)));
        for reading in looks.chain([now]) {
            match &mut readings[..] {
                [.., before, last] if reading.0 < before.0.saturating_add(APART) => *last = reading,
                _ => readings.push(reading),
            }
        }
        readings
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

    /// Longest run delay of a worker between a reading and the next but one, since the last but one
    /// before the last situation. What it delayed may have been seen only now.
    pub(super) fn recent(&self, situation: &Situation) -> u64 {
        let workers = situation.workers.iter();
        let delays = workers.filter_map(|worker| {
            let delay = worker.run_delay_ns?;
            let Some(known) = self.0.get(&worker.id) else {
                return Some(delay);
            };
            let readings = known.readings(worker, (situation.now, delay));
            // Of a worker that has just come, there are two.
            let threes = readings.windows(readings.len().min(3));
            let delays = threes.filter_map(|three| match three {
                [first, .., last] => Some(last.1.saturating_sub(first.1)),
                _ => None,
            });
            delays.max()
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
            let now = (situation.now, delay);
            let readings = before.map(|known| known.readings(worker, now));
            let last_two = readings.as_deref().and_then(<[_]>::last_chunk);
            let recent = last_two.copied().unwrap_or([now; 2]);
            self.0.insert(worker.id, KnownDelays { long, recent });
        }
    }
}
