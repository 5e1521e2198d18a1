//! What a rule found in one scan: an alert to be, who it is, and what it covers.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::limits::{Limit, Limits};
use super::memory::Memory;
use super::table::{Pitfall, Row};
use super::{Alert, Party, PartyKind, Point};
use crate::diagnose::situation::{Node, NodeKind, Resource, Scene, Task, TaskKind, Worker};
use crate::diagnose::wait_graph::Waits;
use crate::snapshot::{Place, TaskState};

/// What tells one alert of a kind from another, over scans.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Task(u64),
    Resource(u64),
    Named(String),
    At(String, u32, u32),
}

/// The identity of an alert.
pub(super) type Key = (Pitfall, BTreeSet<Subject>);

/// What a rule found.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) subjects: BTreeSet<Subject>,
    /// Ids of the tasks that are part of it or behind it.
    pub(super) tasks: BTreeSet<u64>,
    /// Ids of the resources that are part of it.
    pub(super) resources: BTreeSet<u64>,
    /// The alert as it would be; the detector knows better since when.
    pub(super) alert: Alert,
    /// Since when is not known: since it was found first.
    pub(super) undated: bool,
}

impl Finding {
    /// Of a kind, since an instant.
    pub(super) fn new(pitfall: Pitfall, since: u64) -> Self {
        Self {
            subjects: BTreeSet::new(),
            tasks: BTreeSet::new(),
            resources: BTreeSet::new(),
            alert: Alert {
                pitfall,
                severity: pitfall.row().severity,
                since,
                certain: true,
                ..Alert::default()
            },
            undated: false,
        }
    }

    /// Of a kind, found now; since when it is so is not known.
    pub(super) fn undated(pitfall: Pitfall, now: u64) -> Self {
        Self {
            undated: true,
            ..Self::new(pitfall, now)
        }
    }

    /// One more that tells it from others of its kind.
    pub(super) fn about(mut self, subject: Subject) -> Self {
        self.subjects.insert(subject);
        self
    }

    /// A task is part of it, and tells it from others.
    pub(super) fn of_task(self, task: &Task) -> Self {
        self.with_task(task).about(Subject::Task(task.id))
    }

    /// A resource is part of it, and tells it from others.
    pub(super) fn of_resource(self, resource: &Resource) -> Self {
        self.with_resource(resource)
            .about(Subject::Resource(resource.id))
    }

    /// A proc is what it is about.
    pub(super) fn of_proc(mut self, path: &str) -> Self {
        self.alert.parties.push(proc_party(path));
        self.about(Subject::Named(path.to_string()))
    }

    /// A task is part of it.
    pub(super) fn with_task(mut self, task: &Task) -> Self {
        if self.tasks.insert(task.id) {
            self.alert.parties.push(task_party(task));
        }
        self
    }

    /// A resource is part of it.
    pub(super) fn with_resource(mut self, resource: &Resource) -> Self {
        if self.resources.insert(resource.id) {
            self.alert.parties.push(resource_party(resource));
        }
        self
    }

    /// A worker is part of it, and tells it from others.
    pub(super) fn of_worker(mut self, worker: &Worker) -> Self {
        self.alert.parties.push(Party {
            kind: PartyKind::Worker,
            id: 0,
            name: worker.name.clone(),
        });
        self.about(Subject::Named(worker.name.clone()))
    }

    /// Where it is.
    pub(super) fn at(mut self, proc: &str, place: Option<&Place>) -> Self {
        self.alert.at = Some(Point {
            proc: proc.to_string(),
            place: place.cloned(),
        });
        self
    }

    /// Its title; `{for}` is how long it has been active.
    pub(super) fn titled(mut self, title: String) -> Self {
        self.alert.title = title;
        self
    }

    /// What it is in a few words.
    pub(super) fn summed(mut self, summary: impl Into<String>) -> Self {
        self.alert.summary = summary.into();
        self
    }

    /// A task in a poll does not show where it stands: what was known of that, and of what to do there, stays.
    pub(super) fn keep_place(&mut self, before: &Self) {
        let place = |alert: &Alert| alert.at.as_ref().is_some_and(|at| at.place.is_some());
        if place(&before.alert) && !place(&self.alert) {
            self.alert.at.clone_from(&before.alert.at);
            self.alert.why.clone_from(&before.alert.why);
            self.alert.fixes.clone_from(&before.alert.fixes);
        }
    }

    /// Reason and remedies, from the templates of the table.
    pub(super) fn explained(mut self, values: &[(&str, &str)]) -> Self {
        let row = self.alert.row();
        self.alert.why = Row::fill(row.why, values).unwrap_or_default();
        let fixes = row.fixes.iter().filter_map(|fix| Row::fill(fix, values));
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

/// What a rule looks at.
pub(super) struct Scan<'a> {
    pub(super) scene: &'a Scene,
    pub(super) limits: &'a Limits,
    /// What is remembered of earlier scenes.
    pub(super) memory: &'a Memory,
    pub(super) waits: Waits,
    tasks: BTreeMap<u64, usize>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(scene: &'a Scene, limits: &'a Limits, memory: &'a Memory) -> Self {
        let tasks = scene.tasks.iter().enumerate();
        Self {
            scene,
            limits,
            memory,
            waits: Waits::of(scene),
            tasks: tasks.map(|(at, task)| (task.id, at)).collect(),
        }
    }

    pub(super) fn now(&self) -> u64 {
        self.scene.now
    }

    pub(super) fn limit(&self, limit: Limit) -> u64 {
        self.limits.get(limit)
    }

    /// Time since an instant.
    pub(super) fn age(&self, since: u64) -> u64 {
        self.scene.now.saturating_sub(since)
    }

    /// A task that is alive.
    pub(super) fn task(&self, id: Option<u64>) -> Option<&'a Task> {
        Some(&self.scene.tasks[*self.tasks.get(&id?)?])
    }

    /// Tasks that may be the subject of an alert.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &'a Task> {
        let tasks = self.scene.tasks.iter();
        tasks.filter(|task| is_judged(task))
    }

    /// Tasks that wait.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &'a Task> {
        self.tasks().filter(|task| task.state == TaskState::Waiting)
    }
}

/// Not one that is kept from being polled, nor one that cannot yield.
pub(super) fn is_judged(task: &Task) -> bool {
    !task.paused && task.kind != TaskKind::Blocking
}

/// Where a task waits: the leaves of its tree, the deepest last.
pub(super) fn leaves(task: &Task) -> Vec<&Node> {
    let nodes = task.tree.iter().filter(|node| !node.aside);
    let parents: BTreeSet<u32> = nodes.clone().filter_map(|node| node.parent).collect();
    let leaves = nodes.filter(|node| !parents.contains(&node.id));
    leaves.collect()
}

/// The one place where a task waits, if it is one.
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
