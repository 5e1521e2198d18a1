//! Permits. The hold ends in the record before the permits are returned, so the record never shows
//! more permits held than exist.

use std::fmt;
use std::mem::take;
use std::panic::Location;
use std::sync::Arc;

use super::Semaphore;
use crate::resource::{Hold, OwnedHold, Role};

/// Same as [`tokio::sync::SemaphorePermit`].
#[must_use]
#[clippy::has_significant_drop]
pub struct SemaphorePermit<'a> {
    hold: Hold<'a>,
    inner: tokio::sync::SemaphorePermit<'a>,
    sem: &'a Semaphore,
}

/// Same as [`tokio::sync::OwnedSemaphorePermit`].
#[must_use]
#[clippy::has_significant_drop]
pub struct OwnedSemaphorePermit {
    hold: OwnedHold,
    sem: Arc<Semaphore>,
    permits: usize,
}

impl<'a> SemaphorePermit<'a> {
    #[inline]
    pub(super) fn new(
        sem: &'a Semaphore,
        inner: tokio::sync::SemaphorePermit<'a>,
        n: u32,
        at: &'static Location<'static>,
    ) -> Self {
        let hold = match n {
            0 => Hold::default(),
            _ => sem.resource.hold(Role::Acquire, n, at),
        };
        Self { hold, inner, sem }
    }

    /// Same as [`tokio::sync::SemaphorePermit::forget`].
    pub fn forget(self) {
        let permits = self.inner.num_permits();
        self.inner.forget();
        self.hold.forget();
        self.sem.gone(permits);
    }

    /// Same as [`tokio::sync::SemaphorePermit::merge`].
    ///
    /// # Panics
    /// If `other` belongs to another semaphore.
    #[track_caller]
    pub fn merge(&mut self, other: Self) {
        // The hold is the first field of `other`: it is dropped first if the semaphores differ.
        let Self { hold, inner, .. } = other;
        if !std::ptr::eq(self.sem, other.sem) {
            drop(hold);
            return self.inner.merge(inner);
        }
        self.inner.merge(inner);
        self.hold.merge(hold);
    }

    /// Same as [`tokio::sync::SemaphorePermit::split`].
    pub fn split(&mut self, n: usize) -> Option<Self> {
        let all = self.inner.num_permits();
        let inner = self.inner.split(n)?;
        Some(Self {
            hold: self.hold.part(all, n),
            inner,
            sem: self.sem,
        })
    }

    /// Same as [`tokio::sync::SemaphorePermit::semaphore`].
    pub fn semaphore(&self) -> &Semaphore {
        self.sem
    }

    /// Same as [`tokio::sync::SemaphorePermit::num_permits`].
    pub fn num_permits(&self) -> usize {
        self.inner.num_permits()
    }
}

impl OwnedSemaphorePermit {
    #[inline]
    pub(super) fn new(sem: Arc<Semaphore>, n: u32, at: &'static Location<'static>) -> Self {
        let hold = match n {
            0 => OwnedHold::default(),
            _ => sem.resource.hold_owned(Role::Acquire, n, at),
        };
        Self {
            hold,
            sem,
            permits: n as usize,
        }
    }

    /// Same as [`tokio::sync::OwnedSemaphorePermit::forget`].
    pub fn forget(mut self) {
        take(&mut self.hold).forget();
        self.sem.gone(take(&mut self.permits));
    }

    /// Same as [`tokio::sync::OwnedSemaphorePermit::merge`].
    ///
    /// # Panics
    /// If `other` belongs to another semaphore.
    #[track_caller]
    pub fn merge(&mut self, mut other: Self) {
        assert!(
            Arc::ptr_eq(&self.sem, &other.sem),
            "merging permits from different semaphore instances"
        );
        self.permits = self.permits.saturating_add(take(&mut other.permits));
        self.hold.merge(take(&mut other.hold));
    }

    /// Same as [`tokio::sync::OwnedSemaphorePermit::split`].
    pub fn split(&mut self, n: usize) -> Option<Self> {
        let all = self.permits;
        self.permits = all.checked_sub(n)?;
        Some(Self {
            hold: self.hold.part(all, n),
            sem: self.sem.clone(),
            permits: n,
        })
    }

    /// Same as [`tokio::sync::OwnedSemaphorePermit::semaphore`].
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.sem
    }

    /// Same as [`tokio::sync::OwnedSemaphorePermit::num_permits`].
    pub fn num_permits(&self) -> usize {
        self.permits
    }
}

impl Drop for OwnedSemaphorePermit {
    fn drop(&mut self) {
        drop(take(&mut self.hold));
        self.sem.inner.add_permits(self.permits);
    }
}

impl fmt::Debug for SemaphorePermit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl fmt::Debug for OwnedSemaphorePermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedSemaphorePermit")
            .field("sem", &self.sem)
            .field("permits", &self.permits)
            .finish()
    }
}
