//! Finding: what a rule found in one scan. It has a potential alert, its identity and the parties
//! that it covers.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::asleep::Sleeper;
use super::limits::{Limit, Limits};
use super::memory::Memory;
use super::table::{self, PitfallRule};
use super::tense::marked;
use crate::diagnose::situation::{
    Node, NodeKind, Resource, Situation, Task, TaskKind, WorkerThread,
};
use crate::diagnose::wait_graph::Waits;
use crate::ordered::{Map, Set};
use crate::snapshot::alert::{Alert, Party, PartyKind, Point};
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::{Place, TaskState};

/// Part of an alert's identity, stable over scans.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Task(u64),
    Resource(u64),
    Named(String),
    At(String, u32, u32),
}

/// The identity of an alert.
pub(super) type Key = (Pitfall, Set<Subject>);

/// What a rule found.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) subjects: Set<Subject>,
    /// Ids of the tasks that are part of the finding or wait because of it.
    pub(super) tasks: Set<u64>,
    /// Ids of the resources that are part of the finding.
    pub(super) resources: Set<u64>,
    /// The potential alert; the detector replaces `since`.
    pub(super) alert: Alert,
    /// The start is unknown; it counts from the first sighting.
    pub(super) undated: bool,
    /// The poll that the finding is about.
    pub(super) poll: Option<OngoingPoll>,
    /// End of that poll, if it has ended.
    pub(super) until: Option<u64>,
    /// Tasks that stand still while nothing but that poll runs.
    pub(super) asleep: Vec<Sleeper>,
}

/// A poll: what tells later when it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OngoingPoll {
    /// Number of the worker's thread.
    pub(super) worker: u64,
    /// Start of the poll.
    pub(super) since: u64,
    /// Id of the task, and how many of its polls had started.
    pub(super) task: Option<(u64, u64)>,
    /// Path of the outermost proc, and the start of its poll.
    pub(super) root: Option<(String, u64)>,
}

impl OngoingPoll {
    /// Whether it is a poll that has ended, given that it was in progress at the instant `seen`.
    /// Root polls of one thread do not overlap, unless one [is around](Self::is_around) others; of
    /// an ended one the outermost call may be unknown.
    pub(super) const fn is(&self, worker: u64, ended: (u64, u64), seen: u64) -> bool {
        let (since, until) = ended;
        self.worker == worker && since <= seen && until > self.since
    }

    /// Whether another poll has begun and ended in this one, which is still in progress.
    pub(super) fn is_around(&self, inner: &Self, situation: &Situation) -> bool {
        let mut workers = situation.workers.iter();
        let worker = workers.find(|worker| worker.id == self.worker);
        let open = worker.and_then(|worker| worker.poll.as_ref());
        let is_open = open.is_some_and(|open| open.since == self.since);
        is_open && self.worker == inner.worker && self.since < inner.since
    }
}

impl Finding {
    /// Creates a finding of a pitfall that is present since an instant.
    pub(super) fn new(pitfall: Pitfall, since: u64) -> Self {
        Self {
            subjects: Set::new(),
            tasks: Set::new(),
            resources: Set::new(),
            alert: Alert {
                pitfall,
                severity: table::row(pitfall).severity,
                since,
                certain: true,
                ..Alert::default()
            },
            undated: false,
            poll: None,
            until: None,
            asleep: Vec::new(),
        }
    }

    /// Creates a finding whose start is unknown.
    pub(super) fn undated(pitfall: Pitfall, now: u64) -> Self {
        Self {
            undated: true,
            ..Self::new(pitfall, now)
        }
    }

    /// Adds a subject to the identity.
    pub(super) fn about(mut self, subject: Subject) -> Self {
        self.subjects.insert(subject);
        self
    }

    /// Adds a task as a party and to the identity.
    pub(super) fn of_task(self, task: &Task) -> Self {
        self.with_task(task).about(Subject::Task(task.id))
    }

    /// Adds a resource as a party and to the identity.
    pub(super) fn of_resource(self, resource: &Resource) -> Self {
        self.with_resource(resource)
            .about(Subject::Resource(resource.id))
    }

    /// Adds a proc as a party and to the identity.
    pub(super) fn of_proc(mut self, path: &str) -> Self {
        self.alert.parties.push(proc_party(path));
        self.about(Subject::Named(path.to_string()))
    }

    /// Adds a task as a party.
    pub(super) fn with_task(mut self, task: &Task) -> Self {
        if self.tasks.insert(task.id) {
            self.alert.parties.push(task_party(task));
        }
        self
    }

    /// Adds a resource as a party.
    pub(super) fn with_resource(mut self, resource: &Resource) -> Self {
        if self.resources.insert(resource.id) {
            self.alert.parties.push(resource_party(resource));
        }
        self
    }

    /// Adds a worker as a party and to the identity.
    pub(super) fn of_worker(mut self, worker: &WorkerThread) -> Self {
        self.alert.parties.push(Party {
            kind: PartyKind::Worker,
            id: 0,
            name: worker.name.clone(),
        });
        // Its name is a position among the live workers, which may change.
        self.about(Subject::Named(format!("thread {}", worker.id)))
    }

    /// Sets the await point.
    pub(super) fn at(mut self, proc: &str, place: Option<&Place>) -> Self {
        self.alert.at = Some(Point {
            proc: proc.to_string(),
            place: place.cloned(),
        });
        self
    }

    /// Sets the title; `{for}` is replaced by the time the pitfall was present, with `+` if it
    /// still is.
    pub(super) fn titled(mut self, title: String) -> Self {
        self.alert.title = title;
        self
    }

    /// Sets the summary: the pitfall in a few words, in both [tenses](marked).
    pub(super) fn summed(mut self, summary: &str) -> Self {
        self.alert.summary = marked(summary);
        self
    }

    /// Keeps the await point, reason and fixes of the earlier finding if this one has no await
    /// point: a task in a poll does not show it.
    pub(super) fn keep_place(&mut self, before: &Self) {
        let place = |alert: &Alert| alert.at.as_ref().is_some_and(|at| at.place.is_some());
        if place(&before.alert) && !place(&self.alert) {
            self.alert.at.clone_from(&before.alert.at);
            self.alert.why.clone_from(&before.alert.why);
            self.alert.fixes.clone_from(&before.alert.fixes);
        }
    }

    /// Keeps the await point of an earlier finding about the same poll, if this one has none.
    pub(super) fn keep_point(&mut self, before: &Self) {
        let (at, before) = (&mut self.alert.at, &before.alert.at);
        let is_known = |at: &Option<Point>| at.as_ref().is_some_and(|at| at.place.is_some());
        if is_known(before) && !is_known(at) {
            at.clone_from(before);
        }
    }

    /// Sets reason and fixes from the templates of the table.
    pub(super) fn explained(mut self, values: &[(&str, &str)]) -> Self {
        let row = table::row(self.alert.pitfall);
        self.alert.why = PitfallRule::fill(row.why, values).unwrap_or_default();
        let fixes = row
            .fixes
            .iter()
            .filter_map(|fix| PitfallRule::fill(fix, values));
        self.alert.fixes = fixes.collect();
        self
    }
}

pub(super) fn task_party(task: &Task) -> Party {
    Party {
        kind: PartyKind::Task,
        id: task.id,
        name: task.name.clone(),
    }
}

pub(super) fn resource_party(resource: &Resource) -> Party {
    Party {
        kind: PartyKind::Resource,
        id: resource.id,
        name: resource.name.clone(),
    }
}

pub(super) fn proc_party(path: &str) -> Party {
    Party {
        kind: PartyKind::Proc,
        id: 0,
        name: path.to_string(),
    }
}

/// Input of a rule.
pub(super) struct Scan<'a> {
    pub(super) situation: &'a Situation,
    pub(super) limits: &'a Limits,
    /// Memory of earlier situations.
    pub(super) memory: &'a Memory,
    pub(super) waits: Waits,
    tasks: Map<u64, usize>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(situation: &'a Situation, limits: &'a Limits, memory: &'a Memory) -> Self {
        let tasks = situation.tasks.iter().enumerate();
        Self {
            situation,
            limits,
            memory,
            waits: Waits::of(situation),
            tasks: Map::from_iter(tasks.map(|(at, task)| (task.id, at))),
        }
    }

    pub(super) fn now(&self) -> u64 {
        self.situation.now
    }

    pub(super) fn limit(&self, limit: Limit) -> u64 {
        self.limits.get(limit)
    }

    /// Time since an instant, in nanoseconds.
    pub(super) fn age(&self, since: u64) -> u64 {
        self.situation.now.saturating_sub(since)
    }

    /// Returns a live task.
    pub(super) fn task(&self, id: Option<u64>) -> Option<&'a Task> {
        Some(&self.situation.tasks[*self.tasks.get(&id?)?])
    }

    /// Tasks that may be the subject of an alert.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &'a Task> {
        let tasks = self.situation.tasks.iter();
        tasks.filter(|task| is_judged(task))
    }

    /// Tasks that wait and may be the subject of an alert.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &'a Task> {
        self.tasks().filter(|task| task.state == TaskState::Waiting)
    }
}

/// Whether a task may be the subject of an alert: it is neither paused nor a blocking function,
/// which cannot yield.
pub(super) fn is_judged(task: &Task) -> bool {
    !task.paused && task.kind != TaskKind::Blocking
}

/// The leaves of the task's tree, where it waits; the deepest comes last.
pub(super) fn leaves(task: &Task) -> Vec<&Node> {
    let nodes = task.tree.iter().filter(|node| !node.aside);
    let parents = Set::from_iter(nodes.clone().filter_map(|node| node.parent));
    let leaves = nodes.filter(|node| !parents.contains(&node.id));
    leaves.collect()
}

/// The only leaf, if the task waits at a single await point.
pub(super) fn leaf(task: &Task) -> Option<&Node> {
    let polls_several = |node: &&Node| !matches!(node.kind, NodeKind::Call | NodeKind::Unknown);
    if task.tree.iter().any(|node| polls_several(&node)) {
        return None;
    }
    match leaves(task)[..] {
        [leaf] => Some(leaf),
        _ => None,
    }
}
