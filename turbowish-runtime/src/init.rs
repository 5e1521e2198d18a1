//! The one line in `main`: `let _turbowish = turbowish::init();`, and its longer form, the builder.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit;
use crate::hot::{child, switch, task};
use crate::log::say;
use crate::monitor::{self, Monitor};
use crate::runtimes;
use crate::settings::{Environment, Mode, Report, Settings};

/// Starts accounting with default settings: see [`Builder::init`].
pub fn init() -> Guard {
    Builder::new().init()
}

/// The guard was dropped: nobody can look any more.
static OVER: AtomicBool = AtomicBool::new(false);

/// Switches accounting off until [`resume`]. Calls that live now are let go of: what they do after
/// this is not known, and they count as new ones when they are polled after `resume`.
pub fn pause() {
    if let Some(monitor) = monitor::process() {
        monitor.disarm();
    }
}

/// Switches accounting on, after [`pause`] or a start with `TURBOWISH=paused`. Without [`init`],
/// after its guard was dropped, with `TURBOWISH=off` and in a child of `fork`, nothing happens.
pub fn resume() {
    if let Some(monitor) = monitor::process()
        && !OVER.load(Ordering::Relaxed)
    {
        monitor.arm();
    }
}

/// Settings, with their defaults; environment variables win over them.
#[derive(Clone, Debug)]
#[must_use = "nothing starts before `init`"]
pub struct Builder {
    settings: Settings,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// The defaults: armed, a Unix socket for consoles of the same user, no TCP, no report.
    pub const fn new() -> Self {
        Self {
            settings: Settings::new(),
        }
    }

    /// The name that consoles show; by default that of the executable.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = Some(name.into());
        self
    }

    /// Starts with accounting off, everything else ready; [`resume`] or a console switches it on.
    /// `TURBOWISH=on|off|paused` wins.
    pub const fn paused(mut self, paused: bool) -> Self {
        self.settings.mode = if paused { Mode::Paused } else { Mode::On };
        self
    }

    /// Also listens on TCP, on a loopback address such as `127.0.0.1:6680`; needs a [`token`](Self::token).
    /// `TURBOWISH_LISTEN` wins. Takes effect with the feature `server`.
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.settings.listen = Some(address.into());
        self
    }

    /// The secret that this process and TCP consoles share: 16 random characters or more. `TURBOWISH_TOKEN` wins.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.settings.token = Some(token.into());
        self
    }

    /// Prints a report to stderr when the guard drops, at `std::process::exit` and at SIGTERM.
    /// `TURBOWISH_REPORT=1` (or `0`) wins.
    pub fn report(mut self, report: bool) -> Self {
        self.settings.report = if report { Report::Text } else { Report::None };
        self
    }

    /// Like [`report`](Self::report), and writes the whole of it to a file as JSON.
    /// In the path, `%p` stands for the process id. `TURBOWISH_REPORT=path.json` wins.
    pub fn report_to(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.report = Report::File(path.into());
        self
    }

    /// Consoles may look, but neither switch accounting nor pause tasks.
    pub const fn read_only(mut self, read_only: bool) -> Self {
        self.settings.read_only = read_only;
        self
    }

    /// Live tasks with a row of their own, a million by default; more are accounted, but counted as lost.
    pub const fn max_tasks(mut self, tasks: u64) -> Self {
        self.settings.max_tasks = tasks;
        self
    }

    /// Consoles at the same time, 16 by default.
    pub const fn max_clients(mut self, clients: usize) -> Self {
        self.settings.max_clients = clients;
        self
    }

    /// Rows of each table in one reply, 10,000 by default.
    pub const fn max_rows(mut self, rows: u32) -> Self {
        self.settings.max_rows = rows;
        self
    }

    /// A limit of the alert rules, by name: `.limit("long_poll.warn", "20ms")`. What is wrong with it costs one line on stderr.
    /// `TURBOWISH_LIMITS=long_poll.warn=20ms,overload=500000` wins. Takes effect with the feature `server`.
    pub fn limit(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.limits.push((name.into(), value.into()));
        self
    }

    /// Tasks are polled with a waker of ours around the executor's, unless this is `false`: for executors that look into their
    /// wakers. Without it nobody knows when a task was woken, or whether something can wake it. `TURBOWISH_WAKERS=off` wins.
    pub const fn wakers(mut self, wakers: bool) -> Self {
        self.settings.wakers = wakers;
        self
    }

    /// Spawns one task that does nothing on the multi-thread runtime of tokio in which [`Builder::init`] is called: while it is woken and
    /// not polled, no worker is free, also if none of what holds them is annotated. The runtime counts it among its live tasks.
    /// `TURBOWISH_HEARTBEAT=on|off` wins. Takes effect with the feature `server`.
    pub const fn heartbeat(mut self, heartbeat: bool) -> Self {
        self.settings.heartbeat = heartbeat;
        self
    }

    /// Starts. What cannot be had (a socket, an address) costs one line on stderr, and the program
    /// goes on. A second call in one process changes nothing and says so.
    ///
    /// Accounting ends when the guard is dropped: `let _ = …` would drop it at once.
    ///
    /// A process that daemonizes, or forks its workers, calls this after the fork. A child that was
    /// forked later is not accounted, and says so on stderr at its first poll.
    ///
    /// With the feature `server` this starts one thread, `turbowish-monitor`. With `TURBOWISH=off`
    /// nothing is started at all.
    pub fn init(mut self) -> Guard {
        if switch::is_child() {
            child::tell();
            return Guard { owner: None };
        }
        for line in Environment::read().apply(&mut self.settings) {
            say(&line);
        }
        if self.settings.mode == Mode::Off {
            return Guard { owner: None };
        }
        child::watch();
        let name = self.settings.name.clone().unwrap_or_else(executable);
        let Some(monitor) = monitor::start(name) else {
            say(
                "init was already called in this process; the settings of the first call stay in effect",
            );
            return Guard { owner: None };
        };
        runtimes::note();
        task::limit(self.settings.max_tasks);
        task::wrap(self.settings.wakers);
        exit::watch(&self.settings.report);
        #[cfg(feature = "server")]
        for line in monitor.limit(&self.settings.limits) {
            say(&line);
        }
        self.serve(monitor);
        if self.settings.mode == Mode::On {
            monitor.arm();
        }
        Guard {
            owner: Some(std::process::id()),
        }
    }

    #[cfg(feature = "server")]
    fn serve(&self, monitor: &Arc<Monitor>) {
        let config = crate::server::Config {
            listen: self.settings.listen.clone(),
            token: self.settings.token.clone(),
            read_only: self.settings.read_only,
            max_clients: self.settings.max_clients,
            max_rows: self.settings.max_rows,
            ..crate::server::Config::default()
        };
        crate::monitor::thread::start(monitor.clone(), config);
        if self.settings.heartbeat {
            crate::monitor::heartbeat::start();
        }
    }

    #[cfg(not(feature = "server"))]
    fn serve(&self, _monitor: &Arc<Monitor>) {
        let _ = (
            &self.settings.token,
            self.settings.read_only,
            self.settings.max_clients,
            self.settings.max_rows,
        );
        let _ = self.settings.heartbeat;
        if self.settings.listen.is_some() {
            say("not listening: this program was built without the feature `server` of turbowish");
        }
    }
}

fn executable() -> String {
    let path = std::env::current_exe().ok();
    let stem = path.as_deref().and_then(|path| path.file_stem());
    stem.map_or_else(
        || "?".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

/// Keeps TurboWish running. Dropped at the end of `main`, it prints the report if one was asked
/// for, switches accounting off for good, and withdraws the process from discovery.
#[derive(Debug)]
#[must_use = "accounting ends when it is dropped; in main: `let _turbowish = turbowish::init();`"]
pub struct Guard {
    /// The process that it keeps TurboWish running in; a child of `fork` has a copy that does nothing.
    owner: Option<u32>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.owner == Some(std::process::id()) {
            exit::leave();
            OVER.store(true, Ordering::Relaxed);
            runtimes::forget();
            #[cfg(feature = "server")]
            {
                crate::monitor::heartbeat::stop();
                crate::monitor::thread::stop();
                // Nobody is left who would let them go on.
                crate::hot::pause::resume_all();
            }
            // After the last console: what is polled from here on costs what it costs while
            // accounting is off.
            pause();
        }
    }
}
