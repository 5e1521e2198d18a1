//! The monitor: builds the model of this process when a reader asks. The application never waits
//! for it.

#[cfg(feature = "server")]
mod alerts;
mod claims;
pub(crate) mod collector;
mod cost;
#[cfg(feature = "server")]
mod cpu_time;
#[cfg(feature = "server")]
mod heartbeat;
mod losses;
mod overhead;
#[cfg(feature = "server")]
mod pauses;
mod registry;
mod resources;
#[cfg(feature = "server")]
mod served;
#[cfg(feature = "server")]
mod situation;
mod tasks;
#[cfg(feature = "server")]
pub(crate) mod thread;
#[cfg(not(feature = "server"))]
#[path = "monitor/absent.rs"]
pub(crate) mod thread;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use turbowish_model::account::time::Scale;
use turbowish_model::collect::assemble::{Assembly, Names};
#[cfg(test)]
use turbowish_model::collect::history::Window;
use turbowish_model::collect::history::{History, Totals, Trend};
use turbowish_model::query::{Budget, Query, QueryError, Selection};
use turbowish_model::snapshot::{Accounting, Lost, Polling, Process, Snapshot, Worker};

use self::claims::Claims;
use self::losses::{Losses, lost};
use self::overhead::Costs;
use self::registry::Registry;
use self::tasks::{LiveTasks, NameTable, Rows};
use self::thread::MonitorThread;
use crate::hot::proc::{self, Registered};
use crate::hot::thread as thread_list;
use crate::hot::{call, clock, switch, task};
use crate::lock::lock;
use crate::monitor::collector::{Collector, ThreadNow};
use crate::resource::cancel_safety;
use crate::runtimes;

/// Length of a cell of a proc's trend, in nanoseconds.
const TREND_NS: u64 = 3_000_000_000;

static PROCESS: OnceLock<Arc<Monitor>> = OnceLock::new();

/// This process's monitor, if it was started. A child of `fork` has none.
pub(crate) fn process() -> Option<&'static Arc<Monitor>> {
    PROCESS.get().filter(|_| !switch::is_child())
}

/// Starts this process's monitor. Returns `None` if it was started before.
pub(crate) fn start(name: String) -> Option<&'static Arc<Monitor>> {
    let mut first = false;
    let monitor = PROCESS.get_or_init(|| {
        first = true;
        Arc::new(Monitor::new(name))
    });
    thread_list::on_crowd(|| {
        if let Some(monitor) = process() {
            monitor.fold();
        }
    });
    first.then_some(monitor)
}

/// State of the monitor, for the lifetime of the process.
pub(crate) struct Monitor {
    name: String,
    command: String,
    begun: Instant,
    scale: Scale,
    state: Mutex<State>,
    thread: MonitorThread,
    /// Measured once, when they are needed.
    costs: OnceLock<Costs>,
    /// Whether the program's guard was dropped: accounting is not armed any more.
    closed: AtomicBool,
}

struct State {
    gather: Collector,
    history: History,
    switched: Switched,
    losses: Losses,
}

/// The last time that accounting was armed or disarmed.
#[derive(Clone, Copy)]
struct Switched {
    unix_ns: u64,
    /// When accounting was disarmed, if it is.
    off_at: Option<u64>,
    /// The running epoch, or the last one that ran.
    epoch: u32,
}

impl Monitor {
    /// Creates a monitor. Accounting is disarmed until [`Monitor::arm`].
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
                gather: Collector::default(),
                history: History::new(now),
                switched: Switched {
                    unix_ns: unix_ns(),
                    off_at: Some(now),
                    epoch: 0,
                },
                losses: Losses::default(),
            }),
            thread: MonitorThread::default(),
            costs: OnceLock::new(),
            closed: AtomicBool::new(false),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Arms accounting.
    pub(crate) fn arm(&self) {
        call::learn();
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

    /// Disarms accounting. Open polls and live calls are accounted as if they ended now.
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
            drop(state);
            cancel_safety::clear();
            self.end_pauses_and_alerts();
        }
    }

    /// Records that the program's guard was dropped: the program does not arm accounting any more.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Whether the program's guard was dropped.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Ends a tick of the history. Does nothing while accounting is disarmed.
    pub(crate) fn tick(&self) {
        self.count_leases();
        let mut state = self.state();
        if state.switched.off_at.is_some() {
            return;
        }
        let (totals, threads) = state.gather.read(clock::ticks);
        let totals = Arc::new(totals);
        state.history.tick(totals.clone());
        state.gather.next_tick();
        state.losses.look(lost(&totals).total(), totals.at);
        let epoch = state.switched.epoch;
        drop(state);
        self.look_for_alerts(&totals, &threads, epoch);
    }

    /// Folds the ledgers of ended threads, unless another thread has the monitor's lock.
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

    /// Takes a snapshot for the query.
    ///
    /// # Errors
    /// If the query is invalid.
    pub(crate) fn snapshot(&self, query: &Query) -> Result<Snapshot, QueryError> {
        self.snapshot_within(query, &Budget::unlimited())
    }

    /// Takes a snapshot within a budget.
    fn snapshot_within(&self, query: &Query, budget: &Budget<'_>) -> Result<Snapshot, QueryError> {
        let selection = Selection::parse(query)?;
        let mut state = self.state();
        let switched = state.switched;
        let clock = || switched.off_at.unwrap_or_else(clock::ticks);
        let (totals, threads) = state.gather.read(clock);
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
        let live = LiveTasks::read(&threads, switched.epoch, self.pauses(), &clock);
        let mut snapshot = Snapshot {
            process: self.identity(switched, &names.0),
            at_unix_ns: unix_ns(),
            window_ns: self.scale.ns(window.length),
            since_start: window.since_start,
            workers: workers(&assembly, &threads, switched.epoch),
            tasks_by_state: live.by_state(),
            lost: self.lost(&totals, losses),
            ..Snapshot::default()
        };
        // A task in its first poll is instrumented, and so was one that has ended since.
        let all = snapshot.process.runtime_tasks;
        snapshot.process.runtime_tasks = all.map(|all| all.max(live.total()));
        snapshot.procs.rows = assembly.procs();
        snapshot.awaits.rows = assembly.awaits();
        snapshot.tasks.total = live.total();
        snapshot.tasks.matched = live.total();
        snapshot.counters.rows = assembly.counters();
        snapshot.alerts.rows = self.alerts();
        snapshot.alerts.total = snapshot.alerts.rows.len() as u64;
        snapshot.alerts.matched = snapshot.alerts.total;
        snapshot.process.own_cost = self.own_cost(&assembly, snapshot.process.uptime_ns);
        if query.tasks.is_some() || query.resources.is_some() {
            fill(
                &mut snapshot,
                &selection,
                budget,
                &assembly,
                &live,
                &threads,
                &clock,
            )?;
        }
        selection.apply_others(&mut snapshot, budget)?;
        Ok(snapshot)
    }
}

#[cfg(test)]
impl Monitor {
    /// Totals and threads: the input of snapshots.
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

    /// Number of ledgers kept of this thread, of the threads that tests have named
    /// [`OURS`](crate::tests::stage::OURS) and of ended ones, and number of their epochs. Threads
    /// of other tests come and go.
    pub(crate) fn kept(&self) -> [usize; 2] {
        let thread = std::thread::current();
        let own = thread.name().expect("a test's thread has a name");
        let names = [own, crate::tests::stage::OURS, crate::hot::thread::ENDED];
        self.state().gather.kept(&names)
    }
}

pub(crate) fn unix_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Live threads that have polled in this epoch.
fn worker_threads<'t, N: Names>(
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

/// Fills in the requested tasks, and all resources: each of the two needs the other.
fn fill(
    snapshot: &mut Snapshot,
    selection: &Selection,
    budget: &Budget<'_>,
    assembly: &Assembly<'_, Registry>,
    live: &LiveTasks,
    threads: &[ThreadNow],
    clock: &dyn Fn() -> u64,
) -> Result<(), QueryError> {
    let (tasks, epoch) = live.all();
    let known = &NameTable::of(assembly, tasks, threads, epoch);
    let (readings, rest) = resources::whole();
    let read_at = clock().max(assembly.now.at);
    let resources = resources::rows(assembly, known, &readings, read_at);
    let claims = &Claims::of(assembly, &resources, &readings, &rest, read_at);
    let rows = Rows {
        assembly,
        live,
        threads,
        known,
        claims,
    };
    selection.pick_tasks(snapshot, &rows, budget)?;
    snapshot.resources.rows = resources;
    Ok(())
}
