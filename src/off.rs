//! Compiled-out facade: the same names, with no effect.

mod alert_limit;
pub mod metrics;
mod on_event;
#[cfg(feature = "tokio")]
pub(crate) mod tokio;

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

pub use self::alert_limit::{AlertLimit, Bytes, Percent};
pub use self::on_event::{RecordedEvent, RecordedKind, on_event};

/// Compiled out: does nothing.
#[inline]
pub const fn init() -> Guard {
    Guard(())
}

/// Compiled out: does nothing.
#[inline]
pub const fn arm() {}

/// Compiled out: does nothing.
#[inline]
pub const fn disarm() {}

/// Compiled out: does nothing.
#[inline]
pub const fn record_panics() {}

/// Compiled out: does nothing.
#[deprecated(note = "use `disarm`: tasks are paused, accounting is disarmed")]
#[inline]
pub const fn pause() {}

/// Compiled out: does nothing.
#[deprecated(note = "use `arm`: tasks are resumed, accounting is armed")]
#[inline]
pub const fn resume() {}

/// Compiled out: never returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InitError {}

impl fmt::Display for InitError {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl Error for InitError {}

/// Compiled out: stands for nothing.
#[derive(Debug)]
#[must_use = "accounting ends when it is dropped; in main: `let _turbowish = turbowish::init();`"]
pub struct Guard(());

/// Compiled out: ignores all settings.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing starts before `init`"]
pub struct Builder(());

impl Builder {
    /// Creates a builder without effect.
    #[inline]
    pub const fn new() -> Self {
        Self(())
    }

    /// No effect.
    #[inline]
    pub fn name(self, _name: impl Into<String>) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub const fn armed(self, _armed: bool) -> Self {
        self
    }

    /// No effect.
    #[deprecated(note = "use `armed`")]
    #[inline]
    pub const fn paused(self, _paused: bool) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub fn listen(self, _address: impl Into<SocketAddr>) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub fn token(self, _token: impl Into<String>) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub fn report(self, _report: bool) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub fn report_to(self, _path: impl Into<PathBuf>) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub const fn read_only(self, _read_only: bool) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub const fn max_tasks(self, _tasks: usize) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub const fn max_clients(self, _clients: usize) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub const fn max_rows(self, _rows: usize) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub const fn alert_limit(self, _limit: AlertLimit) -> Self {
        self
    }

    /// No effect.
    #[deprecated(note = "use `alert_limit`: the compiler checks names and units")]
    #[inline]
    pub fn limit(self, _name: impl Into<String>, _value: impl Into<String>) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub const fn wakers(self, _wakers: bool) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub const fn heartbeat(self, _heartbeat: bool) -> Self {
        self
    }

    /// Starts nothing.
    #[inline]
    pub const fn init(self) -> Guard {
        Guard(())
    }

    /// Starts nothing.
    ///
    /// # Errors
    /// None.
    #[inline]
    pub const fn try_init(self) -> Result<Guard, InitError> {
        Ok(Guard(()))
    }
}

/// Compiled out: an intent without effect.
#[derive(Debug)]
#[must_use = "the intent ends when this is dropped: `let _intent = turbowish::intend!(…);`"]
pub struct Intent(());

impl Intent {
    /// The value of `intend!`.
    #[doc(hidden)]
    #[inline]
    pub const fn __nothing() -> Self {
        Self(())
    }

    /// No effect.
    #[inline]
    pub const fn will(&self) {}

    /// No effect.
    #[inline]
    pub const fn done(self) {}
}

/// Compiled out: the future as it is.
pub type Task<F> = F;

/// Compiled out: the future as it is.
#[deprecated(note = "use `Task`")]
pub type Root<F> = F;

/// Compiled out: returns the future unchanged.
#[inline]
pub fn task<F: Future>(future: F) -> Task<F> {
    future
}

/// Compiled out: the future as it is.
#[deprecated(note = "use `task`")]
#[inline]
pub fn root<F: Future>(future: F) -> F {
    future
}

/// Compiled out: ignores name and attributes.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is spawned before `spawn`"]
pub struct TaskBuilder(());

impl TaskBuilder {
    /// Creates a builder without effect.
    #[inline]
    pub const fn new() -> Self {
        Self(())
    }

    /// No effect.
    #[inline]
    pub fn name(self, _name: impl AsRef<str>) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub fn attribute(self, _name: impl Into<String>, _value: impl ToString) -> Self {
        self
    }

    /// Returns the future unchanged.
    #[inline]
    pub fn task<F: Future>(self, future: F) -> Task<F> {
        future
    }
}
