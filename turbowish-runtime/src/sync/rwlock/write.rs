//! Write guard that owns an `Arc` of its lock.

use std::panic::Location;
use std::sync::Arc;

use turbowish_unsafe::self_ref::SelfRef;

use super::{OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, RwLock};
use crate::resource::{OwnedHold, Role};
use crate::sync::guards::guard;

/// Tokio's guard, and the `Arc` of our lock.
pub(super) type Inner<T> = SelfRef<RwLock<T>, tokio::sync::OwnedRwLockWriteGuard<T>>;

/// Same as [`tokio::sync::OwnedRwLockWriteGuard`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    hold: OwnedHold,
    inner: Inner<T>,
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    #[inline]
    pub(super) fn new(inner: Inner<T>, at: &'static Location<'static>) -> Self {
        Self::of(inner.owner().resource.hold_owned(Role::Write, 1, at), inner)
    }

    const fn of(hold: OwnedHold, inner: Inner<T>) -> Self {
        Self { hold, inner }
    }

    /// Same as [`tokio::sync::OwnedRwLockWriteGuard::map`].
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.map(|_, guard| {
            tokio::sync::RwLockWriteGuard::map(guard, |all| hold.during(|| f(all)))
        });
        OwnedRwLockMappedWriteGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::OwnedRwLockWriteGuard::try_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<F, U: ?Sized>(
        this: Self,
        f: F,
    ) -> Result<OwnedRwLockMappedWriteGuard<T, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let mapped = inner.try_map(|_, guard| {
            tokio::sync::RwLockWriteGuard::try_map(guard, |all| hold.during(|| f(all)))
        });
        match mapped {
            Ok(inner) => Ok(OwnedRwLockMappedWriteGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }

    /// Same as [`tokio::sync::OwnedRwLockWriteGuard::downgrade_map`].
    #[inline]
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.map(|_, guard| {
            tokio::sync::RwLockWriteGuard::downgrade_map(guard, |all| {
                let part = hold.during(|| f(all));
                hold.share(Role::Read);
                part
            })
        });
        OwnedRwLockReadGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::OwnedRwLockWriteGuard::try_downgrade_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_downgrade_map<F, U: ?Sized>(
        this: Self,
        f: F,
    ) -> Result<OwnedRwLockReadGuard<T, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let part = inner.try_map(|_, guard| {
            tokio::sync::RwLockWriteGuard::try_downgrade_map(guard, |all| {
                let part = hold.during(|| f(all))?;
                hold.share(Role::Read);
                Some(part)
            })
        });
        match part {
            Ok(inner) => Ok(OwnedRwLockReadGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }

    /// Same as [`tokio::sync::OwnedRwLockWriteGuard::into_mapped`].
    #[inline]
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        Self::map(this, |all| all)
    }

    /// Same as [`tokio::sync::OwnedRwLockWriteGuard::downgrade`].
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        Self::downgrade_map(self, |all| all)
    }

    /// Same as [`tokio::sync::OwnedRwLockWriteGuard::rwlock`].
    #[inline]
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.inner.owner()
    }
}

guard!([T: ?Sized] OwnedRwLockWriteGuard<T> => T, |this| &this.inner, this.inner.with_mut(|guard| &mut **guard));
