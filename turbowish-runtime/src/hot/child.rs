//! A child of `fork`: reports once that it is not accounted, at its first event that would be.

use std::io::{self, Write};

use crate::hot::switch;

/// Prints the line in a child, if it was not printed yet.
#[cold]
pub(crate) fn tell() {
    if switch::is_new_child() {
        let _ = write(&format!(
            "turbowish: process {} is a fork of process {}, which called init: it is not measured, \
             and no console can attach; call init after the fork instead\n",
            std::process::id(),
            switch::parent()
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

/// Without `fork` this is never called.
#[cfg(not(unix))]
fn write(line: &str) -> io::Result<()> {
    io::stderr().write_all(line.as_bytes())
}
