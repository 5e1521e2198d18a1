//! Plays a script with a channel for one value, one that all see all of, and one that keeps the
//! latest.

use std::future::poll_fn;
use std::sync::Arc;

use tokio::sync::Mutex;

use super::start;
use super::sync::{broadcast, oneshot, watch};
use crate::tasks::{Step, Tasks};

/// What comes of each step with many channels for one value each.
pub(crate) fn oneshot(steps: &[Step]) -> Vec<String> {
    start();
    let mut senders = Vec::new();
    let mut receivers = Vec::new();
    let mut tasks = Tasks::default();
    let mut play = |(at, &(what, which)): (usize, &Step)| {
        let (one, other) = (senders.len().max(1), receivers.len().max(1));
        let (one, other) = (usize::from(which) % one, usize::from(which) % other);
        let result = match what % 14 {
            0..=2 => {
                let (tx, rx) = oneshot::channel::<usize>();
                senders.push(tx);
                receivers.push(rx);
                "made".to_owned()
            }
            3 if one < senders.len() => format!("{:?}", senders.swap_remove(one).send(at)),
            4 if one < senders.len() => {
                senders.swap_remove(one);
                "dropped".to_owned()
            }
            5 if one < senders.len() => {
                let mut tx = senders.swap_remove(one);
                tasks.begin(async move {
                    tx.closed().await;
                    format!("{:?}", tx.send(at))
                })
            }
            6 if one < senders.len() => {
                let mut tx = senders.swap_remove(one);
                tasks.begin(async move {
                    poll_fn(|cx| tx.poll_closed(cx)).await;
                    format!("{}", tx.is_closed())
                })
            }
            7 if other < receivers.len() && !receivers[other].is_terminated() => {
                let rx = receivers.swap_remove(other);
                tasks.begin(async move { format!("{:?}", rx.await) })
            }
            8 if other < receivers.len() => {
                let rx = &mut receivers[other];
                let result = rx.try_recv();
                format!("{result:?} {} {}", rx.is_terminated(), rx.is_empty())
            }
            9 if other < receivers.len() => {
                receivers[other].close();
                "closed".to_owned()
            }
            10 if other < receivers.len() => {
                receivers.swap_remove(other);
                "gone".to_owned()
            }
            11 => tasks.drop_one(which),
            _ => tasks.poll_one(which),
        };
        let closed: Vec<bool> = senders.iter().map(oneshot::Sender::is_closed).collect();
        let empty: Vec<bool> = receivers.iter().map(oneshot::Receiver::is_empty).collect();
        format!("{result} {:?} {closed:?} {empty:?}", tasks.woken())
    };
    steps.iter().enumerate().map(&mut play).collect()
}

/// What comes of each step with a channel that all receivers see all of.
pub(crate) fn broadcast(capacity: usize, steps: &[Step]) -> Vec<String> {
    start();
    let (tx, rx) = broadcast::channel::<usize>(capacity);
    let (mut senders, mut receivers) = (vec![tx], vec![Arc::new(Mutex::new(rx))]);
    let mut tasks = Tasks::default();
    let mut play = |(at, &(what, which)): (usize, &Step)| {
        let tx = senders
            .get(usize::from(which) % senders.len().max(1))
            .cloned();
        let other = usize::from(which) % receivers.len().max(1);
        let rx = receivers.get(other).cloned();
        let rx = rx.and_then(|rx| rx.try_lock_owned().ok());
        let result = match (what % 14, tx, rx) {
            (0, Some(tx), _) => {
                senders.push(tx);
                "cloned".to_owned()
            }
            (1, Some(_), _) => {
                senders.pop();
                "dropped".to_owned()
            }
            (2..=4, Some(tx), _) => format!("{:?}", tx.send(at)),
            (5, Some(tx), _) => {
                receivers.push(Arc::new(Mutex::new(tx.subscribe())));
                "subscribed".to_owned()
            }
            (6, Some(tx), _) => tasks.begin(async move {
                tx.closed().await;
                "closed".to_owned()
            }),
            (7 | 8, _, Some(mut rx)) => {
                tasks.begin(async move { format!("{:?}", rx.recv().await) })
            }
            (9, _, Some(mut rx)) => format!("{:?} {}", rx.try_recv(), rx.len()),
            (10, _, Some(rx)) => {
                drop(rx);
                receivers.swap_remove(other);
                "gone".to_owned()
            }
            (11, ..) => tasks.drop_one(which),
            _ => tasks.poll_one(which),
        };
        let inside = senders
            .first()
            .map(|tx| (tx.len(), tx.receiver_count(), tx.strong_count()));
        format!("{result} {:?} {inside:?}", tasks.woken())
    };
    steps.iter().enumerate().map(&mut play).collect()
}

/// What comes of each step with a channel that keeps the latest value. Who is woken of those that
/// wait in there is up to chance in part; what they see is not.
pub(crate) fn watch(steps: &[Step]) -> Vec<String> {
    start();
    let (tx, rx) = watch::channel(0_usize);
    let (mut senders, mut receivers) = (vec![tx], vec![Arc::new(Mutex::new(rx))]);
    let mut tasks = Tasks::default();
    let mut play = |(at, &(what, which)): (usize, &Step)| {
        let tx = senders
            .get(usize::from(which) % senders.len().max(1))
            .cloned();
        let other = usize::from(which) % receivers.len().max(1);
        let rx = receivers.get(other).cloned();
        let rx = rx.and_then(|rx| rx.try_lock_owned().ok());
        let result = match (what % 16, tx, rx) {
            (0, Some(tx), _) => {
                senders.push(tx);
                "cloned".to_owned()
            }
            (1, Some(_), _) => {
                senders.pop();
                "dropped".to_owned()
            }
            (2, Some(tx), _) => format!("{:?}", tx.send(at).is_ok()),
            (3, Some(tx), _) => format!("{}", tx.send_replace(at)),
            (4, Some(tx), _) => format!("{}", tx.send_if_modified(|value| *value % 2 == 0)),
            (5, Some(tx), _) => {
                receivers.push(Arc::new(Mutex::new(tx.subscribe())));
                "subscribed".to_owned()
            }
            (6, Some(tx), _) => tasks.begin(async move {
                tx.closed().await;
                "closed".to_owned()
            }),
            (7 | 8, _, Some(mut rx)) => {
                tasks.begin(async move { format!("{:?}", rx.changed().await) })
            }
            (9, _, Some(mut rx)) => tasks.begin(async move {
                let found = rx
                    .wait_for(|value| *value % 3 == usize::from(which % 3))
                    .await;
                format!("{:?}", found.map(|value| *value))
            }),
            (10, _, Some(mut rx)) => format!("{}", *rx.borrow_and_update()),
            (11, _, Some(mut rx)) => {
                rx.mark_changed();
                format!("{:?}", rx.has_changed())
            }
            (12, _, Some(rx)) => {
                drop(rx);
                receivers.swap_remove(other);
                "gone".to_owned()
            }
            (13, ..) => tasks.drop_one(which),
            _ => tasks.poll_one(which),
        };
        let ends = senders
            .first()
            .map(|tx| (tx.sender_count(), tx.receiver_count()));
        format!("{result} {:?} {ends:?}", tasks.woken())
    };
    steps.iter().enumerate().map(&mut play).collect()
}
