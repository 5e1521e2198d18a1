//! The commands other than the console, one module each: arguments, output and exit code.

pub(crate) mod check;
pub(crate) mod debug;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod history;
pub(crate) mod pause;
pub(crate) mod ps;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod snapshot;
pub(crate) mod watch;
