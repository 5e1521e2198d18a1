//! A guard and the `Arc` of what it borrows from: the guard goes first, gives back once, whatever
//! becomes of it, and may outlive everything except what the value borrows.

#![cfg(feature = "tokio")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::thread;

use tokio::sync::{
    MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard,
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
use turbowish_unsafe::self_ref::SelfRef;

/// A lock that is a field.
struct Outer<T: ?Sized> {
    lock: T,
}

fn outer<T>(lock: T) -> Arc<Outer<T>> {
    Arc::new(Outer { lock })
}

type Locked<T> = SelfRef<Outer<Mutex<T>>, OwnedMutexGuard<T>>;
type Pair = (i32, Vec<i32>);
type Read<T, U = T> = SelfRef<Outer<RwLock<T>>, OwnedRwLockReadGuard<T, U>>;
type Write<T> = SelfRef<Outer<RwLock<T>>, OwnedRwLockWriteGuard<T>>;

fn locked<T>(outer: &Arc<Outer<Mutex<T>>>) -> Option<Locked<T>> {
    SelfRef::try_new(outer.clone(), |outer: &Outer<Mutex<T>>| {
        outer.lock.try_lock()
    })
    .ok()
}

fn read<T: ?Sized>(outer: &Arc<Outer<RwLock<T>>>) -> Option<Read<T>> {
    SelfRef::try_new(outer.clone(), |outer: &Outer<RwLock<T>>| {
        outer.lock.try_read()
    })
    .ok()
}

fn write<T: ?Sized>(outer: &Arc<Outer<RwLock<T>>>) -> Option<Write<T>> {
    SelfRef::try_new(outer.clone(), |outer: &Outer<RwLock<T>>| {
        outer.lock.try_write()
    })
    .ok()
}

/// Tells whether the lock is free when it is dropped.
struct Loud {
    lock: Mutex<u8>,
    free: Arc<AtomicBool>,
}

impl Drop for Loud {
    fn drop(&mut self) {
        self.free.store(self.lock.try_lock().is_ok(), Relaxed);
    }
}

#[test]
fn the_guard_goes_before_what_it_borrows_from() {
    let free = Arc::new(AtomicBool::new(false));
    let (lock, shared) = (Mutex::new(1), free.clone());
    let owner = Arc::new(Loud { lock, free: shared });
    let weak = Arc::downgrade(&owner);
    let guard = SelfRef::<Loud, OwnedMutexGuard<u8>>::try_new(owner.clone(), |owner: &Loud| {
        owner.lock.try_lock()
    });
    let guard = guard.ok().expect("free");
    assert!(Arc::ptr_eq(guard.owner(), &owner));
    drop(owner);
    let moved = Box::new(guard);
    assert!(moved.owner().lock.try_lock().is_err());
    assert_eq!((**moved, weak.strong_count()), (1, 1));
    drop(moved);
    assert!(free.load(Relaxed) && weak.upgrade().is_none());
}

#[test]
fn without_a_guard_the_owner_comes_back() {
    let owner = outer(Mutex::new(1));
    let mut one = locked(&owner).expect("free");
    one.with_mut(|guard| **guard += 1);
    let again: Result<Locked<i32>, _> =
        SelfRef::try_new(owner, |outer: &Outer<Mutex<i32>>| outer.lock.try_lock());
    let (_, owner) = again.expect_err("locked");
    assert_eq!((*one, Arc::strong_count(&owner)), (2, 2));
    drop(one);
    assert_eq!(
        (
            *owner.lock.try_lock().expect("free"),
            Arc::strong_count(&owner)
        ),
        (2, 1)
    );
}

/// Waiters are served in order, unless they go away.
#[test]
fn a_guard_is_waited_for() {
    let owner = outer(Mutex::new(0));
    let wait = || {
        Locked::new(owner.clone(), async |outer: &Outer<Mutex<i32>>| {
            outer.lock.lock().await
        })
    };
    let one = locked(&owner).expect("free");
    let cx = &mut Context::from_waker(Waker::noop());
    let mut gone = Box::pin(wait());
    let mut next = pin!(wait());
    let mut last = pin!(wait());
    assert!(gone.as_mut().poll(cx).is_pending());
    assert!(next.as_mut().poll(cx).is_pending());
    assert!(last.as_mut().poll(cx).is_pending());
    drop(gone);
    drop(one);
    assert!(locked(&owner).is_none() && last.as_mut().poll(cx).is_pending());
    let Poll::Ready(mut next) = next.as_mut().poll(cx) else {
        panic!("it is free");
    };
    next.with_mut(|guard| **guard += 1);
    assert!(last.as_mut().poll(cx).is_pending());
    drop(next);
    let Poll::Ready(last) = last.as_mut().poll(cx) else {
        panic!("it is free");
    };
    assert_eq!((*last, Arc::strong_count(&owner)), (1, 2));
}

#[test]
fn a_mutex_guard_is_mapped() {
    let owner = outer(Mutex::new((1, vec![2, 3])));
    let all = locked(&owner).expect("free");
    let part: SelfRef<_, OwnedMappedMutexGuard<Pair, Vec<i32>>> =
        all.map(|_, all| MutexGuard::map(all, |all| &mut all.1));
    let part = part.try_map::<OwnedMappedMutexGuard<Pair, i32>>(|_, part| {
        MappedMutexGuard::try_map(part, |part| part.get_mut(9))
    });
    let part = part.expect_err("no such");
    let mut part: SelfRef<_, OwnedMappedMutexGuard<Pair, i32>> = part
        .try_map(|outer, part| {
            assert!(outer.lock.try_lock().is_err());
            MappedMutexGuard::try_map(part, |part| part.get_mut(1))
        })
        .expect("there");
    part.with_mut(|part| **part = 4);
    assert!(locked(&owner).is_none());
    drop(part);
    assert_eq!(locked(&owner).expect("free").1, [2, 4]);
    assert_eq!(Arc::strong_count(&owner), 1);
}

#[test]
fn a_writer_is_mapped_and_becomes_a_reader() {
    let owner = outer(RwLock::new((1, vec![2, 3])));
    let part: SelfRef<_, OwnedRwLockMappedWriteGuard<Pair, i32>> = write(&owner)
        .expect("free")
        .map(|_, all| RwLockWriteGuard::map(all, |all| &mut all.0));
    let mut part: SelfRef<_, OwnedRwLockMappedWriteGuard<Pair, i32>> =
        part.map(|_, part| RwLockMappedWriteGuard::map(part, |part| part));
    part.with_mut(|part| **part = 5);
    assert!(read(&owner).is_none());
    drop(part);
    let all = write(&owner).expect("free");
    let part: Read<Pair, Vec<i32>> =
        all.map(|_, all| RwLockWriteGuard::downgrade_map(all, |all| &all.1));
    let last: Read<Pair, i32> = part.map(|_, part| RwLockReadGuard::map(part, |part| &part[1]));
    assert!(write(&owner).is_none());
    assert_eq!((*last, read(&owner).expect("shared").0), (3, 5));
    drop(last);
    assert!(write(&owner).is_some());
}

#[test]
fn a_panic_in_between_gives_back() {
    let owner = outer(RwLock::new(1));
    for shared in [false, true] {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let all = write(&owner).expect("free");
            if shared {
                let part: Read<i32, i32> =
                    all.map(|_, all| RwLockWriteGuard::downgrade_map(all, |_| panic!()));
                drop(part);
            } else {
                let part: SelfRef<_, OwnedRwLockMappedWriteGuard<i32, i32>> =
                    all.map(|_, all| RwLockWriteGuard::map(all, |_| panic!()));
                drop(part);
            }
        }));
        assert!(panicked.is_err());
        assert!(write(&owner).is_some());
        assert_eq!(Arc::strong_count(&owner), 1);
    }
}

/// What the value borrows is all that a guard must not outlive.
#[test]
fn what_is_locked_may_borrow_and_be_unsized() {
    let text = String::from("borrowed");
    let owner = outer(Mutex::new(text.as_str()));
    let weak = Arc::downgrade(&owner);
    let mut guard = locked(&owner).expect("free");
    drop(owner);
    guard.with_mut(|guard| **guard = &guard[..6]);
    let moved = Box::new(guard);
    assert_eq!((**moved, weak.strong_count()), ("borrow", 1));
    drop(moved);
    assert_eq!(weak.strong_count(), 0);
    let owner: Arc<Outer<RwLock<[u8]>>> = outer(RwLock::new([1, 2, 3]));
    let guard = read(&owner).expect("free");
    assert!(write(&owner).is_none());
    assert_eq!(*guard, [1, 2, 3]);
}

/// Threads add one each time that they get it, and read no number that is not whole.
#[test]
fn threads_take_turns() {
    const ROUNDS: usize = 2_000;
    let owner = outer(RwLock::new([0_usize; 8]));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut done = 0;
                while done < ROUNDS {
                    if let Some(mut all) = write(&owner) {
                        all.with_mut(|all| all.iter_mut().for_each(|each| *each += 1));
                        done += 1;
                    } else if let Some(all) = read(&owner) {
                        assert!(all.iter().all(|each| *each == all[0]), "{:?}", *all);
                    } else {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!(*read(&owner).expect("free"), [4 * ROUNDS; 8]);
}
