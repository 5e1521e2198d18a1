//! What a channel that all receivers see all of is for, case by case.

use std::thread;

use futures::FutureExt;

use super::start;
use super::sync::broadcast::{self, Sender};
use broadcast::error::{RecvError, TryRecvError};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_see_all() {
    start();
    let (tx, first) = broadcast::channel(16);
    let receivers = [first, tx.subscribe(), tx.subscribe()].map(|mut rx| {
        tokio::spawn(async move {
            let mut seen = Vec::new();
            while let Ok(item) = rx.recv().await {
                seen.push(item);
            }
            seen
        })
    });
    for item in [10, 20, 30] {
        assert_eq!(tx.send(item).expect("receivers"), 3);
    }
    drop(tx);
    for receiver in receivers {
        assert_eq!(receiver.await.expect("no panic"), [10, 20, 30]);
    }
}

#[tokio::test]
async fn who_is_too_slow_is_told() {
    start();
    let (tx, mut rx) = broadcast::channel(2);
    for item in [10, 20, 30] {
        tx.send(item).expect("a receiver");
    }
    assert_eq!(rx.len(), 3);
    assert_eq!(rx.recv().await, Err(RecvError::Lagged(1)));
    assert_eq!(rx.recv().await, Ok(20));
    assert_eq!(rx.recv().await, Ok(30));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn weak_senders_do_not_keep_it_open() {
    start();
    let (tx, rx) = broadcast::channel::<u8>(15);
    let weak = tx.downgrade();
    assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
    let twin = weak.upgrade().expect("a sender is there");
    assert_eq!((tx.strong_count(), tx.weak_count()), (2, 1));
    assert_eq!((rx.sender_strong_count(), rx.sender_weak_count()), (2, 1));
    drop((tx, twin));
    assert!(weak.clone().upgrade().is_none());
    assert!(rx.is_closed());
}

#[tokio::test]
async fn receivers_come_later() {
    start();
    let (tx, _first) = broadcast::channel(16);
    tx.send(10).expect("a receiver");
    let mut late = tx.subscribe();
    tx.send(20).expect("receivers");
    assert_eq!(late.recv().await, Ok(20));

    let (tx, mut rx) = broadcast::channel(2);
    tx.send(1).expect("a receiver");
    let mut twin = rx.resubscribe();
    tx.send(2).expect("receivers");
    assert_eq!(twin.recv().await, Ok(2));
    assert_eq!(rx.recv().await, Ok(1));

    let tx = Sender::new(4);
    assert_eq!(tx.send(1).expect_err("no receiver").0, 1);
    let mut rx = tx.subscribe();
    tx.send(2).expect("a receiver");
    assert_eq!(rx.recv().await, Ok(2));
}

#[tokio::test]
async fn what_is_inside_is_what_somebody_has_not_seen() {
    start();
    let (tx, mut rx) = broadcast::channel(16);
    let mut other = tx.subscribe();
    assert!(tx.is_empty() && rx.is_empty());
    tx.send(10).expect("receivers");
    tx.send(20).expect("receivers");
    assert_eq!((tx.len(), rx.len(), other.len()), (2, 2, 2));
    assert_eq!(rx.recv().await, Ok(10));
    assert_eq!((tx.len(), rx.len(), other.len()), (2, 1, 2));
    assert_eq!(other.recv().await, Ok(10));
    assert_eq!(tx.len(), 1);
    assert_eq!(rx.recv().await, Ok(20));
    assert!(rx.is_empty() && !tx.is_empty());
    drop(other);
    assert!(tx.is_empty());
}

#[test]
fn ends_are_counted() {
    start();
    let (tx, rx) = broadcast::channel::<u8>(16);
    assert_eq!(tx.receiver_count(), 1);
    let other = tx.subscribe();
    assert_eq!(tx.receiver_count(), 2);
    assert!(rx.same_channel(&other));
    assert!(tx.same_channel(&tx.clone()));
    let (stranger, _rx) = broadcast::channel(16);
    assert!(!tx.same_channel(&stranger));
    assert!(!_rx.same_channel(&rx));
    assert!(!rx.is_closed());
    drop(tx);
    assert!(rx.is_closed());
}

#[tokio::test]
async fn the_sender_knows_of_the_end() {
    start();
    let (tx, mut rx) = broadcast::channel(16);
    let other = tx.subscribe();
    tx.send(10).expect("receivers");
    assert_eq!(rx.recv().await, Ok(10));
    drop(rx);
    assert!(tx.closed().now_or_never().is_none());
    tokio::spawn(async { drop(other) });
    tx.closed().await;
    let again = tx.subscribe();
    assert!(tx.closed().now_or_never().is_none());
    drop(again);
}

#[test]
fn what_is_there_now() {
    start();
    let (tx, mut rx) = broadcast::channel(16);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    tx.send(10).expect("a receiver");
    drop(tx);
    assert_eq!(rx.try_recv(), Ok(10));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

#[tokio::test]
async fn a_thread_receives() {
    start();
    let (tx, mut rx) = broadcast::channel(16);
    let receiver = thread::spawn(move || (rx.blocking_recv(), rx.blocking_recv()));
    tx.send(10).expect("a receiver");
    drop(tx);
    let got = receiver.join().expect("no panic");
    assert_eq!(got, (Ok(10), Err(RecvError::Closed)));
}

#[tokio::test]
async fn who_gives_up_misses_nothing() {
    start();
    let (tx, mut rx) = broadcast::channel(4);
    assert!(rx.recv().now_or_never().is_none());
    tx.send(1).expect("a receiver");
    assert_eq!(rx.recv().await, Ok(1));
}

#[test]
#[should_panic = "capacity cannot be zero"]
fn no_room_at_all() {
    start();
    drop(broadcast::channel::<u8>(0));
}

#[test]
fn what_debug_shows() {
    start();
    let (tx, rx) = broadcast::channel::<Unprintable>(4);
    assert_eq!(format!("{tx:?}"), "broadcast::Sender");
    assert_eq!(format!("{rx:?}"), "broadcast::Receiver");
    assert_eq!(format!("{:?}", tx.downgrade()), "broadcast::WeakSender");
}

/// Without `Debug`.
#[derive(Clone)]
struct Unprintable;
