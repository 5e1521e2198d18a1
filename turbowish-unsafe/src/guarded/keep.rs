//! What keeps alive a value that is in use, and the line of those who want it.

use std::ptr::NonNull;
use std::sync::Arc;

/// What keeps alive a value that is in use, for one who has `U` of it: [`Borrowed`] or [`Owned`]. What a borrow lets anybody have lives for
/// as long: a part that did not could be traded for another one that is gone before the guard.
///
/// ```compile_fail
/// # use turbowish_unsafe::guarded::{Borrowed, Exclusive};
/// fn escape<'a, 'b>(all: Exclusive<Borrowed<'a>, ()>, other: &'b mut u8) -> Exclusive<Borrowed<'a>, u8> {
///     let part: Exclusive<_, Option<&'b u8>> = all.map(|_| Box::leak(Box::new(None)));
///     part.map(|_| other)
/// }
/// ```
///
/// An `Arc` knows nothing of what its guard is a part of, so that nobody forbids the same there: as with tokio's owned guards, whose parts
/// have no bound either, it takes a part that is leaked, borrows for less than the guard lives, and is left for what it borrows.
pub trait Keep<U: ?Sized>: Sealed {}

/// A borrow keeps it alive.
#[derive(Debug)]
pub struct Borrowed<'a> {
    line: &'a Line,
}

/// An `Arc` keeps it alive.
#[derive(Debug)]
pub struct Owned<L: ?Sized> {
    /// Inside of what `owner` points to, or alive for longer than that.
    line: NonNull<Line>,
    owner: Arc<L>,
}

// SAFETY: it is the `Arc`, and a shared reference to a semaphore.
unsafe impl<L: ?Sized> Send for Owned<L> where Arc<L>: Send {}
// SAFETY: as above.
unsafe impl<L: ?Sized> Sync for Owned<L> where Arc<L>: Sync {}

mod sealed {
    use tokio::sync::Semaphore;

    /// Nobody else can say which line it is.
    pub trait Sealed {
        fn line(&self) -> &Line;
    }

    /// Places, given out in the order in which they were asked for. What was taken is given back by who has it.
    #[derive(Debug)]
    pub struct Line {
        all: u32,
        free: Semaphore,
    }

    impl Line {
        pub(in crate::guarded) const fn new(all: u32) -> Self {
            // Of none, all could be had by many.
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

        /// Takes so many, if they are free and nobody waits.
        #[inline]
        pub(in crate::guarded) fn try_take(&self, places: u32) -> bool {
            let taken = self.free.try_acquire_many(places);
            taken.map(|permit| permit.forget()).is_ok()
        }

        /// Waits for so many.
        #[inline]
        pub(in crate::guarded) async fn take(&self, places: u32) {
            match self.free.acquire_many(places).await {
                Ok(permit) => permit.forget(),
                // Nobody closes it.
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
    /// `line` is alive as long as what `owner` points to is neither dropped nor borrowed exclusively.
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
        // SAFETY: it was a reference that lives as long as what the `Arc` points to is neither dropped nor borrowed exclusively, and
        // that is so while this `Arc` is there: it is never given out.
        unsafe { self.line.as_ref() }
    }
}
