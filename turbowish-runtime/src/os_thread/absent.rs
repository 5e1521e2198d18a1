//! No thread data: without the feature `server` it is not needed, and elsewhere there is no safe
//! way to read it.

/// The operating system's ID of this thread: unknown.
pub(crate) const fn id() -> Option<u64> {
    None
}

/// Time in which a thread was ready to run while the machine ran others: unknown.
pub(crate) const fn run_delay_ns(_: u64) -> Option<u64> {
    None
}
