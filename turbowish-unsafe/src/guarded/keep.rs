//! Owners that keep a guarded value alive, and its wait queue.

use std::ptr::NonNull;
use std::sync::Arc;

/// Owner that keeps alive a value in use, for a guard of type `U`: [`Borrowed`] or [`Owned`]. With
/// a borrow, everything accessible through the guard lives as long as the borrow: a part that did
/// not could be replaced by a reference that ends before the guard.
///
/// ```compile_fail
/// # use turbowish_unsafe::guarded::{Borrowed, Exclusive};
/// fn escape<'a, 'b>(all: Exclusive<Borrowed<'a>, ()>, other: &'b mut u8) -> Exclusive<Borrowed<'a>, u8> {
///     let part: Exclusive<_, Option<&'b u8>> = all.map(|_| Box::leak(Box::new(None)));
///     part.map(|_| other)
/// }
/// ```
///
/// An `Arc` has no lifetime that could bound the guard's part, so the same is not prevented there.
/// Tokio's owned guards, whose parts have no bound either, have the same gap. To use it, code has
/// to leak a part that borrows for less than the guard's life, and to replace the part by what it
/// borrows.
pub trait Keep<U: ?Sized>: Sealed {}

/// Keeps the value alive by a borrow.
#[derive(Debug)]
pub struct Borrowed<'a> {
    line: &'a Line,
}

/// Keeps the value alive by an `Arc`.
#[derive(Debug)]
pub struct Owned<L: ?Sized> {
    /// Inside of what `owner` points to, or alive for longer than that.
    line: NonNull<Line>,
    owner: Arc<L>,
}

// SAFETY: it contains the `Arc` and, in effect, a shared reference to a semaphore.
unsafe impl<L: ?Sized> Send for Owned<L> where Arc<L>: Send {}
// SAFETY: as above.
unsafe impl<L: ?Sized> Sync for Owned<L> where Arc<L>: Sync {}

mod sealed {
    use tokio::sync::Semaphore;

    /// Sealed: no other crate can choose the queue.
    pub trait Sealed {
        fn line(&self) -> &Line;
    }

    /// Permits, handed out in the order of requests, and returned by the guard that holds them.
    #[derive(Debug)]
    pub struct Line {
        all: u32,
        free: Semaphore,
    }

    impl Line {
        pub(in crate::guarded) const fn new(all: u32) -> Self {
            // With zero permits, many guards could have all of them.
            assert!(all > 0, "there must be a place");
            Self {
                all,
                free: Semaphore::const_new(all as usize),
            }
        }

        #[inline]
        pub(in crate::guarded) const fn all(&self) -> u32 {
            self.all
        }

        /// Takes `places` permits, if they are free and nothing waits.
        #[inline]
        pub(in crate::guarded) fn try_take(&self, places: u32) -> bool {
            let taken = self.free.try_acquire_many(places);
            taken.map(|permit| permit.forget()).is_ok()
        }

        /// Waits for `places` permits.
        #[inline]
        pub(in crate::guarded) async fn take(&self, places: u32) {
            match self.free.acquire_many(places).await {
                Ok(permit) => permit.forget(),
                // The semaphore is never closed.
                Err(_) => std::future::pending().await,
            }
        }

        #[inline]
        pub(in crate::guarded) fn give_back(&self, places: u32) {
            self.free.add_permits(places as usize);
        }
    }
}
pub(super) use sealed::{Line, Sealed};

impl<'a> Borrowed<'a> {
    #[inline]
    pub(super) const fn new(line: &'a Line) -> Self {
        Self { line }
    }
}

impl<L: ?Sized> Owned<L> {
    /// # Safety
    /// `line` is alive as long as what `owner` points to is neither dropped nor borrowed
    /// exclusively.
    #[inline]
    pub(super) const unsafe fn new(line: NonNull<Line>, owner: Arc<L>) -> Self {
        Self { line, owner }
    }

    pub(super) const fn owner(&self) -> &Arc<L> {
        &self.owner
    }
}

impl<'a, U: ?Sized + 'a> Keep<U> for Borrowed<'a> {}
impl<L: ?Sized, U: ?Sized> Keep<U> for Owned<L> {}

impl Sealed for Borrowed<'_> {
    #[inline]
    fn line(&self) -> &Line {
        self.line
    }
}

impl<L: ?Sized> Sealed for Owned<L> {
    #[inline]
    fn line(&self) -> &Line {
        // SAFETY: `line` is alive as long as what the `Arc` points to is neither dropped nor
        // borrowed exclusively. That holds while this `Arc` exists, because it is never given out.
        unsafe { self.line.as_ref() }
    }
}
