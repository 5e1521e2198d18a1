//! Mutexes without poisoning: what a lock guards is consistent between any two statements, so a
//! panic under the lock breaks nothing, and must not spread to other threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, also after a panic under the lock.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
