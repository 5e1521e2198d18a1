//! Drop-in wrapper of tokio's `RwLock`: observes holders and waiters.

mod guard;
mod mapped;
mod read;
mod write;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use tokio::sync::TryLockError;

pub use self::guard::{RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard};
pub use self::mapped::OwnedRwLockMappedWriteGuard;
pub use self::read::OwnedRwLockReadGuard;
pub use self::write::OwnedRwLockWriteGuard;
use super::Named;
use super::acquire::acquire;
use super::blocking::block_on;
use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{Kind, Resource, Role};

/// Same as [`tokio::sync::RwLock`]; holders and waiters are observed.
pub struct RwLock<T: ?Sized> {
    resource: Resource,
    inner: tokio::sync::RwLock<T>,
}

impl<T: ?Sized> RwLock<T> {
    /// Same as [`tokio::sync::RwLock::new`].
    #[track_caller]
    pub fn new(value: T) -> Self
    where
        T: Sized,
    {
        Self {
            resource: Resource::new(Kind::RwLock, None),
            inner: tokio::sync::RwLock::new(value),
        }
    }

    /// Same as [`tokio::sync::RwLock::const_new`].
    #[track_caller]
    pub const fn const_new(value: T) -> Self
    where
        T: Sized,
    {
        Self {
            resource: Resource::new(Kind::RwLock, None),
            inner: tokio::sync::RwLock::const_new(value),
        }
    }

    /// Same as [`tokio::sync::RwLock::with_max_readers`].
    ///
    /// # Panics
    /// If `max_reads` is zero, or more than tokio allows.
    #[track_caller]
    pub fn with_max_readers(value: T, max_reads: u32) -> Self
    where
        T: Sized,
    {
        Self {
            resource: Resource::new(Kind::RwLock, Some(max_reads as usize)),
            inner: tokio::sync::RwLock::with_max_readers(value, max_reads),
        }
    }

    /// Same as [`tokio::sync::RwLock::const_with_max_readers`].
    ///
    /// # Panics
    /// If `max_reads` is zero, or more than tokio allows.
    #[track_caller]
    pub const fn const_with_max_readers(value: T, max_reads: u32) -> Self
    where
        T: Sized,
    {
        Self {
            resource: Resource::new(Kind::RwLock, Some(max_reads as usize)),
            inner: tokio::sync::RwLock::const_with_max_readers(value, max_reads),
        }
    }

    /// Same as [`tokio::sync::RwLock::read`].
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let at = Location::caller();
        async move {
            let inner = acquire!(self, Role::Read, at, try_read, read);
            RwLockReadGuard::new(self, inner, at)
        }
    }

    /// Same as [`tokio::sync::RwLock::write`].
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let at = Location::caller();
        async move {
            let inner = acquire!(self, Role::Write, at, try_write, write);
            RwLockWriteGuard::new(self, inner, at)
        }
    }

    /// Same as [`tokio::sync::RwLock::read_owned`].
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let at = Location::caller();
        async move {
            let inner = read::Inner::new(self, async move |lock: &Self| {
                acquire!(lock, Role::Read, at, try_read, read)
            })
            .await;
            OwnedRwLockReadGuard::new(inner, at)
        }
    }

    /// Same as [`tokio::sync::RwLock::write_owned`].
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let at = Location::caller();
        async move {
            let inner = write::Inner::new(self, async move |lock: &Self| {
                acquire!(lock, Role::Write, at, try_write, write)
            })
            .await;
            OwnedRwLockWriteGuard::new(inner, at)
        }
    }

    /// Same as [`tokio::sync::RwLock::blocking_read`].
    ///
    /// # Panics
    /// If called on a thread that runs tasks of a tokio runtime.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        block_on(self.read())
    }

    /// Same as [`tokio::sync::RwLock::blocking_write`].
    ///
    /// # Panics
    /// If called on a thread that runs tasks of a tokio runtime.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        block_on(self.write())
    }

    /// Same as [`tokio::sync::RwLock::try_read`].
    ///
    /// # Errors
    /// If a writer holds the lock or waits for it, or if the maximum number of readers hold it.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let inner = self.inner.try_read()?;
        Ok(RwLockReadGuard::new(self, inner, Location::caller()))
    }

    /// Same as [`tokio::sync::RwLock::try_write`].
    ///
    /// # Errors
    /// If the lock is held, or has been handed to a waiter.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let inner = self.inner.try_write()?;
        Ok(RwLockWriteGuard::new(self, inner, Location::caller()))
    }

    /// Same as [`tokio::sync::RwLock::try_read_owned`].
    ///
    /// # Errors
    /// As [`try_read`](Self::try_read).
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        let at = Location::caller();
        match read::Inner::try_new(self, |lock: &Self| lock.inner.try_read()) {
            Ok(inner) => Ok(OwnedRwLockReadGuard::new(inner, at)),
            Err((error, _)) => Err(error),
        }
    }

    /// Same as [`tokio::sync::RwLock::try_write_owned`].
    ///
    /// # Errors
    /// As [`try_write`](Self::try_write).
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        let at = Location::caller();
        match write::Inner::try_new(self, |lock: &Self| lock.inner.try_write()) {
            Ok(inner) => Ok(OwnedRwLockWriteGuard::new(inner, at)),
            Err((error, _)) => Err(error),
        }
    }

    /// Same as [`tokio::sync::RwLock::get_mut`].
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }

    /// Same as [`tokio::sync::RwLock::into_inner`].
    pub fn into_inner(self) -> T
    where
        T: Sized,
    {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> IntentTarget<verb::Read> for RwLock<T> {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.resource.resource_ref()
    }
}

impl<T: ?Sized> IntentTarget<verb::Write> for RwLock<T> {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.resource.resource_ref()
    }
}

impl<T: ?Sized> Named for RwLock<T> {
    fn name(&self, name: &str) {
        self.resource.name(name);
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(s: T) -> Self {
        Self::new(s)
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
