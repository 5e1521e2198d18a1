//! What a value that comes once is for, case by case.

use std::sync::Arc;

use futures::FutureExt;
use tokio::task::JoinSet;

use super::start;
use super::sync::{SetOnce, SetOnceError};

static EMPTY: SetOnce<u32> = SetOnce::const_new();
static FULL: SetOnce<u32> = SetOnce::const_new_with(1);

#[tokio::test]
async fn all_wait_for_it() {
    start();
    let cell = Arc::new(SetOnce::new());
    let mut tasks = JoinSet::new();
    for _ in 0..3 {
        let cell = cell.clone();
        tasks.spawn(async move { *cell.wait().await });
    }
    tokio::task::yield_now().await;
    cell.set(7).unwrap();
    assert_eq!(tasks.join_all().await, [7; 3]);
}

#[tokio::test]
async fn it_comes_once() {
    start();
    assert_eq!(EMPTY.get(), None);
    assert!(EMPTY.wait().now_or_never().is_none());
    assert_eq!(EMPTY.set(2), Ok(()));
    assert_eq!(EMPTY.set(3), Err(SetOnceError(3)));
    assert_eq!((EMPTY.get(), *EMPTY.wait().await), (Some(&2), 2));
    assert!(FULL.initialized());
    assert_eq!(*FULL.wait().await, 1);
}

#[tokio::test]
async fn it_is_a_value() {
    start();
    let cell = SetOnce::from(1);
    assert_eq!(cell.clone(), cell);
    assert_ne!(cell, SetOnce::default());
    assert_eq!(cell.into_inner(), Some(1));
    assert_eq!(SetOnce::<u8>::new_with(None).into_inner(), None);
    assert_eq!(SetOnce::new_with(Some(1)).into_inner(), Some(1));
    assert_eq!(
        format!("{:?}", SetOnce::from(1)),
        "SetOnce { value: Some(1) }"
    );
}
