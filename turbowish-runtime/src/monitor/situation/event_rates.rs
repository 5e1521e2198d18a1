//! Events per 100 ms, by source.
//!
//! No thread counts by the clock for this: that would be a cost of every poll. The monitor counts
//! polls, in windows that slide by half their length while there are many. For the other events it
//! is the average since the previous situation, a quarter of a second to a second: a shorter burst
//! is averaged over it, and a lasting one is reported in full.

use turbowish_model::account::counters::{Population, Sum};
use turbowish_model::account::metrics::MetricKey;
use turbowish_model::diagnose::situation::Source;

use super::SituationBuilder;
use super::sliding_window::{Sliding, within};
use crate::monitor::cost::uses;
use crate::monitor::resources;
use turbowish_model::ordered::Map;

/// Counts at the previous situation.
#[derive(Debug, Default)]
pub(super) struct Density {
    /// Instant of the previous situation; 0 if there was none.
    at: u64,
    /// Number of polls by proc.
    polls: Vec<u64>,
    sliding: Sliding,
    /// Polls of woken tasks, by root proc.
    woken: Vec<u64>,
    said: Map<MetricKey, u64>,
    /// Number of uses by resource.
    uses: Map<u64, u64>,
    /// Uses of resources since that situation.
    used: u64,
    /// Polls per 100 ms.
    average: u64,
}

/// Share of the limit, in percent, from which polls are counted between situations: one window
/// beyond the limit raises the average of a second to 10.
const MANY_PERCENT: u64 = 8;

impl Density {
    /// Whether there were so many polls that windows between situations are counted.
    pub(super) const fn is_dense(&self, limit: u64) -> bool {
        self.average.saturating_mul(100) >= limit.saturating_mul(MANY_PERCENT)
    }

    /// Adds the polls by proc at an instant between two situations.
    pub(super) fn sample(&mut self, now: u64, polls: Vec<u64>) {
        self.sliding.read(now, polls);
    }

    /// Events of each source since the previous situation, per 100 ms.
    pub(super) fn sources(&mut self, stage: &SituationBuilder<'_>) -> Vec<Source> {
        let now = stage.ns(stage.assembly.now.at);
        let then = std::mem::replace(&mut self.at, now);
        let elapsed = now.saturating_sub(then);
        let grown = [
            ("polls", self.polls(stage)),
            ("wake-ups", self.wakes(stage)),
            ("counters", self.said(stage)),
            ("resources", self.uses(stage)),
        ];
        let source = |(name, grown): (&str, Grown)| Source {
            name: name.to_owned(),
            // For the first situation it is unknown since when they count.
            events: if then == 0 {
                0
            } else {
                within(grown.total, elapsed)
            },
            noisiest: grown.noisiest.and_then(|(_, proc)| stage.path(proc)),
            resource: grown.resource,
        };
        let mut sources = grown.map(source);
        let [polls, ..] = &mut sources;
        self.average = polls.events;
        let densest = self.sliding.take();
        if densest.events > polls.events {
            polls.events = densest.events;
            polls.noisiest = densest.noisiest.and_then(|proc| stage.path(proc));
        }
        sources.into()
    }

    /// Uses of resources between the last two situations.
    pub(super) const fn used(&self) -> u64 {
        self.used
    }

    fn polls(&mut self, stage: &SituationBuilder<'_>) -> Grown {
        let procs = stage.assembly.now.aggregate.procs.iter();
        let polls: Vec<u64> = procs.map(|stats| stats.sum(Sum::Polls)).collect();
        let before = std::mem::replace(&mut self.polls, polls);
        let mut grown = Grown::default();
        for (id, polls) in since(&self.polls, &before) {
            grown.add(id, polls);
        }
        self.sliding
            .read(stage.ns(stage.assembly.now.at), self.polls.clone());
        grown
    }

    /// Wakes of live tasks, and at least one for each poll of a woken task, which may have ended
    /// since.
    fn wakes(&mut self, stage: &SituationBuilder<'_>) -> Grown {
        let procs = stage.assembly.now.aggregate.procs.iter();
        let woken = procs.map(|stats| stats.populations[Population::ReadyLatency as usize].total());
        let before = std::mem::replace(&mut self.woken, woken.collect());
        let wakes = &stage.crowd.wakes;
        let mut grown = Grown::default();
        for (id, woken) in since(&self.woken, &before) {
            let wakes = wakes.get(&id).copied().unwrap_or(0);
            grown.add(id, wakes.max(woken));
        }
        grown
    }

    fn said(&mut self, stage: &SituationBuilder<'_>) -> Grown {
        let metrics = &stage.assembly.now.aggregate.metrics;
        let mut by_proc: Map<u32, u64> = Map::new();
        for (key, metric) in metrics {
            let earlier = self.said.insert(*key, metric.updates).unwrap_or(0);
            *by_proc.entry(key.proc).or_default() += metric.updates.saturating_sub(earlier);
        }
        let mut grown = Grown::default();
        for (proc, said) in by_proc {
            // 0 stands for outside of every proc, which has no path.
            grown.add(proc.wrapping_sub(1), said);
        }
        grown
    }

    /// Uses are not counted by proc: the resource is named instead.
    fn uses(&mut self, stage: &SituationBuilder<'_>) -> Grown {
        let mut grown = Grown::default();
        let mut seen = Map::new();
        let mut most = 0;
        for reading in stage.resources {
            let all = uses(reading);
            seen.insert(reading.id, all);
            let more = all.saturating_sub(self.uses.get(&reading.id).copied().unwrap_or(0));
            grown.total += more;
            if more > most {
                most = more;
                grown.resource = Some((reading.id, resources::name(reading)));
            }
        }
        self.uses = seen;
        self.used = grown.total;
        grown
    }
}

/// Increase of each proc's count.
pub(super) fn since(now: &[u64], before: &[u64]) -> impl Iterator<Item = (u32, u64)> {
    now.iter().enumerate().map(|(id, &count)| {
        let earlier = before.get(id).copied().unwrap_or(0);
        (id as u32, count.saturating_sub(earlier))
    })
}

/// Events since the previous situation.
#[derive(Default)]
struct Grown {
    total: u64,
    /// The largest source: its own events, and the proc.
    noisiest: Option<(u64, u32)>,
    resource: Option<(u64, String)>,
}

impl Grown {
    fn add(&mut self, proc: u32, events: u64) {
        self.total = self.total.saturating_add(events);
        if events > self.noisiest.map_or(0, |(most, _)| most) {
            self.noisiest = Some((events, proc));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Grown, since};

    #[test]
    fn the_noisiest_is_the_one_with_most_of_its_own() {
        let mut grown = Grown::default();
        for (id, events) in since(&[10, 50, 7, 3], &[10, 20, 9]) {
            grown.add(id, events);
        }
        assert_eq!((grown.total, grown.noisiest), (33, Some((30, 1))));
    }
}
