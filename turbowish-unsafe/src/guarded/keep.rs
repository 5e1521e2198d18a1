//! What keeps alive the place of a value that is in use, and who hears when it is free.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// What lets guards in, and hears when they end.
pub trait Gate {
    /// A guard has ended that had the value `alone`, or read it.
    fn left(&self, alone: bool);
    /// A guard that had the value alone reads it from now on.
    fn shared(&self);
}

/// What keeps alive the place of a value that is in use: [`Borrowed`] or [`Owned`].
pub trait Keep: Sealed {}

/// A borrow keeps it alive.
#[derive(Debug)]
pub struct Borrowed<'a, G> {
    users: &'a AtomicU32,
    gate: &'a G,
}

/// An `Arc` keeps it alive.
#[derive(Debug)]
pub struct Owned<L: ?Sized> {
    /// Inside of what `owner` points to, or alive for longer than that.
    users: NonNull<AtomicU32>,
    owner: Arc<L>,
}

// SAFETY: it is the `Arc`, and a shared reference to an atomic.
unsafe impl<L: ?Sized> Send for Owned<L> where Arc<L>: Send {}
// SAFETY: as above.
unsafe impl<L: ?Sized> Sync for Owned<L> where Arc<L>: Sync {}

mod sealed {
    use std::sync::atomic::AtomicU32;

    /// Nobody else can say where a count is.
    pub trait Sealed {
        fn users(&self) -> &AtomicU32;
        fn left(&self, alone: bool);
        fn shared(&self);
    }
}
use sealed::Sealed;

impl<'a, G> Borrowed<'a, G> {
    #[inline]
    pub(super) const fn new(users: &'a AtomicU32, gate: &'a G) -> Self {
        Self { users, gate }
    }
}

impl<L: ?Sized> Owned<L> {
    /// # Safety
    /// `users` is alive as long as what `owner` points to is neither dropped nor borrowed exclusively.
    #[inline]
    pub(super) const unsafe fn new(users: NonNull<AtomicU32>, owner: Arc<L>) -> Self {
        Self { users, owner }
    }

    pub(super) const fn owner(&self) -> &Arc<L> {
        &self.owner
    }
}

impl<G: Gate> Keep for Borrowed<'_, G> {}
impl<L: ?Sized + Gate> Keep for Owned<L> {}

impl<G: Gate> Sealed for Borrowed<'_, G> {
    #[inline]
    fn users(&self) -> &AtomicU32 {
        self.users
    }
    #[inline]
    fn left(&self, alone: bool) {
        self.gate.left(alone);
    }
    fn shared(&self) {
        self.gate.shared();
    }
}

impl<L: ?Sized + Gate> Sealed for Owned<L> {
    #[inline]
    fn users(&self) -> &AtomicU32 {
        // SAFETY: it was a reference that lives as long as what the `Arc` points to is neither dropped nor borrowed exclusively, and
        // that is so while this `Arc` is there: it is never given out.
        unsafe { self.users.as_ref() }
    }
    #[inline]
    fn left(&self, alone: bool) {
        self.owner.left(alone);
    }
    fn shared(&self) {
        self.owner.shared();
    }
}
