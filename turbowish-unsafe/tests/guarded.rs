//! One at a time changes, or many read; a guard gives back once, whatever becomes of it, and may outlive all but what it borrows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use turbowish_unsafe::guarded::{Gate, Guarded};

/// Who has left: alone, as a reader, or has become one.
#[derive(Default)]
struct Left([AtomicUsize; 3]);

impl Left {
    fn read(&self) -> [usize; 3] {
        self.0.each_ref().map(|count| count.load(SeqCst))
    }
}

impl Gate for Left {
    fn left(&self, alone: bool) {
        self.0[usize::from(!alone)].fetch_add(1, SeqCst);
    }
    fn shared(&self) {
        self.0[2].fetch_add(1, SeqCst);
    }
}

struct Lock<T: ?Sized> {
    left: Left,
    value: Guarded<T, true>,
}

impl<T> Lock<T> {
    fn new(value: T) -> Arc<Self> {
        Arc::new(Self {
            left: Left::default(),
            value: Guarded::new(value),
        })
    }
}

impl<T: ?Sized> Gate for Lock<T> {
    fn left(&self, alone: bool) {
        self.left.left(alone);
    }
    fn shared(&self) {
        self.left.shared();
    }
}

#[test]
fn one_changes_or_many_read() {
    let (left, value) = (Left::default(), Guarded::<_, true>::new(1));
    let mut one = value.change(&left).expect("free");
    *one += 1;
    assert!(value.change(&left).is_none() && value.read(&left).is_none());
    drop(one);
    assert_eq!(left.read(), [1, 0, 0]);
    let (first, second) = (value.read(&left), value.read(&left));
    assert!(value.change(&left).is_none());
    assert_eq!((first.as_deref(), second.as_deref()), (Some(&2), Some(&2)));
    drop(first);
    assert!(value.change(&left).is_none());
    drop(second);
    assert_eq!(left.read(), [1, 2, 0]);
    let reader = value.change(&left).expect("free").share(|all| all);
    assert!(value.change(&left).is_none() && value.read(&left).is_some());
    drop(reader);
    assert!(value.change(&left).is_some());
    assert_eq!(left.read(), [2, 4, 1]);
    assert_eq!(value.into_inner(), 2);
}

#[test]
fn a_part_is_the_whole_of_it() {
    let lock = Lock::new((1, vec![2, 3]));
    let all = Guarded::change_owned(lock.clone(), |lock| &lock.value)
        .ok()
        .expect("free");
    let all = all.try_map(|all| all.1.get_mut(9)).expect_err("no such");
    let mut part = all
        .map(|all| &mut all.1)
        .try_map(|all| all.get_mut(1))
        .expect("there");
    *part = 4;
    assert!(lock.value.read(&lock.left).is_none());
    let part = part.try_share(|_| None::<&u8>).expect_err("none");
    let part = part.try_share(|part| Some(part)).expect("some");
    let part = part.try_map(|_| None::<&u8>).expect_err("none");
    assert_eq!(*part.map(|part| part), 4);
    assert_eq!(lock.left.read(), [0, 1, 1]);
    // What panics in between gives back.
    for shared in [false, true] {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let all = lock.value.change(&lock.left).expect("free");
            if shared {
                drop(all.share(|all| all).map(|_| -> &u8 { panic!() }));
            } else {
                drop(all.map(|_| -> &mut u8 { panic!() }));
            }
        }));
        assert!(panicked.is_err());
    }
    assert_eq!(lock.left.read(), [1, 2, 2]);
}

/// What the value borrows is all that a guard must not outlive.
#[test]
fn an_owned_guard_keeps_what_it_is_in() {
    let text = String::from("borrowed");
    let lock = Lock::new(text.as_str());
    let weak = Arc::downgrade(&lock);
    let mut guard = Guarded::change_owned(lock, |lock| &lock.value)
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
    let guard = Guarded::read_owned(unsized_lock, |lock| &lock.value)
        .ok()
        .expect("free");
    assert!(Guarded::change_owned(again, |lock| &lock.value).is_err());
    assert_eq!(*guard, [1, 2, 3]);
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
                    if let Ok(mut all) = Guarded::change_owned(lock.clone(), |lock| &lock.value) {
                        all.iter_mut().for_each(|each| *each += 1);
                        done += 1;
                    } else if let Some(all) = lock.value.read(&lock.left) {
                        assert!(all.iter().all(|each| *each == all[0]), "{:?}", *all);
                    } else {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!(*lock.value.read(&lock.left).expect("free"), [4 * ROUNDS; 8]);
}
