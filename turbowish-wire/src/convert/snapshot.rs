//! Whole snapshots.

use turbowish_model::snapshot as model;
use turbowish_model::snapshot::quantile::Distribution;

use super::{Malformed, required, rows};
use crate::proto;

impl From<model::Snapshot> for proto::Snapshot {
    fn from(snapshot: model::Snapshot) -> Self {
        let model::Snapshot {
            process,
            at_unix_ns,
            window_ns,
            since_start,
            workers,
            tasks_by_state,
            lost,
            procs,
            tasks,
            awaits,
            resources,
            alerts,
            ready_latency,
            counters,
            task_groups,
        } = snapshot;
        Self {
            process: Some(process.into()),
            at_unix_ns,
            window_ns,
            since_start,
            workers: workers.into_iter().map(Into::into).collect(),
            tasks_by_state: Some(tasks_by_state.into()),
            lost: Some(lost.into()),
            procs: Some(procs.into()),
            tasks: Some(tasks.into()),
            awaits: Some(awaits.into()),
            resources: Some(resources.into()),
            alerts: Some(alerts.into()),
            ready_latency: Some(ready_latency.into()),
            counters: Some(counters.into()),
            task_groups: task_groups.into_iter().map(Into::into).collect(),
            // Belongs to the stream, which sets it.
            pace_ns: 0,
        }
    }
}

impl TryFrom<proto::Snapshot> for model::Snapshot {
    type Error = Malformed;

    fn try_from(snapshot: proto::Snapshot) -> Result<Self, Malformed> {
        Ok(Self {
            process: required(snapshot.process, "Snapshot.process")?,
            at_unix_ns: snapshot.at_unix_ns,
            window_ns: snapshot.window_ns,
            since_start: snapshot.since_start,
            workers: rows(snapshot.workers)?,
            tasks_by_state: required(snapshot.tasks_by_state, "Snapshot.tasks_by_state")?,
            lost: required(snapshot.lost, "Snapshot.lost")?,
            procs: required(snapshot.procs, "Snapshot.procs")?,
            tasks: required(snapshot.tasks, "Snapshot.tasks")?,
            awaits: required(snapshot.awaits, "Snapshot.awaits")?,
            // Added to the protocol later: a process that does not send it has no rows.
            resources: match snapshot.resources {
                Some(page) => page.try_into()?,
                None => model::Page::default(),
            },
            alerts: match snapshot.alerts {
                Some(page) => page.try_into()?,
                None => model::Page::default(),
            },
            ready_latency: match snapshot.ready_latency {
                Some(population) => population.try_into()?,
                None => Distribution::default(),
            },
            counters: match snapshot.counters {
                Some(page) => page.try_into()?,
                None => model::Page::default(),
            },
            task_groups: rows(snapshot.task_groups)?,
        })
    }
}
