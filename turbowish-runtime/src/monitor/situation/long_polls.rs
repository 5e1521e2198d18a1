//! Long polls that have ended, by worker: which of them the machine may have made long depends on
//! the worker.

use turbowish_model::account::histogram::{bucket_of, upper_bound};
use turbowish_model::diagnose::situation::{LongPolls, Proc, WorkerThread};
use turbowish_model::ordered::Map;

use super::SituationBuilder;

/// Long polls as of the last situation. They are looked for only if there are more than before.
#[derive(Debug, Default)]
pub(super) struct SeenLongPolls {
    /// Number of all of them.
    all: u64,
    /// By thread, proc and bucket of their length.
    seen: Map<(u64, u32, u16), u64>,
}

impl SeenLongPolls {
    /// Adds those that have ended since the last situation to their workers.
    pub(super) fn look(
        &mut self,
        stage: &SituationBuilder<'_>,
        procs: &[Proc],
        workers: &mut [WorkerThread],
    ) {
        let all = procs.iter().map(|proc| proc.slow).sum();
        if std::mem::replace(&mut self.all, all) == all {
            return;
        }
        let limit = bucket_of(stage.ticks(stage.long_ns));
        let held = bucket_of(stage.ticks(stage.held_ns));
        let mut now: Map<(u64, u32, u16), u64> = Map::new();
        for thread in stage.threads.iter().filter(|thread| thread.polls) {
            let index = u64::from(thread.index);
            thread
                .ledger
                .ledger
                .polls_above(limit, &mut |proc, bucket, polls| {
                    if usize::from(bucket) < held {
                        *now.entry((index, proc, bucket)).or_default() += polls;
                    }
                });
        }
        for (key, polls) in &now {
            let &(thread, proc, bucket) = key;
            let before = self.seen.get(key).copied().unwrap_or(0);
            let worker = workers.iter_mut().find(|worker| worker.id == thread);
            let new = polls.saturating_sub(before);
            let (Some(worker), Some(proc), 1..) = (worker, stage.path(proc), new) else {
                continue;
            };
            worker.long_polls.push(LongPolls {
                proc,
                polls: new,
                least_ns: stage.ns(upper_bound(usize::from(bucket) - 1) + 1),
            });
        }
        self.seen = now;
    }
}
