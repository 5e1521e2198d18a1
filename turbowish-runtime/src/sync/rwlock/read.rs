//! Read guard that owns an `Arc` of its lock.

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use turbowish_unsafe::guarded::{Owned, Shared};

use super::RwLock;
use crate::resource::{OwnedHold, Role};
use crate::sync::guards::guard;

/// Same as [`tokio::sync::OwnedRwLockReadGuard`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    hold: OwnedHold,
    inner: Shared<Owned<RwLock<T>>, U>,
    /// Makes the guard `Unpin` exactly when tokio's is.
    content: PhantomData<T>,
}

impl<T: ?Sized> OwnedRwLockReadGuard<T> {
    #[inline]
    pub(super) fn new(inner: Shared<Owned<RwLock<T>>, T>, at: &'static Location<'static>) -> Self {
        Self::of(inner.owner().resource.hold_owned(Role::Read, 1, at), inner)
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    pub(super) const fn of(hold: OwnedHold, inner: Shared<Owned<RwLock<T>>, U>) -> Self {
        Self {
            hold,
            inner,
            content: PhantomData,
        }
    }

    /// Same as [`tokio::sync::OwnedRwLockReadGuard::map`].
    #[inline]
    pub fn map<F, V: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, V>
    where
        F: FnOnce(&U) -> &V,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.map(|all| hold.during(|| f(all)));
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
        match inner.try_map(|all| hold.during(|| f(all))) {
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
