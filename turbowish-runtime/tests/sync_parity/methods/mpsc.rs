//! Every public method of `sync::mpsc`, by its signature.
#![allow(
    dead_code,
    clippy::type_complexity,
    reason = "that it compiles is the test"
)]

use std::fmt::Debug;
use std::iter::FusedIterator;
use std::task::{Context, Poll};
use std::time::Duration;

use super::sync::mpsc;
use mpsc::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};
use mpsc::{OwnedPermit, Permit, PermitIterator, Receiver, Sender, WeakSender};
use mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender};

fn functions<T>() {
    let _: fn(usize) -> (Sender<T>, Receiver<T>) = mpsc::channel;
    let _: fn() -> (UnboundedSender<T>, UnboundedReceiver<T>) = mpsc::unbounded_channel;
}

fn sender<T>() {
    let _: fn(&Sender<T>, T) -> Result<(), TrySendError<T>> = Sender::try_send;
    let _: fn(&Sender<T>, T) -> Result<(), SendError<T>> = Sender::blocking_send;
    let _: fn(&Sender<T>) -> bool = Sender::is_closed;
    let _: fn(&Sender<T>) -> Result<Permit<'_, T>, TrySendError<()>> = Sender::try_reserve;
    let _: fn(&Sender<T>, usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> =
        Sender::try_reserve_many;
    let _: fn(Sender<T>) -> Result<OwnedPermit<T>, TrySendError<Sender<T>>> =
        Sender::try_reserve_owned;
    let _: fn(&Sender<T>, &Sender<T>) -> bool = Sender::same_channel;
    let _: fn(&Sender<T>) -> usize = Sender::capacity;
    let _: fn(&Sender<T>) -> usize = Sender::max_capacity;
    let _: fn(&Sender<T>) -> usize = Sender::strong_count;
    let _: fn(&Sender<T>) -> usize = Sender::weak_count;
    let _: fn(&Sender<T>) -> WeakSender<T> = Sender::downgrade;
    let _ = <Sender<T> as Clone>::clone;
    let _ = <Sender<T> as Debug>::fmt;
}

async fn sender_waits<T>(tx: &Sender<T>, value: T) -> Result<(), SendError<T>> {
    let _: () = Sender::closed(tx).await;
    let _: Result<Permit<'_, T>, SendError<()>> = Sender::reserve(tx).await;
    let _: Result<PermitIterator<'_, T>, SendError<()>> = Sender::reserve_many(tx, 1).await;
    let _: Result<OwnedPermit<T>, SendError<()>> = Sender::reserve_owned(tx.clone()).await;
    Sender::send(tx, value).await
}

async fn sender_gives_up<T>(tx: &Sender<T>, value: T) -> Result<(), SendTimeoutError<T>> {
    Sender::send_timeout(tx, value, Duration::ZERO).await
}

fn weak_sender<T>() {
    let _: fn(&WeakSender<T>) -> Option<Sender<T>> = WeakSender::upgrade;
    let _: fn(&WeakSender<T>) -> usize = WeakSender::strong_count;
    let _: fn(&WeakSender<T>) -> usize = WeakSender::weak_count;
    let _ = <WeakSender<T> as Clone>::clone;
    let _ = <WeakSender<T> as Debug>::fmt;
}

fn permits<'a, T: 'a>() {
    let _: fn(Permit<'a, T>, T) = Permit::send;
    let _ = <Permit<'a, T> as Debug>::fmt;

    let _: fn(&mut PermitIterator<'a, T>) -> Option<Permit<'a, T>> =
        <PermitIterator<'a, T> as Iterator>::next;
    let _: fn(&PermitIterator<'a, T>) -> (usize, Option<usize>) = Iterator::size_hint;
    let _ = <PermitIterator<'a, T> as ExactSizeIterator>::len;
    // PermitIterator as FusedIterator
    is_fused::<PermitIterator<'a, T>>();
    let _ = <PermitIterator<'a, T> as Debug>::fmt;

    let _: fn(OwnedPermit<T>, T) -> Sender<T> = OwnedPermit::send;
    let _: fn(OwnedPermit<T>) -> Sender<T> = OwnedPermit::release;
    let _: fn(&OwnedPermit<T>, &OwnedPermit<T>) -> bool = OwnedPermit::same_channel;
    let _: fn(&OwnedPermit<T>, &Sender<T>) -> bool = OwnedPermit::same_channel_as_sender;
    let _ = <OwnedPermit<T> as Debug>::fmt;
}

fn is_fused<I: FusedIterator>() {}

/// A permit for long is one for short.
fn permit_is_covariant<'a, T>(long: Permit<'static, T>) -> Permit<'a, T> {
    long
}

fn permits_are_covariant<'a, T>(long: PermitIterator<'static, T>) -> PermitIterator<'a, T> {
    long
}

fn receiver<T>() {
    let _: fn(&mut Receiver<T>) -> Result<T, TryRecvError> = Receiver::try_recv;
    let _: fn(&mut Receiver<T>) -> Option<T> = Receiver::blocking_recv;
    let _: fn(&mut Receiver<T>, &mut Vec<T>, usize) -> usize = Receiver::blocking_recv_many;
    let _: fn(&mut Receiver<T>) = Receiver::close;
    let _: fn(&Receiver<T>) -> bool = Receiver::is_closed;
    let _: fn(&Receiver<T>) -> bool = Receiver::is_empty;
    let _: fn(&Receiver<T>) -> usize = Receiver::len;
    let _: fn(&Receiver<T>) -> usize = Receiver::capacity;
    let _: fn(&Receiver<T>) -> usize = Receiver::max_capacity;
    let _: fn(&mut Receiver<T>, &mut Context<'_>) -> Poll<Option<T>> = Receiver::poll_recv;
    let _: fn(&mut Receiver<T>, &mut Context<'_>, &mut Vec<T>, usize) -> Poll<usize> =
        Receiver::poll_recv_many;
    let _: fn(&Receiver<T>) -> usize = Receiver::sender_strong_count;
    let _: fn(&Receiver<T>) -> usize = Receiver::sender_weak_count;
    let _ = <Receiver<T> as Debug>::fmt;
}

async fn receiver_waits<T>(rx: &mut Receiver<T>, buffer: &mut Vec<T>) -> (usize, Option<T>) {
    let many: usize = Receiver::recv_many(rx, buffer, 1).await;
    let one: Option<T> = Receiver::recv(rx).await;
    (many, one)
}

fn unbounded_sender<T>() {
    let _: fn(&UnboundedSender<T>, T) -> Result<(), SendError<T>> = UnboundedSender::send;
    let _: fn(&UnboundedSender<T>) -> bool = UnboundedSender::is_closed;
    let _: fn(&UnboundedSender<T>, &UnboundedSender<T>) -> bool = UnboundedSender::same_channel;
    let _: fn(&UnboundedSender<T>) -> WeakUnboundedSender<T> = UnboundedSender::downgrade;
    let _: fn(&UnboundedSender<T>) -> usize = UnboundedSender::strong_count;
    let _: fn(&UnboundedSender<T>) -> usize = UnboundedSender::weak_count;
    let _ = <UnboundedSender<T> as Clone>::clone;
    let _ = <UnboundedSender<T> as Debug>::fmt;
}

async fn unbounded_sender_waits<T>(tx: &UnboundedSender<T>) {
    let _: () = UnboundedSender::closed(tx).await;
}

fn weak_unbounded_sender<T>() {
    let _: fn(&WeakUnboundedSender<T>) -> Option<UnboundedSender<T>> = WeakUnboundedSender::upgrade;
    let _: fn(&WeakUnboundedSender<T>) -> usize = WeakUnboundedSender::strong_count;
    let _: fn(&WeakUnboundedSender<T>) -> usize = WeakUnboundedSender::weak_count;
    let _ = <WeakUnboundedSender<T> as Clone>::clone;
    let _ = <WeakUnboundedSender<T> as Debug>::fmt;
}

fn unbounded_receiver<T>() {
    let _: fn(&mut UnboundedReceiver<T>) -> Result<T, TryRecvError> = UnboundedReceiver::try_recv;
    let _: fn(&mut UnboundedReceiver<T>) -> Option<T> = UnboundedReceiver::blocking_recv;
    let _: fn(&mut UnboundedReceiver<T>, &mut Vec<T>, usize) -> usize =
        UnboundedReceiver::blocking_recv_many;
    let _: fn(&mut UnboundedReceiver<T>) = UnboundedReceiver::close;
    let _: fn(&UnboundedReceiver<T>) -> bool = UnboundedReceiver::is_closed;
    let _: fn(&UnboundedReceiver<T>) -> bool = UnboundedReceiver::is_empty;
    let _: fn(&UnboundedReceiver<T>) -> usize = UnboundedReceiver::len;
    let _: fn(&mut UnboundedReceiver<T>, &mut Context<'_>) -> Poll<Option<T>> =
        UnboundedReceiver::poll_recv;
    let _: fn(&mut UnboundedReceiver<T>, &mut Context<'_>, &mut Vec<T>, usize) -> Poll<usize> =
        UnboundedReceiver::poll_recv_many;
    let _: fn(&UnboundedReceiver<T>) -> usize = UnboundedReceiver::sender_strong_count;
    let _: fn(&UnboundedReceiver<T>) -> usize = UnboundedReceiver::sender_weak_count;
    let _ = <UnboundedReceiver<T> as Debug>::fmt;
}

async fn unbounded_receiver_waits<T>(
    rx: &mut UnboundedReceiver<T>,
    buffer: &mut Vec<T>,
) -> (usize, Option<T>) {
    let many: usize = UnboundedReceiver::recv_many(rx, buffer, 1).await;
    let one: Option<T> = UnboundedReceiver::recv(rx).await;
    (many, one)
}

macro_rules! table {
    ($name:literal, $P:ty) => {{
        let (tx, mut rx) = mpsc::channel::<$P>(4);
        let (unbounded, mut endless) = mpsc::unbounded_channel::<$P>();
        let mut buffer: Vec<$P> = Vec::new();
        answers!(
            $name;
            type Sender<$P>,
            type WeakSender<$P>,
            type Receiver<$P>,
            type Permit<'static, $P>,
            type PermitIterator<'static, $P>,
            type OwnedPermit<$P>,
            type UnboundedSender<$P>,
            type WeakUnboundedSender<$P>,
            type UnboundedReceiver<$P>,
            value send = tx.send(<$P>::default()),
            value send_timeout = tx.send_timeout(<$P>::default(), Duration::ZERO),
            value closed = tx.closed(),
            value reserve = tx.reserve(),
            value reserve_many = tx.reserve_many(1),
            value reserve_owned = tx.clone().reserve_owned(),
            value recv = rx.recv(),
            value recv_many = rx.recv_many(&mut buffer, 1),
            value unbounded_closed = unbounded.closed(),
            value unbounded_recv = endless.recv(),
            value unbounded_recv_many = endless.recv_many(&mut buffer, 1),
        )
    }};
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    for_payloads!(table)
}
