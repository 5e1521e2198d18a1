//! Snapshots of this process.

use std::cell::OnceCell;

use turbowish_model::collect::assemble::{Assembly, Names};
use turbowish_model::collect::history::{Totals, Trend};
use turbowish_model::query::{Budget, Query, QueryError, RECORDED_WINDOW_NS, Selection};
use turbowish_model::snapshot::minute::LastMinute;
use turbowish_model::snapshot::{Accounting, Lost, Polling, Process, Snapshot, Worker};

use super::claims::Claims;
use super::collector::ThreadNow;
use super::losses::{Losses, lost};
use super::registry::Registry;
use super::tasks::{LiveTasks, NameTable, Rows};
use super::{Monitor, Switched, resources};
use crate::hot::proc::{self, Registered};
use crate::hot::{clock, task};
use crate::lock::lock;
use crate::runtimes;

/// Length of a cell of a proc's trend, in nanoseconds.
const TREND_NS: u64 = 3_000_000_000;

impl Monitor {
    pub(super) fn identity(&self, switched: Switched, procs: &[Registered]) -> Process {
        let armed = switched.off_at.is_none();
        Process {
            name: self.name.clone(),
            pid: std::process::id(),
            command: self.command.clone(),
            uptime_ns: u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            accounting: if armed {
                Accounting::Armed
            } else {
                Accounting::Disarmed
            },
            accounting_since_unix_ns: switched.unix_ns,
            procs_known: procs.len() as u64,
            // A runtime counts spawned tasks only: a future on which one of its threads blocks, and
            // further roots of a task, are not among them.
            runtime_tasks: runtimes::tasks()
                .map(|all| all.saturating_sub(self.heartbeat_tasks()))
                .map(|inside| task::live().max(inside + task::outside())),
            own_cost: None,
        }
    }

    /// What was lost, and how long ago.
    fn lost(&self, totals: &Totals, losses: Losses) -> Lost {
        let (lost, now) = (lost(totals), clock::ticks());
        let last = losses.last(lost.total(), now);
        Lost {
            last_ago_ns: last.map(|at| self.scale.ns(now.saturating_sub(at))),
            ..lost
        }
    }

    /// The time of totals of this instant. They are as they were while accounting is off, and that
    /// they are so is of now.
    fn unix_ns(&self, at: u64, switched: Switched) -> u64 {
        match switched.off_at {
            None => clock::unix_ns_of(at, self.scale),
            Some(_) => clock::unix_ns(),
        }
    }

    /// Takes a snapshot for the query.
    ///
    /// # Errors
    /// If the query is invalid.
    pub(crate) fn snapshot(&self, query: &Query) -> Result<Snapshot, QueryError> {
        self.snapshot_within(query, &Budget::unlimited())
    }

    /// Takes a snapshot within a budget.
    pub(crate) fn snapshot_within(
        &self,
        query: &Query,
        budget: &Budget<'_>,
    ) -> Result<Snapshot, QueryError> {
        let selection = Selection::parse(query)?;
        let mut state = self.state();
        let switched = state.switched;
        let clock = || switched.off_at.unwrap_or_else(clock::ticks);
        let (totals, threads) = state.read_since(self.scale.ticks(budget.age_ns()));
        let window = state
            .history
            .window(&totals, query.window_ns.map(|ns| self.scale.ticks(ns)));
        let trend = match query.procs {
            Some(_) => state.history.trend(&totals, self.scale.ticks(TREND_NS)),
            None => Trend::default(),
        };
        let losses = state.losses;
        drop(state);
        let names = Registry(proc::all());
        let assembly = Assembly {
            window: &window,
            trend: &trend,
            now: &totals,
            names: &names,
            scale: self.scale,
        };
        let mut snapshot = Snapshot {
            process: self.identity(switched, &names.0),
            at_unix_ns: self.unix_ns(totals.at, switched),
            window_ns: self.scale.ns(window.length),
            since_start: window.since_start,
            workers: workers(&assembly, &threads, switched.epoch),
            lost: self.lost(&totals, losses),
            ..Snapshot::default()
        };
        self.fill_alerts(&mut snapshot);
        // Soon after the threads, whose open polls are those of tasks.
        let instant = |newest| if newest > totals.at { clock() } else { 0 };
        let live = LiveTasks::new(&threads, switched.epoch, self.pauses(), &instant);
        let known = OnceCell::new();
        let known =
            || known.get_or_init(|| NameTable::of(&assembly, &[], &threads, switched.epoch));
        if query.tasks.is_some() || query.resources.is_some() {
            let read = (&live, known());
            fill_tasks_and_resources(&mut snapshot, &selection, budget, &assembly, read, &clock)?;
        }
        if query.tasks.is_none() {
            live.each(&mut |_| Ok(()))?;
            snapshot.tasks.matched = live.total();
        }
        count_tasks(&mut snapshot, &live);
        let is_asked = query.procs.is_some() || query.awaits.is_some();
        self.fill_procs_and_awaits(&mut snapshot, &assembly, is_asked.then(known));
        Self::fill_others(&mut snapshot, &assembly);
        snapshot.process.own_cost = self.own_cost(&assembly, snapshot.process.uptime_ns);
        selection.apply_others(&mut snapshot, budget)?;
        Ok(self.with_minute(snapshot, query))
    }

    /// Adds the last minute. It has the numbers of states, and of what consoles ask in their place.
    fn with_minute(&self, mut snapshot: Snapshot, query: &Query) -> Snapshot {
        let mut minute = lock(&self.minute);
        if query.window_ns == Some(RECORDED_WINDOW_NS) {
            // Another query may have noted a later instant in the meantime.
            minute.join(&LastMinute::of_one(&snapshot));
        }
        snapshot.minute = minute.clone();
        snapshot
    }

    /// Fills in the tables of procs and await points: with the names of those who had the longest
    /// polls and waits, if the names are given.
    fn fill_procs_and_awaits(
        &self,
        snapshot: &mut Snapshot,
        assembly: &Assembly<'_, Registry>,
        known: Option<&NameTable<'_>>,
    ) {
        let task = |id| known?.name(id);
        let thread = |number| known?.thread(number);
        snapshot.procs.rows = assembly.procs(&|poll| [thread(poll.thread), task(poll.task)]);
        snapshot.awaits.rows = self.awaits(assembly, &task);
    }

    /// Fills in the tables other than those of procs, await points, tasks, resources and alerts.
    fn fill_others(snapshot: &mut Snapshot, assembly: &Assembly<'_, Registry>) {
        snapshot.counters.rows = assembly.counters();
        snapshot.delays.rows = assembly.delays();
        snapshot.slowest.rows = assembly.slowest();
    }

    fn fill_alerts(&self, snapshot: &mut Snapshot) {
        (snapshot.alerts.rows, snapshot.alerts_forgotten) = self.alerts();
        snapshot.alerts.total = snapshot.alerts.rows.len() as u64;
        snapshot.alerts.matched = snapshot.alerts.total;
    }
}

/// Live threads that have polled in this epoch.
pub(super) fn worker_threads<'t, N: Names>(
    assembly: &Assembly<'_, N>,
    threads: &'t [ThreadNow],
    epoch: u32,
) -> impl Iterator<Item = &'t ThreadNow> {
    let alive = threads.iter().filter(move |thread| thread.epoch == epoch);
    alive.filter(|thread| {
        let busy = assembly.now.busy.get(&thread.index);
        busy.is_some_and(|&busy| busy > 0)
    })
}

fn workers<N: Names>(assembly: &Assembly<'_, N>, threads: &[ThreadNow], epoch: u32) -> Vec<Worker> {
    let now = assembly.now.at;
    let age = |start: u64| assembly.scale.ns(now.saturating_sub(start));
    worker_threads(assembly, threads, epoch)
        .map(|thread| Worker {
            name: thread.name.to_string(),
            busy_ns: assembly.scale.ns(assembly
                .window
                .busy
                .get(&thread.index)
                .copied()
                .unwrap_or(0)),
            polling: thread
                .open
                .last()
                .zip(thread.open.first())
                .and_then(|(top, bottom)| {
                    let proc = assembly.names.proc(top.proc)?.path.to_owned();
                    Some(Polling {
                        proc,
                        since_ns: age(top.start),
                        root_since_ns: age(bottom.start),
                    })
                }),
        })
        .collect()
}

/// Fills in the numbers of tasks, all of which were read.
fn count_tasks(snapshot: &mut Snapshot, live: &LiveTasks<'_>) {
    snapshot.tasks.total = live.total();
    snapshot.tasks_by_state = live.by_state();
    // A task in its first poll is instrumented, and so was one that has ended since.
    let all = snapshot.process.runtime_tasks;
    snapshot.process.runtime_tasks = all.map(|all| all.max(live.total()));
}

/// Fills in the requested tasks, and all resources: each of the two needs the other.
fn fill_tasks_and_resources(
    snapshot: &mut Snapshot,
    selection: &Selection,
    budget: &Budget<'_>,
    assembly: &Assembly<'_, Registry>,
    (live, known): (&LiveTasks<'_>, &NameTable<'_>),
    clock: &dyn Fn() -> u64,
) -> Result<(), QueryError> {
    let (readings, rest) = resources::whole();
    let read_at = clock().max(assembly.now.at);
    let resources = resources::rows(assembly, known, &readings, read_at);
    let claims = &Claims::of(assembly, &resources, &readings, &rest, read_at);
    let rows = Rows {
        assembly,
        live,
        known,
        claims,
    };
    selection.pick_tasks(snapshot, &rows, budget)?;
    snapshot.resources.rows = resources;
    Ok(())
}
