//! Self-referential pair: a guard of a tokio lock, and the `Arc` of the value that contains the
//! lock.
//!
//! Tokio's owned guards need an `Arc` of the lock itself. A lock that is a field of something else
//! has none, so its guard borrows from what the `Arc` points to.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;

use tokio::sync::{MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use tokio::sync::{OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard};
use tokio::sync::{RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard};

/// An owned guard of tokio. It names a borrowing guard without the lifetime of the borrow, which
/// the fields of a type without lifetimes cannot name.
///
/// `Bound` limits `for<'a> OwnedGuard<'a>` to lifetimes for which `&'a Self` exists.
///
/// # Safety
/// `Borrowed` is `Send` if `Self` is, and `Sync` if `Self` is.
pub unsafe trait OwnedGuard<'a, Bound = &'a Self>: Deref {
    /// The guard that borrows its lock for `'a`, and has access to the same value.
    type Borrowed: Deref<Target = Self::Target>;
}

/// The guard that `G` stands for, of a lock that is borrowed for `'a`.
pub type Borrowed<'a, G> = <G as OwnedGuard<'a>>::Borrowed;

// SAFETY: tokio has the same bounds on both.
unsafe impl<'a, T: ?Sized> OwnedGuard<'a> for OwnedMutexGuard<T> {
    type Borrowed = MutexGuard<'a, T>;
}
// SAFETY: as above; tokio's bounds on `T` only add to those on `U`.
unsafe impl<'a, T: ?Sized, U: ?Sized> OwnedGuard<'a> for OwnedMappedMutexGuard<T, U> {
    type Borrowed = MappedMutexGuard<'a, U>;
}
// SAFETY: as above.
unsafe impl<'a, T: ?Sized, U: ?Sized> OwnedGuard<'a> for OwnedRwLockReadGuard<T, U> {
    type Borrowed = RwLockReadGuard<'a, U>;
}
// SAFETY: as above.
unsafe impl<'a, T: ?Sized> OwnedGuard<'a> for OwnedRwLockWriteGuard<T> {
    type Borrowed = RwLockWriteGuard<'a, T>;
}
// SAFETY: as above.
unsafe impl<'a, T: ?Sized, U: ?Sized> OwnedGuard<'a> for OwnedRwLockMappedWriteGuard<T, U> {
    type Borrowed = RwLockMappedWriteGuard<'a, U>;
}

/// A guard that borrows from what an `Arc` points to, and that `Arc`. `G` stands for the guard.
#[must_use = "if unused the lock is released at once"]
pub struct SelfRef<L: ?Sized, G: for<'a> OwnedGuard<'a>> {
    /// Contains the borrowing guard, which is no larger than `G`. It is `Send` and `Sync` as `G`.
    guard: MaybeUninit<G>,
    /// Dropped after the guard.
    owner: Arc<L>,
    /// Makes the pair invariant in `L`: what it borrows from may contain lifetimes of `L`, which no
    /// coercion may lose.
    invariant: PhantomData<fn(&L) -> &L>,
}

impl<L: ?Sized, G: for<'a> OwnedGuard<'a>> SelfRef<L, G> {
    /// Makes the guard from what `owner` points to.
    ///
    /// `make` must not borrow from anything else: if `G` can be coerced to a type that lives
    /// longer, that borrow could end before the guard does.
    ///
    /// ```compile_fail,E0521
    /// # use std::sync::Arc;
    /// # use tokio::sync::{OwnedRwLockReadGuard, RwLock};
    /// # use turbowish_unsafe::self_ref::SelfRef;
    /// type Consumer<'b> = fn(&'b u8);
    /// type Guard<'b> = SelfRef<(), OwnedRwLockReadGuard<(), Consumer<'b>>>;
    /// fn escape<'b>(other: &'b RwLock<Consumer<'b>>) -> Guard<'static> {
    ///     let got: Guard<'b> = SelfRef::try_new(Arc::new(()), |_: &()| other.try_read()).ok().unwrap();
    ///     got
    /// }
    /// ```
    ///
    /// # Errors
    /// If `make` fails; returns its error and the `Arc`.
    #[inline]
    pub fn try_new<E>(
        owner: Arc<L>,
        make: impl for<'a> FnOnce(&'a L) -> Result<Borrowed<'a, G>, E> + 'static,
    ) -> Result<Self, (E, Arc<L>)> {
        match make(&owner).map(Self::erased) {
            Ok(guard) => Ok(Self::of(guard, owner)),
            Err(error) => Err((error, owner)),
        }
    }

    /// Same as [`try_new`](Self::try_new), for a guard that has to be waited for.
    #[inline]
    pub async fn new(
        owner: Arc<L>,
        make: impl for<'a> AsyncFnOnce(&'a L) -> Borrowed<'a, G> + 'static,
    ) -> Self {
        let guard = Self::erased(make(&owner).await);
        Self::of(guard, owner)
    }

    /// The `Arc` that the guard borrows from.
    #[must_use]
    pub const fn owner(&self) -> &Arc<L> {
        &self.owner
    }

    /// Runs `f` with the guard. Its lifetime `'a` is unknown to `f`, so that `f` can store nothing
    /// in it but what came from it.
    #[inline]
    pub fn with_mut<'v, R>(
        &'v mut self,
        f: impl for<'a> FnOnce(&'v mut Borrowed<'a, G>) -> R,
    ) -> R {
        // SAFETY: the guard is there until the drop, and is borrowed exclusively as `self` is.
        f(unsafe { &mut *self.guard.as_mut_ptr().cast::<Borrowed<'v, G>>() })
    }

    /// Replaces the guard by what `f` makes of it.
    ///
    /// `f` may return another guard that lives as long as a borrow in the part that the guard gives
    /// access to now. The result does not name that part, so it could live longer. Tokio's owned
    /// guards have the same gap: their `map` may return another reference in the same way.
    #[inline]
    pub fn map<H: for<'a> OwnedGuard<'a>>(
        self,
        f: impl for<'a> FnOnce(&'a L, Borrowed<'a, G>) -> Borrowed<'a, H>,
    ) -> SelfRef<L, H> {
        let (owner, guard) = self.into_parts();
        let guard = SelfRef::<L, H>::erased(f(&owner, guard));
        SelfRef::of(guard, owner)
    }

    /// Same as [`map`](Self::map), if `f` makes another guard of it.
    ///
    /// # Errors
    /// If `f` returns the guard.
    #[inline]
    pub fn try_map<H: for<'a> OwnedGuard<'a>>(
        self,
        f: impl for<'a> FnOnce(&'a L, Borrowed<'a, G>) -> Result<Borrowed<'a, H>, Borrowed<'a, G>>,
    ) -> Result<SelfRef<L, H>, Self> {
        let (owner, guard) = self.into_parts();
        match f(&owner, guard)
            .map(SelfRef::<L, H>::erased)
            .map_err(Self::erased)
        {
            Ok(guard) => Ok(SelfRef::of(guard, owner)),
            Err(guard) => Err(Self::of(guard, owner)),
        }
    }

    #[inline]
    const fn of(guard: MaybeUninit<G>, owner: Arc<L>) -> Self {
        Self {
            guard,
            owner,
            invariant: PhantomData,
        }
    }

    /// Stores a guard without its lifetime.
    #[inline]
    const fn erased(guard: Borrowed<'_, G>) -> MaybeUninit<G> {
        const {
            assert!(size_of::<Borrowed<'_, G>>() <= size_of::<G>());
            assert!(align_of::<Borrowed<'_, G>>() <= align_of::<G>());
        }
        let mut erased = MaybeUninit::<G>::uninit();
        // SAFETY: it is large enough, and aligned.
        unsafe { erased.as_mut_ptr().cast::<Borrowed<'_, G>>().write(guard) };
        erased
    }

    /// The `Arc`, which the caller keeps for longer than the guard.
    #[inline]
    fn into_parts<'a>(self) -> (Arc<L>, Borrowed<'a, G>)
    where
        G: 'a,
    {
        let this = ManuallyDrop::new(self);
        // SAFETY: both are read once, and `this` is not dropped.
        unsafe {
            let guard = this.guard.as_ptr().cast::<Borrowed<'a, G>>().read();
            (ptr::read(&raw const this.owner), guard)
        }
    }
}

impl<L: ?Sized, G: for<'a> OwnedGuard<'a>> Deref for SelfRef<L, G> {
    type Target = <G as Deref>::Target;

    #[inline]
    fn deref(&self) -> &Self::Target {
        // SAFETY: the guard is there until the drop, and is borrowed for as long as `self` is.
        unsafe { &*self.guard.as_ptr().cast::<Borrowed<'_, G>>() }
    }
}

impl<L: ?Sized, G: for<'a> OwnedGuard<'a>> Drop for SelfRef<L, G> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard is there, and is not used after this; `owner`, from which it borrows,
        // is dropped later.
        unsafe {
            self.guard
                .as_mut_ptr()
                .cast::<Borrowed<'_, G>>()
                .drop_in_place()
        };
    }
}

impl<L: ?Sized, G: for<'a> OwnedGuard<'a>> fmt::Debug for SelfRef<L, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelfRef").finish_non_exhaustive()
    }
}
