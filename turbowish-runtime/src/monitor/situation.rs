//! Situation that the alert rules evaluate: built from the state of threads, tasks and resources at
//! one instant.
//!
//! A task at rest ([`crowd`]) that uses no resource is left out: there may be a million of them,
//! and no rule applies to them.

mod await_text;
pub(super) mod crowd;
mod event_rates;
mod handoff;
mod id_hash;
mod interrupted;
mod long_polls;
mod proc;
mod queue_time;
mod resource;
mod sliding_window;
mod tree;

use turbowish_model::account::resource::Reading;
use turbowish_model::account::time::Scale;
use turbowish_model::collect::assemble::Assembly;
use turbowish_model::diagnose::situation::{
    Ended, FinishedPoll, OpenPoll, Panic, PollsAfterEnd, Resource, RootTasks, Situation, Task,
    TaskKind, TimerWaits, Wake, Wakes, WorkerThread,
};
use turbowish_model::ordered::Set;
use turbowish_model::snapshot::{Place, TaskState};

use self::crowd::{Crowd, Pick};
use self::resource::{Trees, mark_awaiting_calls};
use super::alerts::looks::{EndedRoot, WorkerLooks};
use super::registry::Registry;
use super::tasks::{LiveTask, NameTable, spot};
use crate::hot::{after_end, clock, task};
use crate::monitor::collector::ThreadNow;
use crate::os_thread;
use crate::resource as primitives;
use turbowish_model::ordered::Map;

/// State kept from one situation to the next.
#[derive(Debug, Default)]
pub(super) struct Scout {
    /// Instant of the last situation, in ticks; 0 if there was none.
    at: u64,
    density: event_rates::Density,
    paces: proc::PollPaces,
    inside: queue_time::Inside,
    long_polls: long_polls::SeenLongPolls,
}

/// Inputs of a situation.
pub(super) struct SituationBuilder<'a> {
    pub(super) assembly: &'a Assembly<'a, Registry>,
    pub(super) threads: &'a [ThreadNow],
    pub(super) crowd: &'a Crowd,
    pub(super) known: &'a NameTable<'a>,
    pub(super) resources: &'a [Reading],
    /// Since when the heartbeat waits, in ticks.
    pub(super) heartbeat: Option<u64>,
    /// Polls longer than this many nanoseconds are long.
    pub(super) long_ns: u64,
    /// Polls that take this many nanoseconds hold their worker.
    pub(super) held_ns: u64,
    pub(super) looks: &'a WorkerLooks,
}

impl Scout {
    /// Whether there are so many polls that they are counted between situations.
    pub(super) const fn is_dense(&self, limit: u64) -> bool {
        self.density.is_dense(limit)
    }

    /// Adds the polls by proc at an instant between two situations; `now` in nanoseconds.
    pub(super) fn sample(&mut self, now: u64, polls: Vec<u64>) {
        self.density.sample(now, polls);
    }

    /// Uses of resources between the last two situations.
    pub(super) const fn used(&self) -> u64 {
        self.density.used()
    }

    /// Criteria for the tasks of a situation at the instant `now`, in ticks. Tasks that were not
    /// polled for `idle_ns` are idle.
    pub(super) fn pick(&self, epoch: u32, scale: Scale, now: u64, idle_ns: u64) -> Pick {
        Pick {
            epoch,
            before: self.at,
            short: scale.ticks(Crowd::SHORT_POLL),
            idle: now.saturating_sub(scale.ticks(idle_ns)),
            passed: now.saturating_sub(self.at),
        }
    }

    /// Builds the situation of this instant.
    pub(super) fn situation(&mut self, stage: &SituationBuilder<'_>) -> Situation {
        let at = stage.assembly.now.at;
        let settled = stage.crowd.settled(at);
        let trees: Trees<'_> = Map::from_iter(settled.map(|one| (one.meta.id, &one.reading)));
        let picked = stage.crowd.picked().iter();
        let mut tasks: Vec<Task> = picked.clone().filter_map(|one| stage.task(one)).collect();
        self.at = at;
        let readings = stage.resources.iter();
        let resources: Vec<Resource> = readings
            .map(|reading| {
                let mut resource = stage.resource(reading, &trees, &tasks);
                let inside = self
                    .inside
                    .percentile(stage.ns(stage.assembly.now.at), reading);
                resource.flow.inside_p99_ns = inside.map(|ticks| stage.ns(ticks));
                resource
            })
            .collect();
        self.inside.turn();
        mark_awaiting_calls(&mut tasks, &resources);
        let procs = stage.procs(&mut self.paces);
        let mut workers = stage.workers();
        self.long_polls.look(stage, &procs, &mut workers);
        Situation {
            now: stage.ns(stage.assembly.now.at),
            unix_ns: clock::unix_ns(),
            resources,
            tasks,
            roots: stage.roots(),
            streams: picked.clone().flat_map(|one| stage.streams(one)).collect(),
            ended: stage.ended(),
            workers,
            procs,
            polled_after_end: stage.polled_after_end(),
            timers: stage.timers(),
            orders: stage.orders(),
            heartbeat: stage.heartbeat(),
            candidates: stage.candidates(),
            sources: self.density.sources(stage),
        }
    }
}

/// The tasks that use a resource: one missing from a situation would be taken for ended.
pub(super) fn claims(resources: &[Reading]) -> Set<u64> {
    let mut claims = Set::new();
    for reading in resources {
        let waiters = reading.waiters.iter().map(|waiter| waiter.who.task);
        let holders = reading.holders.iter().map(|holder| holder.who.task);
        // Users of a channel's ends, too.
        let users = reading.ends.iter().filter_map(|end| end.user);
        let intents = reading.intents.iter().map(|intent| intent.who.task);
        claims.extend(waiters.chain(holders).chain(users).chain(intents));
    }
    claims
}

impl SituationBuilder<'_> {
    fn name(&self, one: &LiveTask) -> Option<String> {
        let given = one
            .origin
            .as_ref()
            .and_then(|origin| origin.name.as_deref());
        given
            .map(str::to_owned)
            .or_else(|| self.known.name(one.meta.id))
    }

    fn ns(&self, ticks: u64) -> u64 {
        self.assembly.scale.ns(ticks)
    }

    fn ticks(&self, ns: u64) -> u64 {
        self.assembly.scale.ticks(ns)
    }

    fn task(&self, one: &LiveTask) -> Option<Task> {
        let reading = &one.reading;
        let waker = reading.waker;
        let woken = waker.and_then(|waker| waker.woken);
        let (state, since) = match (reading.thread, woken) {
            (Some(_), _) => (TaskState::Polling, reading.since),
            (None, Some(woken)) => (TaskState::Ready, woken.max(reading.since)),
            (None, None) => (TaskState::Waiting, reading.since),
        };
        let now = self.assembly.now.at;
        let in_poll = match state {
            TaskState::Polling => now.saturating_sub(reading.since),
            _ => 0,
        };
        Some(Task {
            id: one.meta.id,
            name: self.name(one)?,
            root: self.path(one.meta.root())?,
            kind: match &one.origin {
                Some(origin) if origin.blocks => TaskKind::BlockOn,
                _ => TaskKind::Spawned,
            },
            state,
            since: self.ns(since),
            created: self.ns(one.meta.created),
            polls: reading.polls,
            busy_ns: self.ns(reading.running + in_poll),
            idle_polls: Some(reading.idle),
            wakes: waker.map(|waker| Wakes {
                total: waker.wakes,
                by_itself: waker.own_wakes,
                last: woken.map(|at| Wake {
                    at: self.ns(at),
                    by: self.known.waker(waker.by).unwrap_or_default(),
                }),
                clones: waker.clones,
                live: (!one.unseen).then_some(waker.live.into()),
            }),
            future_bytes: u64::from(one.meta.future_bytes),
            spawned: one.origin.as_ref().map(|origin| spot(origin.place)),
            // A poll in progress is evaluated like any other.
            paused: reading.pause.is_some() && reading.thread.is_none(),
            tree: match state {
                TaskState::Polling => Vec::new(),
                _ => self.tree(reading),
            },
        })
    }

    /// The number of tasks of each root.
    fn roots(&self) -> Vec<RootTasks> {
        let mut roots: Map<String, RootTasks> = Map::new();
        let procs = &self.assembly.now.aggregate.procs;
        for (id, counts) in self.crowd.roots() {
            let (Some(path), Some(stats)) = (self.path(id), procs.get(id as usize)) else {
                continue;
            };
            let root = roots.entry(path.clone()).or_default();
            root.path = path;
            root.live += counts.live;
            root.idle += counts.idle;
            root.ended += stats.ended();
        }
        roots.into_values().collect()
    }

    /// Polls of calls that were over.
    fn polled_after_end(&self) -> Vec<PollsAfterEnd> {
        let all = after_end::all().into_iter();
        let polls = all.filter_map(|(kind, polls)| {
            let by = kind.by.0.checked_sub(1);
            Some(PollsAfterEnd {
                proc: self.path(kind.proc)?,
                by: by.and_then(|by| self.path(by)),
                place: by.and_then(|by| self.place(by, kind.by.1)),
                times: polls.times,
                task: self.known.name(polls.task),
            })
        });
        polls.collect()
    }

    /// Waits for timers that are over.
    fn timers(&self) -> Vec<TimerWaits> {
        let delays = primitives::take_timer_delays().into_iter();
        let timers = delays.filter_map(|((proc, site), delay)| {
            Some(TimerWaits {
                proc: self.path(proc)?,
                place: self.place(proc, site),
                completed: delay.completed,
                late: delay.late,
                late_ns: delay.late_ns,
                worst_ns: delay.worst_ns,
                polling_ns: delay.polling_ns,
            })
        });
        timers.collect()
    }

    /// Since when the heartbeat waits: free workers poll a woken task at once.
    fn heartbeat(&self) -> Option<u64> {
        let at = self.heartbeat?;
        Some(self.ns(at.min(self.assembly.now.at)))
    }

    fn path(&self, proc: u32) -> Option<String> {
        Some(self.assembly.names.0.get(proc as usize)?.path.to_string())
    }

    fn place(&self, proc: u32, site: u16) -> Option<Place> {
        let index = site.checked_sub(1)?;
        turbowish_model::collect::assemble::Names::place(self.assembly.names, proc, index)
    }

    fn ended(&self) -> Vec<Ended> {
        let ended = task::ended().into_iter().filter_map(|ended| {
            let origin = ended.origin.as_ref();
            let given = origin.and_then(|origin| origin.name.as_deref().map(str::to_owned));
            Some(Ended {
                id: ended.meta.id,
                name: given.or_else(|| self.known.name(ended.meta.id))?,
                root: self.path(ended.meta.root())?,
                at: self.ns(ended.at),
                detached: ended.detached,
                panic: ended.note.map(|note| Panic {
                    message: note.message,
                    place: note.place,
                }),
                spawned: origin.map(|origin| spot(origin.place)),
                place: None,
            })
        });
        ended.collect()
    }

    fn workers(&self) -> Vec<WorkerThread> {
        let polls = |thread: &&ThreadNow| thread.polls;
        let workers = self.threads.iter().filter(polls).map(|thread| {
            let times = thread.os_id.and_then(os_thread::times);
            let poll = self.open(thread);
            // Of a thread that is in no poll nobody asks.
            let os_id = thread.os_id.filter(|_| poll.is_some());
            let looks = self.looks.of(thread.index);
            let now = self.assembly.now.at;
            let ended = looks.iter().flat_map(|looks| &looks.ended);
            // One that ends while this is read is told by the next situation.
            let ended = ended.filter(|poll| poll.until <= now);
            WorkerThread {
                id: thread.index.into(),
                name: self.known.worker(thread.index, &thread.name),
                thread: thread.name.to_string(),
                run_delay_ns: times.map(|(_, run_delay)| run_delay),
                cpu_ns: times.map(|(cpu, _)| cpu),
                sleeps: os_id.is_some_and(os_thread::sleeps),
                last_event: Some(self.ns(thread.latest)),
                poll,
                long_polls: Vec::new(),
                looks: looks.map_or_else(Vec::new, |looks| looks.times.clone()),
                ended_polls: ended.map(|poll| self.ended_poll(poll)).collect(),
            }
        });
        workers.collect()
    }

    fn ended_poll(&self, ended: &EndedRoot) -> FinishedPoll {
        let (long, stack) = (&ended.innermost.poll, &ended.innermost.stack);
        let innermost = stack.last().copied();
        FinishedPoll {
            task: ended.task,
            name: self.known.name(ended.task),
            since: self.ns(ended.since),
            until: self.ns(ended.until),
            stack: stack.iter().filter_map(|&proc| self.path(proc)).collect(),
            passed: innermost.and_then(|proc| self.place(proc, long.after as u16)),
        }
    }

    fn open(&self, thread: &ThreadNow) -> Option<OpenPoll> {
        let root = thread.open.iter().rposition(|poll| poll.root)?;
        let (first, last) = (thread.open.first()?, thread.open.last()?);
        let stack = thread.open.iter().filter_map(|poll| {
            let path = self.path(poll.proc)?;
            Some((path, self.ns(poll.start)))
        });
        Some(OpenPoll {
            task: Some(thread.open[root].key).filter(|&key| key != 0),
            since: self.ns(first.start),
            stack: stack.collect(),
            passed: self.place(last.proc, last.site),
        })
    }
}
