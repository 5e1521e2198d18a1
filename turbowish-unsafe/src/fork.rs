//! Fork detection: a word that has another value in every child of `fork`, before anything else
//! runs there.
//!
//! A child has one thread, and its locks are as they were at the fork: a lock that another thread
//! held is never released. So a child must recognize itself without asking the system and without a
//! lock. The C library calls `in_child` in the child, before `fork` returns there. It stores one
//! word, replaces the memory that is shared with the parent (see [`crate::mapping`]), and does
//! nothing else: both are safe in a signal handler, too.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::mapping;

static WORD: OnceLock<(&'static AtomicU32, u32)> = OnceLock::new();

unsafe extern "C" {
    // SAFETY: POSIX declares it with this signature. The functions may be null; the library only
    // keeps and calls them.
    safe fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> i32;
}

extern "C" fn in_child() {
    if let Some((word, value)) = WORD.get() {
        word.store(*value, Ordering::Relaxed);
    }
    mapping::leave_to_parent();
}

/// Sets `word` to `value` in every child from now on. Later calls change nothing: a process has one
/// such word.
///
/// Processes created without `fork`, by the system call `clone` alone, are not recognized.
///
/// # Errors
/// If the C library has no memory for it.
pub fn mark_children(word: &'static AtomicU32, value: u32) -> io::Result<()> {
    if WORD.set((word, value)).is_err() {
        return Ok(());
    }
    match pthread_atfork(None, None, Some(in_child)) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
