//! Guards that own an `Arc` of their mutex.

use std::panic::Location;
use std::sync::Arc;

use turbowish_unsafe::self_ref::SelfRef;

use super::Mutex;
use crate::resource::{OwnedHold, Role};
use crate::sync::guards::guard;

/// Tokio's guard, and the `Arc` of our mutex.
pub(super) type Inner<T> = SelfRef<Mutex<T>, tokio::sync::OwnedMutexGuard<T>>;

/// Same as [`tokio::sync::OwnedMutexGuard`].
#[clippy::has_significant_drop]
pub struct OwnedMutexGuard<T: ?Sized> {
    hold: OwnedHold,
    inner: Inner<T>,
}

/// Same as [`tokio::sync::OwnedMappedMutexGuard`].
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    hold: OwnedHold,
    inner: SelfRef<Mutex<T>, tokio::sync::OwnedMappedMutexGuard<T, U>>,
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    #[inline]
    pub(super) fn new(inner: Inner<T>, at: &'static Location<'static>) -> Self {
        let hold = inner.owner().resource.hold_owned(Role::Lock, 1, at);
        Self { hold, inner }
    }

    /// Same as [`tokio::sync::OwnedMutexGuard::map`].
    #[inline]
    pub fn map<U, F>(this: Self, f: F) -> OwnedMappedMutexGuard<T, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner =
            inner.map(|_, guard| tokio::sync::MutexGuard::map(guard, |all| hold.during(|| f(all))));
        OwnedMappedMutexGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::OwnedMutexGuard::try_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<U, F>(this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let mapped = inner.try_map(|_, guard| {
            tokio::sync::MutexGuard::try_map(guard, |all| hold.during(|| f(all)))
        });
        match mapped {
            Ok(inner) => Ok(OwnedMappedMutexGuard::of(hold, inner)),
            Err(inner) => Err(Self { hold, inner }),
        }
    }

    /// Same as [`tokio::sync::OwnedMutexGuard::mutex`].
    #[inline]
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        this.inner.owner()
    }
}

impl<T: ?Sized, U: ?Sized> OwnedMappedMutexGuard<T, U> {
    const fn of(
        hold: OwnedHold,
        inner: SelfRef<Mutex<T>, tokio::sync::OwnedMappedMutexGuard<T, U>>,
    ) -> Self {
        Self { hold, inner }
    }

    /// Same as [`tokio::sync::OwnedMappedMutexGuard::map`].
    #[inline]
    pub fn map<S, F>(this: Self, f: F) -> OwnedMappedMutexGuard<T, S>
    where
        F: FnOnce(&mut U) -> &mut S,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.map(|_, guard| {
            tokio::sync::MappedMutexGuard::map(guard, |all| hold.during(|| f(all)))
        });
        OwnedMappedMutexGuard::of(hold, inner)
    }

    /// Same as [`tokio::sync::OwnedMappedMutexGuard::try_map`].
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<S, F>(this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, S>, Self>
    where
        F: FnOnce(&mut U) -> Option<&mut S>,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let mapped = inner.try_map(|_, guard| {
            tokio::sync::MappedMutexGuard::try_map(guard, |all| hold.during(|| f(all)))
        });
        match mapped {
            Ok(inner) => Ok(OwnedMappedMutexGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }
}

guard!([T: ?Sized] OwnedMutexGuard<T> => T, |this| &this.inner, this.inner.with_mut(|guard| &mut **guard));
guard!([T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U> => U, |this| &this.inner, this.inner.with_mut(|guard| &mut **guard));
