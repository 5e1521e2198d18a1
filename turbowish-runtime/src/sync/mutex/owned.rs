//! Guards that own an `Arc` of their mutex.

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use turbowish_unsafe::guarded::{Exclusive, Owned};

use super::Mutex;
use crate::resource::{OwnedHold, Role};
use crate::sync::guards::guard;

/// Same as [`tokio::sync::OwnedMutexGuard`].
#[clippy::has_significant_drop]
pub struct OwnedMutexGuard<T: ?Sized> {
    hold: OwnedHold,
    inner: Exclusive<Owned<Mutex<T>>, T>,
}

/// Same as [`tokio::sync::OwnedMappedMutexGuard`].
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    hold: OwnedHold,
    inner: Exclusive<Owned<Mutex<T>>, U>,
    /// Makes the guard `Sync` exactly when tokio's is.
    content: PhantomData<(Box<T>, Box<std::sync::Mutex<U>>)>,
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    #[inline]
    pub(super) fn new(
        inner: Exclusive<Owned<Mutex<T>>, T>,
        at: &'static Location<'static>,
    ) -> Self {
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
        let inner = inner.map(|all| hold.during(|| f(all)));
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
        match inner.try_map(|all| hold.during(|| f(all))) {
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
    const fn of(hold: OwnedHold, inner: Exclusive<Owned<Mutex<T>>, U>) -> Self {
        Self {
            hold,
            inner,
            content: PhantomData,
        }
    }

    /// Same as [`tokio::sync::OwnedMappedMutexGuard::map`].
    #[inline]
    pub fn map<S, F>(this: Self, f: F) -> OwnedMappedMutexGuard<T, S>
    where
        F: FnOnce(&mut U) -> &mut S,
    {
        let (mut hold, inner) = (this.hold, this.inner);
        let inner = inner.map(|all| hold.during(|| f(all)));
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
        match inner.try_map(|all| hold.during(|| f(all))) {
            Ok(inner) => Ok(OwnedMappedMutexGuard::of(hold, inner)),
            Err(inner) => Err(Self::of(hold, inner)),
        }
    }
}

guard!([T: ?Sized] OwnedMutexGuard<T> => T, |this| &this.inner, &mut this.inner);
guard!([T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U> => U, |this| &this.inner, &mut this.inner);
