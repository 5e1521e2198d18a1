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
mod idle;
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
mod snapshot;
mod tasks;
#[cfg(feature = "server")]
pub(crate) mod thread;
#[cfg(not(feature = "server"))]
#[path = "monitor/absent.rs"]
pub(crate) mod thread;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

use turbowish_model::account::time::Scale;
#[cfg(test)]
use turbowish_model::collect::history::Window;
use turbowish_model::collect::history::{History, Totals};
use turbowish_model::collect::slow_limits::SlowLimits;
use turbowish_model::event::ConsoleEvent;
use turbowish_model::snapshot::minute::LastMinute;

use self::losses::{Losses, lost};
use self::overhead::Costs;
use self::thread::MonitorThread;
use crate::hot::thread as thread_list;
use crate::hot::{call, clock, events, switch};
use crate::lock::lock;
use crate::monitor::collector::{Collector, ThreadNow};
use crate::resource::cancel_safety;

/// A quarter of a second.
const QUARTER_NS: u64 = 250_000_000;

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
    minute: Mutex<LastMinute>,
    /// Whether the program's guard was dropped: accounting is not armed any more.
    closed: AtomicBool,
    /// Whether events of calls are to be recorded while accounting is armed.
    records_calls: AtomicBool,
}

struct State {
    gather: Collector,
    history: History,
    switched: Switched,
    losses: Losses,
    slow: SlowLimits,
}

impl State {
    /// All counters and threads.
    fn read(&mut self) -> (Arc<Totals>, Vec<ThreadNow>) {
        let off_at = self.switched.off_at;
        let clock = || off_at.unwrap_or_else(clock::ticks);
        let (totals, threads) = self.gather.read(clock);
        (Arc::new(totals), threads)
    }

    /// The same, but with the counters of the last tick if that has ended in the last `age` ticks
    /// of the clock. What a thread has begun since has the age 0.
    fn read_since(&mut self, age: u64) -> (Arc<Totals>, Vec<ThreadNow>) {
        let last = self.history.last();
        if self.switched.off_at.is_some() || clock::ticks().saturating_sub(last.at) >= age {
            return self.read();
        }
        let last = Arc::clone(last);
        (last, self.gather.threads(clock::ticks))
    }

    /// Accounts what is under way in an epoch that ended at `now` as if it ended then.
    fn end_epoch(&mut self, epoch: u32, now: u64) {
        // First of all: the next epoch may have begun.
        cancel_safety::clear();
        self.gather.end(epoch, now);
        thread_list::end_calls(epoch, now);
        let (totals, _) = self.gather.read(|| now);
        self.history.tick(totals);
    }

    /// After a tick of the history of so many quarters of a second: makes known to all threads
    /// which calls are slow from now on.
    fn follow_slow_calls(&mut self, quarters: u64) {
        let growth = self.history.last_growth();
        let limits = growth.map(|growth| self.slow.tick(growth, quarters));
        self.gather.follow(&limits.unwrap_or_default());
    }
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
                    unix_ns: clock::unix_ns(),
                    off_at: Some(now),
                    epoch: 0,
                },
                losses: Losses::default(),
                slow: SlowLimits::default(),
            }),
            thread: MonitorThread::default(),
            costs: OnceLock::new(),
            minute: Mutex::default(),
            closed: AtomicBool::new(false),
            records_calls: AtomicBool::new(false),
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
        if let Some(epoch) = self.turn_on() {
            events::console(|| ConsoleEvent::Arm);
            state.switched = Switched {
                unix_ns: clock::unix_ns(),
                off_at: None,
                epoch,
            };
        }
    }

    fn turn_on(&self) -> Option<u32> {
        if !self.records_calls.load(Ordering::Relaxed) {
            return switch::arm();
        }
        thread_list::number_calls_anew();
        switch::arm_recorded()
    }

    /// Lets the events of calls be recorded from now on, or no longer. Each poll of an epoch is
    /// recorded, or none is: if accounting is armed, another epoch begins in the same step, and
    /// calls in flight are abandoned. Tasks stay paused. Alerts begin anew: where a task waits is
    /// known again from its next poll on.
    pub(crate) fn record_calls(&self, records: bool) {
        let mut state = self.state();
        if self.records_calls.swap(records, Ordering::Relaxed) == records {
            return;
        }
        if records {
            thread_list::number_calls_anew();
        }
        if let Some([ended, epoch]) = switch::renew(records) {
            let now = clock::ticks();
            state.end_epoch(ended, now);
            state.switched.epoch = epoch;
            drop(state);
            self.begin_alerts_anew();
        }
    }

    /// Disarms accounting. Open polls and live calls are accounted as if they ended now.
    pub(crate) fn disarm(&self) {
        let mut state = self.state();
        if let Some(epoch) = switch::disarm() {
            events::console(|| ConsoleEvent::Disarm);
            let (now, unix_ns) = (clock::ticks(), clock::unix_ns());
            state.end_epoch(epoch, now);
            state.switched = Switched {
                unix_ns,
                off_at: Some(now),
                epoch,
            };
            drop(state);
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

    /// Ends a tick of the history. Returns its totals, the threads and the epoch; `None` while
    /// accounting is disarmed.
    fn end_tick(&self) -> Option<(Arc<Totals>, Vec<ThreadNow>, u32)> {
        let mut state = self.state();
        if state.switched.off_at.is_some() {
            return None;
        }
        let (totals, threads) = state.read();
        let before = state.history.tick(totals.clone());
        let quarters = self.scale.ns(totals.at.saturating_sub(before.at));
        let quarters = quarters.saturating_add(QUARTER_NS / 2) / QUARTER_NS;
        state.gather.reuse(before);
        state.follow_slow_calls(quarters.max(1));
        state.gather.next_tick();
        state.losses.look(lost(&totals).total(), totals.at);
        Some((totals, threads, state.switched.epoch))
    }

    /// Folds the ledgers of ended threads, unless another thread has the monitor's lock.
    pub(crate) fn fold(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.gather.fold(&clock::ticks);
        }
    }
}

#[cfg(test)]
impl Monitor {
    /// Ends a tick of the history, and looks for alerts.
    pub(crate) fn tick(&self) {
        if let Some((totals, threads, epoch)) = self.end_tick() {
            self.look_for_alerts(&totals, &threads, epoch);
        }
    }

    /// Totals and threads: the input of snapshots.
    pub(crate) fn totals(&self) -> (Totals, Vec<ThreadNow>) {
        let (totals, threads) = self.state().read();
        (Arc::unwrap_or_clone(totals), threads)
    }

    /// Threads, without their counters.
    pub(crate) fn threads(&self) -> Vec<ThreadNow> {
        self.state().gather.threads(clock::ticks)
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
