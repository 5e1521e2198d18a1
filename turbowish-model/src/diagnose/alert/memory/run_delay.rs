//! Run delay of workers in earlier situations: the part within a poll, or within the last windows.

use super::{LONG, Rolling};
use crate::diagnose::situation::{Situation, WorkerThread};
use crate::ordered::Map;

/// Run delay of live workers, by thread.
#[derive(Clone, Debug, Default)]
pub(in crate::diagnose::alert) struct RunDelays(Map<u64, KnownDelays>);

#[derive(Clone, Copy, Debug)]
struct KnownDelays {
    poll: Option<KnownPoll>,
    long: Rolling<u64>,
    /// At the last situation, and at the one before.
    recent: [u64; 2],
}

/// A poll in progress.
#[derive(Clone, Copy, Debug)]
struct KnownPoll {
    since: u64,
    /// Run delay when the poll was first seen: what came later is within it.
    first: u64,
    /// Run delay at the situation before that one.
    before: u64,
}

impl RunDelays {
    /// Longest run delay that a worker's poll may have had: the growth since the last situation
    /// without the poll. 0 if unknown.
    pub(in crate::diagnose::alert) fn at_most_in_poll(
        &self,
        worker: &WorkerThread,
        now: u64,
    ) -> u64 {
        let within = || {
            let since = worker.poll.as_ref()?.since;
            let known = self.0.get(&worker.id)?;
            let seen = known.poll.filter(|poll| poll.since == since);
            let before = seen.map_or(known.recent[0], |poll| poll.before);
            let delay = worker.run_delay_ns?.saturating_sub(before);
            Some(delay.min(now.saturating_sub(since)))
        };
        within().unwrap_or(0)
    }

    /// Longest run delay that the polls of a worker which ended since the last situation may have
    /// had: the growth since then, or, if one of them was in progress then, since the last
    /// situation without it. 0 if unknown.
    pub(in crate::diagnose::alert) fn since_last(&self, worker: &WorkerThread) -> u64 {
        let before = self.0.get(&worker.id).map_or(0, |known| {
            let open = known.poll.map(|poll| poll.before);
            open.unwrap_or(known.recent[0])
        });
        let now = worker.run_delay_ns.unwrap_or(0);
        now.saturating_sub(before)
    }

    /// Longest run delay of a worker in the last ten windows.
    pub(in crate::diagnose::alert) fn longest(&self, situation: &Situation) -> u64 {
        let workers = situation.workers.iter();
        let delays = workers.filter_map(|worker| self.long(worker, situation.now));
        delays.map(|(_, delay)| delay).max().unwrap_or(0)
    }

    /// Run delay within a worker's poll: the growth since the poll was first seen, which may be
    /// less than all of it. 0 if unknown.
    pub(in crate::diagnose::alert) fn in_poll(&self, worker: &WorkerThread, now: u64) -> u64 {
        let within = || {
            let poll = worker.poll.as_ref()?;
            let KnownPoll { since, first, .. } = self.0.get(&worker.id)?.poll?;
            let delay = worker.run_delay_ns?.saturating_sub(first);
            // A poll may have ended between the instant of the situation and the reading of the run
            // delay.
            (since == poll.since).then(|| delay.min(now.saturating_sub(since)))
        };
        within().unwrap_or(0)
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
            let seen = before.and_then(|known| known.poll);
            let poll = worker.poll.as_ref().map(|poll| {
                let same = seen.filter(|seen| seen.since == poll.since);
                same.unwrap_or(KnownPoll {
                    since: poll.since,
                    first: delay,
                    before: before.map_or(delay, |known| known.recent[0]),
                })
            });
            let last = before.map_or(delay, |known| known.recent[0]);
            let recent = [delay, last];
            self.0.insert(worker.id, KnownDelays { poll, long, recent });
        }
    }
}
