//! Mapped write guard that owns an `Arc` of its lock.

use std::marker::PhantomData;
use std::sync::Arc;

use turbowish_unsafe::guarded::{Exclusive, Owned};

use super::RwLock;
use crate::resource::OwnedHold;
use crate::sync::guards::guard;

/// Same as [`tokio::sync::OwnedRwLockMappedWriteGuard`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    hold: OwnedHold,
    inner: Exclusive<Owned<RwLock<T>>, U>,
    /// Makes the guard `Unpin` and `Send` exactly when tokio's is.
    content: PhantomData<(Arc<U>, T)>,
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    pub(super) const fn of(hold: OwnedHold, inner: Exclusive<Owned<RwLock<T>>, U>) -> Self {
        Self {
            hold,
            inner,
            content: PhantomData,
        }
    }

    /// Same as [`tokio::sync::OwnedRwLockMappedWriteGuard::map`].
    #[inline]
    pub fn map<F, V: ?Sized>(this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, V>
    where
        F: FnOnce(&mut U) -> &mut V,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.map(|all| hold.during(|| f(all)));
        OwnedRwLockMappedWriteGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::OwnedRwLockMappedWriteGuard::try_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<F, V: ?Sized>(
        this: Self,
        f: F,
    ) -> Result<OwnedRwLockMappedWriteGuard<T, V>, Self>
    where
        F: FnOnce(&mut U) -> Option<&mut V>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        match inner.try_map(|all| hold.during(|| f(all))) {
            Ok(inner) => Ok(OwnedRwLockMappedWriteGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }

    /// Same as [`tokio::sync::OwnedRwLockMappedWriteGuard::rwlock`].
    #[inline]
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.inner.owner()
    }
}

guard!([T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U> => U, |this| &this.inner, &mut this.inner);
