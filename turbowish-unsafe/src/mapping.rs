//! Memory that is part of a file: what was stored there is in the file however the process ends.
//!
//! It is shared, so a child of `fork` would store into the file of its parent. Therefore the child
//! gets memory of its own in the same place, all zero, before anything else runs there: see
//! [`crate::fork`].

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::slice;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

/// Mappings of a process, at most.
pub const MOST: usize = 64;

/// A mapping that a child of `fork` replaces.
struct Shared {
    /// Null until the mapping is there.
    begin: AtomicPtr<libc::c_void>,
    bytes: AtomicUsize,
}

static SHARED: [Shared; MOST] = [const {
    Shared {
        begin: AtomicPtr::new(ptr::null_mut()),
        bytes: AtomicUsize::new(0),
    }
}; MOST];

/// Number of mappings that were begun.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Maps `count` arrays of `N` words of a file, from the byte `offset` on, for the life of the
/// process. The system's room for them is taken: the file has blocks there, so that a store does
/// not end the process on a full disk. `offset` is a multiple of the size of a page.
///
/// # Errors
/// If the file cannot have so many bytes, or cannot be mapped; if there are [`MOST`] mappings.
pub fn words<const N: usize>(
    file: &File,
    offset: u64,
    count: usize,
) -> io::Result<&'static [[AtomicU64; N]]> {
    let bytes = count.checked_mul(size_of::<[AtomicU64; N]>());
    let bytes = bytes.filter(|bytes| *bytes > 0 && isize::try_from(*bytes).is_ok());
    let bytes = bytes.ok_or(io::ErrorKind::InvalidInput)?;
    let begin = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
    let number = COUNT.fetch_add(1, Relaxed);
    let Some(shared) = SHARED.get(number) else {
        COUNT.fetch_sub(1, Relaxed);
        return Err(io::Error::other("there are too many mappings"));
    };
    take(file, begin, bytes)?;
    // SAFETY: It is a new mapping, at an address of the system's choice.
    let memory = unsafe {
        libc::mmap(
            ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            begin,
        )
    };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    shared.bytes.store(bytes, Relaxed);
    shared.begin.store(memory, Release);
    // SAFETY: The mapping has that many bytes from a page's beginning on, so it is aligned; it is
    // readable and writable, is never unmapped, and no reference to it exists that is not one to
    // atomics, which any bytes are.
    Ok(unsafe { slice::from_raw_parts(memory.cast(), count) })
}

/// Gives the file blocks for these bytes, and that length.
#[cfg(target_os = "linux")]
fn take(file: &File, begin: libc::off_t, bytes: usize) -> io::Result<()> {
    let len = libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: It concerns a file that is open, and no memory.
    match unsafe { libc::fallocate(file.as_raw_fd(), 0, begin, len) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn take(_: &File, _: libc::off_t, _: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Replaces all mappings in a child of `fork` by memory of its own. Only system calls: it may run
/// while any lock is held.
pub(crate) fn leave_to_parent() {
    for shared in &SHARED {
        let memory = shared.begin.load(Acquire);
        if memory.is_null() {
            continue;
        }
        // SAFETY: The mapping at this address is one of `words`, of this length, and is replaced
        // as a whole, by memory of the same protection. References to it are to atomics, whose
        // values may change at any time. If the system refuses, it stays as it is.
        unsafe {
            libc::mmap(
                memory,
                shared.bytes.load(Relaxed),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE,
                -1,
                0,
            );
        }
    }
}
