//! Compiled out: the same names, and nothing behind them.

use std::path::PathBuf;

/// Compiled out: does nothing.
#[inline]
pub const fn init() -> Guard {
    Guard(())
}

/// Compiled out: does nothing.
#[inline]
pub const fn pause() {}

/// Compiled out: does nothing.
#[inline]
pub const fn resume() {}

/// Compiled out: stands for nothing.
#[derive(Debug)]
#[must_use = "bind it in main: `let _turbowish = turbowish::init();`"]
pub struct Guard(());

/// Compiled out: takes the settings and forgets them.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing starts before `init`"]
pub struct Builder(());

impl Builder {
    /// The defaults.
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
    pub const fn paused(self, _paused: bool) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub fn listen(self, _address: impl Into<String>) -> Self {
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
    pub const fn max_tasks(self, _tasks: u64) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub const fn max_clients(self, _clients: usize) -> Self {
        self
    }

    /// No effect.
    #[inline]
    pub const fn max_rows(self, _rows: u32) -> Self {
        self
    }

    /// Starts nothing.
    #[inline]
    pub const fn init(self) -> Guard {
        Guard(())
    }
}
