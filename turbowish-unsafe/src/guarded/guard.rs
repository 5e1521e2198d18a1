//! Guard operations: access to the value or to a part of it, projection, downgrade.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::{Borrowed, Exclusive, Guarded, Keep, Owned, Shared};

impl<K: Keep<U>, U: ?Sized, const READ: bool> Exclusive<K, U, READ> {
    /// Projects the guard to a part of the value.
    #[inline]
    pub fn map<V: ?Sized>(mut self, f: impl FnOnce(&mut U) -> &mut V) -> Exclusive<K, V>
    where
        K: Keep<V>,
    {
        let part = std::ptr::from_mut(f(&mut self));
        let claim = self.claim;
        Exclusive { claim, part }
    }

    /// Projects the guard to a part of the value, if `f` returns one.
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<V: ?Sized>(
        mut self,
        f: impl FnOnce(&mut U) -> Option<&mut V>,
    ) -> Result<Exclusive<K, V>, Self>
    where
        K: Keep<V>,
    {
        let Some(part) = f(&mut self).map(std::ptr::from_mut) else {
            return Err(self);
        };
        let claim = self.claim;
        Ok(Exclusive { claim, part })
    }
}

impl<K: Keep<U>, U: ?Sized> Exclusive<K, U, true> {
    /// Downgrades to a reader of a part, without a writer in between.
    #[inline]
    pub fn share<V: ?Sized>(self, f: impl FnOnce(&U) -> &V) -> Shared<K, V>
    where
        K: Keep<V>,
    {
        let part = NonNull::from(f(&self));
        Shared {
            claim: self.claim.shared(),
            part,
        }
    }

    /// Downgrades to a reader of a part, if `f` returns one, without a writer in between.
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_share<V: ?Sized>(
        self,
        f: impl FnOnce(&U) -> Option<&V>,
    ) -> Result<Shared<K, V>, Self>
    where
        K: Keep<V>,
    {
        let Some(part) = f(&self).map(NonNull::from) else {
            return Err(self);
        };
        Ok(Shared {
            claim: self.claim.shared(),
            part,
        })
    }
}

impl<K: Keep<U>, U: ?Sized> Shared<K, U> {
    /// Projects the guard to a part of the value.
    #[inline]
    pub fn map<V: ?Sized>(self, f: impl FnOnce(&U) -> &V) -> Shared<K, V>
    where
        K: Keep<V>,
    {
        let part = NonNull::from(f(&self));
        let claim = self.claim;
        Shared { claim, part }
    }

    /// Projects the guard to a part of the value, if `f` returns one.
    ///
    /// # Errors
    /// If `f` returns `None`; the error returns the guard.
    #[inline]
    pub fn try_map<V: ?Sized>(self, f: impl FnOnce(&U) -> Option<&V>) -> Result<Shared<K, V>, Self>
    where
        K: Keep<V>,
    {
        let Some(part) = f(&self).map(NonNull::from) else {
            return Err(self);
        };
        let claim = self.claim;
        Ok(Shared { claim, part })
    }
}

impl<'a, T: ?Sized + 'a, const READ: bool> Exclusive<Borrowed<'a>, T, READ> {
    /// Replaces the borrow by `owner`, in which `of` finds the value; the guard then has all of the
    /// value. For `of` see [`Guarded::try_change_owned`].
    ///
    /// # Panics
    /// If `of` returns another value.
    pub fn own<L: ?Sized>(
        self,
        owner: Arc<L>,
        of: impl FnOnce(&L) -> &Guarded<T, READ> + 'static,
    ) -> Exclusive<Owned<L>, T, READ> {
        // A part may live no longer than the borrow, so the guard gets all of the value.
        let (claim, all) = self.claim.own(owner, of);
        let part = all.as_ptr();
        Exclusive { claim, part }
    }
}

impl<'a, T: ?Sized + 'a> Shared<Borrowed<'a>, T> {
    /// Replaces the borrow by `owner`, in which `of` finds the value; the guard then has all of the
    /// value. For `of` see [`Guarded::try_change_owned`].
    ///
    /// # Panics
    /// If `of` returns another value.
    pub fn own<L: ?Sized>(
        self,
        owner: Arc<L>,
        of: impl FnOnce(&L) -> &Guarded<T, true> + 'static,
    ) -> Shared<Owned<L>, T> {
        let (claim, part) = self.claim.own(owner, of);
        Shared { claim, part }
    }
}

impl<L: ?Sized, U: ?Sized, const READ: bool> Exclusive<Owned<L>, U, READ> {
    /// The `Arc` that keeps the value alive.
    #[must_use]
    pub const fn owner(&self) -> &Arc<L> {
        self.claim.0.owner()
    }
}

impl<L: ?Sized, U: ?Sized> Shared<Owned<L>, U> {
    /// The `Arc` that keeps the value alive.
    #[must_use]
    pub const fn owner(&self) -> &Arc<L> {
        self.claim.0.owner()
    }
}

impl<K: Keep<U>, U: ?Sized, const READ: bool> Deref for Exclusive<K, U, READ> {
    type Target = U;
    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: the claim proves that nothing else accesses the value, and keeps the memory
        // alive.
        unsafe { &*self.part }
    }
}

impl<K: Keep<U>, U: ?Sized, const READ: bool> DerefMut for Exclusive<K, U, READ> {
    #[inline]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: as above, and `self` is borrowed exclusively.
        unsafe { &mut *self.part }
    }
}

impl<K: Keep<U>, U: ?Sized> Deref for Shared<K, U> {
    type Target = U;
    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: the claim proves that nothing has exclusive access, and keeps the memory alive.
        unsafe { self.part.as_ref() }
    }
}

impl<K: Keep<U>, U: ?Sized + fmt::Debug, const READ: bool> fmt::Debug for Exclusive<K, U, READ> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<K: Keep<U>, U: ?Sized + fmt::Debug> fmt::Debug for Shared<K, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
