//! A mutex that says who holds it and who waits: tokio's, with its order of those who wait.

mod guard;
mod owned;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use tokio::sync::TryLockError;
use turbowish_unsafe::guarded::{Exclusive, Guarded, Owned};

pub use self::guard::{MappedMutexGuard, MutexGuard};
pub use self::owned::{OwnedMappedMutexGuard, OwnedMutexGuard};
use super::Named;
use super::acquire::{acquire, acquire_owned_turn, would_block};
use super::blocking::block_on;
use crate::intent::{IntentTarget, ResourceRef, verb};
use crate::resource::{Kind, Resource, Role};

/// An asynchronous mutex: [`tokio::sync::Mutex`], and who holds it and who waits for it is seen.
pub struct Mutex<T: ?Sized> {
    resource: Resource,
    value: Guarded<T, false>,
}

impl<T: ?Sized> Mutex<T> {
    /// A mutex that nobody holds.
    #[track_caller]
    pub fn new(t: T) -> Self
    where
        T: Sized,
    {
        Self {
            resource: Resource::new(Kind::Mutex, Some(1)),
            value: Guarded::for_one(t),
        }
    }

    /// The same, for a `static`.
    #[track_caller]
    pub const fn const_new(t: T) -> Self
    where
        T: Sized,
    {
        Self {
            resource: Resource::new(Kind::Mutex, Some(1)),
            value: Guarded::for_one(t),
        }
    }

    /// Waits until it holds the mutex. Those who wait are served in the order in which they came; dropped before it is ready, it has
    /// lost its place.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let at = Location::caller();
        async move {
            let (value, resource) = (&self.value, &self.resource);
            let inner = acquire!(resource, Role::Lock, at, value.try_change(), value.change());
            MutexGuard::new(self, inner, at)
        }
    }

    /// Blocks the thread until it holds the mutex.
    ///
    /// # Panics
    /// On a thread that runs tasks.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_on(self.lock())
    }

    /// Blocks the thread until it holds the mutex, with a guard that keeps the mutex alive.
    ///
    /// # Panics
    /// On a thread that runs tasks.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_on(self.lock_owned())
    }

    /// Waits until it holds the mutex, with a guard that keeps the mutex alive. In order, and dropped like [`lock`](Self::lock).
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let at = Location::caller();
        async move {
            let inner = acquire_owned_turn!(self, Role::Lock, at, Self::try_own, change);
            OwnedMutexGuard::new(inner, at)
        }
    }

    /// Holds the mutex now, or not at all.
    ///
    /// # Errors
    /// Somebody holds it, or is next.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let inner = self.value.try_change().ok_or_else(would_block)?;
        Ok(MutexGuard::new(self, inner, Location::caller()))
    }

    /// Holds the mutex now, with a guard that keeps the mutex alive, or not at all.
    ///
    /// # Errors
    /// Somebody holds it, or is next.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let at = Location::caller();
        match Self::try_own(self) {
            Ok(inner) => Ok(OwnedMutexGuard::new(inner, at)),
            Err(_) => Err(would_block()),
        }
    }

    fn try_own(this: Arc<Self>) -> Result<Exclusive<Owned<Self>, T>, Arc<Self>> {
        Guarded::try_change_owned(this, |this: &Self| &this.value)
    }

    /// What is inside; that nobody holds it is known from the exclusive reference.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// What was inside.
    pub fn into_inner(self) -> T
    where
        T: Sized,
    {
        self.value.into_inner()
    }
}

impl<T: ?Sized> IntentTarget<verb::Lock> for Mutex<T> {
    fn meant(&self) -> ResourceRef<'_> {
        self.resource.meant()
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
        let mut shown = f.debug_struct("Mutex");
        match self.value.try_change() {
            Some(data) => shown.field("data", &&*data),
            None => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
