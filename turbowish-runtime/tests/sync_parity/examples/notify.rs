//! What a signal is for, case by case.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use tokio::task::yield_now;

use super::start;
use super::sync::Notify;
use super::sync::futures::{Notified, OwnedNotified};

static STATIC: Notify = Notify::const_new();

#[tokio::test]
async fn one_is_woken() {
    start();
    let notify = Arc::new(Notify::new());
    let other = notify.clone();
    let task = tokio::spawn(async move { other.notified().await });
    yield_now().await;
    assert!(!task.is_finished());
    notify.notify_one();
    task.await.unwrap();
}

/// Given before anybody waits, the signal is kept: once, however often it was given.
#[tokio::test]
async fn the_signal_is_kept() {
    start();
    STATIC.notify_one();
    STATIC.notify_one();
    STATIC.notified().await;
    assert!(STATIC.notified().now_or_never().is_none());
    STATIC.notify_waiters();
    assert!(STATIC.notified().now_or_never().is_none());
}

/// A channel without a limit, for one receiver.
#[tokio::test]
async fn a_queue_is_received_from() {
    start();
    #[derive(Default)]
    struct Channel {
        items: Mutex<VecDeque<u8>>,
        notify: Notify,
    }
    impl Channel {
        fn send(&self, item: u8) {
            self.items.lock().unwrap().push_back(item);
            self.notify.notify_one();
        }
        fn pop(&self) -> Option<u8> {
            self.items.lock().unwrap().pop_front()
        }
        async fn recv(&self) -> u8 {
            loop {
                if let Some(item) = self.pop() {
                    return item;
                }
                self.notify.notified().await;
            }
        }
    }
    let channel = Arc::new(Channel::default());
    let receiver = tokio::spawn({
        let channel = channel.clone();
        async move { [channel.recv().await, channel.recv().await] }
    });
    yield_now().await;
    channel.send(1);
    channel.send(2);
    assert_eq!(receiver.await.unwrap(), [1, 2]);
}

/// With several receivers, each takes its place in the line before it looks.
#[tokio::test]
async fn a_place_is_taken_before_a_look() {
    start();
    let notify = Arc::new(Notify::new());
    let mut first = pin!(notify.notified());
    assert!(!first.as_mut().enable());
    assert!(!first.as_mut().enable());
    let mut second = pin!(notify.clone().notified_owned());
    assert!(!second.as_mut().enable());
    notify.notify_one();
    assert!(second.as_mut().now_or_never().is_none());
    assert!(first.as_mut().enable());
    first.await;
    notify.notify_one();
    assert!(second.as_mut().enable());
    second.await;
    notify.notify_one();
    assert!(pin!(notify.notified()).enable());
    assert!(notify.notified().now_or_never().is_none());
}

/// All that were made before are woken, also those that were not polled; nothing is kept for later.
#[tokio::test]
async fn all_are_woken() {
    start();
    let notify = Arc::new(Notify::new());
    let mut polled = pin!(notify.notified());
    assert!(polled.as_mut().now_or_never().is_none());
    let unpolled: Notified<'_> = notify.notified();
    let owned: OwnedNotified = notify.clone().notified_owned();
    notify.notify_waiters();
    polled.await;
    unpolled.await;
    owned.await;
    assert!(notify.notified().now_or_never().is_none());
    assert_eq!(Arc::strong_count(&notify), 1);
}

#[tokio::test]
async fn the_first_or_the_last_is_woken() {
    start();
    let notify = Notify::default();
    let mut waits: Vec<_> = (0..4).map(|_| Box::pin(notify.notified())).collect();
    for wait in &mut waits {
        assert!(wait.as_mut().now_or_never().is_none());
    }
    notify.notify_last();
    notify.notify_one();
    let ready = |wait: &mut std::pin::Pin<Box<Notified<'_>>>| wait.now_or_never().is_some();
    let ready: Vec<bool> = waits.iter_mut().map(ready).collect();
    assert_eq!(ready, [true, false, false, true]);
}

/// Dropped before it is ready, it passes the signal on.
#[tokio::test]
async fn a_signal_is_passed_on() {
    start();
    let notify = Arc::new(Notify::new());
    let mut first = Box::pin(notify.clone().notified_owned());
    let mut second = Box::pin(notify.notified());
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    notify.notify_one();
    drop(first);
    second.await;
}

/// It is kept alive by an owned wait, whose time begins when it is made.
#[tokio::test]
async fn an_owned_wait_goes_elsewhere() {
    start();
    let notify = Arc::new(Notify::new());
    let task = tokio::spawn(notify.clone().notified_owned());
    yield_now().await;
    notify.notify_waiters();
    task.await.unwrap();
}

#[tokio::test]
async fn it_is_shown() {
    start();
    let notify = Arc::new(Notify::new());
    assert!(format!("{notify:?}").starts_with("Notify {"));
    assert!(format!("{:?}", notify.notified()).starts_with("Notified {"));
    assert!(format!("{:?}", notify.clone().notified_owned()).contains("Notified {"));
}
