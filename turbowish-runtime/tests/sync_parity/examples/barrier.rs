//! What a barrier is for, case by case.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;
use tokio::task::JoinSet;

use super::start;
use super::sync::Barrier;

/// All have done the first part before any begins the second; one of them leads. And again.
#[tokio::test]
async fn all_go_on_together() {
    start();
    let barrier = Arc::new(Barrier::new(5));
    for _ in 0..2 {
        let mut tasks = JoinSet::new();
        for _ in 0..5 {
            let barrier = barrier.clone();
            tasks.spawn(async move { barrier.wait().await });
        }
        let results = tasks.join_all().await;
        let leaders = results.iter().filter(|result| result.is_leader());
        assert_eq!(leaders.count(), 1);
    }
}

#[tokio::test]
async fn nobody_goes_on_alone() {
    start();
    let barrier = Barrier::new(3);
    let mut two = Box::pin(join_all([barrier.wait(), barrier.wait()]));
    assert!(two.as_mut().now_or_never().is_none());
    assert!(barrier.wait().await.is_leader());
    assert!(two.await.iter().all(|result| !result.is_leader()));
}

/// Who was there is counted, also if it does not wait any more.
#[tokio::test]
async fn a_wait_is_given_up() {
    start();
    let barrier = Barrier::new(2);
    let mut wait = Box::pin(barrier.wait());
    assert!(wait.as_mut().now_or_never().is_none());
    drop(wait);
    assert!(barrier.wait().await.clone().is_leader());
}

#[tokio::test]
async fn one_and_none_are_enough() {
    start();
    assert!(Barrier::new(1).wait().await.is_leader());
    assert!(Barrier::new(0).wait().await.is_leader());
}
