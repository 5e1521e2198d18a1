//! The scene that the alert rules look at: made of what the threads, the tasks and the resources show at one instant.
//!
//! A task that waits, can be woken, has no future that was woken and is not polled, has nothing to do with a resource and was not polled
//! since the scene before is left out: there may be a million of them, and no rule has anything to say about them.

mod by_id;
#[cfg(feature = "tokio")]
mod cut;
mod heirs;
mod inside;
mod proc;
mod resource;
mod sliding;
mod sources;
mod told;
mod tree;
#[cfg(not(feature = "tokio"))]
mod uncut;

use std::collections::BTreeSet;

use turbowish_model::assemble::Assembly;
use turbowish_model::resource::Reading;
use turbowish_model::scene::{
    Ended, OpenPoll, Resource, Scene, Spot, Task, TaskKind, Wake, Wakes, Worker,
};
use turbowish_model::snapshot::{Place, TaskState};

use self::by_id::{ById, Spread};
use self::resource::{Trees, seat};
use super::Registry;
use super::tasks::{Known, Live, One};
use crate::gather::ThreadNow;
use crate::{clock, pulse, task};

/// What is remembered from one scene to the next.
#[derive(Debug, Default)]
pub(super) struct Scout {
    /// Polls of each task.
    polls: ById<u64>,
    density: sources::Density,
    paces: proc::Paces,
    inside: inside::Inside,
}

/// What a scene is made of.
pub(super) struct Stage<'a> {
    pub(super) assembly: &'a Assembly<'a, Registry>,
    pub(super) threads: &'a [ThreadNow],
    pub(super) live: &'a Live,
    pub(super) known: &'a Known<'a>,
    pub(super) resources: &'a [Reading],
    /// Polls beyond this many nanoseconds are long.
    pub(super) long_ns: u64,
}

impl Scout {
    /// Whether polls are so many that they are to be counted between the scenes.
    pub(super) const fn is_dense(&self, limit: u64) -> bool {
        self.density.is_dense(limit)
    }

    /// Polls by proc at an instant between two scenes, in nanoseconds.
    pub(super) fn sample(&mut self, now: u64, polls: Vec<u64>) {
        self.density.sample(now, polls);
    }

    /// Uses of resources between the last two scenes.
    pub(super) const fn used(&self) -> u64 {
        self.density.used()
    }

    /// The scene of this instant.
    pub(super) fn scene(&mut self, stage: &Stage<'_>) -> Scene {
        let mut claims = BTreeSet::new();
        for reading in stage.resources {
            let waiters = reading.waiters.iter().map(|waiter| waiter.who.task);
            let holders = reading.holders.iter().map(|holder| holder.who.task);
            // Who uses a channel, too: a task that is left out would be taken for one that is gone.
            let users = reading.ends.iter().filter_map(|end| end.user);
            let intents = reading.intents.iter().map(|intent| intent.who.task);
            claims.extend(waiters.chain(holders).chain(users).chain(intents));
        }
        let mut polls = ById::with_capacity_and_hasher(self.polls.len(), Spread::default());
        let (mut tasks, mut trees) = (Vec::new(), Trees::new());
        for one in stage.live.iter() {
            let (id, count) = (one.birth.id, one.reading.polls);
            let was_polled = self.polls.get(&id) != Some(&count);
            polls.insert(id, count);
            let at_rest = one.reading.thread.is_none() && !was_polled && one.may_rest();
            let claimed = claims.contains(&id);
            if claimed {
                trees.insert(id, &one.reading);
            }
            if claimed || !at_rest {
                tasks.extend(stage.task(one));
            }
        }
        self.polls = polls;
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
        seat(&mut tasks, &resources);
        Scene {
            now: stage.ns(stage.assembly.now.at),
            resources,
            tasks,
            ended: stage.ended(),
            workers: stage.workers(),
            procs: stage.procs(&mut self.paces),
            orders: stage.orders(),
            heartbeat: stage.heartbeat(),
            heirs: stage.heirs(),
            sources: self.density.sources(stage),
        }
    }
}

impl Stage<'_> {
    fn ns(&self, ticks: u64) -> u64 {
        self.assembly.scale.ns(ticks)
    }

    fn ticks(&self, ns: u64) -> u64 {
        self.assembly.scale.ticks(ns)
    }

    fn task(&self, one: &One) -> Option<Task> {
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
            id: one.birth.id,
            name: self.known.name(one.birth.id)?,
            root: self.path(one.birth.root())?,
            kind: match &one.story {
                Some(story) if story.blocks => TaskKind::BlockOn,
                _ => TaskKind::Spawned,
            },
            state,
            since: self.ns(since),
            created: self.ns(one.birth.created),
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
            future_bytes: u64::from(one.birth.future_bytes),
            spawned: one.story.as_ref().map(|story| spot(story.place)),
            // A poll under way is judged like any other.
            paused: reading.pause.is_some() && reading.thread.is_none(),
            tree: match state {
                TaskState::Polling => Vec::new(),
                _ => self.tree(reading),
            },
        })
    }

    /// Workers that are free poll what is woken at once.
    fn heartbeat(&self) -> Option<u64> {
        const PACE_NS: u64 = 900_000_000;
        let scale = self.assembly.scale;
        let at = pulse::ask(clock::ticks(), scale.ticks(PACE_NS))?;
        Some(self.ns(at.min(self.assembly.now.at)))
    }

    fn path(&self, proc: u32) -> Option<String> {
        Some(self.assembly.names.0.get(proc as usize)?.path.to_string())
    }

    fn place(&self, proc: u32, site: u16) -> Option<Place> {
        let index = site.checked_sub(1)?;
        turbowish_model::assemble::Names::place(self.assembly.names, proc, index)
    }

    fn ended(&self) -> Vec<Ended> {
        let ended = task::ended().into_iter().filter_map(|ended| {
            let story = ended.story.as_ref();
            let given = story.and_then(|story| story.name.as_deref().map(str::to_owned));
            Some(Ended {
                id: ended.birth.id,
                name: given.or_else(|| self.known.name(ended.birth.id))?,
                root: self.path(ended.birth.root())?,
                at: self.ns(ended.at),
                detached: ended.detached,
                spawned: story.map(|story| spot(story.place)),
                place: None,
            })
        });
        ended.collect()
    }

    fn workers(&self) -> Vec<Worker> {
        let polls = |thread: &&ThreadNow| thread.polls;
        let workers = self.threads.iter().filter(polls).map(|thread| Worker {
            name: thread.name.to_string(),
            poll: self.open(thread),
        });
        workers.collect()
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

fn spot(place: &std::panic::Location<'_>) -> Spot {
    Spot {
        file: place.file().to_owned(),
        line: place.line(),
        column: place.column(),
    }
}
