//! A child of `fork` says what it is, once, when it first does something that would be accounted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::hot::switch;

/// The process that called `init`.
static PARENT: AtomicU32 = AtomicU32::new(0);

/// Children of this process are off from now on.
pub(crate) fn watch() {
    PARENT.store(std::process::id(), Ordering::Relaxed);
    switch::watch_forks();
}

/// Says so in a child, if nobody has.
#[cold]
pub(crate) fn tell() {
    if switch::is_new_child() {
        let _ = write(&format!(
            "turbowish: process {} is a fork of process {}, which called init: it is not accounted, \
             and no console can attach; call init after the fork instead\n",
            std::process::id(),
            PARENT.load(Ordering::Relaxed)
        ));
    }
}

/// Writes to stderr without the lock of std's handle, which another thread may have held at the
/// fork.
#[cfg(unix)]
fn write(line: &str) -> io::Result<()> {
    use std::os::fd::AsFd;
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    std::fs::File::from(stderr).write_all(line.as_bytes())
}

/// There is no fork.
#[cfg(not(unix))]
fn write(line: &str) -> io::Result<()> {
    io::stderr().write_all(line.as_bytes())
}
