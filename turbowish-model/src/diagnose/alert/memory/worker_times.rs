//! Times of workers, as they were read at each look: how much of a poll can have been run delay,
//! how much was, and how long its thread was on a processor.
//!
//! A wait for a processor counts when it ends, and a poll begins with code that runs. So what is
//! counted by a look lies before that look, and what a poll has of it lies after the poll's start.

use alloc::vec::Vec;

use crate::diagnose::situation::{Situation, WorkerThread};
use crate::ordered::Map;

/// Readings of live workers, by thread: the last one, and of a poll in progress the last one before
/// it and the first one in it.
#[derive(Clone, Debug, Default)]
pub(in crate::diagnose::alert) struct WorkerTimes(Map<u64, Vec<TimesReading>>);

#[derive(Clone, Copy, Debug)]
struct TimesReading {
    /// Before and after the reading.
    from: u64,
    to: u64,
    run_delay: Option<u64>,
    cpu: Option<u64>,
    /// The thread slept: no wait for a processor was in progress.
    sleeps: bool,
}

/// A poll, or the part of it up to now.
#[derive(Clone, Copy, Debug)]
pub(in crate::diagnose::alert) struct PollInterval {
    pub(in crate::diagnose::alert) since: u64,
    pub(in crate::diagnose::alert) until: u64,
    /// It is in progress at `until`.
    pub(in crate::diagnose::alert) is_open: bool,
}

impl PollInterval {
    pub(in crate::diagnose::alert) const fn length(self) -> u64 {
        self.until.saturating_sub(self.since)
    }
}

/// Processor time of a worker in a part of its poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::diagnose::alert) struct ProcessorTime {
    pub(in crate::diagnose::alert) ns: u64,
    /// Length of that part: from the first look within the poll to the last one.
    pub(in crate::diagnose::alert) of_ns: u64,
}

/// One of the times of a thread, at each reading since it was known without a gap.
struct TimeSeries(Vec<(TimesReading, u64)>);

impl TimeSeries {
    /// The last value that was read before the start of a poll.
    fn before(&self, since: u64) -> Option<u64> {
        let before = self.0.iter().rfind(|(reading, _)| reading.to <= since);
        before.map(|(_, value)| *value)
    }

    /// The first reading after the start of a poll.
    fn first(&self, since: u64) -> Option<&(TimesReading, u64)> {
        self.0.iter().find(|(reading, _)| reading.from >= since)
    }

    /// Largest part of the growth that can lie within a poll.
    fn at_most(&self, span: PollInterval) -> u64 {
        let Some((first, value)) = self.first(span.since) else {
            return 0;
        };
        let before = self.before(span.since);
        // What the first reading in the poll tells lies before that reading.
        let early = before.map_or(0, |before| value.saturating_sub(before));
        let early = early.min(first.to.saturating_sub(span.since));
        let mut readings = self.0.iter();
        let end = readings.find(|(reading, _)| reading.from >= span.until);
        let end = end.or(self.0.last()).map_or(*value, |(_, value)| *value);
        let is_in = |reading: &TimesReading| reading.from >= span.since && reading.to <= span.until;
        let last = self.0.iter().rfind(|(reading, _)| is_in(reading));
        let (last, known) = last.map_or((first, *value), |(last, known)| (last, *known));
        // What is counted after the last reading in the poll may have begun before that one.
        let late = end.saturating_sub(known);
        let late = match last.sleeps {
            true => late.min(span.until.saturating_sub(last.from)),
            false => late,
        };
        let within = known.saturating_sub(*value).saturating_add(late);
        early.saturating_add(within).min(span.length())
    }

    /// The growth from the first reading within a poll to the last one, and the time between.
    fn within(&self, span: PollInterval) -> Option<(u64, u64)> {
        let (first, value) = self.first(span.since)?;
        let (last, end) = self.0.iter().rfind(|(last, _)| last.to <= span.until)?;
        let of = last.to.checked_sub(first.from)?;
        // The kernel is asked a little after the instant of a situation.
        Some((end.checked_sub(*value)?.min(of), of))
    }
}

impl WorkerTimes {
    /// The readings so far, and those that this situation adds.
    fn readings(&self, worker: &WorkerThread, now: u64) -> Vec<TimesReading> {
        let known = self.0.get(&worker.id).into_iter().flatten().copied();
        let looks = worker.looks.iter().map(|look| TimesReading {
            from: look.from,
            to: look.to,
            run_delay: look.run_delay_ns,
            cpu: look.cpu_ns,
            sleeps: look.sleeps,
        });
        let last = TimesReading {
            from: now,
            to: now,
            run_delay: worker.run_delay_ns,
            cpu: worker.cpu_ns,
            sleeps: worker.sleeps,
        };
        known.chain(looks).chain([last]).collect()
    }

    fn series(
        &self,
        worker: &WorkerThread,
        now: u64,
        time: impl Fn(&TimesReading) -> Option<u64>,
    ) -> TimeSeries {
        let readings = self.readings(worker, now).into_iter().rev();
        let known = readings.map_while(|reading| Some((reading, time(&reading)?)));
        let mut series: Vec<_> = known.collect();
        series.reverse();
        TimeSeries(series)
    }

    fn run_delays(&self, worker: &WorkerThread, now: u64) -> TimeSeries {
        self.series(worker, now, |reading| reading.run_delay)
    }

    fn processor(&self, worker: &WorkerThread, now: u64) -> TimeSeries {
        self.series(worker, now, |reading| reading.cpu)
    }

    /// Longest run delay that a worker's poll can have had. 0 if the system does not tell it.
    pub(in crate::diagnose::alert) fn run_delay_at_most(
        &self,
        worker: &WorkerThread,
        now: u64,
        span: PollInterval,
    ) -> u64 {
        let ended = self.run_delays(worker, now).at_most(span);
        let waits = if span.is_open {
            self.waits(worker, now)
        } else {
            0
        };
        ended.saturating_add(waits).min(span.length())
    }

    /// Longest wait for a processor that may be in progress: what neither the processor nor ended
    /// waits explain of the time since the last reading, unless the thread sleeps.
    fn waits(&self, worker: &WorkerThread, now: u64) -> u64 {
        let grown = |series: &TimeSeries| match series.0[..] {
            [.., (before, old), (last, new)] => {
                Some((last.to.saturating_sub(before.from), new.saturating_sub(old)))
            }
            _ => None,
        };
        let cpu = grown(&self.processor(worker, now));
        let delay = grown(&self.run_delays(worker, now));
        match cpu.zip(delay) {
            Some(((passed, cpu), (_, delay))) if !worker.sleeps => {
                passed.saturating_sub(cpu).saturating_sub(delay)
            }
            _ => 0,
        }
    }

    /// Run delay within a worker's poll, as far as the looks within it tell. 0 if unknown.
    pub(in crate::diagnose::alert) fn run_delay_within(
        &self,
        worker: &WorkerThread,
        now: u64,
        span: PollInterval,
    ) -> u64 {
        let within = self.run_delays(worker, now).within(span);
        within.map_or(0, |(delay, _)| delay.min(span.length()))
    }

    /// Processor time within a worker's poll, as far as the looks within it tell.
    pub(in crate::diagnose::alert) fn processor_within(
        &self,
        worker: &WorkerThread,
        now: u64,
        span: PollInterval,
    ) -> Option<ProcessorTime> {
        let (ns, of_ns) = self.processor(worker, now).within(span)?;
        (of_ns > 0).then_some(ProcessorTime { ns, of_ns })
    }

    /// Longest time that the thread can have been on a processor in a poll; `None` if unknown.
    pub(in crate::diagnose::alert) fn processor_at_most(
        &self,
        worker: &WorkerThread,
        now: u64,
        span: PollInterval,
    ) -> Option<u64> {
        let series = self.processor(worker, now);
        series.before(span.since)?;
        Some(series.at_most(span))
    }

    /// Longest run delay that the polls of a worker which ended since the last situation can have
    /// had: the growth since then, or, if one of them was in progress then, since the last reading
    /// before it. 0 if unknown.
    pub(super) fn run_delay_since_last(&self, worker: &WorkerThread) -> u64 {
        let known = self.0.get(&worker.id).and_then(|known| known.first());
        let before = known.and_then(|reading| reading.run_delay).unwrap_or(0);
        worker.run_delay_ns.unwrap_or(0).saturating_sub(before)
    }

    /// Keeps what the next situation needs.
    pub(super) fn record(&mut self, situation: &Situation) {
        let mut kept = Map::new();
        for worker in &situation.workers {
            if worker.run_delay_ns.is_none() && worker.cpu_ns.is_none() {
                continue;
            }
            let readings = self.readings(worker, situation.now);
            let mut keep: Vec<TimesReading> = Vec::new();
            if let Some(poll) = &worker.poll {
                keep.extend(readings.iter().rfind(|reading| reading.to <= poll.since));
                let first = readings.iter().find(|reading| reading.from >= poll.since);
                // One of the start of the poll is both.
                keep.extend(first.filter(|first| first.to > poll.since));
            }
            let last = readings.last();
            keep.extend(last.filter(|last| keep.last().is_none_or(|kept| kept.to < last.to)));
            kept.insert(worker.id, keep);
        }
        self.0 = kept;
    }
}
