//! What a value that is made once is for, case by case.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use tokio::task::{JoinSet, yield_now};

use super::start;
use super::sync::{OnceCell, SetError};

static EMPTY: OnceCell<u32> = OnceCell::const_new();
static FULL: OnceCell<u32> = OnceCell::const_new_with(1);

async fn one_and_one() -> u32 {
    yield_now().await;
    2
}

#[tokio::test]
async fn a_static_is_made_when_it_is_wanted() {
    start();
    assert_eq!(EMPTY.get(), None);
    assert_eq!(*EMPTY.get_or_init(one_and_one).await, 2);
    assert_eq!(EMPTY.get(), Some(&2));
    assert_eq!(*EMPTY.get_or_init(|| ready(3)).await, 2);
    assert_eq!(*FULL.get_or_init(|| ready(3)).await, 1);
}

#[tokio::test]
async fn only_one_makes_it() {
    start();
    let (cell, made) = (Arc::new(OnceCell::new()), Arc::new(AtomicUsize::new(0)));
    let mut tasks = JoinSet::new();
    for n in 0..5 {
        let (cell, made) = (cell.clone(), made.clone());
        tasks.spawn(async move {
            let make = || async {
                made.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
                n
            };
            *cell.get_or_init(make).await
        });
    }
    assert_eq!(tasks.join_all().await, [0; 5]);
    assert_eq!(made.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn it_may_fail() {
    start();
    let cell = OnceCell::new();
    let failed = cell.get_or_try_init(|| ready(Err::<u8, _>("no"))).await;
    assert_eq!(failed, Err("no"));
    assert!(!cell.initialized());
    let made = cell.get_or_try_init(|| ready(Ok::<_, &str>(1))).await;
    assert_eq!(made, Ok(&1));
    assert!(cell.initialized());
    let had = cell.get_or_try_init(|| ready(Err("not asked"))).await;
    assert_eq!(had, Ok(&1));
}

/// If the one who makes it is dropped, fails or panics, the next one does.
#[tokio::test]
async fn another_makes_it() {
    start();
    let cell = Arc::new(OnceCell::<u8>::new());
    let mut first = Box::pin(cell.get_or_init(pending));
    let mut second = Box::pin(cell.get_or_try_init(|| ready(Err("no"))));
    let mut third = Box::pin(cell.get_or_init(|| ready(3)));
    let mut fourth = Box::pin(cell.get_or_init(|| ready(4)));
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    assert!(third.as_mut().now_or_never().is_none());
    assert!(fourth.as_mut().now_or_never().is_none());
    drop(first);
    assert_eq!(second.await, Err("no"));
    assert_eq!(*third.await, 3);
    assert_eq!(*fourth.await, 3);

    let cell = Arc::new(OnceCell::<u8>::new());
    let other = cell.clone();
    let task = tokio::spawn(async move {
        let make = || async { panic!("on purpose") };
        *other.get_or_init(make).await
    });
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(*cell.get_or_init(|| ready(5)).await, 5);
}

#[tokio::test]
async fn it_is_given() {
    start();
    let cell = OnceCell::new();
    assert_eq!(cell.set(1), Ok(()));
    let again = cell.set(2).unwrap_err();
    assert_eq!(again, SetError::AlreadyInitializedError(2));
    assert!(again.is_already_init_err() && !again.is_initializing_err());
    assert_eq!(*cell.get_or_init(|| ready(3)).await, 1);

    let cell = OnceCell::new();
    let mut making = Box::pin(cell.get_or_init(pending));
    assert!(making.as_mut().now_or_never().is_none());
    let making_it = cell.set(2).unwrap_err();
    assert_eq!(making_it, SetError::InitializingError(2));
    assert!(making_it.is_initializing_err());
    drop(making);
    assert_eq!(cell.set(2), Ok(()));

    let cell = OnceCell::new_with(Some(1));
    assert_eq!(cell.set(2), Err(SetError::AlreadyInitializedError(2)));
}

#[tokio::test]
async fn it_is_taken_and_changed() {
    start();
    let mut cell = OnceCell::from(String::from("one"));
    cell.get_mut().unwrap().push('!');
    assert_eq!(cell.clone(), cell);
    assert_eq!(cell.take().as_deref(), Some("one!"));
    assert_eq!((cell.take(), cell.get_mut()), (None, None));
    cell.set("two".to_owned()).unwrap();
    assert_eq!(cell.take().as_deref(), Some("two"));
    let make = || ready("three".to_owned());
    assert_eq!(cell.get_or_init(make).await, "three");
    assert_ne!(cell, OnceCell::default());
    assert_eq!(cell.into_inner().as_deref(), Some("three"));
    assert_eq!(OnceCell::<u8>::new_with(None).into_inner(), None);
}

#[tokio::test]
async fn it_is_shown() {
    start();
    assert_eq!(
        format!("{:?}", OnceCell::from(1)),
        "OnceCell { value: Some(1) }"
    );
    assert_eq!(
        format!("{:?}", OnceCell::<u8>::new()),
        "OnceCell { value: None }"
    );
}
