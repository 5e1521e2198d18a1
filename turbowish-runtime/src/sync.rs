//! Drop-in wrappers of `tokio::sync`: tokio's own primitive does the work; waiters and holders are
//! observed.
//!
//! Methods, guards, errors, queue order and cancel safety are the same as tokio's.

mod acquire;
mod barrier;
mod blocking;
pub mod broadcast;
mod channel;
mod guards;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod rwlock;
mod semaphore;
mod set_once;
pub mod watch;

pub use tokio::sync::{AcquireError, BarrierWaitResult, SetError, SetOnceError};
pub use tokio::sync::{TryAcquireError, TryLockError};

pub use self::barrier::Barrier;
pub use self::mutex::{MappedMutexGuard, Mutex, MutexGuard};
pub use self::mutex::{OwnedMappedMutexGuard, OwnedMutexGuard};
pub use self::notify::Notify;
pub use self::once_cell::OnceCell;
pub use self::rwlock::{OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard};
pub use self::rwlock::{RwLock, RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard};
pub use self::semaphore::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
pub use self::set_once::SetOnce;

/// Named future types of `notified`.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}

/// A primitive that can be given a name for consoles.
pub trait Named {
    /// Sets the name; the first name stays.
    fn name(&self, name: &str);
}

impl<T: Named + ?Sized> Named for std::sync::Arc<T> {
    fn name(&self, name: &str) {
        T::name(self, name);
    }
}

impl<T: Named + ?Sized> Named for &T {
    fn name(&self, name: &str) {
        T::name(self, name);
    }
}

/// Names `thing` for consoles and returns it. Without a name, consoles show the place in the source
/// where `thing` was made.
///
/// ```
/// use turbowish::sync::{Semaphore, named};
///
/// let permits = named("connections", Semaphore::new(16));
/// assert_eq!(permits.available_permits(), 16);
/// ```
pub fn named<T: Named>(name: &str, thing: T) -> T {
    thing.name(name);
    thing
}
