//! Every public method of `sync::oneshot`, by its signature.
#![allow(
    dead_code,
    clippy::type_complexity,
    reason = "that it compiles is the test"
)]

use std::fmt::Debug;
use std::task::{Context, Poll};

use super::sync::oneshot;
use oneshot::error::{RecvError, TryRecvError};
use oneshot::{Receiver, Sender};

fn functions<T>() {
    let _: fn() -> (Sender<T>, Receiver<T>) = oneshot::channel;
}

fn sender<T: Debug>() {
    let _: fn(Sender<T>, T) -> Result<(), T> = Sender::send;
    let _: fn(&Sender<T>) -> bool = Sender::is_closed;
    let _: fn(&mut Sender<T>, &mut Context<'_>) -> Poll<()> = Sender::poll_closed;
    let _ = <Sender<T> as Debug>::fmt;
}

async fn sender_waits<T>(tx: &mut Sender<T>) {
    let _: () = Sender::closed(tx).await;
}

fn receiver<T: Debug>() {
    let _: fn(&mut Receiver<T>) = Receiver::close;
    let _: fn(&Receiver<T>) -> bool = Receiver::is_terminated;
    let _: fn(&Receiver<T>) -> bool = Receiver::is_empty;
    let _: fn(&mut Receiver<T>) -> Result<T, TryRecvError> = Receiver::try_recv;
    let _: fn(Receiver<T>) -> Result<T, RecvError> = Receiver::blocking_recv;
    let _ = <Receiver<T> as Future>::poll;
    let _ = <Receiver<T> as Debug>::fmt;
}

async fn receiver_waits<T>(rx: Receiver<T>) -> Result<T, RecvError> {
    rx.await
}

macro_rules! table {
    ($name:literal, $P:ty) => {{
        let (mut tx, _rx) = oneshot::channel::<$P>();
        answers!(
            $name;
            type Sender<$P>,
            type Receiver<$P>,
            value closed = tx.closed(),
        )
    }};
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    for_payloads!(table)
}
