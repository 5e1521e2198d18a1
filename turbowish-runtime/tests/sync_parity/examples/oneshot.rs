//! What a channel for one value is for, case by case.

use std::future::poll_fn;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use futures::FutureExt;

use super::start;
use super::sync::oneshot::{self, Sender};
use super::time;
use oneshot::error::TryRecvError;

#[tokio::test]
async fn a_value_or_none() {
    start();
    let (tx, rx) = oneshot::channel();
    tokio::spawn(async move { tx.send(3) });
    assert_eq!(rx.await, Ok(3));

    let (tx, rx) = oneshot::channel::<u8>();
    tokio::spawn(async move { drop(tx) });
    assert_eq!(rx.await.expect_err("none").to_string(), "channel closed");
}

#[tokio::test(start_paused = true)]
async fn waited_for_again_and_again() {
    start();
    let (tx, mut rx) = oneshot::channel();
    let mut ticks = time::interval(Duration::from_millis(100));
    let sender = tokio::spawn(async move {
        time::sleep(Duration::from_millis(950)).await;
        tx.send("enough").expect("somebody waits");
    });
    let mut seen = 0;
    let got = loop {
        tokio::select! {
            _ = ticks.tick() => seen += 1,
            got = &mut rx => break got,
        }
    };
    assert_eq!((got, seen), (Ok("enough"), 10));
    sender.await.expect("no panic");
}

/// Says so when it goes.
struct LastWord(Option<Sender<&'static str>>);

impl Drop for LastWord {
    fn drop(&mut self) {
        let _unheard = self.0.take().map(|tx| tx.send("gone"));
    }
}

#[tokio::test]
async fn sent_on_drop() {
    start();
    let (tx, rx) = oneshot::channel();
    drop(LastWord(Some(tx)));
    assert_eq!(rx.await, Ok("gone"));
}

#[tokio::test]
async fn the_sender_knows_of_the_end() {
    start();
    let (mut tx, rx) = oneshot::channel::<u8>();
    assert!(!tx.is_closed());
    assert!(tx.closed().now_or_never().is_none());
    tokio::spawn(async move { drop(rx) });
    tx.closed().await;
    assert!(tx.is_closed());
    assert_eq!(tx.send(1), Err(1));

    let (mut tx, mut rx) = oneshot::channel::<u8>();
    let (closed, ()) = futures::join!(poll_fn(|cx| tx.poll_closed(cx)).map(Some), async {
        rx.close();
    });
    assert_eq!(closed, Some(()));
    assert!(tx.is_closed());
}

#[tokio::test(start_paused = true)]
async fn work_that_nobody_wants_is_not_done() {
    start();
    let (mut tx, rx) = oneshot::channel();
    let worker = tokio::spawn(async move {
        tokio::select! {
            () = tx.closed() => false,
            () = time::sleep(Duration::from_secs(60)) => tx.send("done").is_ok(),
        }
    });
    assert!(time::timeout(Duration::from_secs(10), rx).await.is_err());
    assert!(!worker.await.expect("no panic"));
}

#[test]
fn closed_by_the_receiver() {
    start();
    let (tx, mut rx) = oneshot::channel();
    rx.close();
    assert!(tx.is_closed());
    assert_eq!(tx.send("late"), Err("late"));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));

    let (tx, mut rx) = oneshot::channel();
    tx.send("early").expect("open");
    rx.close();
    assert_eq!(rx.try_recv(), Ok("early"));
}

#[tokio::test]
async fn over_once_the_result_is_taken() {
    start();
    let (tx, mut rx) = oneshot::channel();
    assert!(!rx.is_terminated());
    assert_eq!(futures::poll!(&mut rx), Poll::Pending);
    assert!(!rx.is_terminated() && rx.is_empty());
    tx.send(0).expect("open");
    assert!(!rx.is_terminated() && !rx.is_empty());
    assert_eq!((&mut rx).await, Ok(0));
    assert!(rx.is_terminated() && rx.is_empty());

    let (tx, mut rx) = oneshot::channel::<u8>();
    drop(tx);
    assert!(!rx.is_terminated() && rx.is_empty());
    assert!((&mut rx).await.is_err());
    assert!(rx.is_terminated() && rx.is_empty());
}

#[tokio::test]
#[should_panic = "called after complete"]
async fn polled_once_too_often() {
    start();
    let (tx, mut rx) = oneshot::channel();
    tx.send(0).expect("open");
    let _first = (&mut rx).await;
    let _second = rx.await;
}

#[tokio::test]
async fn what_is_there_now() {
    start();
    let (tx, mut rx) = oneshot::channel();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(futures::poll!(&mut rx), Poll::Pending);
    tx.send(1).expect("open");
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));

    let (tx, mut rx) = oneshot::channel::<u8>();
    drop(tx);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

#[tokio::test]
async fn a_thread_receives() {
    start();
    let (tx, rx) = oneshot::channel();
    let receiver = thread::spawn(move || rx.blocking_recv());
    tx.send(10).expect("open");
    assert_eq!(receiver.join().expect("no panic"), Ok(10));

    let (tx, rx) = oneshot::channel::<u8>();
    drop(tx);
    let receiver = thread::spawn(move || rx.blocking_recv());
    assert!(receiver.join().expect("no panic").is_err());
}

#[test]
fn a_value_that_nobody_takes_is_dropped() {
    start();
    let item = std::sync::Arc::new(());
    let (tx, rx) = oneshot::channel();
    tx.send(item.clone()).expect("open");
    drop(rx);
    assert_eq!(std::sync::Arc::strong_count(&item), 1);
}

#[test]
fn what_debug_shows() {
    start();
    let (tx, rx) = oneshot::channel::<u8>();
    let state = "{ inner: Some(Inner { state: State { is_complete: false, is_closed: false, \
                 is_rx_task_set: false, is_tx_task_set: false } }) }";
    assert_eq!(format!("{tx:?}"), format!("Sender {state}"));
    assert_eq!(format!("{rx:?}"), format!("Receiver {state}"));
}
