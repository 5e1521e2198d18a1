//! Self-referential pair: a value together with the `Arc` that it borrows from.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;

/// A family of types, one for each lifetime of the borrow.
pub trait Family {
    /// The member that borrows for `'a`.
    type Of<'a>;
}

/// A pinned value of the family, and its owner.
pub struct Beside<L: ?Sized, F: Family> {
    /// From a `Box`. It borrows from what `owner` points to, for as long as this exists; `'static`
    /// stands in for that lifetime.
    value: NonNull<F::Of<'static>>,
    owner: Arc<L>,
    owns: PhantomData<F::Of<'static>>,
}

// SAFETY: it contains the value, whatever its actual lifetime is, and the `Arc`.
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
    /// Creates the value from what `owner` points to.
    ///
    /// `make` must not borrow from anything else: if `L` can be coerced to a type that lives
    /// longer, that borrow could end before this value does.
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

    /// Runs `f` with the value. Its lifetime `'a` is unknown to `f`, so that `f` can store nothing
    /// in it but what came from it.
    pub fn with<R>(&self, f: impl for<'v, 'a> FnOnce(&'v F::Of<'a>) -> R) -> R {
        // SAFETY: the value is alive, and is borrowed for as long as `self` is.
        f(unsafe { self.value.cast::<F::Of<'_>>().as_ref() })
    }

    /// Runs `f` with the pinned value, mutably. As with [`with`](Self::with), `'a` is unknown to
    /// `f`.
    pub fn with_pin<R>(&mut self, f: impl for<'v, 'a> FnOnce(Pin<&'v mut F::Of<'a>>) -> R) -> R {
        // SAFETY: the value is alive, and is borrowed exclusively for as long as `self` is.
        let value = unsafe { self.value.cast::<F::Of<'_>>().as_mut() };
        // SAFETY: the value never moves: it stays where the `Box` put it until it is dropped there,
        // and nothing else can reach it.
        f(unsafe { Pin::new_unchecked(value) })
    }

    /// The `Arc` that the value borrows from.
    #[must_use]
    pub const fn owner(&self) -> &Arc<L> {
        &self.owner
    }
}

impl<L: ?Sized, F: Family> Drop for Beside<L, F> {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from a `Box` and is not used after this; `owner`, from which
        // the value borrows, is dropped later.
        drop(unsafe { Box::from_raw(self.value.as_ptr()) });
    }
}

impl<L: ?Sized, F: Family> fmt::Debug for Beside<L, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beside").finish_non_exhaustive()
    }
}
