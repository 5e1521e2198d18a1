//! Looks at the workers between two scans. A scan reads the tasks and takes its share of a core, so
//! with many tasks the scans are seconds apart; a look reads the workers alone.
//!
//! A look tells whether a scan is due at once, because a poll has just become too long. It also
//! keeps the times of the workers, and the long polls that have ended, for the next scan.

use std::ops::Range;

use turbowish_model::account::time::Scale;
use turbowish_model::collect::read::{LongPollReading, OpenPollReading};
use turbowish_model::diagnose::situation::WorkerLook;
use turbowish_model::ordered::Map;
use turbowish_model::sorting;

use crate::hot::clock;
use crate::monitor::collector::ThreadNow;
use crate::os_thread;

/// What the looks since the last scan have seen.
#[derive(Debug, Default)]
pub(in crate::monitor) struct WorkerLooks {
    workers: Map<u32, LookedAt>,
    told: ToldPolls,
    /// Instant of the last scan, in ticks.
    scanned: u64,
}

/// Number of long polls that are told one by one, by the proc of the call.
#[derive(Debug, Default)]
struct ToldPolls(Map<u32, u64>);

impl ToldPolls {
    fn add(&mut self, long: &LongPollReading) {
        if let Some(&proc) = long.stack.last() {
            *self.0.entry(proc).or_default() += 1;
        }
    }

    /// There was no room for it.
    fn remove(&mut self, long: &LongPollReading) {
        let told = long.stack.last().and_then(|proc| self.0.get_mut(proc));
        if let Some(told) = told {
            *told = told.saturating_sub(1);
        }
    }
}

/// One thread.
#[derive(Debug, Default)]
pub(in crate::monitor) struct LookedAt {
    /// Its times, at most [`KEPT`] readings.
    pub(in crate::monitor) times: Vec<WorkerLook>,
    /// Root polls that have ended, oldest first, at most [`KEPT`].
    pub(in crate::monitor) ended: Vec<EndedRoot>,
    /// Long polls of calls whose root poll has not ended yet, as far as is known; at most [`KEPT`].
    within: Vec<LongPollReading>,
    /// End of the last long poll that was seen, and last event, in ticks.
    seen: u64,
    latest: u64,
}

/// A long root poll that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::monitor) struct EndedRoot {
    /// Start and end, in ticks.
    pub(in crate::monitor) since: u64,
    pub(in crate::monitor) until: u64,
    /// Id of the task.
    pub(in crate::monitor) task: u64,
    /// The innermost of its calls whose poll was long, too.
    pub(in crate::monitor) innermost: LongPollReading,
}

/// Of a poll that takes this long, in nanoseconds, the kernel is asked whether its thread sleeps.
const LONG_NS: u64 = 50_000_000;

/// More readings than there are beats between two scans.
const KEPT: usize = 64;

impl WorkerLooks {
    /// Looks at the workers. `limit`: length of a long poll, in ticks.
    pub(super) fn look(&mut self, threads: &[ThreadNow], scale: Scale, limit: u64) {
        let mut known = std::mem::take(&mut self.workers);
        for thread in threads.iter().filter(|thread| thread.polls) {
            let mut worker = known.remove(&thread.index).unwrap_or_default();
            worker.look(thread, scale, limit, &mut self.told);
            self.workers.insert(thread.index, worker);
        }
        for gone in known.values() {
            let ended = gone.ended.iter().map(|root| &root.innermost);
            let polls = gone.within.iter().chain(ended);
            polls.for_each(|long| self.told.remove(long));
        }
    }

    /// Number of finished long polls of calls of a proc that alerts tell one by one.
    pub(in crate::monitor) fn told(&self, proc: u32) -> u64 {
        self.told.0.get(&proc).copied().unwrap_or(0)
    }

    /// Whether a poll has become long since the last scan, or such a poll has ended. `now` is the
    /// instant at which the threads were read, and `limit` the length of a long poll, in ticks.
    pub(super) fn is_urgent(&self, threads: &[ThreadNow], now: u64, limit: u64) -> bool {
        let is_news = |since: u64| (self.scanned..now).contains(&since.saturating_add(limit));
        roots(threads).any(|poll| is_news(poll.start))
            || self.workers.values().any(|worker| !worker.ended.is_empty())
    }

    /// When the next of the open polls becomes long, in ticks; `limit` is that length. Polls that
    /// were long at the last scan do not count.
    pub(super) fn next_long(&self, threads: &[ThreadNow], limit: u64) -> Option<u64> {
        let long_at = roots(threads).map(|poll| poll.start.saturating_add(limit));
        long_at.filter(|&at| at >= self.scanned).min()
    }

    /// What was seen of a thread.
    pub(in crate::monitor) fn of(&self, thread: u32) -> Option<&LookedAt> {
        self.workers.get(&thread)
    }

    /// A scan at the instant `now` has told what was seen up to then.
    pub(super) fn scanned(&mut self, now: u64) {
        self.scanned = now;
        for worker in self.workers.values_mut() {
            worker.times.clear();
            worker.ended.retain(|poll| poll.until > now);
        }
    }
}

/// Whether a poll that is open at the instant `now` has taken so long, in ticks.
pub(super) fn is_open_for(threads: &[ThreadNow], now: u64, time: &Range<u64>) -> bool {
    roots(threads).any(|poll| time.contains(&now.saturating_sub(poll.start)))
}

/// The open polls that may take too long: a poll may run an executor, and then each of those in it
/// is one.
fn roots(threads: &[ThreadNow]) -> impl Iterator<Item = &OpenPollReading> {
    let threads = threads.iter().filter(|thread| thread.polls);
    threads.flat_map(|thread| thread.open.iter().filter(|poll| poll.root))
}

impl LookedAt {
    fn look(&mut self, thread: &ThreadNow, scale: Scale, limit: u64, told: &mut ToldPolls) {
        // Of a thread to which nothing has happened, the last reading is as good.
        if !thread.open.is_empty() || thread.latest != self.latest {
            self.read_times(thread, scale);
        }
        self.latest = thread.latest;
        let seen = self.seen;
        let within = &mut self.within;
        let mut last = seen;
        let mut relax = std::thread::yield_now;
        let ledger = &thread.ledger.ledger;
        ledger.long_polls(limit, &mut relax, &mut |long| {
            last = last.max(long.poll.end);
            if long.poll.end > seen {
                told.add(&long);
                within.push(long);
            }
        });
        self.seen = last;
        let open = thread.open.iter().filter(|poll| poll.root);
        let open: Vec<_> = open.map(|poll| (poll.key, poll.start)).collect();
        self.ended.extend(ended(within, &open));
        let more = self.ended.len().saturating_sub(KEPT);
        let gone = self.ended.drain(..more);
        gone.for_each(|root| told.remove(&root.innermost));
        // A nested executor may stay in one poll of the outer one.
        let more = self.within.len().saturating_sub(KEPT);
        let gone = self.within.drain(..more);
        gone.for_each(|long| told.remove(&long));
    }

    fn read_times(&mut self, thread: &ThreadNow, scale: Scale) {
        let from = clock::ticks();
        let since = thread.open.first().map_or(from, |poll| poll.start);
        let is_long = scale.ns(from.saturating_sub(since)) >= LONG_NS;
        let times = thread.os_id.and_then(os_thread::times);
        if self.times.len() == KEPT {
            self.times.remove(0);
        }
        self.times.push(WorkerLook {
            from: scale.ns(from),
            to: scale.ns(clock::ticks()),
            run_delay_ns: times.map(|(_, run_delay)| run_delay),
            cpu_ns: times.map(|(cpu, _)| cpu),
            sleeps: is_long && thread.os_id.is_some_and(os_thread::sleeps),
        });
    }
}

/// Takes the root polls that have ended. `open`: task and start of those that have not. A poll
/// within one of its own task waits for that end; one of a task that is polled in it does not, as
/// the outer one may run an executor forever.
fn ended(long: &mut Vec<LongPollReading>, open: &[(u64, u64)]) -> Vec<EndedRoot> {
    let start = |long: &LongPollReading| long.poll.end.saturating_sub(long.poll.hold);
    let is_within = |long: &LongPollReading, &(task, since): &(u64, u64)| {
        long.poll.task == task && start(long) >= since
    };
    let is_over = |long: &LongPollReading| !open.iter().any(|open| is_within(long, open));
    let all = std::mem::take(long);
    let (mut over, within): (Vec<_>, Vec<_>) = all.into_iter().partition(is_over);
    *long = within;
    // The outermost first; of equal ones, as in a span, the innermost last.
    sorting::by_key(&mut over, |long| {
        (start(long), u64::MAX - long.poll.hold, long.stack.len())
    });
    let mut ended: Vec<EndedRoot> = Vec::new();
    for long in over {
        match ended.last_mut().filter(|root| start(&long) < root.until) {
            Some(root) => root.innermost = long,
            None => ended.push(EndedRoot {
                since: start(&long),
                until: long.poll.end,
                task: long.poll.task,
                innermost: long,
            }),
        }
    }
    ended
}

#[cfg(test)]
mod tests;
