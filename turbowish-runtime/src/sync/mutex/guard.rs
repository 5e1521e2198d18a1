//! Guards that borrow their mutex. The hold ends in the record before the mutex is unlocked, so the
//! record never shows two holders.

use std::panic::Location;

use super::Mutex;
use crate::resource::{Hold, Role};
use crate::sync::guards::guard;

/// Same as [`tokio::sync::MutexGuard`].
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    hold: Hold<'a>,
    inner: tokio::sync::MutexGuard<'a, T>,
    lock: &'a Mutex<T>,
}

/// Same as [`tokio::sync::MappedMutexGuard`].
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    hold: Hold<'a>,
    inner: tokio::sync::MappedMutexGuard<'a, T>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    #[inline]
    pub(super) fn new(
        lock: &'a Mutex<T>,
        inner: tokio::sync::MutexGuard<'a, T>,
        at: &'static Location<'static>,
    ) -> Self {
        let hold = lock.resource.hold(Role::Lock, 1, at);
        Self { hold, inner, lock }
    }

    /// Same as [`tokio::sync::MutexGuard::map`].
    #[inline]
    pub fn map<U, F>(this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = tokio::sync::MutexGuard::map(inner, |all| hold.during(|| f(all)));
        MappedMutexGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::MutexGuard::try_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<U, F>(this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let (mut hold, inner, lock) = (this.hold, this.inner, this.lock);
        match tokio::sync::MutexGuard::try_map(inner, |all| hold.during(|| f(all))) {
            Ok(inner) => Ok(MappedMutexGuard::of(hold, inner)),
            Err(inner) => Err(Self { hold, inner, lock }),
        }
    }

    /// Same as [`tokio::sync::MutexGuard::mutex`].
    #[inline]
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.lock
    }
}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    const fn of(hold: Hold<'a>, inner: tokio::sync::MappedMutexGuard<'a, T>) -> Self {
        Self { hold, inner }
    }

    /// Same as [`tokio::sync::MappedMutexGuard::map`].
    #[inline]
    pub fn map<U, F>(this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = tokio::sync::MappedMutexGuard::map(inner, |all| hold.during(|| f(all)));
        MappedMutexGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::MappedMutexGuard::try_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<U, F>(this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        match tokio::sync::MappedMutexGuard::try_map(inner, |all| hold.during(|| f(all))) {
            Ok(inner) => Ok(MappedMutexGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }
}

guard!(['a, T: ?Sized] MutexGuard<'a, T> => T, |this| &this.inner, &mut this.inner);
guard!(['a, T: ?Sized] MappedMutexGuard<'a, T> => T, |this| &this.inner, &mut this.inner);
