//! Memory of earlier situations: counts at the start of windows, for what changed; bounded by the
//! number of live tasks, procs and resources.

mod counts;
mod growth;
mod preempted;
mod run_delay;
mod timers;
mod worker_times;

use alloc::string::String;
use alloc::vec::Vec;

pub(super) use self::counts::TaskCounts;
use self::counts::{ProcCounts, Rolling};
pub(super) use self::growth::{Grown, TaskGrowth};
use self::preempted::Preempted;
use self::run_delay::RunDelays;
use self::timers::LateTimers;
pub(super) use self::timers::LatestTimer;
use self::worker_times::WorkerTimes;
pub(super) use self::worker_times::{PollInterval, ProcessorTime};
use super::asleep::{Sleeper, remembered};
use super::finding::leaves;
use super::limits::{Limit, Limits};
use super::quantity::is_part;
use super::rules::order::Orders;
use crate::account::resource::Kind;
use crate::diagnose::situation::{PollsAfterEnd, Proc, Resource, Situation, Task};
use crate::ordered::Map;
use crate::snapshot::TaskState;

/// Number of windows in a long window.
pub(super) const LONG: u64 = 10;

/// Whether so much time is a window. An eighth may be missing: situations come once a second, too,
/// and none comes to the nanosecond.
const fn is_whole(passed: u64, limits: &Limits) -> bool {
    let window = limits.get(Limit::Window);
    passed >= window - window / 8
}

/// Earlier situations, as far as rules need them.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Instant of the last situation.
    pub(super) before: Option<u64>,
    /// Instant of the last situation that was no extra one: some counts are since then.
    pub(super) counted: Option<u64>,
    /// Tasks that were polled within the last long windows.
    tasks: Map<u64, TaskPace>,
    procs: Map<String, ProcPace>,
    /// Number of tasks by the path of their root.
    pub(super) roots: Map<String, TaskGrowth>,
    resources: Map<u64, Channel>,
    pub(super) orders: Orders,
    pub(super) run_delays: RunDelays,
    preempted: Preempted,
    pub(super) times: WorkerTimes,
    pub(super) timers: LateTimers,
    /// Tasks that wait while a long poll is in progress.
    pub(super) asleep: Vec<Sleeper>,
    /// Polls of calls that were over, at the last situation.
    after_end: Map<AfterEnd, u64>,
}

#[derive(Clone, Copy, Debug)]
struct TaskPace {
    short: Rolling<TaskCounts>,
    long: Rolling<TaskCounts>,
    /// Polls at the last situation that was no extra one.
    polls: u64,
    /// When the task reached the await point at which it was last seen.
    stands: Option<u64>,
}

#[derive(Clone, Debug)]
struct ProcPace {
    long: Rolling<ProcCounts>,
    last: ProcCounts,
    /// Interrupted futures by await point, in `select!` and in `timeout`, at the last situation.
    cuts: Map<(u32, u32), (u64, u64)>,
}

/// Path of the proc that was over, of the proc that polled it, and line and column of the latter.
type AfterEnd = (String, Option<String>, u32, u32);

fn after_end(polls: &PollsAfterEnd) -> AfterEnd {
    let place = polls.place.as_ref();
    let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
    (polls.proc.clone(), polls.by.clone(), line, column)
}

/// Memory of a resource.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Channel {
    /// The start of the last window.
    window: Option<ChannelState>,
    /// Number of consecutive windows in which the channel grew.
    pub(super) rising: u64,
    /// Start of the first of these windows.
    pub(super) rising_since: u64,
    /// Items put in during the last window.
    pub(super) came: u64,
    /// Items taken out during the last window.
    pub(super) went: u64,
    /// Length of the last window.
    pub(super) passed: u64,
    /// Since when the channel has been nearly full.
    pub(super) full_since: Option<u64>,
    /// Releases at the last situation that was no extra one, if the resource was recorded.
    pub(super) taken: Option<u64>,
}

/// A channel at an instant.
#[derive(Clone, Copy, Debug)]
struct ChannelState {
    at: u64,
    length: u64,
    /// Items put in so far.
    put: u64,
    /// Items taken out so far.
    took: u64,
}

impl Memory {
    /// Activity of a task in the last window.
    pub(super) fn short(&self, task: &Task, now: u64) -> (u64, TaskCounts) {
        let pace = self.tasks.get(&task.id).map(|pace| pace.short.base(now));
        self.window(task, now, pace)
    }

    /// Activity of a task in the last ten windows.
    pub(super) fn long(&self, task: &Task, now: u64) -> (u64, TaskCounts) {
        let pace = self.tasks.get(&task.id).map(|pace| pace.long.base(now));
        self.window(task, now, pace)
    }

    fn window(&self, task: &Task, now: u64, base: Option<(u64, TaskCounts)>) -> (u64, TaskCounts) {
        let counts = TaskCounts::of(task);
        match base {
            Some((length, base)) => (length, counts.since(base)),
            None if self.is_new(task) => (now.saturating_sub(task.created), counts),
            // The task was idle for long: when its activity occurred is unknown.
            None => (0, TaskCounts::default()),
        }
    }

    /// Whether the task was created since the last situation.
    fn is_new(&self, task: &Task) -> bool {
        self.before.is_some_and(|before| task.created >= before)
    }

    /// Polls of a task since the last situation that was no extra one.
    pub(super) fn recent_polls(&self, task: &Task) -> u64 {
        match self.tasks.get(&task.id) {
            Some(pace) => task.polls.saturating_sub(pace.polls),
            None if self.is_new(task) => task.polls,
            None => 0,
        }
    }

    /// When a task reached its await point; for a task in a poll, the await point at which it was
    /// last seen.
    pub(super) fn stands(&self, task: &Task) -> Option<u64> {
        stands(task).or_else(|| self.tasks.get(&task.id)?.stands)
    }

    /// Activity of a proc in the last ten windows.
    pub(super) fn proc(&self, proc: &Proc) -> ProcCounts {
        let base = self.procs.get(&proc.path).map(|pace| pace.long.base(0).1);
        self.counts(proc).since(base.unwrap_or_default())
    }

    /// Activity of a proc since the last situation.
    pub(super) fn proc_recently(&self, proc: &Proc) -> ProcCounts {
        let last = self.procs.get(&proc.path).map(|pace| pace.last);
        self.counts(proc).since(last.unwrap_or_default())
    }

    fn counts(&self, proc: &Proc) -> ProcCounts {
        ProcCounts::of(proc, self.preempted.polls(&proc.path))
    }

    /// Interrupted futures at an await point, at the last situation: in `select!`, in `timeout`.
    pub(super) fn cuts(&self, proc: &Proc, at: (u32, u32)) -> (u64, u64) {
        let pace = self.procs.get(&proc.path);
        pace.and_then(|pace| pace.cuts.get(&at))
            .copied()
            .unwrap_or_default()
    }

    /// Polls of this kind at the last situation.
    pub(super) fn polls_after_end(&self, polls: &PollsAfterEnd) -> u64 {
        let known = self.after_end.get(&after_end(polls));
        known.copied().unwrap_or(0)
    }

    /// Memory of a resource.
    pub(super) fn channel(&self, resource: &Resource) -> Channel {
        self.resources
            .get(&resource.id)
            .copied()
            .unwrap_or_default()
    }

    /// Counts the long polls of a situation that the machine explains. To be called before the
    /// rules.
    pub(super) fn count_preempted(&mut self, situation: &Situation, limits: &Limits) {
        let limit = limits.get(Limit::LongPollWarn);
        self.preempted.count(situation, &self.times, limit);
    }

    /// Records a situation as the last one.
    pub(super) fn record(&mut self, situation: &Situation, limits: &Limits, is_extra: bool) {
        let window = limits.get(Limit::Window);
        self.record_tasks(situation, window, is_extra);
        let run_delay = self.run_delays.recent(situation);
        let is_first = self.before.is_none();
        self.timers.record(situation, window, run_delay, is_first);
        self.before = Some(situation.now);
        if !is_extra {
            self.counted = self.before;
        }
        self.record_procs(situation, window);
        let polls = situation.polled_after_end.iter();
        self.after_end = Map::from_iter(polls.map(|polls| (after_end(polls), polls.times)));
        growth::record(&mut self.roots, situation, limits);
        self.record_resources(situation, limits, is_extra);
        self.orders.record(situation);
        self.run_delays.record(situation, window);
        self.times.record(situation);
        self.asleep = remembered(situation, &self.asleep);
    }

    fn record_tasks(&mut self, situation: &Situation, window: u64, is_extra: bool) {
        let now = situation.now;
        let before = self.before.unwrap_or(0);
        let mut tasks = core::mem::take(&mut self.tasks);
        for task in &situation.tasks {
            let polled = task.state != TaskState::Waiting || task.since >= before;
            let kept = tasks.remove(&task.id);
            let counts = TaskCounts::of(task);
            let mut pace = match kept {
                Some(pace) if polled || now.saturating_sub(task.since) < 2 * LONG * window => pace,
                None if polled => {
                    let (at, first) = if self.is_new(task) {
                        (task.created, TaskCounts::default())
                    } else {
                        (now, counts)
                    };
                    TaskPace {
                        short: Rolling::new(at, first),
                        long: Rolling::new(at, first),
                        polls: first.polls,
                        stands: None,
                    }
                }
                _ => continue,
            };
            pace.short.record(now, window, counts);
            pace.long.record(now, LONG * window, counts);
            if !is_extra {
                pace.polls = task.polls;
            }
            pace.stands = stands(task).or(pace.stands);
            self.tasks.insert(task.id, pace);
        }
    }

    fn record_procs(&mut self, situation: &Situation, window: u64) {
        for proc in &situation.procs {
            let counts = self.counts(proc);
            let first = || ProcPace {
                long: Rolling::new(situation.now, ProcCounts::default()),
                last: ProcCounts::default(),
                cuts: Map::new(),
            };
            if !self.procs.contains_key(&proc.path) {
                self.procs.insert(proc.path.clone(), first());
            }
            let Some(pace) = self.procs.get_mut(&proc.path) else {
                continue;
            };
            pace.long.record(situation.now, LONG * window, counts);
            pace.last = counts;
            for site in &proc.sites {
                let cuts = (
                    site.cut_in_select.unwrap_or(0),
                    site.cut_in_timeout.unwrap_or(0),
                );
                if cuts != (0, 0) {
                    pace.cuts.insert((site.place.line, site.place.column), cuts);
                }
            }
        }
    }

    fn record_resources(&mut self, situation: &Situation, limits: &Limits, is_extra: bool) {
        let mut known = core::mem::take(&mut self.resources);
        for resource in &situation.resources {
            // There may be very many resources, and most are never part of an alert.
            if resource.kind != Kind::Mpsc && resource.waiters.is_empty() {
                continue;
            }
            let mut channel = known.remove(&resource.id).unwrap_or_default();
            if !is_extra || channel.taken.is_none() {
                channel.taken = Some(resource.flow.took);
            }
            if resource.kind == Kind::Mpsc {
                channel.record(resource, situation.now, limits);
            }
            self.resources.insert(resource.id, channel);
        }
    }
}

impl Channel {
    fn record(&mut self, resource: &Resource, now: u64, limits: &Limits) {
        let (length, flow) = (resource.length, resource.flow);
        let fill = limits.get(Limit::BufferBloatFill);
        let full = resource
            .capacity
            .is_some_and(|capacity| is_part(length, capacity, fill));
        self.full_since = full.then(|| self.full_since.unwrap_or(now));
        let state = ChannelState {
            at: now,
            length,
            put: flow.put,
            took: flow.took,
        };
        let Some(before) = self.window else {
            self.window = Some(state);
            return;
        };
        let passed = now.saturating_sub(before.at);
        if !is_whole(passed, limits) {
            return;
        }
        let came = flow.put.saturating_sub(before.put);
        let went = flow.took.saturating_sub(before.took);
        if length > before.length && came > went {
            if self.rising == 0 {
                self.rising_since = before.at;
            }
            self.rising += 1;
        } else {
            self.rising = 0;
        }
        (self.came, self.went, self.passed) = (came, went, passed);
        self.window = Some(state);
    }
}

/// When the last of the task's leaves reached its await point.
fn stands(task: &Task) -> Option<u64> {
    leaves(task).into_iter().map(|leaf| leaf.since).max()
}
