//! What a channel that keeps the latest value is for, case by case.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures::FutureExt;

use super::start;
use super::sync::watch::{self, Sender};
use super::time;

#[tokio::test(start_paused = true)]
async fn each_value_that_stays_is_seen() {
    start();
    let (tx, mut rx) = watch::channel("first");
    let watcher = tokio::spawn(async move {
        let mut seen = Vec::new();
        loop {
            seen.push(*rx.borrow_and_update());
            if rx.changed().await.is_err() {
                return seen;
            }
        }
    });
    for value in ["second", "third"] {
        time::sleep(Duration::from_millis(100)).await;
        tx.send(value).expect("a receiver");
    }
    drop(tx);
    let seen = watcher.await.expect("no panic");
    assert_eq!(seen, ["first", "second", "third"]);
}

#[tokio::test]
async fn the_last_value_is_seen_after_the_end() {
    start();
    let (tx, mut rx) = watch::channel(1);
    tx.send(2).expect("a receiver");
    // A sender has always seen it.
    assert!(!tx.borrow().has_changed());
    drop(tx);
    assert!(rx.has_changed().is_err() && rx.is_closed());
    assert!(rx.borrow().has_changed());
    assert!(rx.changed().await.is_ok());
    assert!(rx.changed().await.is_err());
    assert_eq!(*rx.borrow(), 2);
    assert!(!rx.borrow().has_changed());
}

#[test]
fn looking_is_not_seeing() {
    start();
    let (tx, mut rx) = watch::channel(1);
    tx.send(2).expect("a receiver");
    assert_eq!(*rx.borrow(), 2);
    assert_eq!(rx.has_changed().ok(), Some(true));
    {
        let seen = rx.borrow_and_update();
        assert_eq!((*seen, seen.has_changed()), (2, true));
    }
    assert_eq!(rx.has_changed().ok(), Some(false));
    rx.mark_changed();
    assert_eq!(rx.has_changed().ok(), Some(true));
    rx.mark_unchanged();
    assert_eq!(rx.has_changed().ok(), Some(false));
}

#[tokio::test]
async fn somebody_sends_meanwhile() {
    start();
    let (tx, mut rx) = watch::channel(1);
    tokio::spawn(async move { tx.send(2) });
    assert!(rx.changed().await.is_ok());
    assert_eq!(*rx.borrow_and_update(), 2);
    assert!(rx.changed().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn waited_for_until_it_is_right() {
    start();
    let (tx, mut rx) = watch::channel(0);
    tokio::spawn(async move {
        for value in 1..5 {
            time::sleep(Duration::from_secs(1)).await;
            tx.send(value).expect("a receiver");
        }
    });
    let mut asked = Vec::new();
    let found = rx.wait_for(|value| {
        asked.push(*value);
        *value == 3
    });
    assert_eq!(found.await.ok().as_deref(), Some(&3));
    assert_eq!(asked, [0, 1, 2, 3]);
    // What is there already may be it.
    assert!(rx.wait_for(|value| *value == 3).await.is_ok());
    assert!(rx.wait_for(|value| *value == 9).await.is_err());
}

#[tokio::test]
async fn a_question_may_panic() {
    start();
    let (tx, mut rx) = watch::channel(0);
    let asked = rx.wait_for(|_| panic!("no answer"));
    assert!(AssertUnwindSafe(asked).catch_unwind().await.is_err());
    let changed = catch_unwind(AssertUnwindSafe(|| tx.send_modify(|_| panic!("no change"))));
    assert!(changed.is_err());
    tx.send(1).expect("a receiver");
    assert_eq!(*rx.borrow(), 1);
}

#[test]
fn ends_are_counted() {
    start();
    let (tx, rx) = watch::channel(true);
    let twin = rx.clone();
    assert!(rx.same_channel(&twin));
    assert_eq!((tx.receiver_count(), tx.sender_count()), (2, 1));
    let other = tx.clone();
    assert!(tx.same_channel(&other));
    assert_eq!((other.receiver_count(), other.sender_count()), (2, 2));
    let (stranger, strange) = watch::channel(true);
    assert!(!tx.same_channel(&stranger));
    assert!(!rx.same_channel(&strange));
    drop((tx, other));
    assert!(rx.is_closed());
}

#[test]
fn changed_in_place() {
    start();
    let (tx, mut rx) = watch::channel(vec![1]);
    tx.send_modify(|value| value.push(2));
    assert_eq!(*rx.borrow_and_update(), [1, 2]);
    let only_once = |value: &mut Vec<u8>| {
        let short = value.len() < 3;
        if short {
            value.push(3);
        }
        short
    };
    assert!(tx.send_if_modified(only_once));
    assert_eq!(rx.has_changed().ok(), Some(true));
    assert_eq!(*rx.borrow_and_update(), [1, 2, 3]);
    assert!(!tx.send_if_modified(only_once));
    assert_eq!(rx.has_changed().ok(), Some(false));
    assert_eq!(tx.send_replace(Vec::new()), [1, 2, 3]);
    assert!(rx.borrow().is_empty() && tx.borrow().is_empty());
}

#[tokio::test]
async fn without_receivers() {
    start();
    let tx = Sender::new(0);
    assert!(tx.is_closed());
    assert_eq!(tx.send(3).expect_err("no receiver").0, 3);
    let rx = tx.subscribe();
    assert!(!tx.is_closed());
    tx.send(4).expect("a receiver");
    assert_eq!(*rx.borrow(), 4);
    assert!(tx.closed().now_or_never().is_none());
    tokio::spawn(async { drop(rx) });
    tx.closed().await;
    assert_eq!(tx.send_replace(5), 4);
    assert_eq!(*Sender::<u8>::default().borrow(), 0);
}

#[tokio::test]
async fn receivers_come_later() {
    start();
    let (tx, _first) = watch::channel(0);
    tx.send(5).expect("a receiver");
    let mut rx = tx.subscribe();
    assert_eq!(*rx.borrow(), 5);
    assert!(rx.changed().now_or_never().is_none());
    tokio::spawn(async move { tx.send(100) });
    rx.changed().await.expect("a sender");
    assert_eq!(*rx.borrow(), 100);
}

#[test]
fn what_debug_shows() {
    start();
    let (tx, rx) = watch::channel(7);
    assert!(format!("{tx:?}").starts_with("Sender { shared: Shared { value: "));
    assert!(format!("{rx:?}").starts_with("Receiver { shared: Shared { value: "));
}
