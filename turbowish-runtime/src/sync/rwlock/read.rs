//! Read guard that owns an `Arc` of its lock.

use std::panic::Location;
use std::sync::Arc;

use turbowish_unsafe::self_ref::SelfRef;

use super::RwLock;
use crate::resource::{OwnedHold, Role};
use crate::sync::guards::guard;

/// Tokio's guard, and the `Arc` of our lock.
pub(super) type Inner<T, U = T> = SelfRef<RwLock<T>, tokio::sync::OwnedRwLockReadGuard<T, U>>;

/// Same as [`tokio::sync::OwnedRwLockReadGuard`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    hold: OwnedHold,
    inner: Inner<T, U>,
}

impl<T: ?Sized> OwnedRwLockReadGuard<T> {
    #[inline]
    pub(super) fn new(inner: Inner<T>, at: &'static Location<'static>) -> Self {
        Self::of(inner.owner().resource.hold_owned(Role::Read, 1, at), inner)
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    pub(super) const fn of(hold: OwnedHold, inner: Inner<T, U>) -> Self {
        Self { hold, inner }
    }

    /// Same as [`tokio::sync::OwnedRwLockReadGuard::map`].
    #[inline]
    pub fn map<F, V: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, V>
    where
        F: FnOnce(&U) -> &V,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner
            .map(|_, guard| tokio::sync::RwLockReadGuard::map(guard, |all| hold.during(|| f(all))));
        OwnedRwLockReadGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::OwnedRwLockReadGuard::try_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<F, V: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, V>, Self>
    where
        F: FnOnce(&U) -> Option<&V>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let mapped = inner.try_map(|_, guard| {
            tokio::sync::RwLockReadGuard::try_map(guard, |all| hold.during(|| f(all)))
        });
        match mapped {
            Ok(inner) => Ok(OwnedRwLockReadGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }

    /// Same as [`tokio::sync::OwnedRwLockReadGuard::rwlock`].
    #[inline]
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.inner.owner()
    }
}

guard!([T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U> => U, |this| &this.inner);
