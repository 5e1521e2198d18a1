//! Drop-in wrapper of tokio's once cell: observes who initializes it and who waits.

use std::fmt;
use std::panic::Location;

use tokio::sync::{Semaphore, SemaphorePermit, SetError, TryAcquireError};

use super::Named;
use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{Kind, Resource, Role};

/// Same as [`tokio::sync::OnceCell`]; the initializing task and the waiters are observed.
pub struct OnceCell<T> {
    resource: Resource,
    /// One permit, held by the task that initializes the cell; closed once there is a value.
    /// Tokio's cell has the same semaphore inside, where waiting cannot be told from initializing.
    acquire: Semaphore,
    inner: tokio::sync::OnceCell<T>,
}

impl<T> OnceCell<T> {
    /// Same as [`tokio::sync::OnceCell::new`].
    #[track_caller]
    pub fn new() -> Self {
        Self::const_new()
    }

    /// Same as [`tokio::sync::OnceCell::const_new`].
    #[track_caller]
    pub const fn const_new() -> Self {
        Self {
            resource: Resource::new(Kind::OnceCell, Some(1)),
            acquire: Semaphore::const_new(1),
            inner: tokio::sync::OnceCell::const_new(),
        }
    }

    /// Same as [`tokio::sync::OnceCell::new_with`].
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        match value {
            Some(value) => Self::const_new_with(value),
            None => Self::const_new(),
        }
    }

    /// Same as [`tokio::sync::OnceCell::const_new_with`].
    #[track_caller]
    pub const fn const_new_with(value: T) -> Self {
        Self {
            resource: Resource::new(Kind::OnceCell, Some(1)),
            acquire: Semaphore::const_new(1),
            inner: tokio::sync::OnceCell::const_new_with(value),
        }
    }

    /// Same as [`tokio::sync::OnceCell::initialized`].
    pub fn initialized(&self) -> bool {
        self.inner.initialized()
    }

    /// Same as [`tokio::sync::OnceCell::get`].
    pub fn get(&self) -> Option<&T> {
        self.inner.get()
    }

    /// Same as [`tokio::sync::OnceCell::get_mut`].
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.inner.get_mut()
    }

    /// Same as [`tokio::sync::OnceCell::set`].
    ///
    /// # Errors
    /// If the cell has a value, or is being initialized; the error returns the value.
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        if self.initialized() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        match self.acquire.try_acquire() {
            Ok(acquire) => {
                let set = self.inner.set(value);
                self.done(acquire);
                set
            }
            Err(TryAcquireError::NoPermits) => Err(SetError::InitializingError(value)),
            Err(TryAcquireError::Closed) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    /// Same as [`tokio::sync::OnceCell::get_or_init`].
    #[track_caller]
    pub fn get_or_init<F, Fut>(&self, f: F) -> impl Future<Output = &T>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        let at = Location::caller();
        async move {
            if let Some(value) = self.inner.get() {
                return value;
            }
            let wait = self
                .resource
                .wait(Role::Wait, 1, at, self.acquire.acquire());
            let Ok(acquire) = wait.await else {
                return self.inner.get_or_init(f).await;
            };
            let making = self.resource.hold(Role::Write, 1, at);
            let value = self.inner.get_or_init(f).await;
            drop(making);
            self.done(acquire);
            value
        }
    }

    /// Same as [`tokio::sync::OnceCell::get_or_try_init`].
    ///
    /// # Errors
    /// The error of `f`.
    #[track_caller]
    pub fn get_or_try_init<E, F, Fut>(&self, f: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let at = Location::caller();
        async move {
            if let Some(value) = self.inner.get() {
                return Ok(value);
            }
            let wait = self
                .resource
                .wait(Role::Wait, 1, at, self.acquire.acquire());
            let Ok(acquire) = wait.await else {
                return self.inner.get_or_try_init(f).await;
            };
            let making = self.resource.hold(Role::Write, 1, at);
            let value = self.inner.get_or_try_init(f).await?;
            drop(making);
            self.done(acquire);
            Ok(value)
        }
    }

    /// Closes the semaphore once there is a value, so that nobody waits any more.
    fn done(&self, acquire: SemaphorePermit<'_>) {
        self.acquire.close();
        acquire.forget();
    }

    /// Same as [`tokio::sync::OnceCell::into_inner`].
    pub fn into_inner(self) -> Option<T> {
        self.inner.into_inner()
    }

    /// Same as [`tokio::sync::OnceCell::take`].
    pub fn take(&mut self) -> Option<T> {
        self.acquire = Semaphore::const_new(1);
        self.inner.take()
    }
}

impl<T> IntentTarget<verb::Wait> for OnceCell<T> {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.resource.resource_ref()
    }
}

impl<T> Named for OnceCell<T> {
    fn name(&self, name: &str) {
        self.resource.name(name);
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::const_new_with(value)
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
