//! Every public method of `sync::broadcast`, by its signature.
#![allow(
    dead_code,
    clippy::type_complexity,
    reason = "that it compiles is the test"
)]

use std::fmt::Debug;

use super::sync::broadcast;
use broadcast::error::{RecvError, SendError, TryRecvError};
use broadcast::{Receiver, Sender, WeakSender};

fn functions<T: Clone>() {
    let _: fn(usize) -> (Sender<T>, Receiver<T>) = broadcast::channel;
}

fn sender<T>() {
    let _: fn(usize) -> Sender<T> = Sender::new;
    let _: fn(&Sender<T>, T) -> Result<usize, SendError<T>> = Sender::send;
    let _: fn(&Sender<T>) -> Receiver<T> = Sender::subscribe;
    let _: fn(&Sender<T>) -> WeakSender<T> = Sender::downgrade;
    let _: fn(&Sender<T>) -> usize = Sender::len;
    let _: fn(&Sender<T>) -> bool = Sender::is_empty;
    let _: fn(&Sender<T>) -> usize = Sender::receiver_count;
    let _: fn(&Sender<T>, &Sender<T>) -> bool = Sender::same_channel;
    let _: fn(&Sender<T>) -> usize = Sender::strong_count;
    let _: fn(&Sender<T>) -> usize = Sender::weak_count;
    let _ = <Sender<T> as Clone>::clone;
    let _ = <Sender<T> as Debug>::fmt;
}

async fn sender_waits<T>(tx: &Sender<T>) {
    let _: () = Sender::closed(tx).await;
}

fn weak_sender<T>() {
    let _: fn(&WeakSender<T>) -> Option<Sender<T>> = WeakSender::upgrade;
    let _: fn(&WeakSender<T>) -> usize = WeakSender::strong_count;
    let _: fn(&WeakSender<T>) -> usize = WeakSender::weak_count;
    let _ = <WeakSender<T> as Clone>::clone;
    let _ = <WeakSender<T> as Debug>::fmt;
}

fn receiver<T>() {
    let _: fn(&Receiver<T>) -> usize = Receiver::len;
    let _: fn(&Receiver<T>) -> bool = Receiver::is_empty;
    let _: fn(&Receiver<T>, &Receiver<T>) -> bool = Receiver::same_channel;
    let _: fn(&Receiver<T>) -> usize = Receiver::sender_strong_count;
    let _: fn(&Receiver<T>) -> usize = Receiver::sender_weak_count;
    let _: fn(&Receiver<T>) -> bool = Receiver::is_closed;
    let _ = <Receiver<T> as Debug>::fmt;
}

fn receiver_of_clones<T: Clone>() {
    let _: fn(&Receiver<T>) -> Receiver<T> = Receiver::resubscribe;
    let _: fn(&mut Receiver<T>) -> Result<T, TryRecvError> = Receiver::try_recv;
    let _: fn(&mut Receiver<T>) -> Result<T, RecvError> = Receiver::blocking_recv;
}

async fn receiver_waits<T: Clone>(rx: &mut Receiver<T>) -> Result<T, RecvError> {
    Receiver::recv(rx).await
}

macro_rules! table {
    ($name:literal, $P:ty) => {{
        let (tx, mut rx) = broadcast::channel::<$P>(4);
        answers!(
            $name;
            type Sender<$P>,
            type WeakSender<$P>,
            type Receiver<$P>,
            value closed = tx.closed(),
            value recv = rx.recv(),
        )
    }};
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    for_payloads!(table)
}
