//! A value that one at a time changes, or many read: who has it is counted here, so that nothing rests on what callers say.
//!
//! A guard keeps the value's place alive by borrowing it, or by an `Arc`. It has no lifetime of the value's in the second case, whatever the
//! value borrows. Nobody waits here: whoever comes while it is taken comes away with nothing. Waiting is up to a [`Gate`], which is
//! told when a guard ends, after the value is free.

mod keep;

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

pub use self::keep::{Borrowed, Gate, Keep, Owned};

/// A value, and how many have it. `READ`: several at a time may read it.
pub struct Guarded<T: ?Sized, const READ: bool> {
    /// How many read it, or [`ALONE`].
    users: AtomicU32,
    value: UnsafeCell<T>,
}

/// One has it alone.
const ALONE: u32 = u32::MAX;

// SAFETY: through a shared reference the value is given to one at a time, on whatever thread: it is moved there and back, in effect.
unsafe impl<T: ?Sized + Send> Sync for Guarded<T, false> {}
// SAFETY: as above, and several threads may read it at a time.
unsafe impl<T: ?Sized + Send + Sync> Sync for Guarded<T, true> {}

/// The count of one guard, which is given back when this is dropped.
struct Claim<K: Keep> {
    keep: K,
    alone: bool,
}

impl<K: Keep> Claim<K> {
    /// What had the value alone reads it from now on.
    fn shared(mut self) -> Self {
        self.alone = false;
        // What was changed is seen by those who read from now on.
        self.keep.users().store(1, Ordering::Release);
        self.keep.shared();
        self
    }
}

impl<K: Keep> Drop for Claim<K> {
    #[inline]
    fn drop(&mut self) {
        let users = self.keep.users();
        // Nobody else writes it while one has the value alone.
        if self.alone {
            users.store(0, Ordering::Release);
        } else {
            users.fetch_sub(1, Ordering::Release);
        }
        self.keep.left(self.alone);
    }
}

/// Has the value, or a part of it, alone.
#[must_use = "the value is free again at once"]
pub struct Exclusive<K: Keep, U: ?Sized> {
    claim: Claim<K>,
    /// In the value whose count `claim` is of.
    part: *mut U,
}

/// Reads the value, or a part of it.
#[must_use = "the value is free again at once"]
pub struct Shared<K: Keep, U: ?Sized> {
    claim: Claim<K>,
    /// In the value whose count `claim` is of.
    part: NonNull<U>,
}

// SAFETY: it is an exclusive reference to `U`, and `K`.
unsafe impl<K: Keep + Send, U: ?Sized + Send> Send for Exclusive<K, U> {}
// SAFETY: as above.
unsafe impl<K: Keep + Sync, U: ?Sized + Sync> Sync for Exclusive<K, U> {}
// SAFETY: it is a shared reference to `U`, and `K`.
unsafe impl<K: Keep + Send, U: ?Sized + Sync> Send for Shared<K, U> {}
// SAFETY: as above; that `U` is `Send` is not needed, but asked for by the guards that this stands in for.
unsafe impl<K: Keep + Sync, U: ?Sized + Send + Sync> Sync for Shared<K, U> {}

impl<T, const READ: bool> Guarded<T, READ> {
    /// Nobody has it.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            users: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// The value.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized, const READ: bool> Guarded<T, READ> {
    /// The value; that nobody has it is known from the exclusive reference.
    #[must_use]
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Has it alone, if nobody has it.
    #[inline]
    pub fn change<'a, G: Gate>(&'a self, gate: &'a G) -> Option<Exclusive<Borrowed<'a, G>, T>> {
        let users = &self.users;
        take_alone(users).then(|| Exclusive {
            claim: Claim {
                keep: Borrowed::new(users, gate),
                alone: true,
            },
            part: self.value.get(),
        })
    }

    /// The same of one that is in `owner`, where `of` says, which is kept alive. `of` has nothing but what it is given: another value could
    /// go before the guard does, if `L` can pass for a type that lives longer.
    ///
    /// ```compile_fail,E0521
    /// # use {std::marker::PhantomData, std::sync::Arc, turbowish_unsafe::guarded::{Exclusive, Gate, Guarded, Owned}};
    /// struct Consumer<'b>(PhantomData<fn(&'b u8)>);
    /// # impl Gate for Consumer<'_> { fn left(&self, _: bool) {} fn shared(&self) {} }
    /// fn escape<'b>(other: &'b Guarded<u8, false>) -> Exclusive<Owned<Consumer<'static>>, u8> {
    ///     let owner: Arc<Consumer<'b>> = Arc::new(Consumer(PhantomData));
    ///     let got: Exclusive<Owned<Consumer<'b>>, u8> = Guarded::change_owned(owner, |_: &Consumer<'b>| other).ok().unwrap();
    ///     got
    /// }
    /// ```
    ///
    /// # Errors
    /// Somebody has it; the `Arc` comes back.
    #[inline]
    pub fn change_owned<L: ?Sized + Gate>(
        owner: Arc<L>,
        of: impl FnOnce(&L) -> &Self + 'static,
    ) -> Result<Exclusive<Owned<L>, T>, Arc<L>> {
        let this = of(&owner);
        if !take_alone(&this.users) {
            return Err(owner);
        }
        let (users, part) = (NonNull::from(&this.users), this.value.get());
        // SAFETY: `of` knows nothing of how long it may look at what the `Arc` points to, and has borrowed nothing else, so what it says is
        // alive for as long as that is.
        let keep = unsafe { Owned::new(users, owner) };
        Ok(Exclusive {
            claim: Claim { keep, alone: true },
            part,
        })
    }
}

impl<T: ?Sized> Guarded<T, true> {
    /// Reads it, if nobody has it alone.
    #[inline]
    pub fn read<'a, G: Gate>(&'a self, gate: &'a G) -> Option<Shared<Borrowed<'a, G>, T>> {
        let users = &self.users;
        take_part(users).then(|| Shared {
            claim: Claim {
                keep: Borrowed::new(users, gate),
                alone: false,
            },
            part: cell(&self.value),
        })
    }

    /// The same of one that is in `owner`, where `of` says, which is kept alive.
    ///
    /// # Errors
    /// Somebody has it alone; the `Arc` comes back.
    #[inline]
    pub fn read_owned<L: ?Sized + Gate>(
        owner: Arc<L>,
        of: impl FnOnce(&L) -> &Self + 'static,
    ) -> Result<Shared<Owned<L>, T>, Arc<L>> {
        let this = of(&owner);
        if !take_part(&this.users) {
            return Err(owner);
        }
        let (users, part) = (NonNull::from(&this.users), cell(&this.value));
        // SAFETY: as above.
        let keep = unsafe { Owned::new(users, owner) };
        Ok(Shared {
            claim: Claim { keep, alone: false },
            part,
        })
    }
}

#[inline]
fn take_alone(users: &AtomicU32) -> bool {
    let taken = users.compare_exchange(0, ALONE, Ordering::Acquire, Ordering::Relaxed);
    taken.is_ok()
}

#[inline]
fn take_part(users: &AtomicU32) -> bool {
    let more = |users: u32| (users < ALONE - 1).then(|| users + 1);
    let taken = users.fetch_update(Ordering::Acquire, Ordering::Relaxed, more);
    taken.is_ok()
}

fn cell<T: ?Sized>(value: &UnsafeCell<T>) -> NonNull<T> {
    // SAFETY: it points into `value`.
    unsafe { NonNull::new_unchecked(value.get()) }
}

impl<K: Keep, U: ?Sized> Exclusive<K, U> {
    /// Goes on with a part.
    #[inline]
    pub fn map<V: ?Sized>(mut self, f: impl FnOnce(&mut U) -> &mut V) -> Exclusive<K, V> {
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
    ) -> Result<Exclusive<K, V>, Self> {
        let Some(part) = f(&mut self).map(std::ptr::from_mut) else {
            return Err(self);
        };
        let claim = self.claim;
        Ok(Exclusive { claim, part })
    }

    /// Goes on as a reader of a part; nobody comes in between.
    #[inline]
    pub fn share<V: ?Sized>(self, f: impl FnOnce(&U) -> &V) -> Shared<K, V> {
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
    ) -> Result<Shared<K, V>, Self> {
        let Some(part) = f(&self).map(NonNull::from) else {
            return Err(self);
        };
        Ok(Shared {
            claim: self.claim.shared(),
            part,
        })
    }
}

impl<K: Keep, U: ?Sized> Shared<K, U> {
    /// Goes on with a part.
    #[inline]
    pub fn map<V: ?Sized>(self, f: impl FnOnce(&U) -> &V) -> Shared<K, V> {
        let part = NonNull::from(f(&self));
        let claim = self.claim;
        Shared { claim, part }
    }

    /// Goes on with a part, if there is one.
    ///
    /// # Errors
    /// There is none; the guard comes back.
    #[inline]
    pub fn try_map<V: ?Sized>(
        self,
        f: impl FnOnce(&U) -> Option<&V>,
    ) -> Result<Shared<K, V>, Self> {
        let Some(part) = f(&self).map(NonNull::from) else {
            return Err(self);
        };
        let claim = self.claim;
        Ok(Shared { claim, part })
    }
}

impl<L: ?Sized + Gate, U: ?Sized> Exclusive<Owned<L>, U> {
    /// What it keeps alive.
    #[must_use]
    pub const fn owner(&self) -> &Arc<L> {
        self.claim.keep.owner()
    }
}

impl<L: ?Sized + Gate, U: ?Sized> Shared<Owned<L>, U> {
    /// What it keeps alive.
    #[must_use]
    pub const fn owner(&self) -> &Arc<L> {
        self.claim.keep.owner()
    }
}

impl<K: Keep, U: ?Sized> Deref for Exclusive<K, U> {
    type Target = U;
    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: the claim says that nobody else has the value, and keeps its place alive.
        unsafe { &*self.part }
    }
}

impl<K: Keep, U: ?Sized> DerefMut for Exclusive<K, U> {
    #[inline]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: as above, and this one is borrowed exclusively.
        unsafe { &mut *self.part }
    }
}

impl<K: Keep, U: ?Sized> Deref for Shared<K, U> {
    type Target = U;
    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: the claim says that nobody has the value alone, and keeps its place alive.
        unsafe { self.part.as_ref() }
    }
}

impl<T: ?Sized, const READ: bool> fmt::Debug for Guarded<T, READ> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("users", &self.users)
            .finish_non_exhaustive()
    }
}

impl<K: Keep, U: ?Sized + fmt::Debug> fmt::Debug for Exclusive<K, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<K: Keep, U: ?Sized + fmt::Debug> fmt::Debug for Shared<K, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
