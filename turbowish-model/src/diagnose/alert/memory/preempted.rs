//! Finished polls that may be long only because the machine did not run their worker.
//!
//! Which poll a run delay fell in is not known, but polls between two situations had no more of it
//! than their worker had in that time. So as many of them are set aside as the delay can explain:
//! the least long ones first, each with what it took over the limit. All others are long by
//! themselves, however the delay was spread. It follows that polls of which none is long by itself
//! are all set aside.

use alloc::string::String;
use alloc::vec::Vec;

use super::worker_times::WorkerTimes;
use crate::diagnose::situation::{LongPolls, Situation};
use crate::ordered::Map;
use crate::sorting;

/// Number of such polls so far, by proc.
#[derive(Clone, Debug, Default)]
pub(super) struct Preempted(Map<String, u64>);

impl Preempted {
    pub(super) fn polls(&self, proc: &str) -> u64 {
        self.0.get(proc).copied().unwrap_or(0)
    }

    /// Adds those that ended since the last situation. `limit`: length of a long poll.
    pub(super) fn count(&mut self, situation: &Situation, times: &WorkerTimes, limit: u64) {
        for worker in &situation.workers {
            if worker.long_polls.is_empty() {
                continue;
            }
            let mut polls: Vec<&LongPolls> = worker.long_polls.iter().collect();
            sorting::by_key(&mut polls, |polls| (polls.least_ns, polls.proc.clone()));
            let mut delay = times.run_delay_since_last(worker);
            for polls in polls {
                let over = polls.least_ns.saturating_sub(limit).max(1);
                let explained = polls.polls.min(delay / over);
                delay -= explained * over;
                if explained > 0 {
                    let known = self.0.entry(polls.proc.clone()).or_default();
                    *known = known.saturating_add(explained);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::{LongPolls, Preempted, Situation, WorkerTimes};
    use crate::diagnose::situation::WorkerThread;

    const LIMIT: u64 = 10_000;

    fn situation(now: u64, run_delay_ns: Option<u64>, long_polls: Vec<LongPolls>) -> Situation {
        Situation {
            now,
            workers: [WorkerThread {
                run_delay_ns,
                long_polls,
                ..WorkerThread::default()
            }]
            .into(),
            ..Situation::default()
        }
    }

    fn preempted(delay: Option<u64>, polls: Vec<LongPolls>) -> Preempted {
        let (mut preempted, mut times) = (Preempted::default(), WorkerTimes::default());
        times.record(&situation(0, Some(7), Vec::new()));
        let delay = delay.map(|delay| 7 + delay);
        preempted.count(&situation(1, delay, polls), &times, LIMIT);
        preempted
    }

    fn polls(least_ns: u64) -> LongPolls {
        LongPolls {
            proc: String::from("p"),
            polls: 1,
            least_ns,
        }
    }

    #[test]
    fn the_least_long_ones_are_explained_first() {
        let check = |delay, lengths: &[u64], expected| {
            let polls = lengths.iter().map(|&length| polls(length)).collect();
            let found = preempted(delay, polls).polls("p");
            assert_eq!(found, expected, "{delay:?} {lengths:?}");
        };
        check(Some(500), &[10_500], 1);
        check(Some(499), &[10_500], 0);
        check(None, &[10_001], 0);
        check(Some(999), &[10_900, 10_100, 90_000, 10_100], 2);
        check(Some(1_100), &[10_900, 10_100, 90_000, 10_100], 3);
        check(Some(0), &[10_001], 0);
    }

    proptest! {
        /// Polls as a machine makes them: each has its own time, and a part of the delay. Never are
        /// more of them said to be long by themselves than are.
        #[test]
        fn polls_that_are_not_long_by_themselves_are_never_said_to_be(
            made in proptest::collection::vec((0_u64..3 * LIMIT, 0_u64..3 * LIMIT), 0..20),
            outside in 0_u64..2 * LIMIT,
            rounding in 0_u64..300,
        ) {
            let delay: u64 = made.iter().map(|(_, delay)| delay).sum();
            let long = made.iter().map(|(own, delay)| own + delay);
            let long: Vec<LongPolls> = long
                .filter(|&length| length > LIMIT + rounding)
                .map(|length| polls(length - rounding))
                .collect();
            let (count, own) = (long.len(), made.iter().filter(|(own, _)| *own > LIMIT).count());
            let explained = preempted(Some(delay + outside), long).polls("p");
            prop_assert!(count - explained as usize <= own);
        }
    }
}
