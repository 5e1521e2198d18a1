//! Advisory lock of an open file, held until the file is closed. `std` has it from Rust 1.89 on.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Waits until no other process has the lock, and takes it.
///
/// # Errors
/// If the file system has no such locks.
pub fn exclusive(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as `file` is borrowed.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
