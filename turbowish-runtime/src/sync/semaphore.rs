//! Drop-in wrapper of tokio's semaphore, with its queue order: observes who holds permits and who
//! waits for them.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{AcquireError, TryAcquireError};

pub use self::permit::{OwnedSemaphorePermit, SemaphorePermit};
use super::Named;
use super::acquire::within_budget;
use super::blocking::block_on;
use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{Kind, Resource, Role};

mod permit;

/// Same as [`tokio::sync::Semaphore`]; holders and waiters are observed.
pub struct Semaphore {
    resource: Resource,
    /// Existing permits, acquired or not.
    permits: AtomicUsize,
    inner: tokio::sync::Semaphore,
}

impl Semaphore {
    /// Same as [`tokio::sync::Semaphore::MAX_PERMITS`].
    pub const MAX_PERMITS: usize = tokio::sync::Semaphore::MAX_PERMITS;

    /// Same as [`tokio::sync::Semaphore::new`].
    ///
    /// # Panics
    /// If `permits` exceeds [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Self {
            inner: tokio::sync::Semaphore::new(permits),
            resource: Resource::new(Kind::Semaphore, Some(permits)),
            permits: AtomicUsize::new(permits),
        }
    }

    /// Same as [`tokio::sync::Semaphore::const_new`].
    ///
    /// # Panics
    /// If `permits` exceeds [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub const fn const_new(permits: usize) -> Self {
        Self {
            inner: tokio::sync::Semaphore::const_new(permits),
            resource: Resource::new(Kind::Semaphore, Some(permits)),
            permits: AtomicUsize::new(permits),
        }
    }

    /// Same as [`tokio::sync::Semaphore::available_permits`].
    pub fn available_permits(&self) -> usize {
        self.inner.available_permits()
    }

    /// Same as [`tokio::sync::Semaphore::add_permits`].
    ///
    /// # Panics
    /// If the permits then exceed [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        // Counted before anyone can acquire them: the record never shows more permits held than
        // exist.
        self.exist(
            self.permits
                .fetch_add(n, Ordering::Relaxed)
                .saturating_add(n),
        );
        self.inner.add_permits(n);
    }

    /// Same as [`tokio::sync::Semaphore::forget_permits`].
    pub fn forget_permits(&self, n: usize) -> usize {
        let gone = self.inner.forget_permits(n);
        self.gone(gone);
        gone
    }

    /// Same as [`tokio::sync::Semaphore::acquire`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_at(1, Location::caller())
    }

    /// Same as [`tokio::sync::Semaphore::acquire_many`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_many(
        &self,
        n: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_at(n, Location::caller())
    }

    async fn acquire_at(
        &self,
        n: u32,
        at: &'static Location<'static>,
    ) -> Result<SemaphorePermit<'_>, AcquireError> {
        let inner = self.wait(n, at).await?;
        Ok(SemaphorePermit::new(self, inner, n, at))
    }

    #[inline]
    async fn wait(
        &self,
        n: u32,
        at: &'static Location<'static>,
    ) -> Result<tokio::sync::SemaphorePermit<'_>, AcquireError> {
        // Available permits can be acquired by anyone: a waiter acquires what there is.
        if let Some(permit) = within_budget(|| self.inner.try_acquire_many(n).ok()) {
            return Ok(permit);
        }
        let acquire = self.inner.acquire_many(n);
        let acquired = self.resource.wait(Role::Acquire, n, at, acquire).await;
        acquired.inspect_err(|_| self.resource.seen())
    }

    /// Same as [`tokio::sync::Semaphore::try_acquire`].
    ///
    /// # Errors
    /// If no permit is available, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Same as [`tokio::sync::Semaphore::try_acquire_many`].
    ///
    /// # Errors
    /// If fewer than `n` permits are available, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let at = Location::caller();
        let inner = self.try_take(n)?;
        Ok(SemaphorePermit::new(self, inner, n, at))
    }

    fn try_take(&self, n: u32) -> Result<tokio::sync::SemaphorePermit<'_>, TryAcquireError> {
        let taken = self.inner.try_acquire_many(n);
        if let Err(TryAcquireError::Closed) = taken {
            self.resource.seen();
        }
        taken
    }

    /// Same as [`tokio::sync::Semaphore::blocking_acquire`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// If called on a thread that runs tasks of a tokio runtime.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire())
    }

    /// Same as [`tokio::sync::Semaphore::blocking_acquire_many`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// If called on a thread that runs tasks of a tokio runtime.
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire_many(n))
    }

    /// Same as [`tokio::sync::Semaphore::acquire_owned`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_owned(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_owned_at(1, Location::caller())
    }

    /// Same as [`tokio::sync::Semaphore::acquire_many_owned`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_owned_at(n, Location::caller())
    }

    async fn acquire_owned_at(
        self: Arc<Self>,
        n: u32,
        at: &'static Location<'static>,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        // The owned permit returns these permits.
        self.wait(n, at).await?.forget();
        Ok(OwnedSemaphorePermit::new(self, n, at))
    }

    /// Same as [`tokio::sync::Semaphore::try_acquire_owned`].
    ///
    /// # Errors
    /// If no permit is available, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// Same as [`tokio::sync::Semaphore::try_acquire_many_owned`].
    ///
    /// # Errors
    /// If fewer than `n` permits are available, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_take(n)?.forget();
        Ok(OwnedSemaphorePermit::new(self, n, Location::caller()))
    }

    /// Same as [`tokio::sync::Semaphore::blocking_acquire_owned`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// If called on a thread that runs tasks of a tokio runtime.
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_owned())
    }

    /// Same as [`tokio::sync::Semaphore::blocking_acquire_many_owned`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// If called on a thread that runs tasks of a tokio runtime.
    #[track_caller]
    pub fn blocking_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_many_owned(n))
    }

    /// Same as [`tokio::sync::Semaphore::close`].
    pub fn close(&self) {
        self.inner.close();
        self.resource.close();
    }

    /// Same as [`tokio::sync::Semaphore::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Permanently removes `n` permits from the count.
    fn gone(&self, n: usize) {
        self.exist(
            self.permits
                .fetch_sub(n, Ordering::Relaxed)
                .saturating_sub(n),
        );
    }

    /// Sets the number of existing permits; of several concurrent callers the last one wins.
    fn exist(&self, mut permits: usize) {
        loop {
            self.resource.set_capacity(Some(permits));
            let now = self.permits.load(Ordering::Relaxed);
            if now == permits {
                return;
            }
            permits = now;
        }
    }
}

impl IntentTarget<verb::Acquire> for Semaphore {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.resource.resource_ref()
    }
}

impl Named for Semaphore {
    fn name(&self, name: &str) {
        self.resource.name(name);
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
