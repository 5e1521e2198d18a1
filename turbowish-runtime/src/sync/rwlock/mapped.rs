//! Mapped write guard that owns an `Arc` of its lock.

use std::sync::Arc;

use turbowish_unsafe::self_ref::SelfRef;

use super::RwLock;
use crate::resource::OwnedHold;
use crate::sync::guards::guard;

/// Same as [`tokio::sync::OwnedRwLockMappedWriteGuard`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    hold: OwnedHold,
    inner: SelfRef<RwLock<T>, tokio::sync::OwnedRwLockMappedWriteGuard<T, U>>,
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    pub(super) const fn of(
        hold: OwnedHold,
        inner: SelfRef<RwLock<T>, tokio::sync::OwnedRwLockMappedWriteGuard<T, U>>,
    ) -> Self {
        Self { hold, inner }
    }

    /// Same as [`tokio::sync::OwnedRwLockMappedWriteGuard::map`].
    #[inline]
    pub fn map<F, V: ?Sized>(this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, V>
    where
        F: FnOnce(&mut U) -> &mut V,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.map(|_, guard| {
            tokio::sync::RwLockMappedWriteGuard::map(guard, |all| hold.during(|| f(all)))
        });
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
        let mapped = inner.try_map(|_, guard| {
            tokio::sync::RwLockMappedWriteGuard::try_map(guard, |all| hold.during(|| f(all)))
        });
        match mapped {
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

guard!([T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U> => U, |this| &this.inner, this.inner.with_mut(|guard| &mut **guard));
