//! What tokio's documentation shows of `sync::Mutex`.

use std::sync::Arc;

use futures::FutureExt;
use tokio::task::coop::consume_budget;

use super::start;
use super::sync::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use crate::panics;
use crate::tasks::at_once;

static STATIC: Mutex<Vec<u8>> = Mutex::const_new(Vec::new());

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair(u32, u32);

fn second(pair: &mut Pair) -> &mut u32 {
    &mut pair.1
}

#[tokio::test]
async fn tasks_count_together() {
    start();
    let count = Arc::new(Mutex::new(0));
    let tasks: Vec<_> = (0..5)
        .map(|_| {
            let count = count.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    *count.lock().await += 1;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*count.lock().await, 50);
    assert_eq!(Arc::into_inner(count).unwrap().into_inner(), 50);
}

#[tokio::test]
async fn those_who_wait_are_served_in_order() {
    start();
    let line = Arc::new(Mutex::new(Vec::new()));
    let first = line.lock().await;
    let tasks: Vec<_> = (0..4)
        .map(|n| {
            let line = line.clone();
            tokio::spawn(async move {
                if n % 2 == 0 {
                    line.lock().await.push(n);
                } else {
                    line.lock_owned().await.push(n);
                }
            })
        })
        .collect();
    tokio::task::yield_now().await;
    drop(first);
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*line.lock().await, [0, 1, 2, 3]);
}

#[tokio::test]
async fn a_static_is_locked() {
    start();
    STATIC.lock().await.push(7);
    assert_eq!(*STATIC.lock().await, [7]);
}

#[tokio::test]
async fn an_owned_guard_outlives_its_name() {
    start();
    let mutex = Arc::new(Mutex::new(1));
    let mut guard = mutex.clone().lock_owned().await;
    *guard = 2;
    assert!(Arc::ptr_eq(OwnedMutexGuard::mutex(&guard), &mutex));
    assert_eq!(Arc::strong_count(&mutex), 2);
    drop(mutex);
    assert_eq!(*guard, 2);
    let mutex = OwnedMutexGuard::mutex(&guard).clone();
    drop(guard);
    assert_eq!(Arc::into_inner(mutex).unwrap().into_inner(), 2);
}

#[tokio::test]
async fn a_lock_is_tried() {
    start();
    let mutex = Arc::new(Mutex::new(1));
    let guard = mutex.try_lock().unwrap();
    let error = mutex.try_lock().unwrap_err();
    assert_eq!(error.to_string(), "operation would block");
    assert!(mutex.clone().try_lock_owned().is_err());
    drop(guard);
    let mut guard = mutex.clone().try_lock_owned().unwrap();
    *guard += 1;
    assert!(mutex.try_lock().is_err());
    drop(guard);
    assert_eq!(*mutex.try_lock().unwrap(), 2);
}

#[test]
fn a_thread_blocks() {
    start();
    let mutex = Arc::new(Mutex::new(1));
    let guard = mutex.blocking_lock();
    let other = mutex.clone();
    let thread = std::thread::spawn(move || *other.blocking_lock_owned() += 1);
    drop(guard);
    thread.join().unwrap();
    assert_eq!(*mutex.blocking_lock(), 2);
}

#[tokio::test]
async fn a_thread_that_runs_tasks_does_not_block() {
    start();
    let mutex = Mutex::new(1);
    let message = panics(|| drop(mutex.blocking_lock()));
    assert!(message.starts_with("Cannot block the current thread"));
    assert!(mutex.try_lock().is_ok());
}

#[tokio::test]
async fn it_is_mapped() {
    start();
    let mutex = Mutex::new(Pair(1, 2));
    *MutexGuard::map(mutex.lock().await, second) = 3;
    let guard = mutex.lock().await;
    assert!(std::ptr::eq(MutexGuard::mutex(&guard), &raw const mutex));
    let guard = MutexGuard::try_map(guard, |_| None::<&mut u32>).unwrap_err();
    let mut part = MutexGuard::try_map(guard, |pair| Some(&mut pair.0)).unwrap();
    *part = 4;
    assert!(mutex.try_lock().is_err());
    drop(part);
    assert_eq!(*mutex.lock().await, Pair(4, 3));
}

#[tokio::test]
async fn a_part_is_mapped() {
    start();
    let mutex = Mutex::new([Pair(1, 2), Pair(3, 4)]);
    let part = MutexGuard::map(mutex.lock().await, |pairs| &mut pairs[1]);
    let part = MappedMutexGuard::try_map(part, |_| None::<&mut u32>).unwrap_err();
    assert_eq!(*part, Pair(3, 4));
    let mut part = MappedMutexGuard::map(part, second);
    *part = 5;
    assert!(mutex.try_lock().is_err());
    drop(part);
    assert_eq!(mutex.lock().await[1], Pair(3, 5));
}

#[tokio::test]
async fn an_owned_guard_is_mapped() {
    start();
    let mutex = Arc::new(Mutex::new(Pair(1, 2)));
    *OwnedMutexGuard::map(mutex.clone().lock_owned().await, second) = 3;
    let guard = mutex.clone().lock_owned().await;
    let guard = OwnedMutexGuard::try_map(guard, |_| None::<&mut u32>).unwrap_err();
    let mut guard = OwnedMutexGuard::try_map(guard, |_| None::<&mut u32>).unwrap_err();
    guard.0 = 7;
    assert!(Arc::ptr_eq(OwnedMutexGuard::mutex(&guard), &mutex));
    let part = OwnedMutexGuard::try_map(guard, |pair| Some(pair)).unwrap();
    let part = OwnedMappedMutexGuard::try_map(part, |_| None::<&mut u32>).unwrap_err();
    let mut part = OwnedMappedMutexGuard::map(part, second);
    *part += 1;
    assert_eq!(format!("{part} {part:?}"), "4 4");
    assert!(mutex.try_lock().is_err());
    drop(part);
    assert_eq!(*mutex.lock().await, Pair(7, 4));
    assert_eq!(Arc::strong_count(&mutex), 1);
}

#[tokio::test]
async fn a_panic_gives_it_back() {
    start();
    let mutex = Arc::new(Mutex::new(1));
    let other = mutex.clone();
    let task = tokio::spawn(async move {
        let guard = other.lock().await;
        let _ = MutexGuard::map(guard, |_| -> &mut u8 { panic!("on purpose") });
    });
    assert!(task.await.unwrap_err().is_panic());
    let other = mutex.clone();
    let task = tokio::spawn(async move {
        let guard = other.lock_owned().await;
        let _ = OwnedMutexGuard::map(guard, |_| -> &mut u8 { panic!("on purpose") });
    });
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(*mutex.try_lock().unwrap(), 1);
}

#[tokio::test]
async fn it_is_shown() {
    start();
    let mut mutex = Mutex::new(Pair(1, 2));
    assert_eq!(format!("{mutex:?}"), "Mutex { data: Pair(1, 2) }");
    let guard = mutex.lock().await;
    assert_eq!(format!("{guard:?}"), "Pair(1, 2)");
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
    drop(guard);
    mutex.get_mut().0 = 5;
    assert_eq!(mutex.into_inner(), Pair(5, 2));
    assert_eq!(Mutex::from(3).lock().await.to_string(), "3");
    assert_eq!(Mutex::<u8>::default().into_inner(), 0);
}

/// Dropped while it waits, it leaves the line, and who comes next is served.
#[tokio::test]
async fn a_wait_is_given_up() {
    start();
    let mutex = Arc::new(Mutex::new(0));
    let guard = mutex.lock().await;
    let borrowed = mutex.clone();
    let first = tokio::spawn(async move { *borrowed.lock().await += 1 });
    let second = tokio::spawn({
        let mutex = mutex.clone();
        async move { *mutex.lock_owned().await += 1 }
    });
    let third = tokio::spawn({
        let mutex = mutex.clone();
        async move { *mutex.lock_owned().await += 1 }
    });
    tokio::task::yield_now().await;
    first.abort();
    second.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert!(second.await.unwrap_err().is_cancelled());
    drop(guard);
    third.await.unwrap();
    assert_eq!(*mutex.try_lock().unwrap(), 1);
    assert_eq!(Arc::strong_count(&mutex), 1);
}

/// A task that never has to wait still yields, so that others are polled.
#[tokio::test]
async fn others_are_let_in() {
    start();
    let mutex = Arc::new(Mutex::new(0));
    let other = tokio::spawn(async {});
    let mut turns = 0;
    while !other.is_finished() {
        drop(mutex.clone().lock_owned().await);
        drop(mutex.lock().await);
        turns += 1;
        assert!(turns < 10_000);
    }
}

/// Nobody is forgotten who waits, however many do, and on whatever thread; from the first use on.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn nobody_is_forgotten() {
    start();
    for _ in 0..20 {
        many_want_it().await;
    }
}

async fn many_want_it() {
    let mutex = Arc::new(Mutex::new(0_u32));
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        let mutex = mutex.clone();
        tasks.spawn(async move {
            for round in n..n + 20 {
                match round % 4 {
                    0 => *mutex.lock().await += 1,
                    1 => *mutex.clone().lock_owned().await += 1,
                    2 => {
                        let mut guard = mutex.clone().lock_owned().await;
                        *guard += 1;
                        tokio::task::yield_now().await;
                    }
                    _ => {
                        let mut guard = mutex.lock().await;
                        *guard += 1;
                        tokio::task::yield_now().await;
                    }
                }
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(*mutex.try_lock().expect("nobody has it"), 160);
}

/// A guard that keeps its mutex alive counts once, and lives as long as what is inside, whatever
/// that borrows.
#[tokio::test]
async fn owned_guards_count_once() {
    start();
    let text = String::from("borrowed");
    let mutex = Arc::new(Mutex::new((text.as_str(), 1)));
    let count = || Arc::strong_count(&mutex);
    let mut guard = mutex.clone().lock_owned().await;
    guard.0 = &text[..6];
    assert_eq!(count(), 2);
    {
        let mut waits = std::pin::pin!(mutex.clone().lock_owned());
        let waker = std::task::Waker::noop();
        let mut cx = std::task::Context::from_waker(waker);
        assert!(waits.as_mut().poll(&mut cx).is_pending());
        assert_eq!(count(), 3);
    }
    let guard = OwnedMutexGuard::try_map(guard, |_| None::<&mut u8>).unwrap_err();
    assert_eq!((guard.0, count()), ("borrow", 2));
    let part = OwnedMutexGuard::map(guard, |all| &mut all.0);
    let part = OwnedMappedMutexGuard::map(part, |text| text);
    assert_eq!((*part, count()), ("borrow", 2));
    drop(part);
    assert_eq!(count(), 1);
}

/// A free lock is taken as part of the task's budget, and waited for like any other when that is
/// used up: others get to run.
#[tokio::test]
async fn who_takes_it_again_and_again_lets_others_run() {
    start();
    let lock = Arc::new(Mutex::new(0));
    let budget = at_once(consume_budget).await;
    assert_eq!(at_once(|| lock.lock()).await, budget);
    assert_eq!(at_once(|| lock.clone().lock_owned()).await, budget);
    let none_left = async { while consume_budget().now_or_never().is_some() {} };
    none_left.await;
    let mut gone = Box::pin(lock.lock());
    assert!(gone.as_mut().now_or_never().is_none());
    drop(gone);
    assert!(lock.try_lock().is_ok());
    *lock.lock().await += 1;
    assert_eq!(*lock.lock().await, 1);
}
