//! The model of this process, put together when somebody looks; the application never waits for it.

#[cfg(feature = "server")]
mod served;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use turbowish_model::assemble::{Assembly, Names, ProcName};
#[cfg(test)]
use turbowish_model::history::Window;
use turbowish_model::history::{History, Totals};
use turbowish_model::query::{Query, QueryError, Selection};
use turbowish_model::read::OpenPoll;
use turbowish_model::short_name::SharedEnds;
use turbowish_model::snapshot::{
    Accounting, Lost, Place, Polling, Process, Snapshot, TaskRow, TasksByState, Worker,
};
use turbowish_model::tally::Anomaly;
use turbowish_model::task::{Birth, TaskReading};
use turbowish_model::time::Scale;

use crate::gather::{Gather, ThreadNow};
use crate::proc::{self, Registered};
use crate::{clock, switch, task};

/// This process, as long as it lives.
pub(crate) struct Monitor {
    name: String,
    command: String,
    begun: Instant,
    scale: Scale,
    state: Mutex<State>,
}

struct State {
    gather: Gather,
    history: History,
    switched: Switched,
}

/// The last change of the switch.
#[derive(Clone, Copy)]
struct Switched {
    unix_ns: u64,
    /// When accounting was switched off, if it is.
    off_at: Option<u64>,
    /// The last epoch that ran or runs.
    epoch: u32,
}

impl Monitor {
    /// Accounting is off until [`Monitor::arm`].
    pub(crate) fn new(name: String) -> Self {
        clock::start();
        let command: Vec<String> = std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let now = clock::ticks();
        Self {
            name,
            command: command.join(" "),
            begun: Instant::now(),
            scale: clock::scale(),
            state: Mutex::new(State {
                gather: Gather::default(),
                history: History::new(now),
                switched: Switched {
                    unix_ns: unix_ns(),
                    off_at: Some(now),
                    epoch: 0,
                },
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches accounting on.
    pub(crate) fn arm(&self) {
        let mut state = self.state();
        if switch::epoch().is_some() {
            return;
        }
        let (totals, _) = state.gather.read(clock::ticks);
        state.history.resume(totals);
        if let Some(epoch) = switch::arm() {
            state.switched = Switched {
                unix_ns: unix_ns(),
                off_at: None,
                epoch,
            };
        }
    }

    /// Switches accounting off: what is open and live ends here, on paper.
    pub(crate) fn disarm(&self) {
        let mut state = self.state();
        if let Some(epoch) = switch::disarm() {
            let now = clock::ticks();
            state.gather.end(epoch, now);
            let (totals, _) = state.gather.read(|| now);
            state.history.tick(totals);
            state.switched = Switched {
                unix_ns: unix_ns(),
                off_at: Some(now),
                epoch,
            };
        }
    }

    /// Ends a tick of the history. Nothing to do while accounting is off.
    #[cfg(any(test, feature = "server"))]
    pub(crate) fn tick(&self) {
        let mut state = self.state();
        if state.switched.off_at.is_none() {
            let (totals, _) = state.gather.read(clock::ticks);
            state.history.tick(totals);
            state.gather.next_tick();
        }
    }

    /// Folds the ledgers of threads that are gone, if nobody else is at it.
    pub(crate) fn fold(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.gather.fold(&clock::ticks);
        }
    }

    fn identity(&self, switched: Switched, procs: &[Registered]) -> Process {
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
            runtime_tasks: None,
        }
    }

    /// What a query asks for, now.
    ///
    /// # Errors
    /// The query does not make sense.
    pub(crate) fn snapshot(&self, query: &Query) -> Result<Snapshot, QueryError> {
        let selection = Selection::parse(query)?;
        let mut state = self.state();
        let switched = state.switched;
        let (totals, threads) = state
            .gather
            .read(|| switched.off_at.unwrap_or_else(clock::ticks));
        let window = state
            .history
            .window(&totals, query.window_ns.map(|ns| self.scale.ticks(ns)));
        drop(state);
        let names = Registry(proc::all());
        let assembly = Assembly {
            window: &window,
            now: &totals,
            names: &names,
            scale: self.scale,
        };
        let wanted = query.tasks.as_ref();
        let shared = wanted.map(|_| SharedEnds::of(names.0.iter().map(|known| &*known.path)));
        let (tasks, by_state, total_tasks) =
            live_tasks(&assembly, &threads, switched.epoch, shared.as_ref());
        let mut snapshot = Snapshot {
            process: self.identity(switched, &names.0),
            at_unix_ns: unix_ns(),
            window_ns: self.scale.ns(window.length),
            since_start: window.since_start,
            workers: workers(&assembly, &threads, switched.epoch),
            tasks_by_state: by_state,
            lost: lost(&totals),
            ..Snapshot::default()
        };
        snapshot.procs.rows = assembly.procs();
        snapshot.awaits.rows = assembly.awaits();
        snapshot.tasks.rows = tasks;
        snapshot.tasks.total = total_tasks;
        selection.apply(&mut snapshot);
        Ok(snapshot)
    }
}

#[cfg(test)]
impl Monitor {
    /// What snapshots are made of.
    pub(crate) fn totals(&self) -> (Totals, Vec<ThreadNow>) {
        let mut state = self.state();
        let switched = state.switched;
        state
            .gather
            .read(|| switched.off_at.unwrap_or_else(clock::ticks))
    }

    /// The window of about `length` ticks of the clock.
    pub(crate) fn window(&self, now: &Totals, length: Option<u64>) -> Window {
        self.state().history.window(now, length)
    }

    /// How many ledgers are kept.
    pub(crate) fn ledgers(&self) -> usize {
        self.state().gather.ledgers()
    }

    /// Of how many epochs.
    pub(crate) fn epochs(&self) -> usize {
        self.state().gather.epochs()
    }
}

fn unix_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn workers<N: Names>(assembly: &Assembly<'_, N>, threads: &[ThreadNow], epoch: u32) -> Vec<Worker> {
    let now = assembly.now.at;
    let age = |start: u64| assembly.scale.ns(now.saturating_sub(start));
    let alive = threads.iter().filter(|thread| thread.epoch == epoch);
    alive
        .filter(|thread| {
            assembly
                .now
                .busy
                .get(&thread.index)
                .is_some_and(|&busy| busy > 0)
        })
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

/// Rows and counts of the live tasks; no rows without what their names must not be.
fn live_tasks<N: Names>(
    assembly: &Assembly<'_, N>,
    threads: &[ThreadNow],
    epoch: u32,
    shared: Option<&SharedEnds<'_>>,
) -> (Vec<TaskRow>, TasksByState, u64) {
    let mut counts = TasksByState::default();
    let mut rows = Vec::new();
    for (birth, mut reading) in readings(threads) {
        if reading.epoch != epoch {
            // Not polled since accounting was switched on again: it waits, but where is not known.
            reading.forget_place(birth.root());
        }
        let open = reading
            .thread
            .map(|index| open_of(threads, index, reading.since));
        match open {
            Some(_) => counts.polling += 1,
            None => counts.waiting += 1,
        }
        if let Some(shared) = shared {
            rows.extend(assembly.task(&birth, &reading, open, shared));
        }
    }
    let total = counts.polling + counts.waiting;
    (rows, counts, total)
}

/// Every live task once: those with a row, and those in their first poll.
fn readings(threads: &[ThreadNow]) -> Vec<(Birth, TaskReading)> {
    let newborn = |thread: &ThreadNow| {
        let birth = thread.newborn?;
        let is_open = !open_of(threads, thread.index, birth.created).is_empty();
        is_open.then(|| {
            (
                birth,
                TaskReading::first(&birth, thread.epoch, thread.index),
            )
        })
    };
    let mut newborn: Vec<_> = threads.iter().filter_map(newborn).collect();
    let mut all = Vec::new();
    for cell in task::all() {
        // The threads were read first: a newborn may have got its row since.
        newborn.retain(|(birth, _)| birth.id != cell.birth.id);
        all.push((cell.birth, cell.read(&mut std::thread::yield_now)));
    }
    all.append(&mut newborn);
    all
}

/// The part of a thread's stack that belongs to the root poll begun at `since`; empty if the thread has
/// gone on to another one since the ledgers were read.
fn open_of(threads: &[ThreadNow], index: u32, since: u64) -> &[OpenPoll] {
    let thread = threads.iter().find(|thread| thread.index == index);
    let open = thread.map_or(&[][..], |thread| &thread.open);
    let root = open
        .iter()
        .position(|poll| poll.root && poll.start == since);
    root.map_or(&[], |at| &open[at..])
}

fn lost(totals: &Totals) -> Lost {
    let count = |kind: Anomaly| totals.tally.anomalies[kind as usize];
    Lost {
        tasks: task::lost(),
        procs: proc::lost(),
        late_attach: count(Anomaly::LateAttach),
        orphan_end: count(Anomaly::OrphanEnd),
        forced_pop: count(Anomaly::ForcedPop),
        clock_backwards: count(Anomaly::ClockBackwards),
    }
}

/// The procs of this process as the model's names.
struct Registry(Vec<Registered>);

impl Names for Registry {
    fn proc(&self, id: u32) -> Option<ProcName<'_>> {
        let known = self.0.get(id as usize)?;
        Some(ProcName {
            path: &known.path,
            file: known.file,
            line: known.line,
        })
    }

    fn place(&self, proc: u32, site: u16) -> Option<Place> {
        let known = self.0.get(proc as usize)?;
        let site = known.sites.get(usize::from(site))?.as_ref()?;
        Some(Place {
            file: known.file.to_owned(),
            line: site.line,
            column: site.column,
            end_line: site.end_line,
            end_column: site.end_column,
            expr: site.expr.to_owned(),
        })
    }
}
