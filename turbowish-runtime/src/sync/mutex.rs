//! Drop-in wrapper of tokio's mutex, with its queue order: observes holder and waiters.

mod guard;
mod owned;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use tokio::sync::TryLockError;

pub use self::guard::{MappedMutexGuard, MutexGuard};
use self::owned::Inner;
pub use self::owned::{OwnedMappedMutexGuard, OwnedMutexGuard};
use super::Named;
use super::acquire::acquire;
use super::blocking::block_on;
use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{Kind, Resource, Role};

/// Same as [`tokio::sync::Mutex`]; the holder and the waiters are observed.
///
/// ```
/// use turbowish::sync::{Mutex, named};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let balance = named("balance", Mutex::new(100));
/// {
///     // While the guard lives, consoles show this task as the holder of `balance`.
///     let mut balance = balance.lock().await;
///     *balance -= 30;
/// }
/// assert_eq!(*balance.lock().await, 70);
/// # }
/// ```
pub struct Mutex<T: ?Sized> {
    resource: Resource,
    inner: tokio::sync::Mutex<T>,
}

impl<T: ?Sized> Mutex<T> {
    /// Same as [`tokio::sync::Mutex::new`].
    #[track_caller]
    pub fn new(t: T) -> Self
    where
        T: Sized,
    {
        Self {
            resource: Resource::new(Kind::Mutex, Some(1)),
            inner: tokio::sync::Mutex::new(t),
        }
    }

    /// Same as [`tokio::sync::Mutex::const_new`].
    #[track_caller]
    pub const fn const_new(t: T) -> Self
    where
        T: Sized,
    {
        Self {
            resource: Resource::new(Kind::Mutex, Some(1)),
            inner: tokio::sync::Mutex::const_new(t),
        }
    }

    /// Same as [`tokio::sync::Mutex::lock`].
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let at = Location::caller();
        async move {
            let inner = acquire!(self, Role::Lock, at, try_lock, lock);
            MutexGuard::new(self, inner, at)
        }
    }

    /// Same as [`tokio::sync::Mutex::blocking_lock`].
    ///
    /// # Panics
    /// If called on a thread that runs tasks of a tokio runtime.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_on(self.lock())
    }

    /// Same as [`tokio::sync::Mutex::blocking_lock_owned`].
    ///
    /// # Panics
    /// If called on a thread that runs tasks of a tokio runtime.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_on(self.lock_owned())
    }

    /// Same as [`tokio::sync::Mutex::lock_owned`].
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let at = Location::caller();
        async move {
            let inner = Inner::new(self, async move |lock: &Self| {
                acquire!(lock, Role::Lock, at, try_lock, lock)
            })
            .await;
            OwnedMutexGuard::new(inner, at)
        }
    }

    /// Same as [`tokio::sync::Mutex::try_lock`].
    ///
    /// # Errors
    /// If the mutex is held, or has been handed to a waiter.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let inner = self.inner.try_lock()?;
        Ok(MutexGuard::new(self, inner, Location::caller()))
    }

    /// Same as [`tokio::sync::Mutex::try_lock_owned`].
    ///
    /// # Errors
    /// If the mutex is held, or has been handed to a waiter.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let at = Location::caller();
        match Inner::try_new(self, |lock: &Self| lock.inner.try_lock()) {
            Ok(inner) => Ok(OwnedMutexGuard::new(inner, at)),
            Err((error, _)) => Err(error),
        }
    }

    /// Same as [`tokio::sync::Mutex::get_mut`].
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }

    /// Same as [`tokio::sync::Mutex::into_inner`].
    pub fn into_inner(self) -> T
    where
        T: Sized,
    {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> IntentTarget<verb::Lock> for Mutex<T> {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.resource.resource_ref()
    }
}

impl<T: ?Sized> Named for Mutex<T> {
    fn name(&self, name: &str) {
        self.resource.name(name);
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(s: T) -> Self {
        Self::new(s)
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
