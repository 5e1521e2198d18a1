//! Values behind a fair lock: one task at a time changes the value, or many read it. The order is
//! that of a tokio semaphore, which tokio's own locks are made of: a reader holds one permit, a
//! writer holds all. No other code can reach that semaphore, so that soundness does not depend on
//! callers.
//!
//! A guard keeps the value alive by borrowing it, or by an `Arc`. In the second case it has no
//! lifetime of the value, whatever the value borrows.

mod guard;
mod keep;

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;

pub use self::keep::{Borrowed, Keep, Owned};
use self::keep::{Line, Sealed};

/// A value and its wait queue. `READ`: several readers at a time are allowed.
pub struct Guarded<T: ?Sized, const READ: bool> {
    line: Line,
    value: UnsafeCell<T>,
}

// SAFETY: through a shared reference, one thread at a time accesses the value: in effect it is
// moved to that thread and back.
unsafe impl<T: ?Sized + Send> Sync for Guarded<T, false> {}
// SAFETY: as above, and several threads may read it at a time.
unsafe impl<T: ?Sized + Send + Sync> Sync for Guarded<T, true> {}

/// The permits of a guard, all or one; returned on drop.
struct Claim<K: Sealed, const ALL: bool>(K);

impl<K: Sealed> Claim<K, true> {
    /// Turns exclusive access into shared access, which other readers may join.
    fn shared(self) -> Claim<K, false> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is neither dropped nor used after this read.
        let keep = unsafe { ptr::read(&raw const this.0) };
        let line = keep.line();
        line.give_back(line.all() - 1);
        Claim(keep)
    }
}

impl<const ALL: bool> Claim<Borrowed<'_>, ALL> {
    /// Replaces the borrow by `owner`, in which `of` finds the same value. Also returns the value.
    ///
    /// # Panics
    /// If `of` returns another value.
    fn own<L: ?Sized, T: ?Sized, const READ: bool>(
        self,
        owner: Arc<L>,
        of: impl FnOnce(&L) -> &Guarded<T, READ> + 'static,
    ) -> (Claim<Owned<L>, ALL>, NonNull<T>) {
        let Guarded { line, value } = of(&owner);
        assert!(ptr::eq(line, self.0.line()), "it is of another value");
        let all = cell(value);
        // SAFETY: `of` works for any lifetime of the reference into the `Arc`, and has borrowed
        // nothing else, so what it returns is alive for as long as what the `Arc` points to.
        let keep = unsafe { Owned::new(NonNull::from(line), owner) };
        // Its permits now belong to the new claim.
        let _ = ManuallyDrop::new(self);
        (Claim(keep), all)
    }
}

impl<K: Sealed, const ALL: bool> Drop for Claim<K, ALL> {
    #[inline]
    fn drop(&mut self) {
        let line = self.0.line();
        line.give_back(if ALL { line.all() } else { 1 });
    }
}

/// Exclusive access to the value, or to a part of it. `READ`: the guard has all of the value, and
/// may be downgraded to shared access.
///
/// A guard of a part may not be downgraded: other readers would access all of the value, and could
/// change through it what contains the part.
///
/// ```compile_fail,E0599
/// # use {std::cell::Cell, turbowish_unsafe::guarded::Guarded};
/// let value = Guarded::for_readers(Cell::new(1), 2);
/// let part = value.try_change().unwrap().map(Cell::get_mut).share(|part| part);
/// let all = value.try_read().unwrap();
/// all.set(2);
/// ```
///
/// Nor can a guard be sent to another thread to become a reader there, if the value may be read on
/// one thread only.
///
/// ```compile_fail,E0277
/// # use {std::cell::Cell, turbowish_unsafe::guarded::Guarded};
/// let value = Guarded::for_readers(Cell::new(1), 2);
/// let one = value.try_change().unwrap();
/// std::thread::scope(|scope| {
///     scope.spawn(move || one.share(|all| all).set(2));
/// });
/// ```
#[must_use = "the value is free again at once"]
pub struct Exclusive<K: Keep<U>, U: ?Sized, const READ: bool = false> {
    claim: Claim<K, true>,
    /// Points into the value that `claim` belongs to.
    part: *mut U,
}

/// Shared access to the value, or to a part of it.
#[must_use = "the value is free again at once"]
pub struct Shared<K: Keep<U>, U: ?Sized> {
    claim: Claim<K, false>,
    /// Points into the value that `claim` belongs to.
    part: NonNull<U>,
}

// SAFETY: it is an exclusive reference to `U`, and `K`.
unsafe impl<K: Keep<U> + Send, U: ?Sized + Send> Send for Exclusive<K, U, false> {}
// SAFETY: as above, and it can become a shared reference while others read the value where it came
// from.
unsafe impl<K: Keep<U> + Send, U: ?Sized + Send + Sync> Send for Exclusive<K, U, true> {}
// SAFETY: it is an exclusive reference to `U`, and `K`.
unsafe impl<K: Keep<U> + Sync, U: ?Sized + Sync, const READ: bool> Sync for Exclusive<K, U, READ> {}
// SAFETY: it is a shared reference to `U`, and `K`.
unsafe impl<K: Keep<U> + Send, U: ?Sized + Sync> Send for Shared<K, U> {}
// SAFETY: as above. `U: Send` is not needed, but tokio's guards, which this replaces, require it.
unsafe impl<K: Keep<U> + Sync, U: ?Sized + Send + Sync> Sync for Shared<K, U> {}

impl<T> Guarded<T, false> {
    /// Creates a value without readers; it is free.
    #[must_use]
    pub const fn for_one(value: T) -> Self {
        Self {
            line: Line::new(1),
            value: UnsafeCell::new(value),
        }
    }
}

impl<T> Guarded<T, true> {
    /// Creates a value with at most `readers` readers at a time; it is free.
    ///
    /// # Panics
    /// If `readers` is zero.
    #[must_use]
    pub const fn for_readers(value: T, readers: u32) -> Self {
        Self {
            line: Line::new(readers),
            value: UnsafeCell::new(value),
        }
    }
}

impl<T, const READ: bool> Guarded<T, READ> {
    /// Returns the value.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized, const READ: bool> Guarded<T, READ> {
    /// The value, without locking: the exclusive reference proves that it is free.
    #[must_use]
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Exclusive access, if the value is free and nothing waits for it.
    #[inline]
    pub fn try_change(&self) -> Option<Exclusive<Borrowed<'_>, T, READ>> {
        let taken = self.line.try_take(self.line.all());
        taken.then(|| self.changes())
    }

    /// Waits for exclusive access, in queue order; if dropped before, it loses its place in the
    /// queue.
    #[inline]
    pub async fn change(&self) -> Exclusive<Borrowed<'_>, T, READ> {
        self.line.take(self.line.all()).await;
        self.changes()
    }

    /// Creates the guard for a caller that has taken all permits.
    #[inline]
    const fn changes(&self) -> Exclusive<Borrowed<'_>, T, READ> {
        Exclusive {
            claim: Claim(Borrowed::new(&self.line)),
            part: self.value.get(),
        }
    }

    /// Same as [`try_change`](Self::try_change), for a value that `of` finds in `owner`, which is
    /// kept alive. `of` must use nothing but its argument: if `L` can be coerced to a type that
    /// lives longer, another value could be dropped before the guard.
    ///
    /// ```compile_fail,E0521
    /// # use {std::marker::PhantomData, std::sync::Arc, turbowish_unsafe::guarded::{Exclusive, Guarded, Owned}};
    /// struct Consumer<'b>(PhantomData<fn(&'b u8)>);
    /// fn escape<'b>(other: &'b Guarded<u8, false>) -> Exclusive<Owned<Consumer<'static>>, u8> {
    ///     let owner: Arc<Consumer<'b>> = Arc::new(Consumer(PhantomData));
    ///     let got: Exclusive<Owned<Consumer<'b>>, u8> = Guarded::try_change_owned(owner, |_: &Consumer<'b>| other).ok().unwrap();
    ///     got
    /// }
    /// ```
    ///
    /// # Errors
    /// If the value is taken or something waits for it; returns the `Arc`.
    #[inline]
    pub fn try_change_owned<L: ?Sized>(
        owner: Arc<L>,
        of: impl FnOnce(&L) -> &Self + 'static,
    ) -> Result<Exclusive<Owned<L>, T, READ>, Arc<L>> {
        let this = of(&owner);
        if !this.line.try_take(this.line.all()) {
            return Err(owner);
        }
        let (line, part) = (NonNull::from(&this.line), this.value.get());
        // SAFETY: `of` works for any lifetime of the reference into the `Arc`, and has borrowed
        // nothing else, so what it returns is alive for as long as what the `Arc` points to.
        let keep = unsafe { Owned::new(line, owner) };
        let claim = Claim(keep);
        Ok(Exclusive { claim, part })
    }
}

impl<T: ?Sized> Guarded<T, true> {
    /// Shared access, if there is no writer, nothing waits, and the maximum number of readers is
    /// not reached.
    #[inline]
    pub fn try_read(&self) -> Option<Shared<Borrowed<'_>, T>> {
        self.line.try_take(1).then(|| self.reads())
    }

    /// Waits for shared access, in queue order; if dropped before, it loses its place in the queue.
    #[inline]
    pub async fn read(&self) -> Shared<Borrowed<'_>, T> {
        self.line.take(1).await;
        self.reads()
    }

    /// Creates the guard for a caller that has taken one permit.
    #[inline]
    fn reads(&self) -> Shared<Borrowed<'_>, T> {
        Shared {
            claim: Claim(Borrowed::new(&self.line)),
            part: cell(&self.value),
        }
    }

    /// Same as [`try_read`](Self::try_read), for a value that `of` finds in `owner`, which is kept
    /// alive. For `of` see [`try_change_owned`](Self::try_change_owned).
    ///
    /// # Errors
    /// If shared access is not available now; returns the `Arc`.
    #[inline]
    pub fn try_read_owned<L: ?Sized>(
        owner: Arc<L>,
        of: impl FnOnce(&L) -> &Self + 'static,
    ) -> Result<Shared<Owned<L>, T>, Arc<L>> {
        let this = of(&owner);
        if !this.line.try_take(1) {
            return Err(owner);
        }
        let (line, part) = (NonNull::from(&this.line), cell(&this.value));
        // SAFETY: as above.
        let keep = unsafe { Owned::new(line, owner) };
        let claim = Claim(keep);
        Ok(Shared { claim, part })
    }
}

fn cell<T: ?Sized>(value: &UnsafeCell<T>) -> NonNull<T> {
    // SAFETY: the pointer points into `value`, so it is not null.
    unsafe { NonNull::new_unchecked(value.get()) }
}

impl<T: ?Sized, const READ: bool> fmt::Debug for Guarded<T, READ> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}
