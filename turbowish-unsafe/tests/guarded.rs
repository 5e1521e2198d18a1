//! One at a time changes, or many read; a guard gives back once, whatever becomes of it, and may outlive all but what it borrows.

#![cfg(feature = "tokio")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

use turbowish_unsafe::guarded::Guarded;

struct Lock<T: ?Sized> {
    value: Guarded<T, true>,
}

impl<T> Lock<T> {
    fn new(value: T) -> Arc<Self> {
        let value = Guarded::for_readers(value, READERS);
        Arc::new(Self { value })
    }
}

const READERS: u32 = 8;

/// What a future is at once.
fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn one_changes_or_many_read() {
    let value = Guarded::for_readers(1, 2);
    let mut one = value.try_change().expect("free");
    *one += 1;
    assert!(value.try_change().is_none() && value.try_read().is_none());
    assert!(poll(value.change()).is_pending() && poll(value.read()).is_pending());
    drop(one);
    let (first, second) = (value.try_read(), value.try_read());
    assert!(value.try_change().is_none() && value.try_read().is_none());
    assert_eq!((first.as_deref(), second.as_deref()), (Some(&2), Some(&2)));
    drop(first);
    assert!(value.try_change().is_none());
    drop(second);
    let reader = value.try_change().expect("free").share(|all| all);
    assert!(value.try_change().is_none() && value.try_read().is_some());
    drop(reader);
    assert!(value.try_change().is_some());
    assert_eq!(value.into_inner(), 2);
}

#[test]
#[should_panic(expected = "there must be a place")]
fn nobody_could_read() {
    let _value = Guarded::for_readers((), 0);
}

#[test]
#[should_panic(expected = "it is of another value")]
fn an_owner_of_another_value_is_none() {
    let (lock, other) = (Lock::new(0), Lock::new(0));
    let one = lock.value.try_read().expect("free");
    drop(one.own(other, |lock| &lock.value));
}

/// Who waits is served in order, and who goes away is not.
#[test]
fn the_next_one_has_it_when_it_is_free() {
    let lock = Arc::new(Guarded::for_one(0));
    let one = lock.try_change().expect("free");
    let cx = &mut Context::from_waker(Waker::noop());
    let mut gone = Box::pin(lock.change());
    let mut next = pin!(lock.change());
    let mut last = pin!(lock.change());
    assert!(gone.as_mut().poll(cx).is_pending());
    assert!(next.as_mut().poll(cx).is_pending());
    assert!(last.as_mut().poll(cx).is_pending());
    drop(gone);
    drop(one);
    assert!(lock.try_change().is_none() && last.as_mut().poll(cx).is_pending());
    let Poll::Ready(next) = next.as_mut().poll(cx) else {
        panic!("it is free");
    };
    let mut next = next.own(lock.clone(), |lock| lock);
    *next += 1;
    assert!(lock.try_change().is_none() && last.as_mut().poll(cx).is_pending());
    drop(next);
    let Poll::Ready(last) = last.as_mut().poll(cx) else {
        panic!("it is free");
    };
    assert_eq!(*last, 1);
}

#[test]
fn a_part_is_the_whole_of_it() {
    let lock = Lock::new((1, vec![2, 3]));
    let all = Guarded::try_change_owned(lock.clone(), |lock| &lock.value)
        .ok()
        .expect("free");
    let all = all.try_map(|all| all.1.get_mut(9)).expect_err("no such");
    let mut part = all
        .map(|all| &mut all.1)
        .try_map(|all| all.get_mut(1))
        .expect("there");
    *part = 4;
    assert!(lock.value.try_read().is_none());
    drop(part);
    let all = lock.value.try_change().expect("free");
    let all = all.try_share(|_| None::<&u8>).expect_err("none");
    let part = all.try_share(|all| all.1.get(1)).expect("there");
    let part = part.try_map(|_| None::<&u8>).expect_err("none");
    assert!(lock.value.try_read().is_some() && lock.value.try_change().is_none());
    assert_eq!(*part.map(|part| part), 4);
    // What panics in between gives back.
    for shared in [false, true] {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let all = lock.value.try_change().expect("free");
            if shared {
                drop(all.share(|all| all).map(|_| -> &u8 { panic!() }));
            } else {
                drop(all.map(|_| -> &mut u8 { panic!() }));
            }
        }));
        assert!(panicked.is_err());
    }
    assert!(lock.value.try_change().is_some());
}

/// What the value borrows is all that a guard must not outlive.
#[test]
fn an_owned_guard_keeps_what_it_is_in() {
    let text = String::from("borrowed");
    let lock = Lock::new(text.as_str());
    let weak = Arc::downgrade(&lock);
    let mut guard = Guarded::try_change_owned(lock, |lock| &lock.value)
        .ok()
        .expect("free");
    assert_eq!(Arc::strong_count(guard.owner()), 1);
    *guard = &guard[..6];
    let moved = Box::new(guard);
    assert_eq!((**moved, weak.strong_count()), ("borrow", 1));
    drop(moved);
    assert_eq!(weak.strong_count(), 0);
    let unsized_lock: Arc<Lock<[u8]>> = Lock::new([1, 2, 3]);
    let again = unsized_lock.clone();
    let guard = Guarded::try_read_owned(unsized_lock, |lock| &lock.value)
        .ok()
        .expect("free");
    assert!(Guarded::try_change_owned(again, |lock| &lock.value).is_err());
    assert_eq!(*guard, [1, 2, 3]);
}

/// A part is alive for as long as the borrow, of which an owner knows nothing.
#[test]
fn who_owns_has_all_of_it() {
    let lock = Arc::new(Guarded::for_readers((1, 2), READERS));
    let other = (3, 4);
    let part = lock.try_read().expect("free").map(|_| &(5, 6));
    assert_eq!(*part.own(lock.clone(), |lock| lock), (1, 2));
    let one = Arc::new(Guarded::for_one((1, 2)));
    let part = one.try_change().expect("free");
    /// A leak checker finds it here.
    static LEAKED: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
    let part = part.map(|_| {
        let leaked = Box::leak(Box::new((&other, (0, 0))));
        LEAKED.store(ptr::from_mut(leaked).cast(), Ordering::Relaxed);
        leaked
    });
    let part = part.map(|part| &mut part.1);
    assert_eq!(*part.own(one.clone(), |one| one), (1, 2));
}

/// Threads add one each time that they get it, and read no number that was not whole.
#[test]
fn threads_take_turns() {
    const ROUNDS: usize = 2_000;
    let lock = Lock::new([0_usize; 8]);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut done = 0;
                while done < ROUNDS {
                    if let Ok(mut all) = Guarded::try_change_owned(lock.clone(), |lock| &lock.value)
                    {
                        all.iter_mut().for_each(|each| *each += 1);
                        done += 1;
                    } else if let Some(all) = lock.value.try_read() {
                        assert!(all.iter().all(|each| *each == all[0]), "{:?}", *all);
                    } else {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!(*lock.value.try_read().expect("free"), [4 * ROUNDS; 8]);
}
