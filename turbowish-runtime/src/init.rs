//! Startup: `let _turbowish = turbowish::init();` in `main`, or the longer form, the [`Builder`].

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use turbowish_model::diagnose::alert::AlertLimit;

use crate::exit;
use crate::hot::{child, switch, task};
use crate::log::say;
use crate::monitor;
use crate::on_event;
use crate::runtimes;
use crate::settings::{Environment, Mode, Report, Settings};

/// Starts accounting with default settings: see [`Builder::init`]. Keep the guard until the end of
/// `main`.
///
/// ```
/// #[turbowish::instrument]
/// async fn answer() -> u32 {
///     42
/// }
///
/// #[tokio::main]
/// async fn main() {
///     let _turbowish = turbowish::init();
///     assert_eq!(answer().await, 42);
/// }
/// ```
pub fn init() -> Guard {
    Builder::new().init()
}

/// Switches accounting off until [`arm`]. Calls in flight are abandoned: if they are polled after
/// [`arm`], they are counted as new calls.
///
/// ```
/// let _turbowish = turbowish::init();
/// turbowish::disarm();
/// // A poll costs one relaxed load here. Nothing is recorded, and `counter!` evaluates nothing.
/// let mut evaluated = false;
/// turbowish::counter!("rows", {
///     evaluated = true;
///     1
/// });
/// assert!(!evaluated);
/// ```
pub fn disarm() {
    if let Some(monitor) = monitor::process() {
        monitor.disarm();
    }
}

/// Switches accounting on, after [`disarm`] or a start with `TURBOWISH=disarmed`. Has no effect
/// without [`init`], after its guard was dropped, with `TURBOWISH=off`, and in a child of `fork`.
///
/// ```
/// let _turbowish = turbowish::Builder::new().armed(false).init();
/// turbowish::arm();
/// let mut evaluated = false;
/// turbowish::counter!("rows", {
///     evaluated = true;
///     1
/// });
/// assert!(evaluated);
/// ```
pub fn arm() {
    if let Some(monitor) = monitor::process()
        && !monitor.is_closed()
    {
        monitor.arm();
    }
}

/// Same as [`disarm`].
#[deprecated(note = "use `disarm`: tasks are paused, accounting is disarmed")]
pub fn pause() {
    disarm();
}

/// Same as [`arm`].
#[deprecated(note = "use `arm`: tasks are resumed, accounting is armed")]
pub fn resume() {
    arm();
}

/// Settings and their defaults. Environment variables override them.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("orders.json");
/// let turbowish = turbowish::Builder::new()
///     .name("orders")
///     .max_tasks(100_000)
///     .report_to(&path)
///     .init();
/// // … the program …
/// drop(turbowish);
/// assert!(std::fs::read_to_string(&path)?.contains("orders"));
/// # Ok(())
/// # }
/// ```
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

    /// Sets the name that consoles show; by default that of the executable.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = Some(name.into());
        self
    }

    /// Whether accounting is on from the start; by default it is. If not, everything else is ready,
    /// and [`arm`] or a console switches accounting on. `TURBOWISH=on|disarmed|off` overrides this.
    pub const fn armed(mut self, armed: bool) -> Self {
        self.settings.mode = if armed { Mode::On } else { Mode::Disarmed };
        self
    }

    /// The opposite of [`armed`](Self::armed).
    #[deprecated(note = "use `armed`")]
    pub const fn paused(self, paused: bool) -> Self {
        self.armed(!paused)
    }

    /// Also listens on TCP, on a loopback address such as `([127, 0, 0, 1], 6680)`; needs a
    /// [`token`](Self::token). `TURBOWISH_LISTEN` overrides this. Needs the feature `server`.
    pub fn listen(mut self, address: impl Into<SocketAddr>) -> Self {
        self.settings.listen = Some(address.into().to_string());
        self
    }

    /// Sets the secret shared by this process and TCP consoles: at least 16 random characters.
    /// `TURBOWISH_TOKEN` overrides this.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.settings.token = Some(token.into());
        self
    }

    /// Prints a report to stderr when the guard is dropped, at `std::process::exit` and at SIGTERM.
    /// `TURBOWISH_REPORT=1` (or `0`) overrides this.
    pub fn report(mut self, report: bool) -> Self {
        self.settings.report = if report { Report::Text } else { Report::None };
        self
    }

    /// Like [`report`](Self::report), and writes the complete report to a file as JSON. In the
    /// path, `%p` stands for the process ID. `TURBOWISH_REPORT=path.json` overrides this.
    pub fn report_to(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.report = Report::File(path.into());
        self
    }

    /// Forbids consoles to arm or disarm accounting and to pause tasks; they can only watch.
    pub const fn read_only(mut self, read_only: bool) -> Self {
        self.settings.read_only = read_only;
        self
    }

    /// Limits the live tasks with a row of their own; a million by default. Tasks beyond the limit
    /// are measured, but counted as lost.
    pub const fn max_tasks(mut self, tasks: usize) -> Self {
        self.settings.max_tasks = tasks as u64;
        self
    }

    /// Limits the consoles connected at the same time; 16 by default.
    pub const fn max_clients(mut self, clients: usize) -> Self {
        self.settings.max_clients = clients;
        self
    }

    /// Limits the rows of each table in one reply; 10,000 by default.
    pub fn max_rows(mut self, rows: usize) -> Self {
        self.settings.max_rows = u32::try_from(rows).unwrap_or(u32::MAX);
        self
    }

    /// Sets a limit of the alert rules. Each limit has a unit of its own: a `Duration`, a count,
    /// [`Percent`](crate::Percent) or [`Bytes`](crate::Bytes).
    /// `TURBOWISH_LIMITS=long_poll.warn=20ms,overload=500000` overrides this. Needs the feature
    /// `server`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use turbowish::{AlertLimit, Percent};
    ///
    /// let _turbowish = turbowish::Builder::new()
    ///     .alert_limit(AlertLimit::LongPollWarn(Duration::from_millis(20)))
    ///     .alert_limit(AlertLimit::LongPollShare(Percent(5)))
    ///     .alert_limit(AlertLimit::Overload(500_000))
    ///     .init();
    /// ```
    ///
    /// A value in another unit does not compile:
    ///
    /// ```compile_fail,E0308
    /// # use turbowish::AlertLimit;
    /// AlertLimit::LongPollWarn(20);
    /// ```
    pub fn alert_limit(mut self, limit: AlertLimit) -> Self {
        self.settings.limits.set(limit);
        self
    }

    /// Sets a limit of the alert rules by name: `.limit("long_poll.warn", "20ms")`. An invalid
    /// limit costs one line on stderr.
    #[deprecated(note = "use `alert_limit`: the compiler checks names and units")]
    pub fn limit(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.limit_texts.push((name.into(), value.into()));
        self
    }

    /// Polls tasks with a TurboWish waker around the executor's; on by default. Turn it off for
    /// executors that inspect their wakers. Without it, it is unknown when a task was woken and
    /// whether anything can wake it. `TURBOWISH_WAKERS=off` overrides this.
    pub const fn wakers(mut self, wakers: bool) -> Self {
        self.settings.wakers = wakers;
        self
    }

    /// Spawns one task that does nothing on tokio's multi-thread runtime in which [`Builder::init`]
    /// is called. If that task is woken and not polled, all workers are busy, even if the code that
    /// keeps them busy is not annotated. The runtime counts it among its live tasks.
    /// `TURBOWISH_HEARTBEAT=on|off` overrides this. Needs the feature `server`.
    pub const fn heartbeat(mut self, heartbeat: bool) -> Self {
        self.settings.heartbeat = heartbeat;
        self
    }

    /// Starts TurboWish. If a socket or an address is not available, that costs one line on stderr
    /// and the program continues. A second call in one process changes nothing and says so.
    ///
    /// Accounting ends when the guard is dropped: `let _ = …` would drop it at once.
    ///
    /// A process that daemonizes, or forks its workers, calls this after the fork. A child that is
    /// forked later is not measured, and says so on stderr at its first poll.
    ///
    /// With the feature `server` this starts one thread, `turbowish-monitor`. With `TURBOWISH=off`
    /// nothing is started at all.
    pub fn init(self) -> Guard {
        match self.try_init() {
            Ok(guard) => guard,
            Err(InitError::Fork) => {
                child::tell();
                Guard { owner: None }
            }
            Err(error) => {
                say(&error.to_string());
                Guard { owner: None }
            }
        }
    }

    /// Same as [`init`](Self::init), and says why nothing was started.
    ///
    /// # Errors
    /// TurboWish was started before in this process, or this is a child of `fork` whose parent had
    /// started it.
    ///
    /// ```
    /// use turbowish::{Builder, InitError};
    ///
    /// let _turbowish = Builder::new().try_init()?;
    /// let again = Builder::new().name("again").try_init();
    /// assert_eq!(again.err(), Some(InitError::StartedBefore));
    /// # Ok::<(), InitError>(())
    /// ```
    pub fn try_init(mut self) -> Result<Guard, InitError> {
        if switch::is_child() {
            return Err(InitError::Fork);
        }
        for line in Environment::read().apply(&mut self.settings) {
            say(&line);
        }
        if self.settings.mode == Mode::Off {
            return Ok(Guard { owner: None });
        }
        switch::watch_forks();
        let name = self.settings.name.clone().unwrap_or_else(executable);
        let Some(monitor) = monitor::start(name) else {
            return Err(InitError::StartedBefore);
        };
        runtimes::note();
        task::limit(self.settings.max_tasks);
        task::wrap(self.settings.wakers);
        exit::watch(&self.settings.report);
        monitor::thread::start(monitor, &self.settings);
        if self.settings.mode == Mode::On {
            monitor.arm();
        }
        Ok(Guard {
            owner: Some(std::process::id()),
        })
    }
}

/// Why [`Builder::try_init`] started nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InitError {
    /// TurboWish was started before in this process; the settings of that call stay.
    StartedBefore,
    /// This process is a child of `fork`, and its parent had started TurboWish.
    Fork,
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StartedBefore => {
                "init was already called in this process; the settings of the first call stay in effect"
            }
            Self::Fork => "this process is a fork of one that called init; call it after the fork",
        })
    }
}

impl Error for InitError {}

fn executable() -> String {
    let path = std::env::current_exe().ok();
    let stem = path.as_deref().and_then(|path| path.file_stem());
    stem.map_or_else(
        || "?".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

/// Keeps TurboWish running. Dropped at the end of `main`, it prints the report if one was
/// requested, disarms accounting for good, and withdraws the process from discovery.
#[derive(Debug)]
#[must_use = "accounting ends when it is dropped; in main: `let _turbowish = turbowish::init();`"]
pub struct Guard {
    /// The process ID of the process that called `init`; in a child of `fork` the guard's copy does
    /// nothing.
    owner: Option<u32>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.owner == Some(std::process::id()) {
            exit::leave();
            if let Some(monitor) = monitor::process() {
                monitor.close();
                runtimes::forget();
                monitor::thread::stop(monitor);
                on_event::close();
                // After the last console: what is polled from here on costs what it costs while
                // accounting is off.
                monitor.disarm();
            }
        }
    }
}
