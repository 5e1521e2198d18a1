//! Guards that borrow their lock. The hold ends in the record before the lock is released.

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Mutex;

use turbowish_unsafe::guarded::{Borrowed, Exclusive, Shared};

use super::RwLock;
use crate::resource::{Hold, Role};
use crate::sync::guards::guard;

/// Same as [`tokio::sync::RwLockReadGuard`].
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    hold: Hold<'a>,
    inner: Shared<Borrowed<'a>, T>,
    content: PhantomData<&'a T>,
}

/// Same as [`tokio::sync::RwLockWriteGuard`].
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    hold: Hold<'a>,
    inner: Exclusive<Borrowed<'a>, T, true>,
    /// Makes the guard `Send` and `Sync` exactly when tokio's is.
    content: PhantomData<(&'a mut T, Box<Mutex<T>>, &'a T)>,
}

/// Same as [`tokio::sync::RwLockMappedWriteGuard`].
#[clippy::has_significant_drop]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    hold: Hold<'a>,
    inner: Exclusive<Borrowed<'a>, T>,
    /// Makes the guard `Send` and `Sync` exactly when tokio's is.
    content: PhantomData<(&'a mut T, Box<Mutex<T>>, &'a T)>,
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    #[inline]
    pub(super) fn new(
        lock: &'a RwLock<T>,
        inner: Shared<Borrowed<'a>, T>,
        at: &'static Location<'static>,
    ) -> Self {
        Self::of(lock.resource.hold(Role::Read, 1, at), inner)
    }

    #[inline]
    const fn of(hold: Hold<'a>, inner: Shared<Borrowed<'a>, T>) -> Self {
        Self {
            hold,
            inner,
            content: PhantomData,
        }
    }

    /// Same as [`tokio::sync::RwLockReadGuard::map`].
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.map(|all| hold.during(|| f(all)));
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
        match inner.try_map(|all| hold.during(|| f(all))) {
            Ok(inner) => Ok(RwLockReadGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    #[inline]
    pub(super) fn new(
        lock: &'a RwLock<T>,
        inner: Exclusive<Borrowed<'a>, T, true>,
        at: &'static Location<'static>,
    ) -> Self {
        Self::of(lock.resource.hold(Role::Write, 1, at), inner)
    }

    #[inline]
    const fn of(hold: Hold<'a>, inner: Exclusive<Borrowed<'a>, T, true>) -> Self {
        Self {
            hold,
            inner,
            content: PhantomData,
        }
    }

    /// Same as [`tokio::sync::RwLockWriteGuard::map`].
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.map(|all| hold.during(|| f(all)));
        RwLockMappedWriteGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::RwLockWriteGuard::downgrade_map`].
    #[inline]
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.share(|all| {
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
        match inner.try_map(|all| hold.during(|| f(all))) {
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
        let part = inner.try_share(|all| {
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
    const fn of(hold: Hold<'a>, inner: Exclusive<Borrowed<'a>, T>) -> Self {
        Self {
            hold,
            inner,
            content: PhantomData,
        }
    }

    /// Same as [`tokio::sync::RwLockMappedWriteGuard::map`].
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.map(|all| hold.during(|| f(all)));
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
        match inner.try_map(|all| hold.during(|| f(all))) {
            Ok(inner) => Ok(RwLockMappedWriteGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }
}

guard!(['a, T: ?Sized] RwLockReadGuard<'a, T> => T, |this| &this.inner);
guard!(['a, T: ?Sized] RwLockWriteGuard<'a, T> => T, |this| &this.inner, &mut this.inner);
guard!(['a, T: ?Sized] RwLockMappedWriteGuard<'a, T> => T, |this| &this.inner, &mut this.inner);
