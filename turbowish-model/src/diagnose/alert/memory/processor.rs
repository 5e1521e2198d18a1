//! Processor time of workers within their polls in progress.

use crate::diagnose::situation::{Situation, WorkerThread};
use crate::ordered::Map;

/// Processor time of workers when their polls in progress were first seen, by thread.
#[derive(Clone, Debug, Default)]
pub(in crate::diagnose::alert) struct ProcessorTimes(Map<u64, FirstSight>);

#[derive(Clone, Copy, Debug)]
struct FirstSight {
    /// Start of the poll.
    since: u64,
    at: u64,
    cpu_ns: u64,
}

/// Processor time of a worker in the last part of its poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::diagnose::alert) struct ProcessorTime {
    pub(in crate::diagnose::alert) ns: u64,
    /// Length of that part: since the poll was first seen.
    pub(in crate::diagnose::alert) of_ns: u64,
}

impl ProcessorTimes {
    /// Processor time within a worker's poll; `None` if it is unknown.
    pub(in crate::diagnose::alert) fn in_poll(
        &self,
        worker: &WorkerThread,
        now: u64,
    ) -> Option<ProcessorTime> {
        let since = worker.poll.as_ref()?.since;
        let first = self.0.get(&worker.id).filter(|seen| seen.since == since)?;
        let of_ns = now.saturating_sub(first.at);
        // The kernel is asked a little after the instant of the situation.
        let ns = worker.cpu_ns?.checked_sub(first.cpu_ns)?.min(of_ns);
        (of_ns > 0).then_some(ProcessorTime { ns, of_ns })
    }

    pub(super) fn record(&mut self, situation: &Situation) {
        let known = core::mem::take(&mut self.0);
        for worker in &situation.workers {
            let (Some(poll), Some(cpu_ns)) = (&worker.poll, worker.cpu_ns) else {
                continue;
            };
            let seen = known.get(&worker.id).copied();
            let first = seen.filter(|seen| seen.since == poll.since);
            let sight = first.unwrap_or(FirstSight {
                since: poll.since,
                at: situation.now,
                cpu_ns,
            });
            self.0.insert(worker.id, sight);
        }
    }
}
