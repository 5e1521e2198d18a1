//! Wakers whose target observes every clone, wake and drop.
//!
//! `std::task::Wake` makes wakers without unsafe code, but hides clones and drops. Both matter: a
//! task whose last waker is dropped without a wake is never polled again, and an executor may then
//! free the task; a wrapper of the executor's waker has to drop it at that moment.
//!
//! A poll is given a [`BorrowedWaker`], without a reference count of its own: of a target, or of a
//! lazy target, which makes a waker whenever the borrowed one is cloned. Clones are ordinary
//! wakers.

pub mod slot;

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// Target of wakers.
pub trait WakeTarget: Send + Sync + 'static {
    /// A waker was created by a clone.
    fn cloned(&self);
    /// A waker was dropped.
    fn dropped(&self);
    /// A waker was woken. If that consumes the waker, [`WakeTarget::dropped`] follows.
    fn wake(&self);
}

/// Makes a waker when one is needed for longer than a poll.
pub trait LazyTarget: Sync {
    /// The waker that a clone of the borrowed one becomes. If this unwinds, the clone does.
    fn waker(&self) -> Waker;
    /// The borrowed waker was woken within the task's own poll.
    fn wake(&self);
}

/// A waker of a target, borrowed for a poll.
#[derive(Debug)]
pub struct BorrowedWaker<'a> {
    // Never dropped: it has no reference count to return.
    waker: ManuallyDrop<Waker>,
    target: PhantomData<&'a ()>,
}

impl<'a> BorrowedWaker<'a> {
    /// Borrows a waker of `target`. Clones keep `target` alive, and wake it.
    #[inline]
    #[must_use]
    pub fn new<T: WakeTarget>(target: &'a Arc<T>) -> Self {
        let raw = RawWaker::new(Arc::as_ptr(target).cast(), Wakers::<T>::table());
        // SAFETY: the functions of `Wakers<T>` are thread-safe, since `T` is `Send + Sync`, and are
        // only ever given what `Arc::as_ptr` or `Arc::into_raw` of an `Arc<T>` has returned. This
        // waker owns no reference count, and is neither dropped nor handed out by value; it is
        // reached through `&self` alone, which does not outlive `'a`, in which the `Arc` is
        // borrowed.
        Self::of(unsafe { Waker::from_raw(raw) })
    }

    /// Borrows `waker` itself.
    #[inline]
    #[must_use]
    pub fn same(waker: &'a Waker) -> Self {
        let raw = RawWaker::new(waker.data(), waker.vtable());
        // SAFETY: data and vtable of a waker make an equal waker. This one owns none of its
        // reference counts, and is neither dropped nor handed out by value; it is reached through
        // `&self` alone, which does not outlive `'a`, in which `waker` is borrowed.
        Self::of(unsafe { Waker::from_raw(raw) })
    }

    /// Borrows a waker of `maker`. Clones are the wakers that `maker` makes.
    #[inline]
    #[must_use]
    pub fn late<M: LazyTarget>(maker: &'a M) -> Self {
        let raw = RawWaker::new(std::ptr::from_ref(maker).cast(), LazyTargets::<M>::TABLE);
        // SAFETY: the functions of `LazyTargets<M>` are thread-safe, since `M` is `Sync`, and are
        // only given this pointer, which is valid during `'a`. The waker is reached through `&self`
        // alone, which does not outlive `'a`; its clones are wakers of their own.
        Self::of(unsafe { Waker::from_raw(raw) })
    }

    #[inline]
    fn of(waker: Waker) -> Self {
        Self {
            waker: ManuallyDrop::new(waker),
            target: PhantomData,
        }
    }

    /// The waker for the poll.
    #[inline]
    #[must_use]
    pub fn waker(&self) -> &Waker {
        &self.waker
    }
}

/// Vtable of wakers that refer to an `Arc<T>`.
struct Wakers<T>(PhantomData<T>);

impl<T: WakeTarget> Wakers<T> {
    /// The vtable, at one address in each crate that polls with it: a constant would have one in
    /// each part of a crate, and futures would take a waker for another one and clone it again.
    #[inline(never)]
    fn table() -> &'static RawWakerVTable {
        const { &RawWakerVTable::new(Self::clone, Self::wake, Self::wake_by_ref, Self::drop) }
    }

    /// # Safety
    /// `data` is what `Arc::as_ptr` or `Arc::into_raw` has returned, and that `Arc` is alive.
    unsafe fn clone(data: *const ()) -> RawWaker {
        // SAFETY: by contract, `data` points to a live `T` of an `Arc`.
        unsafe { &*data.cast::<T>() }.cloned();
        // SAFETY: as above; the count is returned in `OwnedWaker`.
        unsafe { Arc::increment_strong_count(data.cast::<T>()) };
        RawWaker::new(data, Self::table())
    }

    /// # Safety
    /// `data` is as for `clone`, and the caller owns one of the `Arc`'s counts.
    unsafe fn wake(data: *const ()) {
        // SAFETY: by contract, the caller gives up its count.
        let owned = unsafe { OwnedWaker::<T>::take(data) };
        owned.0.wake();
    }

    /// # Safety
    /// `data` is as for `clone`.
    unsafe fn wake_by_ref(data: *const ()) {
        // SAFETY: by contract, `data` points to a live `T`.
        unsafe { &*data.cast::<T>() }.wake();
    }

    /// # Safety
    /// `data` is as for `clone`, and the caller owns one of the `Arc`'s counts.
    unsafe fn drop(data: *const ()) {
        // SAFETY: by contract, the caller gives up its count.
        drop(unsafe { OwnedWaker::<T>::take(data) });
    }
}

/// A waker's reference count. On drop the target observes it, also if waking unwinds.
struct OwnedWaker<T: WakeTarget>(Arc<T>);

impl<T: WakeTarget> OwnedWaker<T> {
    /// # Safety
    /// `data` is what `Arc::into_raw` has returned or `Arc::increment_strong_count` was called for,
    /// and that count is the caller's.
    unsafe fn take(data: *const ()) -> Self {
        // SAFETY: by the contract of this function.
        Self(unsafe { Arc::from_raw(data.cast()) })
    }
}

impl<T: WakeTarget> Drop for OwnedWaker<T> {
    fn drop(&mut self) {
        self.0.dropped();
    }
}

/// Vtable of the waker of a lazy target.
struct LazyTargets<M>(PhantomData<M>);

impl<M: LazyTarget> LazyTargets<M> {
    const TABLE: &'static RawWakerVTable = &RawWakerVTable::new(
        Self::clone,
        Self::wake_by_ref,
        Self::wake_by_ref,
        Self::drop,
    );

    /// # Safety
    /// `data` points to an `M`.
    unsafe fn clone(data: *const ()) -> RawWaker {
        // SAFETY: by the contract of this function.
        let waker = ManuallyDrop::new(unsafe { &*data.cast::<M>() }.waker());
        // Data and vtable make the same waker, which is not dropped here.
        RawWaker::new(waker.data(), waker.vtable())
    }

    /// # Safety
    /// `data` points to an `M`.
    unsafe fn wake_by_ref(data: *const ()) {
        // SAFETY: by the contract of this function.
        unsafe { &*data.cast::<M>() }.wake();
    }

    /// # Safety
    /// No requirements: there is nothing to return.
    unsafe fn drop(_: *const ()) {}
}
