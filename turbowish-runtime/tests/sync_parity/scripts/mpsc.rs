//! Plays a script with a bounded and an unbounded channel.

use std::future::poll_fn;
use std::sync::Arc;

use tokio::sync::Mutex;

use super::start;
use super::sync::mpsc::{self, OwnedPermit, Receiver, Sender};
use super::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use crate::tasks::{Step, Tasks};

/// What there is of the bounded channel.
struct Bounded {
    senders: Vec<Sender<u32>>,
    permits: Vec<OwnedPermit<u32>>,
    granted: Arc<Mutex<Vec<OwnedPermit<u32>>>>,
    receiver: Option<Arc<Mutex<Receiver<u32>>>>,
    next: u32,
}

impl Bounded {
    fn item(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn sender(&self, which: u8) -> Option<Sender<u32>> {
        let count = self.senders.len().max(1);
        self.senders.get(usize::from(which) % count).cloned()
    }

    fn send(&mut self, (what, which): Step, tasks: &mut Tasks) -> Option<String> {
        let item = self.item();
        let tx = self.sender(which)?;
        let granted = self.granted.clone();
        Some(match what {
            0 => {
                self.senders.push(tx);
                "cloned".to_owned()
            }
            1 => {
                drop(tx);
                let at = usize::from(which) % self.senders.len();
                drop(self.senders.swap_remove(at));
                "dropped".to_owned()
            }
            2 | 3 => tasks.begin(async move { format!("{:?}", tx.send(item).await) }),
            4 => format!("{:?}", tx.try_send(item)),
            5 => tasks.begin(async move {
                match tx.reserve_owned().await {
                    Ok(permit) => granted.lock().await.push(permit),
                    Err(error) => return format!("{error:?}"),
                }
                "reserved".to_owned()
            }),
            6 => tasks.begin(async move {
                let permits = tx.reserve_many(usize::from(which % 4)).await;
                let permits = match permits {
                    Ok(permits) => permits,
                    Err(error) => return format!("{error:?}"),
                };
                let many = permits.len();
                // One is not used.
                permits.skip(1).for_each(|permit| permit.send(item));
                format!("{many} reserved")
            }),
            7 => match tx.try_reserve_many(usize::from(which % 4)) {
                Ok(permits) => format!("{} to be had", permits.len()),
                Err(error) => format!("{error:?}"),
            },
            8 => tasks.begin(async move {
                tx.closed().await;
                "closed".to_owned()
            }),
            _ => {
                let weak = tx.downgrade();
                drop(tx);
                let (strong, counted) = (weak.strong_count(), weak.weak_count());
                format!("{strong} {counted} {}", weak.upgrade().is_some())
            }
        })
    }

    fn permit(&mut self, (what, which): Step) -> Option<String> {
        let item = self.item();
        self.permits.extend(self.granted.try_lock().ok()?.drain(..));
        let at = usize::from(which) % self.permits.len().max(1);
        let permit = (at < self.permits.len()).then(|| self.permits.swap_remove(at))?;
        match what {
            0 => drop(permit),
            1 => self.senders.push(permit.release()),
            _ => self.senders.push(permit.send(item)),
        }
        Some("a permit less".to_owned())
    }

    fn receive(&mut self, (what, which): Step, tasks: &mut Tasks) -> Option<String> {
        let shared = self.receiver.clone()?;
        if what == 0 {
            // The receiver itself, if no task has it.
            self.receiver = Arc::into_inner(shared)
                .map(|_| None)
                .unwrap_or(self.receiver.take());
            return Some(format!("{} left", usize::from(self.receiver.is_some())));
        }
        let mut rx = shared.clone().try_lock_owned().ok()?;
        Some(match what {
            1..=3 => tasks.begin(async move { format!("{:?}", rx.recv().await) }),
            4 => tasks.begin(async move {
                let mut items = Vec::new();
                let many = rx.recv_many(&mut items, usize::from(which % 4)).await;
                format!("{many} {items:?}")
            }),
            5 => tasks.begin(async move { format!("{:?}", poll_fn(|cx| rx.poll_recv(cx)).await) }),
            6 => format!("{:?}", rx.try_recv()),
            _ => {
                if which % 8 == 0 {
                    rx.close();
                }
                "perhaps closed".to_owned()
            }
        })
    }

    fn shown(&self) -> String {
        let sender = self.senders.first().map(|tx| {
            let counts = (tx.strong_count(), tx.weak_count());
            (tx.capacity(), tx.is_closed(), counts)
        });
        let receiver = self.receiver.as_ref().and_then(|rx| rx.try_lock().ok());
        let receiver = receiver.map(|rx| {
            let counts = (rx.sender_strong_count(), rx.sender_weak_count());
            (
                rx.capacity(),
                rx.len(),
                rx.is_empty(),
                rx.is_closed(),
                counts,
            )
        });
        format!("{sender:?} {receiver:?}")
    }
}

/// What comes of each step with a channel for so many items.
pub(crate) fn bounded(places: usize, steps: &[Step]) -> Vec<String> {
    start();
    let (tx, rx) = mpsc::channel(places);
    let mut channel = Bounded {
        senders: vec![tx],
        permits: Vec::new(),
        granted: Arc::default(),
        receiver: Some(Arc::new(Mutex::new(rx))),
        next: 0,
    };
    let mut tasks = Tasks::default();
    let mut play = |&(what, which): &Step| {
        let what = what % 32;
        let result = match what {
            0..=9 => channel.send((what, which), &mut tasks),
            10..=12 => channel.permit((what - 10, which)),
            13..=20 => channel.receive((what - 13, which), &mut tasks),
            21 | 22 => Some(tasks.drop_one(which)),
            _ => Some(tasks.poll_one(which)),
        };
        format!("{what} {result:?} {:?} {}", tasks.woken(), channel.shown())
    };
    steps.iter().map(&mut play).collect()
}

/// What comes of each step with an unbounded channel.
pub(crate) fn unbounded(steps: &[Step]) -> Vec<String> {
    start();
    let (tx, rx) = mpsc::unbounded_channel();
    let mut senders: Vec<UnboundedSender<u32>> = vec![tx];
    let mut receiver: Option<Arc<Mutex<UnboundedReceiver<u32>>>> = Some(Arc::new(Mutex::new(rx)));
    let mut tasks = Tasks::default();
    let mut play = |(at, &(what, which)): (usize, &Step)| {
        let one = usize::from(which) % senders.len().max(1);
        let tx = senders.get(one).cloned();
        let rx = receiver.clone().and_then(|rx| rx.try_lock_owned().ok());
        let result = match (what % 12, tx, rx) {
            (0, Some(tx), _) => {
                senders.push(tx);
                "cloned".to_owned()
            }
            (1, Some(_), _) => {
                senders.swap_remove(one);
                "dropped".to_owned()
            }
            (2..=4, Some(tx), _) => format!("{:?}", tx.send(at as u32)),
            (5, Some(tx), _) => tasks.begin(async move {
                tx.closed().await;
                "closed".to_owned()
            }),
            (6, _, Some(mut rx)) => tasks.begin(async move { format!("{:?}", rx.recv().await) }),
            (7, _, Some(mut rx)) => tasks.begin(async move {
                let mut items = Vec::new();
                rx.recv_many(&mut items, usize::from(which % 4)).await;
                format!("{items:?}")
            }),
            (8, _, Some(mut rx)) => format!("{:?}", rx.try_recv()),
            (9, _, Some(mut rx)) if which % 4 == 0 => {
                rx.close();
                "closed".to_owned()
            }
            (9, _, Some(rx)) if which % 4 == 1 => {
                drop(rx);
                receiver = None;
                "gone".to_owned()
            }
            (10, ..) => tasks.drop_one(which),
            _ => tasks.poll_one(which),
        };
        let rx = receiver.as_ref().and_then(|rx| rx.try_lock().ok());
        let rx = rx.map(|rx| {
            (
                rx.len(),
                rx.is_empty(),
                rx.is_closed(),
                rx.sender_strong_count(),
            )
        });
        let closed = senders.first().map(UnboundedSender::is_closed);
        format!("{result} {:?} {rx:?} {closed:?}", tasks.woken())
    };
    steps.iter().enumerate().map(&mut play).collect()
}
