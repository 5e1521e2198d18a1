//! Mutexes without poisoning: a panic under one of them leaves what it guards consistent.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, also after a panic under the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
