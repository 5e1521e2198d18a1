//! Drop-in twins of `tokio::sync`: tokio's own primitive does the work, and who waits and who holds is told.
//!
//! The same methods, guards, errors, order and safety when dropped midway. Locks wait at a semaphore of tokio's, as tokio's own do.

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

/// Waits that have a name of their own.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}

/// What can be given a name that consoles show.
pub trait Named {
    /// Gives it; the first name stays.
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

/// Gives `thing` a name that consoles show, and gives it back: `named("accounts", Mutex::new(0))`.
pub fn named<T: Named>(name: &str, thing: T) -> T {
    thing.name(name);
    thing
}
