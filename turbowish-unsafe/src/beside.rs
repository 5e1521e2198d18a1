//! A value that borrows from what an `Arc` points to, and that `Arc`, in one.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;

/// A type for each lifetime of what it borrows.
pub trait Family {
    /// The one that borrows for `'a`.
    type Of<'a>;
}

/// A value of the family, pinned, and what it borrows from.
pub struct Beside<L: ?Sized, F: Family> {
    /// From a `Box`. It borrows from what `owner` points to, for as long as this is there, and only says that it does so for ever.
    value: NonNull<F::Of<'static>>,
    owner: Arc<L>,
    owns: PhantomData<F::Of<'static>>,
}

// SAFETY: it is the value, whatever lifetime it has in truth, and the `Arc`.
unsafe impl<L: ?Sized, F: Family> Send for Beside<L, F>
where
    Arc<L>: Send,
    for<'a> F::Of<'a>: Send,
{
}
// SAFETY: as above.
unsafe impl<L: ?Sized, F: Family> Sync for Beside<L, F>
where
    Arc<L>: Sync,
    for<'a> F::Of<'a>: Sync,
{
}

impl<L: ?Sized, F: Family> Beside<L, F> {
    /// What `make` makes of what `owner` points to.
    ///
    /// `make` borrows from nothing else, which could go before this does, if `L` can pass for a type that lives longer.
    ///
    /// ```compile_fail,E0521
    /// # use {std::marker::PhantomData, std::sync::Arc, turbowish_unsafe::beside::{Beside, Family}};
    /// struct Consumer<'b>(PhantomData<fn(&'b u8)>);
    /// struct Texts;
    /// impl Family for Texts {
    ///     type Of<'a> = &'a str;
    /// }
    /// fn escape<'b>(other: &'b str) -> Beside<Consumer<'static>, Texts> {
    ///     let owner: Arc<Consumer<'b>> = Arc::new(Consumer(PhantomData));
    ///     let beside: Beside<Consumer<'b>, Texts> = Beside::new(owner, |_: &Consumer<'b>| other);
    ///     beside
    /// }
    /// ```
    pub fn new(owner: Arc<L>, make: impl for<'a> FnOnce(&'a L) -> F::Of<'a> + 'static) -> Self {
        let value = NonNull::from(Box::leak(Box::new(make(&owner)))).cast();
        Self {
            value,
            owner,
            owns: PhantomData,
        }
    }

    /// The value. It borrows for some `'a` that `f` knows nothing of, so that nothing can be put into it but what it gave out.
    pub fn with<R>(&self, f: impl for<'v, 'a> FnOnce(&'v F::Of<'a>) -> R) -> R {
        // SAFETY: the value is alive, and is borrowed for as long as this is.
        f(unsafe { self.value.cast::<F::Of<'_>>().as_ref() })
    }

    /// The value, to be changed where it is. As with [`with`](Self::with), `f` knows nothing of `'a`.
    pub fn with_pin<R>(&mut self, f: impl for<'v, 'a> FnOnce(Pin<&'v mut F::Of<'a>>) -> R) -> R {
        // SAFETY: the value is alive, and is borrowed exclusively for as long as this is.
        let value = unsafe { self.value.cast::<F::Of<'_>>().as_mut() };
        // SAFETY: it never moves: it stays where the `Box` put it until it is dropped there, and nobody else can reach it.
        f(unsafe { Pin::new_unchecked(value) })
    }

    /// What it borrows from.
    #[must_use]
    pub const fn owner(&self) -> &Arc<L> {
        &self.owner
    }
}

impl<L: ?Sized, F: Family> Drop for Beside<L, F> {
    fn drop(&mut self) {
        // SAFETY: it comes from a `Box`, and this is the end of it; what it borrows from goes after it.
        drop(unsafe { Box::from_raw(self.value.as_ptr()) });
    }
}

impl<L: ?Sized, F: Family> fmt::Debug for Beside<L, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beside").finish_non_exhaustive()
    }
}
