//! No thread data: without the feature `server` it is not needed, and elsewhere there is no safe
//! way to read it.

/// The operating system's ID of this thread: unknown.
pub(crate) const fn id() -> Option<u64> {
    None
}

/// Time of a thread on a processor, and its run delay: unknown.
pub(crate) const fn times(_: u64) -> Option<(u64, u64)> {
    None
}

/// Whether a thread sleeps: unknown.
pub(crate) const fn sleeps(_: u64) -> bool {
    false
}
