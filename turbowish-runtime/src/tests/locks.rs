//! What locks, permits and signals tell of themselves: who holds what, and who waits in which
//! order.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::panic;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use turbowish_model::account::histogram::bucket_of;
use turbowish_model::account::resource::{Kind, Reading, Role};

use super::{Now, Scene, Task};
use crate::hot::switch;
use crate::sync::{
    Barrier, Mutex, MutexGuard, Notify, OnceCell, OwnedMutexGuard, OwnedRwLockReadGuard,
    OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SetOnce, named,
};

impl Scene {
    /// Who holds and who waits, by role, in a line.
    fn line(&self, name: &str) -> String {
        let Some(reading) = Self::reading(name) else {
            return "no record".to_owned();
        };
        let letters = self.letters.borrow();
        let letter = |task: u64| letters.get(&task).copied().unwrap_or('?');
        let holders = reading.holders.iter().map(|holder| {
            let (who, role) = (letter(holder.who.task), holder.role.word());
            format!("{who} {role} {}", holder.amount)
        });
        let waiters = reading.waiters.iter().map(|waiter| {
            let woken = if waiter.woken.is_some() { " woken" } else { "" };
            let (who, role) = (letter(waiter.who.task), waiter.role.word());
            format!("{who} waits to {role} {}{woken}", waiter.amount)
        });
        let all: Vec<String> = holders.chain(waiters).collect();
        all.join(", ")
    }

    #[track_caller]
    fn holds(&self, name: &str, expected: &str) {
        assert_eq!(self.line(name), expected);
    }

    /// A task that never ends, and has what comes out of `future` until it is dropped.
    fn has<'a, G: 'a>(&'a self, letter: char, future: impl Future<Output = G> + 'a) -> Task<'a> {
        self.task(letter, async move {
            let _has = future.await;
            pending::<()>().await;
        })
    }
}

#[test]
fn those_who_want_a_mutex_wait_in_order() {
    let scene = Scene::new();
    let mutex = named("mutex", Arc::new(Mutex::new(0)));
    scene.holds("mutex", "no record");
    let a = scene.has('a', mutex.lock());
    scene.holds("mutex", "a lock 1");
    let b = scene.has('b', mutex.lock());
    let mut c = scene.has('c', mutex.clone().lock_owned());
    let mut d = scene.has('d', mutex.lock());
    let mut e = scene.has('e', mutex.clone().lock_owned());
    scene.holds(
        "mutex",
        "a lock 1, b waits to lock 1, c waits to lock 1, d waits to lock 1, e waits to lock 1",
    );
    drop(b);
    drop(a);
    scene.holds(
        "mutex",
        "c waits to lock 1 woken, d waits to lock 1, e waits to lock 1",
    );
    assert!(mutex.try_lock().is_err());
    assert!(c.poll().is_pending());
    scene.holds("mutex", "c lock 1, d waits to lock 1, e waits to lock 1");
    drop(c);
    assert!(mutex.clone().try_lock_owned().is_err());
    assert!(d.poll().is_pending());
    scene.holds("mutex", "d lock 1, e waits to lock 1");
    drop(d);
    assert!(e.poll().is_pending());
    scene.holds("mutex", "e lock 1");
    drop(e);
    scene.holds("mutex", "");
    scene.over('f', async { drop(mutex.clone().try_lock_owned()) });
    let reading = Scene::reading("mutex").expect("a record");
    let Reading {
        kind,
        capacity,
        flow,
        held,
        ..
    } = reading;
    assert_eq!((kind, capacity, held), (Kind::Mutex, Some(1), 0));
    assert_eq!((flow.put, flow.took, flow.waits), (5, 5, 4));
    drop(mutex);
    scene.holds("mutex", "no record");
}

/// Once a wait for an owned guard had to be set up, all pass the same way, and whoever gives up
/// gives its turn to the next.
#[test]
fn owned_and_borrowed_waits_are_one_line() {
    let scene = Scene::new();
    let mutex = named("line", Arc::new(Mutex::new(0)));
    for _ in 0..3 {
        let first = scene.has('a', mutex.lock());
        let given_up = scene.has('b', mutex.clone().lock_owned());
        let mut second = scene.has('c', mutex.lock());
        let also_given_up = scene.has('d', mutex.lock());
        let mut third = scene.has('e', mutex.clone().lock_owned());
        drop(given_up);
        drop(first);
        assert!(third.poll().is_pending());
        assert!(second.poll().is_pending());
        scene.holds("line", "c lock 1, d waits to lock 1, e waits to lock 1");
        drop(also_given_up);
        drop(second);
        assert!(third.poll().is_pending());
        scene.holds("line", "e lock 1");
        drop(third);
        assert!(mutex.try_lock().is_ok());
    }
}

/// What was closed before anybody used it shows so from its first use on.
#[test]
fn what_is_closed_before_its_first_use_is_closed() {
    let scene = Scene::new();
    let permits = named("closed early", Semaphore::new(1));
    permits.close();
    scene.holds("closed early", "no record");
    assert!(scene.over('a', permits.acquire()).is_err());
    let reading = Scene::reading("closed early");
    assert_eq!(reading.map(|reading| reading.closed), Some(true));
}

/// A wait is of the task that polls it, also after it has gone there from another one.
#[test]
fn a_wait_goes_where_it_is_polled() {
    let scene = Scene::new();
    let mutex = named("moved", Mutex::new(0));
    let _a = scene.has('a', mutex.lock());
    let wait = RefCell::new(Box::pin(mutex.lock()));
    let polls = || poll_fn(|cx| wait.borrow_mut().as_mut().poll(cx).map(drop));
    let b = scene.task('b', polls());
    scene.holds("moved", "a lock 1, b waits to lock 1");
    let _c = scene.task('c', polls());
    scene.holds("moved", "a lock 1, c waits to lock 1");
    drop(b);
    scene.holds("moved", "a lock 1, c waits to lock 1");
}

/// A guard that borrows nothing may go to another task: who has it is not known.
#[test]
fn owned_guards_are_told_from_borrowed_ones() {
    let scene = Scene::new();
    let (mutex, rwlock, semaphore) = (
        named("bound", Arc::new(Mutex::new(0))),
        named("read", Arc::new(RwLock::new(0))),
        named("permits", Arc::new(Semaphore::new(4))),
    );
    let owned = |name: &str, _held: Task<'_>| -> Vec<bool> {
        let reading = Scene::reading(name).expect("a record");
        reading.holders.iter().map(|holder| holder.owned).collect()
    };
    let check = |name: &str, held: Task<'_>, expected: bool| {
        assert_eq!(owned(name, held), [expected], "{name}");
    };
    check("bound", scene.has('a', mutex.lock()), false);
    check("bound", scene.has('b', mutex.clone().lock_owned()), true);
    check("read", scene.has('c', rwlock.read()), false);
    check("read", scene.has('d', rwlock.clone().read_owned()), true);
    check("read", scene.has('e', rwlock.clone().write_owned()), true);
    check("permits", scene.has('f', semaphore.acquire()), false);
    let permit = scene.has('g', semaphore.clone().acquire_owned());
    check("permits", permit, true);
}

#[test]
fn a_part_of_a_mutex_is_held_as_the_mutex() {
    let scene = Scene::new();
    let mutex = named("parts", Arc::new(Mutex::new((1, 2))));
    let part = async { MutexGuard::map(mutex.lock().await, |both| &mut both.0) };
    let part = scene.over('a', part);
    scene.holds("parts", "a lock 1");
    drop(part);
    let owned =
        async { OwnedMutexGuard::map(mutex.clone().lock_owned().await, |both| &mut both.1) };
    let owned = scene.over('b', owned);
    scene.holds("parts", "b lock 1");
    drop(owned);
    scene.holds("parts", "");
    let guard = scene.over('c', mutex.lock());
    // What panics under a guard is seen to have given it back before others can have it.
    let map = std::panic::AssertUnwindSafe(|| {
        drop(MutexGuard::map(guard, |_| -> &mut u8 {
            panic!("on purpose")
        }));
    });
    assert!(std::panic::catch_unwind(map).is_err());
    scene.holds("parts", "");
}

#[test]
fn where_it_was_made_and_taken_is_known() {
    let scene = Scene::new();
    let (made, mutex) = (line!(), named("places", Mutex::new(0)));
    let (asked, lock) = (line!(), mutex.lock());
    let guard = scene.over('a', lock);
    let reading = Scene::reading("places").expect("a record");
    assert_eq!(reading.place.line(), made);
    assert_eq!(reading.place.file(), file!());
    assert_eq!(reading.holders[0].at.line(), asked);
    drop(guard);
    let (asked, tried) = (line!(), mutex.try_lock());
    let reading = Scene::reading("places").expect("a record");
    assert_eq!(reading.holders[0].at.line(), asked);
    drop(tried);
    static MADE: (u32, RwLock<u8>) = (line!(), RwLock::const_new(1));
    let lock = named("static", &MADE.1);
    drop(lock.try_write());
    let reading = Scene::reading("static").expect("a record");
    assert_eq!(reading.place.line(), MADE.0);
}

#[test]
fn readers_and_writers_wait_in_order() {
    let scene = Scene::new();
    let lock = named("rwlock", Arc::new(RwLock::new(0)));
    let a = scene.has('a', lock.read());
    let b = scene.has('b', lock.clone().read_owned());
    scene.holds("rwlock", "a read 1, b read 1");
    let mut c = scene.has('c', lock.write());
    let mut d = scene.has('d', lock.clone().read_owned());
    let mut e = scene.has('e', lock.clone().write_owned());
    scene.holds(
        "rwlock",
        "a read 1, b read 1, c waits to write 1, d waits to read 1, e waits to write 1",
    );
    drop((a, b));
    assert!(c.poll().is_pending());
    scene.holds("rwlock", "c write 1, d waits to read 1, e waits to write 1");
    drop(c);
    assert!(d.poll().is_pending());
    scene.holds("rwlock", "d read 1, e waits to write 1");
    drop(d);
    assert!(e.poll().is_pending());
    scene.holds("rwlock", "e write 1");
    drop(e);
    scene.holds("rwlock", "");
    let capacity = Scene::reading("rwlock").expect("a record").capacity;
    assert_eq!(capacity, None);
}

#[test]
fn a_writer_that_becomes_a_reader_is_seen_as_one() {
    let scene = Scene::new();
    let lock = named("downgrade", Arc::new(RwLock::with_max_readers((1, 2), 3)));
    let write = scene.over('a', lock.write());
    let mut b = scene.has('b', lock.read());
    let read = write.downgrade();
    scene.holds("downgrade", "a read 1, b waits to read 1 woken");
    assert!(b.poll().is_pending());
    scene.holds("downgrade", "a read 1, b read 1");
    drop(b);
    let read = RwLockReadGuard::map(read, |both| &both.0);
    scene.holds("downgrade", "a read 1");
    drop(read);

    let write = scene.over('c', lock.write());
    let write = RwLockWriteGuard::try_downgrade_map(write, |_| None::<&u8>).expect_err("no part");
    scene.holds("downgrade", "c write 1");
    let mapped = RwLockWriteGuard::into_mapped(write);
    scene.holds("downgrade", "c write 1");
    drop(mapped);

    let write = scene.over('d', lock.clone().write_owned());
    let write =
        OwnedRwLockWriteGuard::try_downgrade_map(write, |_| None::<&u8>).expect_err("no part");
    scene.holds("downgrade", "d write 1");
    let read =
        OwnedRwLockWriteGuard::try_downgrade_map(write, |both| Some(&both.1)).expect("a part");
    scene.holds("downgrade", "d read 1");
    drop(read);
    let write = scene.over('e', lock.clone().write_owned());
    let read = OwnedRwLockReadGuard::map(write.downgrade(), |both| &both.1);
    scene.holds("downgrade", "e read 1");
    drop(read);
    scene.holds("downgrade", "");
    let reading = Scene::reading("downgrade").expect("a record");
    assert_eq!(reading.capacity, Some(3));
    assert_eq!((reading.flow.put, reading.flow.took), (5, 5));
}

#[test]
fn permits_are_held_by_who_took_them() {
    let scene = Scene::new();
    let permits = named("permits", Arc::new(Semaphore::new(3)));
    let mut two = scene.over('a', permits.acquire_many(2)).expect("open");
    let one = scene
        .over('b', permits.clone().acquire_owned())
        .expect("open");
    let mut c = scene.has('c', permits.acquire_many(2));
    let d = scene.has('d', permits.clone().acquire_many_owned(3));
    scene.holds(
        "permits",
        "a acquire 2, b acquire 1, c waits to acquire 2, d waits to acquire 3",
    );
    let half = two.split(1).expect("there are two");
    scene.holds(
        "permits",
        "a acquire 1, b acquire 1, a acquire 1, c waits to acquire 2, d waits to acquire 3",
    );
    two.merge(half);
    drop(d);
    scene.holds("permits", "a acquire 2, b acquire 1, c waits to acquire 2");
    one.forget();
    scene.holds("permits", "a acquire 2, c waits to acquire 2");
    drop(two);
    assert!(c.poll().is_pending());
    scene.holds("permits", "c acquire 2");
    let reading = Scene::reading("permits").expect("a record");
    assert_eq!((reading.capacity, reading.held), (Some(2), 2));
    assert_eq!(reading.flow.forgotten, 1);
    permits.add_permits(4);
    assert_eq!(permits.forget_permits(1), 1);
    let capacity = Scene::reading("permits").expect("a record").capacity;
    assert_eq!(capacity, Some(5));
    drop(c);
    permits.close();
    let reading = Scene::reading("permits").expect("a record");
    assert!(reading.closed);
    assert_eq!((reading.held, permits.available_permits()), (0, 5));
}

#[test]
fn who_has_no_permit_holds_nothing() {
    let scene = Scene::new();
    let permits = named("none", Arc::new(Semaphore::new(3)));
    let none = scene.over('a', permits.acquire_many(0)).expect("open");
    let mut all = scene
        .over('b', permits.clone().acquire_many_owned(3))
        .expect("open");
    let mut moved = all.split(3).expect("all");
    scene.holds("none", "b acquire 3");
    drop(all);
    drop(none);
    scene.holds("none", "b acquire 3");
    let empty = moved.split(0).expect("none");
    moved.merge(empty);
    scene.holds("none", "b acquire 3");
    drop(moved);
    scene.holds("none", "");
    assert_eq!(permits.available_permits(), 3);
}

/// Permits added or let go of while accounting is off are counted all the same.
#[test]
fn what_there_is_does_not_depend_on_accounting() {
    let permits = named("off", Semaphore::new(1));
    permits.add_permits(4);
    let scene = Scene::new();
    let one = permits.try_acquire().expect("a permit");
    let reading = Scene::reading("off").expect("a record");
    assert_eq!((reading.capacity, reading.held), (Some(5), 1));
    scene.unaccounted(|| {
        let other = permits.try_acquire_many(2).expect("permits");
        permits.add_permits(1);
        other.forget();
        one.forget();
    });
    let reading = Scene::reading("off").expect("a record");
    assert_eq!((reading.capacity, reading.held), (Some(3), 0));
    assert_eq!(permits.available_permits(), 3);
}

#[test]
fn a_party_waits_until_it_is_complete() {
    let scene = Scene::new();
    let barrier = named("barrier", Barrier::new(3));
    let a = scene.task('a', barrier.wait());
    let b = scene.task('b', barrier.wait());
    scene.holds("barrier", "a waits to wait 1, b waits to wait 1");
    let capacity = Scene::reading("barrier").expect("a record").capacity;
    assert_eq!(capacity, Some(3));
    assert!(scene.over('c', barrier.wait()).is_leader());
    scene.holds(
        "barrier",
        "a waits to wait 1 woken, b waits to wait 1 woken",
    );
    a.ends();
    b.ends();
    scene.holds("barrier", "");
}

#[test]
fn a_signal_is_waited_for() {
    let scene = Scene::new();
    let notify = named("notify", Arc::new(Notify::new()));
    let a = scene.task('a', notify.notified());
    let b = scene.task('b', notify.clone().notified_owned());
    // In the line without having been polled: nobody is to wake it, and that is as it should be.
    let mut enabled = pin!(notify.notified());
    assert!(!scene.over('c', async { enabled.as_mut().enable() }));
    scene.holds(
        "notify",
        "a waits to wait 1, b waits to wait 1, c waits to wait 1",
    );
    let reading = Scene::reading("notify").expect("a record");
    assert!(reading.waiters.iter().all(|waiter| waiter.wakeable));
    notify.notify_one();
    scene.holds(
        "notify",
        "a waits to wait 1 woken, b waits to wait 1, c waits to wait 1",
    );
    drop(a);
    b.ends();
    scene.holds("notify", "c waits to wait 1");
    notify.notify_waiters();
    assert!(enabled.as_mut().enable());
    scene.holds("notify", "");
}

#[test]
fn one_makes_a_value_and_others_wait() {
    let scene = Scene::new();
    let cell = named("cell", OnceCell::<u8>::new());
    let a = scene.task('a', cell.get_or_init(pending));
    let b = scene.task('b', cell.get_or_try_init(|| async { Err("no") }));
    let c = scene.task('c', cell.get_or_init(|| async { 3 }));
    scene.holds("cell", "a write 1, b waits to wait 1, c waits to wait 1");
    drop(a);
    scene.holds("cell", "b waits to wait 1 woken, c waits to wait 1");
    b.ends();
    scene.holds("cell", "c waits to wait 1 woken");
    c.ends();
    scene.holds("cell", "");
    assert_eq!(cell.get(), Some(&3));

    let once = named("once", SetOnce::new());
    let a = scene.task('a', once.wait());
    scene.holds("once", "a waits to wait 1");
    once.set(1).expect("it was empty");
    scene.holds("once", "a waits to wait 1 woken");
    a.ends();
    scene.holds("once", "");
}

/// Sees who holds a resource at the instant at which one that waits is woken.
struct Look(&'static str, std::sync::Mutex<Vec<String>>);

impl Wake for Look {
    fn wake(self: Arc<Self>) {
        let holders = Scene::reading(self.0).expect("a record").holders;
        let roles = holders
            .iter()
            .map(|holder| format!("{} {}", holder.role.word(), holder.amount));
        let roles: Vec<String> = roles.collect();
        self.1.lock().expect("nobody panics").push(roles.join(", "));
    }
}

/// Who holds what when `release` wakes the one that waits: what is given back is given back in the
/// account first.
#[track_caller]
fn released(
    name: &'static str,
    waits: impl Future,
    release: impl FnOnce() + std::panic::UnwindSafe,
    expected: &str,
) {
    let look = Arc::new(Look(name, std::sync::Mutex::default()));
    let waker = Waker::from(look.clone());
    let mut waits = pin!(waits);
    let polled = waits.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    let _ = std::panic::catch_unwind(release);
    let seen = std::mem::take(&mut *look.1.lock().expect("nobody panics"));
    assert_eq!(seen, [expected]);
}

#[test]
fn a_mutex_is_given_back_in_the_account_first() {
    let _scene = Scene::new();
    let mutex = named("first", Arc::new(Mutex::new((1, 2))));
    for round in 0..2 {
        let waits = || mutex.lock();
        let guard = mutex.lock().now();
        released("first", waits(), unwound(|| drop(guard)), "");
        let guard = mutex.clone().lock_owned().now();
        released("first", waits(), unwound(|| drop(guard)), "");
        let part = MutexGuard::map(mutex.lock().now(), |all| &mut all.0);
        released("first", waits(), unwound(|| drop(part)), "");
        let part = OwnedMutexGuard::map(mutex.clone().lock_owned().now(), |all| &mut all.0);
        released("first", waits(), unwound(|| drop(part)), "");
        let guard = mutex.lock().now();
        let panics = || {
            drop(MutexGuard::map(guard, |_| -> &mut u8 {
                panic!("on purpose")
            }))
        };
        released("first", waits(), unwound(panics), "");
        // In the second round all pass the turnstile.
        if round == 0 {
            let guard = mutex.lock().now();
            released(
                "first",
                mutex.clone().lock_owned(),
                unwound(|| drop(guard)),
                "",
            );
        }
    }
}

#[test]
fn a_rwlock_is_given_back_in_the_account_first() {
    let _scene = Scene::new();
    for (name, lock) in [
        ("wide", Arc::new(RwLock::new(1))),
        ("narrow", Arc::new(RwLock::with_max_readers(1, 2))),
    ] {
        let lock = named(name, lock);
        for _ in 0..2 {
            let read = lock.read().now();
            released(name, lock.write(), unwound(|| drop(read)), "");
            let write = lock.write().now();
            released(name, lock.read(), unwound(|| drop(write)), "");
            let write = lock.write().now();
            let mut read = None;
            released(
                name,
                lock.read(),
                unwound(|| read = Some(write.downgrade())),
                "read 1",
            );
            drop(read);
            let read = lock.clone().read_owned().now();
            released(name, lock.clone().write_owned(), unwound(|| drop(read)), "");
            let write = lock.clone().write_owned().now();
            released(name, lock.read(), unwound(|| drop(write)), "");
            let write = lock.clone().write_owned().now();
            let mut read = None;
            released(
                name,
                lock.read(),
                unwound(|| read = Some(write.downgrade())),
                "read 1",
            );
            drop(read);
            let write = lock.write().now();
            let panics = || {
                drop(RwLockWriteGuard::downgrade_map(write, |_| -> &u8 {
                    panic!("on purpose")
                }));
            };
            released(name, lock.read(), unwound(panics), "");
            let write = lock.clone().write_owned().now();
            let panics = || {
                drop(OwnedRwLockWriteGuard::downgrade_map(write, |_| -> &u8 {
                    panic!("on purpose")
                }));
            };
            released(name, lock.read(), unwound(panics), "");
        }
    }
}

#[test]
fn permits_are_given_back_in_the_account_first() {
    let _scene = Scene::new();
    let permits = named("back", Arc::new(Semaphore::new(3)));
    let mut all = permits.try_acquire_many(3).expect("permits");
    let one = all.split(1).expect("three");
    let waits = || permits.acquire();
    released("back", waits(), unwound(|| drop(one)), "acquire 2");
    drop(all);
    let mut all = permits.clone().try_acquire_many_owned(3).expect("permits");
    let one = all.split(1).expect("three");
    released("back", waits(), unwound(|| drop(one)), "acquire 2");
    drop(all);
    let stranger = Semaphore::new(1);
    let all = permits.try_acquire_many(3).expect("permits");
    let merge = || stranger.try_acquire().expect("a permit").merge(all);
    released("back", waits(), unwound(merge), "");

    let cell = named("made", OnceCell::new());
    let mut making = Box::pin(cell.get_or_init(pending));
    let polled = making
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    released(
        "made",
        cell.get_or_init(|| async { 1 }),
        unwound(|| drop(making)),
        "",
    );
}

const fn unwound<F: FnOnce()>(f: F) -> std::panic::AssertUnwindSafe<F> {
    std::panic::AssertUnwindSafe(f)
}

/// Looks at a resource two hundred times, while three threads do `work` over and over. Returns how
/// often that was.
fn watch(name: &str, work: impl Fn(usize) + Sync, look: impl Fn(&Reading)) -> usize {
    let (looks, rounds) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while looks.load(Ordering::Relaxed) < 200 {
                    work(rounds.fetch_add(1, Ordering::Relaxed));
                }
            });
        }
        for _ in 0..200 {
            // It ends also if this panics.
            let seen = std::panic::AssertUnwindSafe(|| {
                look(&Scene::reading(name).expect("a record"));
            });
            let seen = std::panic::catch_unwind(seen);
            let more = if seen.is_ok() { 1 } else { 200 };
            looks.fetch_add(more, Ordering::Relaxed);
            thread::yield_now();
            seen.expect("as it should be");
        }
    });
    rounds.into_inner()
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::yield_now(),
        }
    }
}

#[test]
fn a_mutex_never_shows_two_holders() {
    let _scene = Scene::new();
    let mutex = named("one", Arc::new(Mutex::new([0, 0])));
    drop(mutex.try_lock());
    let work = |n: usize| match n % 5 {
        0 => block_on(mutex.lock())[0] += 1,
        1 => block_on(mutex.clone().lock_owned())[0] += 1,
        2 => *MutexGuard::map(block_on(mutex.lock()), |all| &mut all[0]) += 1,
        3 => {
            let guard = block_on(mutex.clone().lock_owned());
            *OwnedMutexGuard::map(guard, |all| &mut all[0]) += 1;
        }
        _ => mutex.blocking_lock()[0] += 1,
    };
    let rounds = watch("one", work, |reading| {
        assert!(reading.holder_count <= 1, "{reading:?}");
    });
    assert_eq!(mutex.lock().now()[0], rounds);
}

#[test]
fn a_semaphore_never_shows_more_than_there_is() {
    let _scene = Scene::new();
    let permits = named("three", Arc::new(Semaphore::new(3)));
    drop(permits.try_acquire());
    let work = |n: usize| match n % 4 {
        0 => drop(block_on(permits.acquire())),
        1 => drop(block_on(permits.clone().acquire_many_owned(2))),
        2 => {
            let mut two = block_on(permits.acquire_many(2)).expect("open");
            let one = two.split(1).expect("two");
            drop(two);
            one.forget();
            permits.add_permits(1);
        }
        _ => drop(permits.blocking_acquire_many(3)),
    };
    watch("three", work, |reading| {
        assert!(Some(reading.held) <= Some(3), "{reading:?}");
    });
    assert_eq!(permits.available_permits(), 3);
}

#[test]
fn a_writer_is_never_shown_with_others() {
    let _scene = Scene::new();
    let lock = named("two", Arc::new(RwLock::with_max_readers(0, 2)));
    drop(lock.try_read());
    let work = |n: usize| match n % 5 {
        0 => *block_on(lock.write()) += 1,
        1 => drop(block_on(lock.clone().read_owned())),
        2 => drop(block_on(lock.write()).downgrade()),
        3 => drop(block_on(lock.clone().write_owned()).downgrade()),
        _ => drop(lock.blocking_read()),
    };
    watch("two", work, |reading| {
        let writers = reading.holders.iter();
        let writers = writers.filter(|holder| holder.role == Role::Write).count();
        assert!(reading.holder_count <= 2, "{reading:?}");
        assert!(writers == 0 || reading.holder_count == 1, "{reading:?}");
    });
}

/// Whoever has it gives it back once, also if that is another thread, if a closure panics, or if
/// accounting was off meanwhile.
#[test]
fn what_is_taken_is_given_back_once() {
    fn panics<T>() -> T {
        panic::resume_unwind(Box::new("as it should"))
    }
    let _scene = Scene::new();
    let mutex = named("alone", Arc::new(Mutex::new((0, 0))));
    let lock = named("parts", Arc::new(RwLock::with_max_readers((0, 0), 3)));
    drop((mutex.try_lock(), lock.try_read()));
    let elsewhere = |n: usize| {
        if n.is_multiple_of(2) {
            let guard = block_on(mutex.clone().lock_owned());
            thread::scope(|scope| drop(scope.spawn(move || drop(guard))));
        } else {
            let guard = block_on(lock.clone().write_owned()).downgrade();
            thread::scope(|scope| drop(scope.spawn(move || drop(guard))));
        }
    };
    let unwinds = |n: usize| match n % 4 {
        0 => drop(MutexGuard::map(block_on(mutex.lock()), |_| {
            panics::<&mut u8>()
        })),
        1 => drop(RwLockWriteGuard::map(block_on(lock.write()), |_| {
            panics::<&mut u8>()
        })),
        2 => drop(RwLockWriteGuard::downgrade_map(
            block_on(lock.write()),
            |_| panics::<&u8>(),
        )),
        _ => drop(RwLockReadGuard::map(block_on(lock.read()), |_| {
            panics::<&u8>()
        })),
    };
    let work = |n: usize| match n % 7 {
        0 => elsewhere(n / 7),
        1 => drop(panic::catch_unwind(panic::AssertUnwindSafe(|| {
            unwinds(n / 7)
        }))),
        2 => drop(RwLockWriteGuard::try_downgrade_map(
            block_on(lock.write()),
            |_| None::<&u8>,
        )),
        3 => block_on(mutex.lock()).0 += 1,
        4 => block_on(lock.write()).0 += 1,
        5 => drop(block_on(lock.read())),
        _ if (n / 7).is_multiple_of(2) => drop(switch::disarm()),
        _ => drop(switch::arm()),
    };
    watch("parts", work, |_| {
        let alone = Scene::reading("alone").expect("a record");
        assert!(alone.holder_count <= 1, "{alone:?}");
    });
    for name in ["alone", "parts"] {
        let Reading {
            holder_count,
            held,
            flow,
            times,
            ..
        } = Scene::reading(name).expect("a record");
        let kept: u64 = times.kept.iter().map(|(_, count)| count).sum();
        assert_eq!(
            (holder_count, held, flow.put, flow.took),
            (0, 0, kept, kept),
            "{name}"
        );
        assert!(kept > 0, "{name}");
        let top = times.kept.iter().map(|(bucket, _)| bucket).last();
        let longest = times.longest_hold.map_or(0, |hold| hold.ticks);
        assert_eq!(top, Some(bucket_of(longest) as u16), "{name}");
    }
}
