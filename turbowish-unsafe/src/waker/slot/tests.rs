//! Tests of waker slots. Those whose names begin with `loom_` are models, in which every order of
//! the threads' steps is tried; without loom they run once.

#[cfg(not(loom))]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
#[cfg(not(loom))]
use std::task::RawWakerVTable;
use std::task::Waker;

#[cfg(loom)]
use loom::thread::{self, ThreadId, current};
#[cfg(not(loom))]
use std::thread::{self, ThreadId, current};

use super::{Slot, SlotTarget, Vtables};
use crate::waker::{BorrowedWaker, WakeTarget};

/// Runs a model.
#[cfg(loom)]
fn model(act: impl Fn() + Send + Sync + 'static) {
    loom::model(act);
}

/// Runs a model once.
#[cfg(not(loom))]
fn model(act: impl Fn()) {
    act();
}

/// What a slot has observed.
#[derive(Default)]
struct Seen {
    clones: AtomicUsize,
    drops: AtomicUsize,
    wakes: AtomicUsize,
    frees: AtomicUsize,
    polled_on: Mutex<Option<ThreadId>>,
}

impl Seen {
    fn polled_on(&self, thread: Option<ThreadId>) {
        *self
            .polled_on
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = thread;
    }
}

impl SlotTarget for Seen {
    fn cloned(&self) {
        self.clones.fetch_add(1, SeqCst);
    }
    fn dropped(&self) {
        self.drops.fetch_add(1, SeqCst);
    }
    fn woken(&self) {
        self.wakes.fetch_add(1, SeqCst);
    }
    fn is_polled_here(&self) -> bool {
        let polled_on = self.polled_on.lock();
        *polled_on.unwrap_or_else(PoisonError::into_inner) == Some(current().id())
    }
    fn free(&'static self) {
        assert_eq!(self.frees.fetch_add(1, SeqCst), 0, "freed twice");
    }
    fn may_wait() -> bool {
        true
    }
    fn vtables() -> &'static Vtables<Self> {
        static ALL: Vtables<Seen> = Vtables::new();
        &ALL
    }
}

/// An executor: it knows how many of its wakers there are.
#[derive(Default)]
struct Executor {
    live: AtomicUsize,
    wakes: AtomicUsize,
}

impl WakeTarget for Executor {
    fn cloned(&self) {
        self.live.fetch_add(1, SeqCst);
    }
    fn dropped(&self) {
        assert!(self.live.fetch_sub(1, SeqCst) > 0, "dropped twice");
    }
    fn wake(&self) {
        self.wakes.fetch_add(1, SeqCst);
        // The waker is there for as long as it is being woken.
        assert!(self.live.load(SeqCst) > 0);
        thread::yield_now();
        assert!(self.live.load(SeqCst) > 0);
    }
}

impl Executor {
    /// An executor, and its waker: one.
    fn new() -> (Arc<Self>, Waker) {
        let executor = Arc::new(Self::default());
        let waker = BorrowedWaker::new(&executor).waker().clone();
        (executor, waker)
    }

    /// Its wakers beside the one of its own, and its wakes.
    fn seen(&self) -> (usize, usize) {
        (self.live.load(SeqCst) - 1, self.wakes.load(SeqCst))
    }

    /// One that is gone: all of its wakers, and its wakes.
    fn rest(&self) -> (usize, usize) {
        (self.live.load(SeqCst), self.wakes.load(SeqCst))
    }
}

type Tested = &'static Slot<Seen>;

fn slot() -> Tested {
    let slot: Tested = Box::leak(Box::new(Slot::new(Seen::default())));
    // Slots are never freed. What a static refers to is no leak to the address sanitizer.
    #[cfg(not(loom))]
    {
        static ALL: Mutex<Vec<Tested>> = Mutex::new(Vec::new());
        ALL.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(slot);
    }
    slot
}

/// What a clone of a late waker is.
fn kept(slot: Tested, outer: &Waker) -> Waker {
    let clone = slot.lent().waker().clone();
    match slot.adopt(outer) {
        Ok(()) => clone,
        Err(theirs) => theirs,
    }
}

/// A poll, in which `leaf` may clone its waker by the function that it is given.
fn poll<R>(slot: Tested, outer: &Waker, leaf: impl FnOnce(&dyn Fn() -> Waker) -> R) -> R {
    if !slot.fits(outer) {
        return leaf(&|| kept(slot, outer));
    }
    slot.polled_on(Some(current().id()));
    let result = leaf(&|| slot.lent().waker().clone());
    slot.polled_on(None);
    slot.settle(outer);
    result
}

/// The task ends; everything that it had is gone.
fn end(slot: Tested, executors: &[&Arc<Executor>]) {
    slot.over();
    assert_eq!(slot.frees.load(SeqCst), 1);
    assert_eq!(slot.live(), 0);
    let [clones, drops] = [&slot.clones, &slot.drops].map(|count| count.load(SeqCst));
    assert_eq!(clones, drops);
    for executor in executors {
        assert_eq!(executor.seen().0, 0, "wakers of an executor");
    }
}

#[test]
fn an_executors_waker_is_kept_for_as_long_as_there_are_clones() {
    let (executor, outer) = Executor::new();
    let slot = slot();
    assert!(!slot.fits(&outer));
    let first = kept(slot, &outer);
    assert!(slot.fits(&outer));
    let second = first.clone();
    assert!(first.will_wake(&second) && first.will_wake(slot.lent().waker()));
    assert_eq!((slot.live(), executor.seen()), (2, (1, 0)));
    first.wake();
    assert_eq!((slot.live(), executor.seen()), (1, (1, 1)));
    second.wake_by_ref();
    second.wake();
    assert_eq!((slot.live(), executor.seen()), (0, (0, 3)));
    assert!(!slot.fits(&outer));
    end(slot, &[&executor]);
    assert_eq!(slot.wakes.load(SeqCst), 3);
}

#[test]
fn the_kept_waker_stays_until_the_end_of_a_poll_that_drops_the_last_clone() {
    let (executor, outer) = Executor::new();
    let slot = slot();
    let first = kept(slot, &outer);
    let second = poll(slot, &outer, |clone| {
        first.wake();
        assert_eq!((slot.live(), executor.seen()), (0, (1, 1)));
        clone()
    });
    assert_eq!((slot.live(), executor.seen()), (1, (1, 1)));
    poll(slot, &outer, |_| drop(second));
    assert_eq!((slot.live(), executor.seen()), (0, (0, 1)));
    end(slot, &[&executor]);
}

#[test]
fn a_slot_is_freed_with_its_last_waker() {
    let (executor, outer) = Executor::new();
    let slot = slot();
    let clone = kept(slot, &outer);
    slot.over();
    assert_eq!((slot.frees.load(SeqCst), executor.seen()), (0, (1, 0)));
    clone.wake_by_ref();
    drop(clone);
    assert_eq!((slot.frees.load(SeqCst), executor.seen()), (1, (0, 1)));
}

#[test]
fn a_waker_is_replaced_unless_it_is_being_woken() {
    let (first, outer) = Executor::new();
    let (second, other) = Executor::new();
    let slot = slot();
    let clone = kept(slot, &outer);
    assert!(!slot.fits(&other));
    let more = poll(slot, &other, |clone| clone());
    assert!(clone.will_wake(&more));
    clone.wake();
    assert_eq!((first.seen(), second.seen()), ((0, 0), (1, 1)));
    drop(more);
    end(slot, &[&first, &second]);
}

/// A target in a process with more vtables than are kept.
#[cfg(not(loom))]
pub(super) struct Crowded;

#[cfg(not(loom))]
impl SlotTarget for Crowded {
    fn cloned(&self) {}
    fn dropped(&self) {}
    fn woken(&self) {}
    fn is_polled_here(&self) -> bool {
        false
    }
    fn free(&'static self) {}
    fn may_wait() -> bool {
        true
    }
    fn vtables() -> &'static Vtables<Self> {
        static ALL: OnceLock<Vtables<Crowded>> = OnceLock::new();
        ALL.get_or_init(|| {
            fn nothing(_: *const ()) {}
            let unused = || {
                let clone = |_: *const ()| unreachable!("never called");
                RawWakerVTable::new(clone, nothing, nothing, nothing)
            };
            let (all, many) = (Vtables::new(), 1 << super::VTABLE_BITS);
            let many: &'static [RawWakerVTable] = Vec::leak((0..many).map(|_| unused()).collect());
            assert!(many.iter().all(|one| all.number(one).is_some()));
            all
        })
    }
}

#[cfg(not(loom))]
#[test]
fn without_a_number_for_its_vtable_a_waker_is_not_kept() {
    static SLOT: OnceLock<Slot<Crowded>> = OnceLock::new();
    let slot = SLOT.get_or_init(|| Slot::new(Crowded));
    let (executor, outer) = Executor::new();
    let clone = slot.lent().waker().clone();
    let theirs = slot.adopt(&outer).expect_err("no room");
    assert!(theirs.will_wake(&outer) && !slot.fits(&outer));
    drop(clone);
    theirs.wake();
    assert_eq!((slot.live(), executor.seen()), (0, (0, 1)));
}

#[test]
fn loom_a_clone_made_in_a_poll_wakes_whatever_is_dropped_meanwhile() {
    model(|| {
        let (executor, outer) = Executor::new();
        let slot = slot();
        let before = kept(slot, &outer);
        let dropper = thread::spawn(move || drop(before));
        let clone = poll(slot, &outer, |clone| clone());
        clone.wake_by_ref();
        assert_eq!(executor.seen().1, 1);
        dropper.join().expect("the dropper");
        assert_eq!((slot.live(), executor.seen()), (1, (1, 1)));
        clone.wake();
        assert_eq!(executor.seen(), (0, 2));
        end(slot, &[&executor]);
    });
}

#[test]
fn loom_a_wake_in_a_poll_arrives_whatever_is_woken_meanwhile() {
    model(|| {
        let (executor, outer) = Executor::new();
        let slot = slot();
        let before = kept(slot, &outer);
        let waker = thread::spawn(move || before.wake());
        poll(slot, &outer, |clone| clone().wake());
        let wakes = executor.seen().1;
        assert!(wakes == 1 || wakes == 2, "its own, at least");
        waker.join().expect("the waker");
        assert_eq!(executor.seen(), (0, 2));
        assert_eq!(slot.wakes.load(SeqCst), 2);
        end(slot, &[&executor]);
    });
}

#[test]
fn loom_a_task_ends_while_it_is_woken() {
    model(|| {
        let (executor, outer) = Executor::new();
        let slot = slot();
        let clone = kept(slot, &outer);
        let waker = thread::spawn(move || clone.wake());
        slot.over();
        waker.join().expect("the waker");
        assert_eq!(executor.seen(), (0, 1));
        assert_eq!((slot.live(), slot.frees.load(SeqCst)), (0, 1));
    });
}

#[test]
fn loom_a_task_is_polled_once_more_and_ends_while_it_is_woken() {
    model(|| {
        let (executor, outer) = Executor::new();
        let slot = slot();
        let clone = kept(slot, &outer);
        let waker = thread::spawn(move || {
            clone.wake_by_ref();
            drop(clone);
        });
        poll(slot, &outer, |_| ());
        slot.over();
        waker.join().expect("the waker");
        assert_eq!(executor.seen(), (0, 1));
        assert_eq!((slot.live(), slot.frees.load(SeqCst)), (0, 1));
    });
}

#[test]
fn loom_two_threads_drop_the_last_two_clones() {
    model(|| {
        let (executor, outer) = Executor::new();
        let slot = slot();
        let first = kept(slot, &outer);
        let second = first.clone();
        slot.over();
        let waker = thread::spawn(move || first.wake());
        second.wake_by_ref();
        drop(second);
        waker.join().expect("the waker");
        assert_eq!(executor.seen(), (0, 2));
        assert_eq!((slot.live(), slot.frees.load(SeqCst)), (0, 1));
    });
}

#[test]
fn loom_another_executor_takes_the_task_over_while_it_is_woken() {
    model(|| {
        let (first, outer) = Executor::new();
        let (second, other) = Executor::new();
        let slot = slot();
        let clone = kept(slot, &outer);
        // The slot has the only one.
        drop(outer);
        let waker = thread::spawn(move || clone.wake());
        let more = poll(slot, &other, |clone| clone());
        more.wake_by_ref();
        assert!(
            second.seen().1 > 0,
            "the last executor that polled is woken"
        );
        waker.join().expect("the waker");
        drop(more);
        assert_eq!(first.rest().0, 0);
        assert_eq!(first.rest().1 + second.seen().1, 2);
        end(slot, &[&second]);
    });
}

#[test]
fn loom_a_slot_is_used_again_as_soon_as_it_is_free() {
    model(|| {
        let (first, outer) = Executor::new();
        let (second, other) = Executor::new();
        let slot = slot();
        let clone = kept(slot, &outer);
        drop(outer);
        let waker = thread::spawn(move || clone.wake());
        slot.over();
        if slot.frees.swap(0, SeqCst) == 1 {
            // Another task has it.
            let clone = kept(slot, &other);
            clone.wake_by_ref();
            assert_eq!(second.seen(), (1, 1));
            drop(clone);
            slot.over();
        }
        waker.join().expect("the waker");
        assert_eq!((slot.live(), slot.frees.load(SeqCst)), (0, 1));
        assert_eq!((first.rest(), second.seen().0), ((0, 1), 0));
    });
}
