//! A waker is a reference to its target, and the target is told of every clone, wake and drop.
//!
//! `std::task::Wake` makes wakers without unsafe code, but hides their clones and drops. Both are to be known: a task whose
//! last waker is dropped without having woken it will never be polled again, and an executor may then free the task; whoever
//! wraps the executor's waker has to let go of it at that moment.
//!
//! A waker is [`BorrowedWaker`] to a poll, borrowed and without a reference count of its own: of a target,
//! or of a maker, which makes a waker whenever the lent one is cloned. Clones are wakers like any
//! other.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// What wakers refer to.
pub trait Target: Send + Sync + 'static {
    /// There is one more waker.
    fn cloned(&self);
    /// There is one waker less.
    fn dropped(&self);
    /// It is woken. When a waker is used up by that, [`Target::dropped`] follows.
    fn wake(&self);
}

/// Makes a waker when one is wanted for longer than a poll.
pub trait LazyTarget: Sync {
    /// A waker that outlives the poll: what a clone of the lent one is. It may unwind, to whoever
    /// clones.
    fn waker(&self) -> Waker;
    /// The task is woken within its own poll.
    fn wake(&self);
}

/// A waker of a target, lent to a poll.
#[derive(Debug)]
pub struct BorrowedWaker<'a> {
    // Never dropped: it has no reference count to give back.
    waker: ManuallyDrop<Waker>,
    target: PhantomData<&'a ()>,
}

impl<'a> BorrowedWaker<'a> {
    /// Clones of it keep `target` alive, and wake it.
    #[inline]
    #[must_use]
    pub fn new<T: Target>(target: &'a Arc<T>) -> Self {
        let raw = RawWaker::new(Arc::as_ptr(target).cast(), Wakers::<T>::TABLE);
        // SAFETY: the functions of `Wakers<T>` are thread-safe, since `T` is `Send + Sync`, and are only ever given what `Arc::as_ptr`
        // or `Arc::into_raw` of an `Arc<T>` has returned. This waker owns no reference count, and is neither dropped nor handed out by
        // value; it is reached through `&self` alone, which does not outlive `'a`, in which the `Arc` is borrowed.
        Self::lend(unsafe { Waker::from_raw(raw) })
    }

    /// `waker` as it is.
    #[inline]
    #[must_use]
    pub fn same(waker: &'a Waker) -> Self {
        let raw = RawWaker::new(waker.data(), waker.vtable());
        // SAFETY: a waker's parts make that waker. This one owns none of its reference counts, and is neither dropped nor handed out by
        // value; it is reached through `&self` alone, which does not outlive `'a`, in which `waker` is borrowed.
        Self::lend(unsafe { Waker::from_raw(raw) })
    }

    /// Clones of it are what `maker` makes.
    #[inline]
    #[must_use]
    pub fn late<M: LazyTarget>(maker: &'a M) -> Self {
        let raw = RawWaker::new(std::ptr::from_ref(maker).cast(), LazyTargets::<M>::TABLE);
        // SAFETY: the functions of `LazyTargets<M>` are thread-safe, since `M` is `Sync`, and are only
        // given this pointer, which is valid during `'a`. The waker is reached through `&self`
        // alone, which does not outlive `'a`; its clones are wakers of their own.
        Self::lend(unsafe { Waker::from_raw(raw) })
    }

    #[inline]
    fn lend(waker: Waker) -> Self {
        Self {
            waker: ManuallyDrop::new(waker),
            target: PhantomData,
        }
    }

    /// The waker.
    #[inline]
    #[must_use]
    pub fn waker(&self) -> &Waker {
        &self.waker
    }
}

/// The functions of wakers that refer to an `Arc<T>`.
struct Wakers<T>(PhantomData<T>);

impl<T: Target> Wakers<T> {
    const TABLE: &'static RawWakerVTable =
        &RawWakerVTable::new(Self::clone, Self::wake, Self::wake_by_ref, Self::drop);

    /// # Safety
    /// `data` is what `Arc::as_ptr` or `Arc::into_raw` has returned, and that `Arc` is alive.
    unsafe fn clone(data: *const ()) -> RawWaker {
        // SAFETY: the caller says that it points to a live `T` of an `Arc`.
        unsafe { &*data.cast::<T>() }.cloned();
        // SAFETY: as above; the count is given back in `OwnedWaker`.
        unsafe { Arc::increment_strong_count(data.cast::<T>()) };
        RawWaker::new(data, Self::TABLE)
    }

    /// # Safety
    /// `data` is as for `clone`, and the caller owns one of the `Arc`'s counts.
    unsafe fn wake(data: *const ()) {
        // SAFETY: the caller gives up its count.
        let owned = unsafe { OwnedWaker::<T>::take(data) };
        owned.0.wake();
    }

    /// # Safety
    /// `data` is as for `clone`.
    unsafe fn wake_by_ref(data: *const ()) {
        // SAFETY: the caller says that it points to a live `T`.
        unsafe { &*data.cast::<T>() }.wake();
    }

    /// # Safety
    /// `data` is as for `clone`, and the caller owns one of the `Arc`'s counts.
    unsafe fn drop(data: *const ()) {
        // SAFETY: the caller gives up its count.
        drop(unsafe { OwnedWaker::<T>::take(data) });
    }
}

/// One waker's count; the target is told when it goes, also if waking unwinds.
struct OwnedWaker<T: Target>(Arc<T>);

impl<T: Target> OwnedWaker<T> {
    /// # Safety
    /// `data` is what `Arc::into_raw` has returned or `Arc::increment_strong_count` was called for, and that count is the caller's.
    unsafe fn take(data: *const ()) -> Self {
        // SAFETY: the caller says so.
        Self(unsafe { Arc::from_raw(data.cast()) })
    }
}

impl<T: Target> Drop for OwnedWaker<T> {
    fn drop(&mut self) {
        self.0.dropped();
    }
}

/// The functions of the waker that refers to a maker.
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
        // SAFETY: the caller says so.
        let waker = ManuallyDrop::new(unsafe { &*data.cast::<M>() }.waker());
        // Its parts make that waker, and it is not dropped here.
        RawWaker::new(waker.data(), waker.vtable())
    }

    /// # Safety
    /// `data` points to an `M`.
    unsafe fn wake_by_ref(data: *const ()) {
        // SAFETY: the caller says so.
        unsafe { &*data.cast::<M>() }.wake();
    }

    /// # Safety
    /// None: there is nothing to give back.
    unsafe fn drop(_: *const ()) {}
}
