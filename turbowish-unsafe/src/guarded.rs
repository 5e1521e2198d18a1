//! A value that one at a time changes, or many read. Who comes next is decided by a semaphore of tokio's, which is what tokio's own locks
//! are made of: whoever reads has one of its places, and whoever changes the value has all. Nobody else gets at that semaphore, so that
//! nothing rests on what callers say.
//!
//! A guard keeps the value alive by borrowing it, or by an `Arc`. It has no lifetime of the value's in the second case, whatever the
//! value borrows.

mod guard;
mod keep;

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;

pub use self::keep::{Borrowed, Keep, Owned};
use self::keep::{Line, Sealed};

/// A value, and the line of those who want it. `READ`: several at a time may read it.
pub struct Guarded<T: ?Sized, const READ: bool> {
    line: Line,
    value: UnsafeCell<T>,
}

// SAFETY: through a shared reference the value is given to one at a time, on whatever thread: it is moved there and back, in effect.
unsafe impl<T: ?Sized + Send> Sync for Guarded<T, false> {}
// SAFETY: as above, and several threads may read it at a time.
unsafe impl<T: ?Sized + Send + Sync> Sync for Guarded<T, true> {}

/// The places of one guard, all or one of them, which are given back when this is dropped.
struct Claim<K: Sealed, const ALL: bool>(K);

impl<K: Sealed> Claim<K, true> {
    /// What had the value alone reads it from now on, and others may.
    fn shared(self) -> Claim<K, false> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, nor used after that.
        let keep = unsafe { ptr::read(&raw const this.0) };
        let line = keep.line();
        line.give_back(line.all() - 1);
        Claim(keep)
    }
}

impl<const ALL: bool> Claim<Borrowed<'_>, ALL> {
    /// It is kept alive by `owner`, in which it is where `of` says. The second one is the value.
    ///
    /// # Panics
    /// It is not there.
    fn own<L: ?Sized, T: ?Sized, const READ: bool>(
        self,
        owner: Arc<L>,
        of: impl FnOnce(&L) -> &Guarded<T, READ> + 'static,
    ) -> (Claim<Owned<L>, ALL>, NonNull<T>) {
        let Guarded { line, value } = of(&owner);
        assert!(ptr::eq(line, self.0.line()), "it is of another value");
        let all = cell(value);
        // SAFETY: `of` knows nothing of how long it may look at what the `Arc` points to, and has borrowed nothing else, so what it says is
        // alive for as long as that is.
        let keep = unsafe { Owned::new(NonNull::from(line), owner) };
        // Its places are the other's.
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

/// Has the value, or a part of it, alone. `READ`: it has all of it, and may go on as a reader beside others.
///
/// Who has a part may not: the others would have all of it, and could change through that what the part is in.
///
/// ```compile_fail,E0599
/// # use {std::cell::Cell, turbowish_unsafe::guarded::Guarded};
/// let value = Guarded::for_readers(Cell::new(1), 2);
/// let part = value.try_change().unwrap().map(Cell::get_mut).share(|part| part);
/// let all = value.try_read().unwrap();
/// all.set(2);
/// ```
///
/// Nor does one go to another thread to become a reader there of what only one thread may read.
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
    /// In the value that `claim` is of.
    part: *mut U,
}

/// Reads the value, or a part of it.
#[must_use = "the value is free again at once"]
pub struct Shared<K: Keep<U>, U: ?Sized> {
    claim: Claim<K, false>,
    /// In the value that `claim` is of.
    part: NonNull<U>,
}

// SAFETY: it is an exclusive reference to `U`, and `K`.
unsafe impl<K: Keep<U> + Send, U: ?Sized + Send> Send for Exclusive<K, U, false> {}
// SAFETY: as above, and it can become a shared one while others read where it came from.
unsafe impl<K: Keep<U> + Send, U: ?Sized + Send + Sync> Send for Exclusive<K, U, true> {}
// SAFETY: it is an exclusive reference to `U`, and `K`.
unsafe impl<K: Keep<U> + Sync, U: ?Sized + Sync, const READ: bool> Sync for Exclusive<K, U, READ> {}
// SAFETY: it is a shared reference to `U`, and `K`.
unsafe impl<K: Keep<U> + Send, U: ?Sized + Sync> Send for Shared<K, U> {}
// SAFETY: as above; that `U` is `Send` is not needed, but asked for by the guards that this stands in for.
unsafe impl<K: Keep<U> + Sync, U: ?Sized + Send + Sync> Sync for Shared<K, U> {}

impl<T> Guarded<T, false> {
    /// Nobody has it.
    #[must_use]
    pub const fn for_one(value: T) -> Self {
        Self {
            line: Line::new(1),
            value: UnsafeCell::new(value),
        }
    }
}

impl<T> Guarded<T, true> {
    /// Nobody has it; so many may read it at a time.
    ///
    /// # Panics
    /// With no reader.
    #[must_use]
    pub const fn for_readers(value: T, readers: u32) -> Self {
        Self {
            line: Line::new(readers),
            value: UnsafeCell::new(value),
        }
    }
}

impl<T, const READ: bool> Guarded<T, READ> {
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

    /// Has it alone, if nobody has it or waits for it.
    #[inline]
    pub fn try_change(&self) -> Option<Exclusive<Borrowed<'_>, T, READ>> {
        let taken = self.line.try_take(self.line.all());
        taken.then(|| self.changes())
    }

    /// Waits until it has it alone: in order, and dropped before that it has lost its place.
    #[inline]
    pub async fn change(&self) -> Exclusive<Borrowed<'_>, T, READ> {
        self.line.take(self.line.all()).await;
        self.changes()
    }

    /// Whoever has taken all places.
    #[inline]
    const fn changes(&self) -> Exclusive<Borrowed<'_>, T, READ> {
        Exclusive {
            claim: Claim(Borrowed::new(&self.line)),
            part: self.value.get(),
        }
    }

    /// [`try_change`](Self::try_change) of one that is in `owner`, where `of` says, which is kept alive. `of` has nothing but what it is
    /// given: another value could go before the guard does, if `L` can pass for a type that lives longer.
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
    /// Somebody has it or waits for it; the `Arc` comes back.
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
        // SAFETY: `of` knows nothing of how long it may look at what the `Arc` points to, and has borrowed nothing else, so what it says is
        // alive for as long as that is.
        let keep = unsafe { Owned::new(line, owner) };
        let claim = Claim(keep);
        Ok(Exclusive { claim, part })
    }
}

impl<T: ?Sized> Guarded<T, true> {
    /// Reads it, if nobody has it alone or waits for it, and there are not too many who do.
    #[inline]
    pub fn try_read(&self) -> Option<Shared<Borrowed<'_>, T>> {
        self.line.try_take(1).then(|| self.reads())
    }

    /// Waits until it reads it: in order, and dropped before that it has lost its place.
    #[inline]
    pub async fn read(&self) -> Shared<Borrowed<'_>, T> {
        self.line.take(1).await;
        self.reads()
    }

    /// Whoever has taken a place.
    #[inline]
    fn reads(&self) -> Shared<Borrowed<'_>, T> {
        Shared {
            claim: Claim(Borrowed::new(&self.line)),
            part: cell(&self.value),
        }
    }

    /// [`try_read`](Self::try_read) of one that is in `owner`, where `of` says, which is kept alive. `of` is as of
    /// [`try_change_owned`](Self::try_change_owned).
    ///
    /// # Errors
    /// It is not to be had now; the `Arc` comes back.
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
    // SAFETY: it points into `value`.
    unsafe { NonNull::new_unchecked(value.get()) }
}

impl<T: ?Sized, const READ: bool> fmt::Debug for Guarded<T, READ> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}
