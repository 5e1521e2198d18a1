//! Guards that borrow their lock. The hold ends in the record before the lock is released.

use std::panic::Location;

use super::RwLock;
use crate::resource::{Hold, Role};
use crate::sync::guards::guard;

/// Same as [`tokio::sync::RwLockReadGuard`].
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    hold: Hold<'a>,
    inner: tokio::sync::RwLockReadGuard<'a, T>,
}

/// Same as [`tokio::sync::RwLockWriteGuard`].
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    hold: Hold<'a>,
    inner: tokio::sync::RwLockWriteGuard<'a, T>,
}

/// Same as [`tokio::sync::RwLockMappedWriteGuard`].
#[clippy::has_significant_drop]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    hold: Hold<'a>,
    inner: tokio::sync::RwLockMappedWriteGuard<'a, T>,
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    #[inline]
    pub(super) fn new(
        lock: &'a RwLock<T>,
        inner: tokio::sync::RwLockReadGuard<'a, T>,
        at: &'static Location<'static>,
    ) -> Self {
        Self::of(lock.resource.hold(Role::Read, 1, at), inner)
    }

    #[inline]
    const fn of(hold: Hold<'a>, inner: tokio::sync::RwLockReadGuard<'a, T>) -> Self {
        Self { hold, inner }
    }

    /// Same as [`tokio::sync::RwLockReadGuard::map`].
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = tokio::sync::RwLockReadGuard::map(inner, |all| hold.during(|| f(all)));
        RwLockReadGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::RwLockReadGuard::try_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        match tokio::sync::RwLockReadGuard::try_map(inner, |all| hold.during(|| f(all))) {
            Ok(inner) => Ok(RwLockReadGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    #[inline]
    pub(super) fn new(
        lock: &'a RwLock<T>,
        inner: tokio::sync::RwLockWriteGuard<'a, T>,
        at: &'static Location<'static>,
    ) -> Self {
        Self::of(lock.resource.hold(Role::Write, 1, at), inner)
    }

    #[inline]
    const fn of(hold: Hold<'a>, inner: tokio::sync::RwLockWriteGuard<'a, T>) -> Self {
        Self { hold, inner }
    }

    /// Same as [`tokio::sync::RwLockWriteGuard::map`].
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = tokio::sync::RwLockWriteGuard::map(inner, |all| hold.during(|| f(all)));
        RwLockMappedWriteGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::RwLockWriteGuard::downgrade_map`].
    #[inline]
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = tokio::sync::RwLockWriteGuard::downgrade_map(inner, |all| {
            let part = hold.during(|| f(all));
            hold.share(Role::Read);
            part
        });
        RwLockReadGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::RwLockWriteGuard::try_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        match tokio::sync::RwLockWriteGuard::try_map(inner, |all| hold.during(|| f(all))) {
            Ok(inner) => Ok(RwLockMappedWriteGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }

    /// Same as [`tokio::sync::RwLockWriteGuard::try_downgrade_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_downgrade_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let part = tokio::sync::RwLockWriteGuard::try_downgrade_map(inner, |all| {
            let part = hold.during(|| f(all))?;
            hold.share(Role::Read);
            Some(part)
        });
        match part {
            Ok(inner) => Ok(RwLockReadGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }

    /// Same as [`tokio::sync::RwLockWriteGuard::into_mapped`].
    #[inline]
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        Self::map(this, |all| all)
    }

    /// Same as [`tokio::sync::RwLockWriteGuard::downgrade`].
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        Self::downgrade_map(self, |all| all)
    }
}

impl<'a, T: ?Sized> RwLockMappedWriteGuard<'a, T> {
    const fn of(hold: Hold<'a>, inner: tokio::sync::RwLockMappedWriteGuard<'a, T>) -> Self {
        Self { hold, inner }
    }

    /// Same as [`tokio::sync::RwLockMappedWriteGuard::map`].
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = tokio::sync::RwLockMappedWriteGuard::map(inner, |all| hold.during(|| f(all)));
        RwLockMappedWriteGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::RwLockMappedWriteGuard::try_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        match tokio::sync::RwLockMappedWriteGuard::try_map(inner, |all| hold.during(|| f(all))) {
            Ok(inner) => Ok(RwLockMappedWriteGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }
}

guard!(['a, T: ?Sized] RwLockReadGuard<'a, T> => T, |this| &this.inner);
guard!(['a, T: ?Sized] RwLockWriteGuard<'a, T> => T, |this| &this.inner, &mut this.inner);
guard!(['a, T: ?Sized] RwLockMappedWriteGuard<'a, T> => T, |this| &this.inner, &mut this.inner);
