//! What tokio's documentation shows of `sync::RwLock`.

use std::sync::Arc;

use tokio::task::coop::consume_budget;

use super::start;
use super::sync::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
use crate::panics;
use crate::tasks::at_once;

static STATIC: RwLock<u32> = RwLock::const_new(5);
static NARROW: RwLock<u32> = RwLock::const_with_max_readers(5, 1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair(u32, u32);

#[tokio::test]
async fn many_read_and_one_writes() {
    start();
    let lock = RwLock::new(5);
    {
        let first = lock.read().await;
        let second = lock.read().await;
        assert_eq!((*first, *second), (5, 5));
        assert!(lock.try_write().is_err());
    }
    {
        let mut write = lock.write().await;
        *write += 1;
        assert!(lock.try_read().is_err());
        assert!(lock.try_write().is_err());
    }
    assert_eq!(*lock.read().await, 6);
    assert_eq!(lock.into_inner(), 6);
}

#[tokio::test]
async fn statics_are_locked() {
    start();
    *STATIC.write().await += 1;
    assert_eq!(*STATIC.read().await, 6);
    let read = NARROW.read().await;
    assert!(NARROW.try_read().is_err());
    drop(read);
    assert_eq!(*NARROW.try_read().unwrap(), 5);
}

#[tokio::test]
async fn readers_are_limited() {
    start();
    let lock = Arc::new(RwLock::with_max_readers(5, 2));
    let first = lock.try_read().unwrap();
    let second = lock.clone().try_read_owned().unwrap();
    let error = lock.try_read().unwrap_err();
    assert_eq!(error.to_string(), "operation would block");
    assert!(lock.clone().try_read_owned().is_err());
    drop(first);
    drop(lock.try_read().unwrap());
    drop(second);
    drop(lock.try_write().unwrap());
}

#[test]
fn too_few_and_too_many_readers_are_refused() {
    start();
    let message = panics(|| _ = RwLock::with_max_readers(1, 0));
    assert!(message.contains("may not be created with 0 readers"));
    let message = panics(|| _ = RwLock::const_with_max_readers(1, 0));
    assert!(message.contains("may not be created with 0 readers"));
    let message = panics(|| _ = RwLock::with_max_readers(1, u32::MAX));
    assert!(message.contains("may not be created with more than"));
}

/// A writer that waits is served before readers that come later.
#[tokio::test]
async fn the_order_is_kept() {
    start();
    let lock = Arc::new(RwLock::new(Vec::new()));
    let first = lock.read().await;
    let writer = tokio::spawn({
        let lock = lock.clone();
        async move { lock.write().await.push(1) }
    });
    tokio::task::yield_now().await;
    assert!(lock.try_read().is_err());
    let reader = tokio::spawn({
        let lock = lock.clone();
        async move { lock.read_owned().await.len() }
    });
    let last = tokio::spawn({
        let lock = lock.clone();
        async move { lock.write_owned().await.push(2) }
    });
    tokio::task::yield_now().await;
    drop(first);
    writer.await.unwrap();
    assert_eq!(reader.await.unwrap(), 1);
    last.await.unwrap();
    assert_eq!(*lock.read().await, [1, 2]);
}

#[test]
fn a_thread_blocks() {
    start();
    let lock = Arc::new(RwLock::new(1));
    let read = lock.blocking_read();
    let other = lock.clone();
    let thread = std::thread::spawn(move || *other.blocking_write() += 1);
    drop(read);
    thread.join().unwrap();
    assert_eq!(*lock.blocking_read(), 2);
}

#[tokio::test]
async fn a_thread_that_runs_tasks_does_not_block() {
    start();
    let lock = RwLock::new(1);
    for blocking in [
        panics(|| drop(lock.blocking_read())),
        panics(|| drop(lock.blocking_write())),
    ] {
        assert!(blocking.starts_with("Cannot block the current thread"));
    }
    assert!(lock.try_write().is_ok());
}

#[tokio::test]
async fn a_reader_is_mapped() {
    start();
    let lock = RwLock::new(Pair(1, 2));
    let read = RwLockReadGuard::map(lock.read().await, |pair| &pair.1);
    assert_eq!(format!("{read} {read:?}"), "2 2");
    assert!(lock.try_write().is_err());
    drop(read);
    let read = lock.read().await;
    let read = RwLockReadGuard::try_map(read, |_| None::<&u32>).unwrap_err();
    let read = RwLockReadGuard::try_map(read, |pair| Some(&pair.0)).unwrap();
    assert_eq!(*read, 1);
    drop(read);
    assert!(lock.try_write().is_ok());
}

#[tokio::test]
async fn a_writer_is_mapped() {
    start();
    let lock = RwLock::new([Pair(1, 2); 2]);
    let write = lock.write().await;
    let write = RwLockWriteGuard::try_map(write, |_| None::<&mut Pair>).unwrap_err();
    let mut write = RwLockWriteGuard::map(write, |pairs| &mut pairs[1]);
    write.0 = 7;
    let write = RwLockMappedWriteGuard::try_map(write, |_| None::<&mut u32>).unwrap_err();
    let mut write = RwLockMappedWriteGuard::map(write, |pair| &mut pair.1);
    *write = 8;
    assert!(lock.try_read().is_err());
    drop(write);
    let write = lock.write().await;
    let mut write = RwLockWriteGuard::try_map(write, |pairs| pairs.first_mut()).unwrap();
    write.0 = 9;
    drop(write);
    let mut write = RwLockWriteGuard::into_mapped(lock.write().await);
    write[0].1 = 10;
    drop(write);
    assert_eq!(*lock.read().await, [Pair(9, 10), Pair(7, 8)]);
}

#[tokio::test]
async fn a_writer_becomes_a_reader() {
    start();
    let lock = Arc::new(RwLock::new(Pair(1, 2)));
    let mut write = lock.write().await;
    // Another writer waits, and does not come in between.
    let writer = tokio::spawn({
        let lock = lock.clone();
        async move { lock.write().await.0 = 3 }
    });
    tokio::task::yield_now().await;
    write.0 = 2;
    let read = write.downgrade();
    tokio::task::yield_now().await;
    assert_eq!(read.0, 2);
    drop(read);
    writer.await.unwrap();

    let read = RwLockWriteGuard::downgrade_map(lock.write().await, |pair| &pair.0);
    let other = lock.try_read().unwrap();
    assert_eq!((*read, *other), (3, Pair(3, 2)));
    drop((read, other));

    let write = lock.write().await;
    let write = RwLockWriteGuard::try_downgrade_map(write, |_| None::<&u32>).unwrap_err();
    assert!(lock.try_read().is_err());
    let read = RwLockWriteGuard::try_downgrade_map(write, |pair| Some(&pair.1)).unwrap();
    assert_eq!((*read, lock.try_read().unwrap().1), (2, 2));
    drop(read);
    assert!(lock.try_write().is_ok());
}

#[tokio::test]
async fn owned_guards_outlive_their_name() {
    start();
    let lock = Arc::new(RwLock::new(1));
    let read = lock.clone().read_owned().await;
    assert!(Arc::ptr_eq(OwnedRwLockReadGuard::rwlock(&read), &lock));
    assert!(lock.clone().try_write_owned().is_err());
    drop(read);
    let mut write = lock.clone().write_owned().await;
    assert!(Arc::ptr_eq(OwnedRwLockWriteGuard::rwlock(&write), &lock));
    assert!(lock.clone().try_read_owned().is_err());
    drop(lock);
    *write = 2;
    assert_eq!(format!("{write} {write:?}"), "2 2");
    let lock = OwnedRwLockWriteGuard::rwlock(&write).clone();
    drop(write);
    assert_eq!(Arc::into_inner(lock).unwrap().into_inner(), 2);
}

#[tokio::test]
async fn an_owned_reader_is_mapped() {
    start();
    let lock = Arc::new(RwLock::new([Pair(1, 2), Pair(3, 4)]));
    let read = lock.clone().read_owned().await;
    let read = OwnedRwLockReadGuard::try_map(read, |_| None::<&Pair>).unwrap_err();
    let read = OwnedRwLockReadGuard::map(read, |pairs| &pairs[1]);
    let read = OwnedRwLockReadGuard::try_map(read, |pair| Some(&pair.1)).unwrap();
    assert!(Arc::ptr_eq(OwnedRwLockReadGuard::rwlock(&read), &lock));
    assert_eq!(*read, 4);
    assert!(lock.try_write().is_err());
    drop(read);
    assert!(lock.try_write().is_ok());
    assert_eq!(Arc::strong_count(&lock), 1);
}

#[tokio::test]
async fn an_owned_writer_is_mapped() {
    start();
    let lock = Arc::new(RwLock::new([Pair(1, 2); 2]));
    let write = lock.clone().write_owned().await;
    let write = OwnedRwLockWriteGuard::try_map(write, |_| None::<&mut Pair>).unwrap_err();
    let mut write = OwnedRwLockWriteGuard::map(write, |pairs| &mut pairs[1]);
    write.0 = 7;
    let write = OwnedRwLockMappedWriteGuard::try_map(write, |_| None::<&mut u32>).unwrap_err();
    let mut write = OwnedRwLockMappedWriteGuard::map(write, |pair| &mut pair.1);
    assert!(Arc::ptr_eq(
        OwnedRwLockMappedWriteGuard::rwlock(&write),
        &lock
    ));
    *write = 8;
    assert!(lock.try_read().is_err());
    drop(write);
    let write = lock.clone().write_owned().await;
    let mut write = OwnedRwLockWriteGuard::try_map(write, |pairs| pairs.first_mut()).unwrap();
    write.0 = 9;
    drop(write);
    let mut write = OwnedRwLockWriteGuard::into_mapped(lock.clone().write_owned().await);
    write[0].1 = 10;
    drop(write);
    assert_eq!(*lock.read().await, [Pair(9, 10), Pair(7, 8)]);
    assert_eq!(Arc::strong_count(&lock), 1);
}

#[tokio::test]
async fn an_owned_writer_becomes_a_reader() {
    start();
    let lock = Arc::new(RwLock::new(Pair(1, 2)));
    let mut write = lock.clone().write_owned().await;
    let writer = tokio::spawn({
        let lock = lock.clone();
        async move { lock.write().await.0 = 3 }
    });
    tokio::task::yield_now().await;
    write.0 = 2;
    let read = write.downgrade();
    tokio::task::yield_now().await;
    assert_eq!(read.0, 2);
    drop(read);
    writer.await.unwrap();

    let write = lock.clone().write_owned().await;
    let read = OwnedRwLockWriteGuard::downgrade_map(write, |pair| &pair.0);
    let other = lock.try_read().unwrap();
    assert_eq!((*read, *other), (3, Pair(3, 2)));
    drop((read, other));

    let write = lock.clone().write_owned().await;
    let write = OwnedRwLockWriteGuard::try_downgrade_map(write, |_| None::<&u32>).unwrap_err();
    assert!(lock.try_read().is_err());
    let read = OwnedRwLockWriteGuard::try_downgrade_map(write, |pair| Some(&pair.1)).unwrap();
    assert_eq!((*read, lock.try_read().unwrap().1), (2, 2));
    drop(read);
    assert!(lock.try_write().is_ok());
    assert_eq!(Arc::strong_count(&lock), 1);
}

#[tokio::test]
async fn a_panic_gives_it_back() {
    start();
    let lock = Arc::new(RwLock::new(1));
    let panicking: [fn(Arc<RwLock<u8>>); 4] = [
        |lock| {
            let write = lock.try_write().unwrap();
            drop(RwLockWriteGuard::map(write, |_| -> &mut u8 {
                panic!("on purpose")
            }));
        },
        |lock| {
            let write = lock.try_write().unwrap();
            drop(RwLockWriteGuard::downgrade_map(write, |_| -> &u8 {
                panic!("on purpose")
            }));
        },
        |lock| {
            let write = lock.try_write_owned().unwrap();
            drop(OwnedRwLockWriteGuard::downgrade_map(write, |_| -> &u8 {
                panic!("on purpose")
            }));
        },
        |lock| {
            let read = lock.try_read_owned().unwrap();
            drop(OwnedRwLockReadGuard::map(read, |_| -> &u8 {
                panic!("on purpose")
            }));
        },
    ];
    for panicking in panicking {
        let lock = lock.clone();
        let task = tokio::spawn(async move { panicking(lock) });
        assert!(task.await.unwrap_err().is_panic());
    }
    assert_eq!(*lock.try_write().unwrap(), 1);
    assert_eq!(Arc::strong_count(&lock), 1);
}

#[tokio::test]
async fn a_wait_is_given_up() {
    start();
    let lock = Arc::new(RwLock::new(0));
    let read = lock.read().await;
    let writer = tokio::spawn({
        let lock = lock.clone();
        async move { *lock.write_owned().await += 1 }
    });
    let reader = tokio::spawn({
        let lock = lock.clone();
        async move { *lock.read().await }
    });
    tokio::task::yield_now().await;
    assert!(!reader.is_finished());
    writer.abort();
    assert!(writer.await.unwrap_err().is_cancelled());
    assert_eq!(reader.await.unwrap(), 0);
    drop(read);
    assert!(lock.try_write().is_ok());
}

#[tokio::test]
async fn it_is_shown() {
    start();
    let mut lock = RwLock::new(Pair(1, 2));
    assert_eq!(format!("{lock:?}"), "RwLock { data: Pair(1, 2) }");
    let read = lock.read().await;
    assert_eq!(
        format!("{lock:?} {read:?}"),
        "RwLock { data: Pair(1, 2) } Pair(1, 2)"
    );
    drop(read);
    let write = lock.write().await;
    assert_eq!(
        format!("{lock:?} {write:?}"),
        "RwLock { data: <locked> } Pair(1, 2)"
    );
    drop(write);
    lock.get_mut().0 = 5;
    assert_eq!(lock.into_inner(), Pair(5, 2));
    assert_eq!(RwLock::from(3).read().await.to_string(), "3");
    assert_eq!(RwLock::<u8>::default().into_inner(), 0);
}

/// A task that never has to wait still yields, so that others are polled.
#[tokio::test]
async fn others_are_let_in() {
    start();
    let lock = Arc::new(RwLock::new(0));
    let other = tokio::spawn(async {});
    let mut turns = 0;
    while !other.is_finished() {
        drop(lock.clone().write_owned().await);
        drop(lock.read().await);
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
    let lock = Arc::new(RwLock::with_max_readers(0_u32, 2));
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        let lock = lock.clone();
        tasks.spawn(async move {
            for round in n..n + 20 {
                match round % 4 {
                    0 => *lock.write().await += 1,
                    1 => {
                        let mut write = lock.clone().write_owned().await;
                        *write += 1;
                        let before = *write;
                        let read = write.downgrade();
                        tokio::task::yield_now().await;
                        assert_eq!(*read, before);
                    }
                    2 => {
                        let read = lock.clone().read_owned().await;
                        let before = *read;
                        tokio::task::yield_now().await;
                        assert_eq!(*read, before);
                    }
                    _ => {
                        let read = lock.read().await;
                        tokio::task::yield_now().await;
                        assert!(*read <= 80);
                    }
                }
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(*lock.try_write().expect("nobody has it"), 80);
}

/// Guards that keep their lock alive count once, and live as long as what is inside, whatever that
/// borrows.
#[tokio::test]
async fn owned_guards_count_once() {
    start();
    let text = String::from("borrowed");
    let lock = Arc::new(RwLock::new((text.as_str(), 1)));
    let count = || Arc::strong_count(&lock);
    let mut write = lock.clone().write_owned().await;
    write.0 = &text[..6];
    assert_eq!(count(), 2);
    let write = OwnedRwLockWriteGuard::try_map(write, |_| None::<&mut u8>).unwrap_err();
    let part = OwnedRwLockWriteGuard::map(write, |all| &mut all.0);
    let part = OwnedRwLockMappedWriteGuard::map(part, |text| text);
    assert_eq!((*part, count()), ("borrow", 2));
    drop(part);
    let write = lock.clone().try_write_owned().unwrap();
    let write = OwnedRwLockWriteGuard::try_downgrade_map(write, |_| None::<&u8>).unwrap_err();
    assert!(lock.try_read().is_err());
    let read = OwnedRwLockWriteGuard::downgrade_map(write, |all| &all.0);
    let other = lock.clone().read_owned().await;
    let read = OwnedRwLockReadGuard::map(read, |text| text);
    assert_eq!((*read, other.0, count()), ("borrow", "borrow", 3));
    assert!(lock.try_write().is_err());
    drop((read, other));
    assert!(lock.try_write().is_ok());
    assert_eq!(count(), 1);
}

/// A free lock is taken as part of the task's budget, and waited for like any other when that is
/// used up: others get to run.
#[tokio::test]
async fn who_takes_it_again_and_again_lets_others_run() {
    start();
    let lock = Arc::new(RwLock::new(0));
    let budget = at_once(consume_budget).await;
    assert_eq!(at_once(|| lock.read()).await, budget);
    assert_eq!(at_once(|| lock.write()).await, budget);
    assert_eq!(at_once(|| lock.clone().read_owned()).await, budget);
    assert_eq!(at_once(|| lock.clone().write_owned()).await, budget);
}
