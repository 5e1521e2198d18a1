//! What a channel with many senders is for, case by case.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::yield_now;

use super::start;
use super::sync::mpsc::{self, Receiver, UnboundedReceiver};
use mpsc::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};

#[test]
fn weak_senders_do_not_keep_it_open() {
    start();
    let (tx, rx) = mpsc::channel::<u8>(3);
    let weak = tx.downgrade();
    assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
    let twin = weak.upgrade().expect("a sender is there");
    assert_eq!((tx.strong_count(), tx.weak_count()), (2, 1));
    assert_eq!((rx.sender_strong_count(), rx.sender_weak_count()), (2, 1));
    drop(tx);
    assert!(weak.clone().upgrade().is_some());
    drop(twin);
    assert!(weak.clone().upgrade().is_none());
    assert!(rx.is_closed());

    let (tx, rx) = mpsc::unbounded_channel::<u8>();
    let weak = tx.downgrade();
    assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
    assert_eq!((tx.strong_count(), tx.weak_count()), (1, 1));
    assert_eq!((rx.sender_strong_count(), rx.sender_weak_count()), (1, 1));
    assert!(weak.upgrade().is_some());
    drop(tx);
    assert!(weak.clone().upgrade().is_none());
}

/// Through one with so many places, which fill up or not.
async fn all_come_through_in_order(places: usize) {
    start();
    let (tx, mut rx) = mpsc::channel(places);
    let sender = tokio::spawn(async move {
        for item in 0..500 {
            tx.send(item).await.expect("somebody receives");
        }
    });
    let mut expected = 0;
    while let Some(item) = rx.recv().await {
        assert_eq!(item, expected);
        expected += 1;
    }
    assert_eq!(expected, 500);
    sender.await.expect("no panic");
}

#[tokio::test]
async fn one_place() {
    all_come_through_in_order(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_places() {
    all_come_through_in_order(64).await;
}

#[tokio::test]
async fn the_end_comes_after_the_last_item() {
    start();
    let (tx, mut rx) = mpsc::channel(8);
    tokio::spawn(async move { tx.send("only").await });
    assert_eq!(rx.recv().await, Some("only"));
    assert_eq!(rx.recv().await, None);

    let (tx, mut rx) = mpsc::unbounded_channel();
    tx.send("first").expect("open");
    tokio::spawn(async move { tx.send("second") });
    assert_eq!(rx.recv().await, Some("first"));
    assert_eq!(rx.recv().await, Some("second"));
    assert_eq!(rx.recv().await, None);
}

#[tokio::test]
async fn many_at_once() {
    start();
    let (tx, mut rx) = mpsc::channel(8);
    let twin = tx.clone();
    for item in ["a", "b", "c"] {
        twin.send(item).await.expect("room");
    }
    let mut got = Vec::with_capacity(1);
    assert_eq!(rx.recv_many(&mut got, 0).await, 0);
    assert_eq!(rx.recv_many(&mut got, 2).await, 2);
    assert_eq!(got, ["a", "b"]);
    assert_eq!(rx.recv_many(&mut got, 2).await, 1);
    tokio::spawn(async move { tx.send("d").await });
    // Nothing is there, and somebody could still send: it waits, and does not say zero.
    assert_eq!(rx.recv_many(&mut got, 2).await, 1);
    assert_eq!(got, ["a", "b", "c", "d"]);
    drop(twin);
    assert_eq!(rx.recv_many(&mut got, 2).await, 0);
    assert_eq!(got.len(), 4);
}

#[tokio::test]
async fn many_at_once_without_bound() {
    start();
    let (tx, mut rx) = mpsc::unbounded_channel();
    for item in 0..300 {
        tx.send(item).expect("open");
    }
    let mut got = vec![-1];
    // More than a task's budget, and all of it at once.
    assert_eq!(rx.recv_many(&mut got, 299).await, 299);
    assert_eq!(rx.recv_many(&mut got, usize::MAX).await, 1);
    assert!(got.into_iter().eq(-1..300));
    drop(tx);
    assert_eq!(rx.recv_many(&mut Vec::new(), 1).await, 0);
}

#[tokio::test]
async fn a_batch_gives_all_its_places_back() {
    start();
    let (tx, mut rx) = mpsc::channel(4);
    for item in 0..4 {
        tx.try_send(item).expect("room");
    }
    let mut all = tx.reserve_many(4).boxed_local();
    assert!(all.as_mut().now_or_never().is_none());
    let mut got = Vec::new();
    assert_eq!(rx.recv_many(&mut got, 9).await, 4);
    assert_eq!(all.await.expect("open").len(), 4);
}

#[tokio::test]
async fn what_is_there_now() {
    start();
    let (tx, mut rx) = mpsc::channel(8);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    tx.send(1).await.expect("room");
    assert_eq!(rx.try_recv(), Ok(1));
    tx.send(2).await.expect("room");
    drop(tx);
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));

    let (tx, mut rx) = mpsc::unbounded_channel();
    tx.send(1).expect("open");
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    rx.close();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(tx.send(2), Err(SendError(2)));
}

#[tokio::test]
async fn threads_at_the_other_end() {
    start();
    let (tx, mut rx) = mpsc::channel(1);
    let receiver = thread::spawn(move || {
        let first = rx.blocking_recv();
        let mut rest = Vec::new();
        while rx.blocking_recv_many(&mut rest, 8) > 0 {}
        (first, rest)
    });
    for item in 0..4 {
        tx.send(item).await.expect("open");
    }
    drop(tx);
    let got = receiver.join().expect("no panic");
    assert_eq!(got, (Some(0), vec![1, 2, 3]));

    let (tx, mut rx) = mpsc::channel(1);
    let sender = thread::spawn(move || {
        for item in 0..4 {
            tx.blocking_send(item)?;
        }
        tx.blocking_send(4)
    });
    for item in 0..4 {
        assert_eq!(rx.recv().await, Some(item));
    }
    drop(rx);
    let end = sender.join().expect("no panic");
    assert!(end == Ok(()) || end == Err(SendError(4)));

    let (tx, mut rx) = mpsc::unbounded_channel();
    let receiver = thread::spawn(move || (rx.blocking_recv(), rx.blocking_recv()));
    tx.send(1).expect("open");
    drop(tx);
    assert_eq!(receiver.join().expect("no panic"), (Some(1), None));
}

/// What a panic says.
fn said(panic: Box<dyn std::any::Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast_ref::<&str>().expect("a text")).to_owned(),
    }
}

#[tokio::test]
async fn tasks_must_not_block() {
    start();
    let expected = tokio::spawn(async {
        drop(tokio::sync::Mutex::new(0).blocking_lock());
    });
    let expected = said(expected.await.expect_err("a panic").into_panic());
    let receives = tokio::spawn(async {
        let (tx, mut rx) = mpsc::channel(1);
        tx.try_send(1).expect("room");
        rx.blocking_recv()
    });
    let sends = tokio::spawn(async {
        let (tx, _rx) = mpsc::channel(1);
        tx.blocking_send(1).ok()
    });
    let panic = receives.await.expect_err("a panic");
    assert_eq!(said(panic.into_panic()), expected);
    let panic = sends.await.expect_err("a panic");
    assert_eq!(said(panic.into_panic()), expected);
}

#[tokio::test]
async fn no_item_is_lost_on_closing() {
    start();
    let (tx, mut rx) = mpsc::channel(4);
    let permit = tx.clone().reserve_owned().await.expect("open");
    tx.send(0).await.expect("open");
    assert!(!rx.is_closed());
    rx.close();
    assert!(rx.is_closed() && tx.is_closed());
    assert_eq!(tx.send(1).await, Err(SendError(1)));
    assert_eq!(tx.try_send(1), Err(TrySendError::Closed(1)));
    assert!(tx.reserve().await.is_err());
    assert_eq!(rx.recv().await, Some(0));
    // Somebody has a permit, and may use it.
    assert!(rx.recv().now_or_never().is_none());
    permit.send(2);
    assert_eq!(rx.recv().await, Some(2));
    assert_eq!(rx.recv().await, None);
    drop(tx);

    let (tx, mut rx) = mpsc::channel(4);
    let permit = tx.try_reserve().expect("room");
    rx.close();
    let mut end = rx.recv().boxed_local();
    assert!(end.as_mut().now_or_never().is_none());
    drop(permit);
    assert_eq!(end.await, None::<u8>);
}

#[tokio::test]
async fn senders_know_of_the_end() {
    start();
    let (tx, rx) = mpsc::channel::<u8>(1);
    let (twin, third) = (tx.clone(), tx.clone());
    assert!(!tx.is_closed());
    assert!(tx.closed().now_or_never().is_none());
    tokio::spawn(async { drop(rx) });
    futures::join!(tx.closed(), twin.closed(), third.closed());
    assert!(tx.is_closed() && twin.is_closed());

    let (tx, rx) = mpsc::unbounded_channel::<u8>();
    let twin = tx.clone();
    assert!(!twin.is_closed());
    tokio::spawn(async { drop(rx) });
    futures::join!(tx.closed(), twin.closed());
    assert!(tx.is_closed());
    assert_eq!(tx.send(1), Err(SendError(1)));
}

#[tokio::test]
async fn room_is_counted() {
    start();
    let (tx, mut rx) = mpsc::channel(5);
    let room = |rx: &Receiver<u8>| (rx.capacity(), rx.len(), rx.is_empty());
    assert_eq!(room(&rx), (5, 0, true));
    let permit = tx.reserve().await.expect("room");
    assert_eq!(room(&rx), (4, 0, true));
    permit.send(1);
    assert_eq!(room(&rx), (4, 1, false));
    tx.send(2).await.expect("room");
    assert_eq!(
        (tx.capacity(), tx.max_capacity(), rx.max_capacity()),
        (3, 5, 5)
    );
    assert_eq!(rx.recv().await, Some(1));
    assert_eq!(room(&rx), (4, 1, false));
    assert_eq!(rx.recv().await, Some(2));
    assert_eq!(room(&rx), (5, 0, true));

    let (tx, mut rx) = mpsc::unbounded_channel();
    assert_eq!((rx.len(), rx.is_empty(), rx.is_closed()), (0, true, false));
    tx.send(1).expect("open");
    assert_eq!((rx.len(), rx.is_empty()), (1, false));
    rx.close();
    assert!(rx.is_closed());
}

/// Polls a receiver that it owns.
struct Batch<'a, R> {
    receiver: R,
    got: &'a mut Vec<u8>,
}

impl Future for Batch<'_, Receiver<u8>> {
    type Output = usize;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        let Batch { receiver, got } = &mut *self;
        receiver.poll_recv_many(cx, got, 3)
    }
}

impl Future for Batch<'_, UnboundedReceiver<u8>> {
    type Output = usize;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        let Batch { receiver, got } = &mut *self;
        receiver.poll_recv_many(cx, got, 3)
    }
}

#[tokio::test]
async fn futures_of_ones_own() {
    start();
    let (tx, mut receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        for item in 0..10 {
            tx.send(item).await.expect("open");
        }
    });
    assert_eq!(poll_fn(|cx| receiver.poll_recv(cx)).await, Some(0));
    yield_now().await;
    let mut got = Vec::new();
    let batch = Batch {
        receiver,
        got: &mut got,
    };
    assert_eq!(batch.await, 3);
    assert_eq!(got, [1, 2, 3]);

    let (tx, mut receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for item in 0..10 {
            tx.send(item).expect("open");
        }
    });
    assert_eq!(poll_fn(|cx| receiver.poll_recv(cx)).await, Some(0));
    let mut got = Vec::new();
    let batch = Batch {
        receiver,
        got: &mut got,
    };
    assert_eq!(batch.await, 3);
    assert_eq!(got, [1, 2, 3]);
}

#[tokio::test]
async fn full_is_an_error_for_who_does_not_wait() {
    start();
    let (tx, mut rx) = mpsc::channel(1);
    let twin = tx.clone();
    tx.try_send(1).expect("room");
    assert_eq!(twin.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(rx.recv().await, Some(1));
    twin.try_send(2).expect("room");
    assert_eq!(rx.recv().await, Some(2));
    drop(rx);
    assert_eq!(twin.try_send(3), Err(TrySendError::Closed(3)));
}

#[tokio::test(start_paused = true)]
async fn patience_has_an_end() {
    start();
    let (tx, mut rx) = mpsc::channel(1);
    let second = Duration::from_secs(1);
    assert_eq!(tx.send_timeout(1, second).await, Ok(()));
    let late = tx.send_timeout(2, second).await;
    assert_eq!(late, Err(SendTimeoutError::Timeout(2)));
    let (sent, got) = tokio::join!(tx.send_timeout(3, second), async {
        tokio::time::sleep(second / 2).await;
        rx.recv().await
    });
    assert_eq!((sent, got), (Ok(()), Some(1)));
    rx.close();
    let closed = tx.send_timeout(4, second).await;
    assert_eq!(closed, Err(SendTimeoutError::Closed(4)));
}

#[tokio::test]
async fn reserved_room_is_not_for_others() {
    start();
    let (tx, mut rx) = mpsc::channel(1);
    let permit = tx.reserve().await.expect("room");
    assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
    assert!(matches!(tx.try_reserve(), Err(TrySendError::Full(()))));
    permit.send(2);
    assert_eq!(rx.recv().await, Some(2));
    drop(tx.try_reserve().expect("room"));
    let permit = tx.try_reserve().expect("room again");
    permit.send(3);
    assert_eq!(rx.recv().await, Some(3));
}

#[tokio::test]
async fn much_room_at_once() {
    start();
    let (tx, mut rx) = mpsc::channel(2);
    let mut permits = tx.reserve_many(2).await.expect("room");
    assert_eq!((permits.len(), permits.size_hint()), (2, (2, Some(2))));
    assert!(tx.try_send(0).is_err());
    permits.next().expect("a permit").send(1);
    permits.next().expect("a permit").send(2);
    assert!(permits.next().is_none());
    assert_eq!((rx.recv().await, rx.recv().await), (Some(1), Some(2)));

    let mut permits = tx.try_reserve_many(2).expect("room");
    assert!(tx.try_reserve().is_err());
    drop(permits.next());
    assert_eq!(tx.capacity(), 1);
    drop(permits);
    assert_eq!(tx.capacity(), 2);
    assert_eq!(
        tx.try_reserve_many(0).expect("nothing is needed").count(),
        0
    );
    assert!(tx.try_reserve_many(3).is_err());
    assert!(tx.reserve_many(3).await.is_err());
    rx.close();
    assert!(tx.try_reserve_many(1).is_err());
    assert!(tx.try_reserve_many(0).is_err());
}

#[tokio::test]
async fn permits_that_have_their_sender() {
    start();
    let (tx, mut rx) = mpsc::channel(1);
    let permit = tx.reserve_owned().await.expect("room");
    let tx = permit.send(1);
    assert_eq!(rx.recv().await, Some(1));
    let permit = tx.clone().reserve_owned().await.expect("room");
    assert!(tx.try_send(2).is_err());
    let Err(TrySendError::Full(twin)) = tx.clone().try_reserve_owned() else {
        panic!("it is full");
    };
    assert!(twin.same_channel(&tx));
    drop(permit.release());
    let permit = twin.try_reserve_owned().expect("room");
    assert!(permit.same_channel_as_sender(&tx));
    permit.send(3);
    assert_eq!(rx.recv().await, Some(3));

    let (other, _rx) = mpsc::channel(2);
    let one = other.clone().reserve_owned().await.expect("room");
    let two = other.clone().reserve_owned().await.expect("room");
    assert!(one.same_channel(&two));
    assert!(!one.same_channel_as_sender(&tx));
    assert!(!other.same_channel(&tx));
    // The last sender is inside.
    let permit = tx.reserve_owned().await.expect("room");
    let mut end = rx.recv().boxed_local();
    assert!(end.as_mut().now_or_never().is_none());
    drop(permit);
    assert_eq!(end.await, None);

    let (tx, _rx) = mpsc::unbounded_channel::<u8>();
    let (other, _other) = mpsc::unbounded_channel();
    assert!(tx.same_channel(&tx.clone()));
    assert!(!tx.same_channel(&other));
}

#[tokio::test]
async fn who_gives_up_leaves_the_line() {
    start();
    let (tx, mut rx) = mpsc::channel(1);
    tx.try_send(0).expect("room");
    let mut first = tx.send(1).boxed_local();
    let mut second = tx.send(2).boxed_local();
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    // The place is the first one's already, and goes on to the second.
    assert_eq!(rx.recv().await, Some(0));
    assert_eq!(tx.try_send(3), Err(TrySendError::Full(3)));
    drop(first);
    second.await.expect("open");
    assert_eq!(rx.recv().await, Some(2));
    // A receive that is dropped takes nothing.
    assert!(rx.recv().now_or_never().is_none());
    tx.send(4).await.expect("room");
    assert_eq!(rx.recv().await, Some(4));
}

#[test]
fn what_is_inside_goes_with_the_receiver() {
    start();
    let item = std::sync::Arc::new(());
    let (tx, rx) = mpsc::channel(4);
    let permit = tx.try_reserve().expect("room");
    tx.try_send(item.clone()).expect("room");
    tx.try_send(item.clone()).expect("room");
    drop(rx);
    assert_eq!(std::sync::Arc::strong_count(&item), 1);
    permit.send(item.clone());
    drop(tx);
    assert_eq!(std::sync::Arc::strong_count(&item), 1);
}

#[test]
#[should_panic = "buffer > 0"]
fn no_room_at_all() {
    start();
    drop(mpsc::channel::<u8>(0));
}

#[test]
fn what_debug_shows() {
    start();
    let (tx, rx) = mpsc::channel::<Unprintable>(1);
    let (unbounded, endless) = mpsc::unbounded_channel::<Unprintable>();
    let shown = format!("{tx:?} {rx:?} {unbounded:?} {endless:?}");
    for name in ["Sender", "Receiver", "UnboundedSender", "UnboundedReceiver"] {
        assert!(shown.contains(&format!("{name} {{ chan: ")), "{shown}");
    }
    assert_eq!(format!("{:?}", tx.downgrade()), "WeakSender");
    assert_eq!(
        format!("{:?}", unbounded.downgrade()),
        "WeakUnboundedSender"
    );
    let permit = tx.try_reserve().expect("room");
    assert!(format!("{permit:?}").starts_with("Permit { chan: "));
}

/// Without `Debug`.
struct Unprintable;
