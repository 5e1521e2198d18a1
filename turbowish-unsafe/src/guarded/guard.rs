//! What a guard is good for: the value or a part of it, to look at or to change, and to go on with.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::{Borrowed, Exclusive, Guarded, Keep, Owned, Shared};

impl<K: Keep<U>, U: ?Sized, const READ: bool> Exclusive<K, U, READ> {
    /// Goes on with a part.
    #[inline]
    pub fn map<V: ?Sized>(mut self, f: impl FnOnce(&mut U) -> &mut V) -> Exclusive<K, V>
    where
        K: Keep<V>,
    {
        let part = std::ptr::from_mut(f(&mut self));
        let claim = self.claim;
        Exclusive { claim, part }
    }

    /// Goes on with a part, if there is one.
    ///
    /// # Errors
    /// There is none; the guard comes back.
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
    /// Goes on as a reader of a part; nobody comes in between.
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

    /// Goes on as a reader of a part, if there is one; nobody comes in between.
    ///
    /// # Errors
    /// There is none; the guard comes back.
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
    /// Goes on with a part.
    #[inline]
    pub fn map<V: ?Sized>(self, f: impl FnOnce(&U) -> &V) -> Shared<K, V>
    where
        K: Keep<V>,
    {
        let part = NonNull::from(f(&self));
        let claim = self.claim;
        Shared { claim, part }
    }

    /// Goes on with a part, if there is one.
    ///
    /// # Errors
    /// There is none; the guard comes back.
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
    /// Goes on without a borrow, with all of the value: it is in `owner`, where `of` says, which is kept alive. `of` is as of
    /// [`Guarded::try_change_owned`].
    ///
    /// # Panics
    /// It is not there.
    pub fn own<L: ?Sized>(
        self,
        owner: Arc<L>,
        of: impl FnOnce(&L) -> &Guarded<T, READ> + 'static,
    ) -> Exclusive<Owned<L>, T, READ> {
        // A part may be alive for no longer than the borrow.
        let (claim, all) = self.claim.own(owner, of);
        let part = all.as_ptr();
        Exclusive { claim, part }
    }
}

impl<'a, T: ?Sized + 'a> Shared<Borrowed<'a>, T> {
    /// Goes on without a borrow, with all of the value: it is in `owner`, where `of` says, which is kept alive. `of` is as of
    /// [`Guarded::try_change_owned`].
    ///
    /// # Panics
    /// It is not there.
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
    /// What it keeps alive.
    #[must_use]
    pub const fn owner(&self) -> &Arc<L> {
        self.claim.0.owner()
    }
}

impl<L: ?Sized, U: ?Sized> Shared<Owned<L>, U> {
    /// What it keeps alive.
    #[must_use]
    pub const fn owner(&self) -> &Arc<L> {
        self.claim.0.owner()
    }
}

impl<K: Keep<U>, U: ?Sized, const READ: bool> Deref for Exclusive<K, U, READ> {
    type Target = U;
    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: the claim says that nobody else has the value, and keeps its place alive.
        unsafe { &*self.part }
    }
}

impl<K: Keep<U>, U: ?Sized, const READ: bool> DerefMut for Exclusive<K, U, READ> {
    #[inline]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: as above, and this one is borrowed exclusively.
        unsafe { &mut *self.part }
    }
}

impl<K: Keep<U>, U: ?Sized> Deref for Shared<K, U> {
    type Target = U;
    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: the claim says that nobody has the value alone, and keeps its place alive.
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
