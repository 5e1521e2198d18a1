//! One module per command that is no console: what it asks, what it prints, how it ends.

pub(crate) mod check;
pub(crate) mod debug;
pub(crate) mod diff;
pub(crate) mod pause;
pub(crate) mod ps;
pub(crate) mod query;
pub(crate) mod watch;
