//! What permits are for, case by case.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use futures::FutureExt;
use tokio::task::{JoinSet, yield_now};

use super::start;
use super::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};
use crate::panics;

static TWO: Semaphore = Semaphore::const_new(2);

/// As many files are open, or requests under way, or tests running, as there are permits.
#[tokio::test]
async fn so_many_at_a_time() {
    start();
    let semaphore = Arc::new(Semaphore::new(3));
    let inside = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for n in 0..9 {
        let (semaphore, inside) = (semaphore.clone(), inside.clone());
        tasks.spawn(async move {
            let permit = semaphore.acquire_owned().await.unwrap();
            assert!(inside.fetch_add(1, Ordering::Relaxed) < 3);
            yield_now().await;
            inside.fetch_sub(1, Ordering::Relaxed);
            drop(permit);
            n
        });
    }
    let mut order = tasks.join_all().await;
    order.sort_unstable();
    assert_eq!(order, (0..9).collect::<Vec<_>>());
    assert_eq!(semaphore.available_permits(), 3);
}

#[tokio::test]
async fn a_static_is_acquired() {
    start();
    let first = TWO.acquire().await.unwrap();
    let second = TWO.acquire().await.unwrap();
    assert_eq!(TWO.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
    drop((first, second));
    assert_eq!(TWO.available_permits(), 2);
}

/// A bucket of tokens: a permit is used up, and a clock adds new ones.
#[tokio::test]
async fn permits_are_used_up_and_added() {
    start();
    let bucket = Semaphore::new(0);
    let mut waits = Box::pin(bucket.acquire());
    assert!(waits.as_mut().now_or_never().is_none());
    bucket.add_permits(2);
    waits.await.unwrap().forget();
    assert_eq!(bucket.available_permits(), 1);
    bucket.try_acquire().unwrap().forget();
    assert_eq!(
        bucket.try_acquire().unwrap_err(),
        TryAcquireError::NoPermits
    );
    bucket.add_permits(3);
    assert_eq!(bucket.forget_permits(2), 2);
    assert_eq!(bucket.forget_permits(2), 1);
    assert_eq!(bucket.available_permits(), 0);
}

#[tokio::test]
async fn many_are_had_at_once() {
    start();
    let semaphore = Arc::new(Semaphore::new(5));
    let three = semaphore.acquire_many(3).await.unwrap();
    assert_eq!(semaphore.available_permits(), 2);
    assert!(semaphore.try_acquire_many(3).is_err());
    let two = semaphore.clone().try_acquire_many_owned(2).unwrap();
    assert_eq!((three.num_permits(), two.num_permits()), (3, 2));
    assert!(std::ptr::eq(three.semaphore(), &raw const *semaphore));
    assert!(Arc::ptr_eq(two.semaphore(), &semaphore));
    drop(three);
    let none = semaphore.acquire_many(0).await.unwrap();
    assert_eq!(none.num_permits(), 0);
    drop((two, none));
    let all = semaphore.clone().acquire_many_owned(5).await.unwrap();
    assert!(semaphore.clone().try_acquire_owned().is_err());
    drop(all);
    assert_eq!(semaphore.available_permits(), 5);
    assert_eq!(Arc::strong_count(&semaphore), 1);
}

/// Who wants many is not passed by those who want few.
#[tokio::test]
async fn the_order_is_kept() {
    start();
    let semaphore = Arc::new(Semaphore::new(2));
    let first = semaphore.acquire().await.unwrap();
    let mut two = Box::pin(semaphore.acquire_many(2));
    let mut one = Box::pin(semaphore.clone().acquire_owned());
    assert!(two.as_mut().now_or_never().is_none());
    assert!(one.as_mut().now_or_never().is_none());
    assert!(semaphore.try_acquire().is_err());
    drop(first);
    assert!(one.as_mut().now_or_never().is_none());
    let two = two.now_or_never().unwrap().unwrap();
    assert!(one.as_mut().now_or_never().is_none());
    drop(two);
    assert!(one.now_or_never().unwrap().is_ok());
}

/// Dropped while it waits, it gives back what it already had been given.
#[tokio::test]
async fn a_wait_is_given_up() {
    start();
    let semaphore = Arc::new(Semaphore::new(1));
    let mut two = Box::pin(semaphore.acquire_many(2));
    assert!(two.as_mut().now_or_never().is_none());
    assert_eq!(semaphore.available_permits(), 0);
    drop(two);
    assert_eq!(semaphore.available_permits(), 1);
}

#[tokio::test]
async fn permits_are_split_and_merged() {
    start();
    let semaphore = Arc::new(Semaphore::new(10));
    let mut all: SemaphorePermit<'_> = semaphore.try_acquire_many(10).unwrap();
    let mut four = all.split(4).unwrap();
    assert!(all.split(7).is_none());
    assert_eq!((all.num_permits(), four.num_permits()), (6, 4));
    let none = four.split(0).unwrap();
    let rest = all.split(6).unwrap();
    assert_eq!((all.num_permits(), none.num_permits()), (0, 0));
    drop(all);
    assert_eq!(semaphore.available_permits(), 0);
    four.merge(rest);
    four.merge(none);
    assert_eq!(four.num_permits(), 10);
    drop(four);
    assert_eq!(semaphore.available_permits(), 10);
}

#[tokio::test]
async fn owned_permits_are_split_and_merged() {
    start();
    let semaphore = Arc::new(Semaphore::new(10));
    let mut all: OwnedSemaphorePermit = semaphore.clone().try_acquire_many_owned(10).unwrap();
    let mut four = all.split(4).unwrap();
    assert!(all.split(7).is_none());
    assert_eq!((all.num_permits(), four.num_permits()), (6, 4));
    let none = four.split(0).unwrap();
    let rest = all.split(6).unwrap();
    drop(all);
    assert_eq!(semaphore.available_permits(), 0);
    four.merge(rest);
    four.merge(none);
    assert_eq!(four.num_permits(), 10);
    four.split(3).unwrap().forget();
    drop(four);
    assert_eq!(semaphore.available_permits(), 7);
    assert_eq!(Arc::strong_count(&semaphore), 1);
}

#[tokio::test]
async fn strangers_are_not_merged() {
    start();
    let (one, other) = (Arc::new(Semaphore::new(2)), Arc::new(Semaphore::new(2)));
    for message in [
        panics(|| {
            one.try_acquire()
                .unwrap()
                .merge(other.try_acquire().unwrap())
        }),
        panics(|| {
            let stranger = other.clone().try_acquire_owned().unwrap();
            one.clone().try_acquire_owned().unwrap().merge(stranger);
        }),
    ] {
        assert!(
            message.contains("different semaphore instances"),
            "{message}"
        );
    }
    assert_eq!((one.available_permits(), other.available_permits()), (2, 2));
}

#[tokio::test]
async fn there_are_not_too_many() {
    start();
    let message = panics(|| _ = Semaphore::new(Semaphore::MAX_PERMITS + 1));
    assert!(message.contains("MAX_PERMITS"), "{message}");
    assert!(panics(|| _ = Semaphore::const_new(Semaphore::MAX_PERMITS + 1)).contains("permits"));
    let semaphore = Semaphore::new(Semaphore::MAX_PERMITS);
    assert!(panics(|| semaphore.add_permits(1)).contains("MAX_PERMITS"));
}

#[tokio::test]
async fn it_is_closed() {
    start();
    let semaphore = Arc::new(Semaphore::new(1));
    let permit = semaphore.acquire().await.unwrap();
    let mut waits = Box::pin(semaphore.clone().acquire_owned());
    assert!(waits.as_mut().now_or_never().is_none());
    assert!(!semaphore.is_closed());
    semaphore.close();
    assert!(semaphore.is_closed());
    assert_eq!(waits.await.unwrap_err().to_string(), "semaphore closed");
    assert!(semaphore.acquire_many(1).await.is_err());
    assert_eq!(
        semaphore.try_acquire().unwrap_err(),
        TryAcquireError::Closed
    );
    drop(permit);
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn a_thread_blocks() {
    start();
    let semaphore = Arc::new(Semaphore::new(0));
    let threads = [
        thread::spawn({
            let semaphore = semaphore.clone();
            move || semaphore.blocking_acquire().unwrap().forget()
        }),
        thread::spawn({
            let semaphore = semaphore.clone();
            move || semaphore.blocking_acquire_many(2).unwrap().forget()
        }),
        thread::spawn({
            let semaphore = semaphore.clone();
            move || semaphore.blocking_acquire_owned().unwrap().forget()
        }),
        thread::spawn({
            let semaphore = semaphore.clone();
            move || semaphore.blocking_acquire_many_owned(2).unwrap().forget()
        }),
    ];
    semaphore.add_permits(6);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(semaphore.available_permits(), 0);
}

#[tokio::test]
async fn a_thread_that_runs_tasks_does_not_block() {
    start();
    let semaphore = Arc::new(Semaphore::new(1));
    for message in [
        panics(|| drop(semaphore.blocking_acquire())),
        panics(|| drop(semaphore.clone().blocking_acquire_many_owned(1))),
    ] {
        assert!(message.starts_with("Cannot block the current thread"));
    }
    assert_eq!(semaphore.available_permits(), 1);
}

#[tokio::test]
async fn it_is_shown() {
    start();
    let semaphore = Arc::new(Semaphore::new(3));
    let shown = "Semaphore { ll_sem: Semaphore { permits: 2 } }";
    let permit = semaphore.acquire().await.unwrap();
    let all = format!("SemaphorePermit {{ sem: {shown}, permits: 1 }}");
    assert_eq!(format!("{semaphore:?}"), shown);
    assert_eq!(format!("{permit:?}"), all);
    drop(permit);
    let permit = semaphore.clone().acquire_owned().await.unwrap();
    assert_eq!(format!("{permit:?}"), format!("Owned{all}"));
}

/// A task that never has to wait still yields, so that others are polled.
#[tokio::test]
async fn others_are_let_in() {
    start();
    let semaphore = Arc::new(Semaphore::new(1));
    let other = tokio::spawn(async {});
    let mut turns = 0;
    while !other.is_finished() {
        drop(semaphore.clone().acquire_owned().await);
        drop(semaphore.acquire().await);
        turns += 1;
        assert!(turns < 10_000);
    }
}
