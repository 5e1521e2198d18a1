//! The number by which the operating system, and so a debugger, knows a thread.

/// That of this thread.
#[cfg(all(feature = "server", target_os = "linux"))]
pub(crate) fn id() -> Option<u64> {
    let id = rustix::thread::gettid().as_raw_nonzero().get();
    u64::try_from(id).ok()
}

/// Nobody asks for it, or there is no safe way to learn it.
#[cfg(not(all(feature = "server", target_os = "linux")))]
pub(crate) const fn id() -> Option<u64> {
    None
}
