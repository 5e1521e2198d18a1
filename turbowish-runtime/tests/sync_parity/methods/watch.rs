//! Every public method of `sync::watch`, by its signature.
#![allow(
    dead_code,
    clippy::type_complexity,
    reason = "that it compiles is the test"
)]

use std::fmt::Debug;
use std::ops::Deref;

use super::sync::watch;
use watch::error::{RecvError, SendError};
use watch::{Receiver, Ref, Sender};

fn functions<T>() {
    let _: fn(T) -> (Sender<T>, Receiver<T>) = watch::channel;
}

fn sender<T: Debug + Default>() {
    let _: fn(T) -> Sender<T> = Sender::new;
    let _: fn(&Sender<T>, T) -> Result<(), SendError<T>> = Sender::send;
    let _: fn(&Sender<T>, fn(&mut T)) = Sender::send_modify::<fn(&mut T)>;
    let _: fn(&Sender<T>, fn(&mut T) -> bool) -> bool =
        Sender::send_if_modified::<fn(&mut T) -> bool>;
    let _: fn(&Sender<T>, T) -> T = Sender::send_replace;
    let _: fn(&Sender<T>) -> Ref<'_, T> = Sender::borrow;
    let _: fn(&Sender<T>) -> bool = Sender::is_closed;
    let _: fn(&Sender<T>) -> Receiver<T> = Sender::subscribe;
    let _: fn(&Sender<T>) -> usize = Sender::receiver_count;
    let _: fn(&Sender<T>) -> usize = Sender::sender_count;
    let _: fn(&Sender<T>, &Sender<T>) -> bool = Sender::same_channel;
    let _ = <Sender<T> as Clone>::clone;
    let _ = <Sender<T> as Default>::default;
    let _ = <Sender<T> as Debug>::fmt;
}

async fn sender_waits<T>(tx: &Sender<T>) {
    let _: () = Sender::closed(tx).await;
}

fn seen<'a, T: Debug + 'a>() {
    let _: fn(&Ref<'a, T>) -> bool = Ref::has_changed;
    let _: for<'s> fn(&'s Ref<'a, T>) -> &'s T = <Ref<'a, T> as Deref>::deref;
    let _ = <Ref<'a, T> as Debug>::fmt;
}

fn receiver<T: Debug>() {
    let _: fn(&Receiver<T>) -> Ref<'_, T> = Receiver::borrow;
    let _: fn(&mut Receiver<T>) -> Ref<'_, T> = Receiver::borrow_and_update;
    let _: fn(&Receiver<T>) -> Result<bool, RecvError> = Receiver::has_changed;
    let _: fn(&Receiver<T>) -> bool = Receiver::is_closed;
    let _: fn(&mut Receiver<T>) = Receiver::mark_changed;
    let _: fn(&mut Receiver<T>) = Receiver::mark_unchanged;
    let _: fn(&Receiver<T>, &Receiver<T>) -> bool = Receiver::same_channel;
    let _ = <Receiver<T> as Clone>::clone;
    let _ = <Receiver<T> as Debug>::fmt;
}

async fn receiver_waits<T>(rx: &mut Receiver<T>, f: impl FnMut(&T) -> bool) {
    let _: Result<(), RecvError> = Receiver::changed(rx).await;
    let _: Result<Ref<'_, T>, RecvError> = Receiver::wait_for(rx, f).await;
}

macro_rules! table {
    ($name:literal, $P:ty) => {{
        let (tx, mut rx) = watch::channel(<$P>::default());
        let mut kept = <$P>::default();
        answers!(
            $name;
            type Sender<$P>,
            type Receiver<$P>,
            type Ref<'static, $P>,
            value closed = tx.closed(),
            value changed = rx.changed(),
            value wait_for = rx.wait_for(|_| true),
            value wait_for_holding = rx.wait_for(|value| {
                kept = value.clone();
                true
            }),
        )
    }};
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    for_payloads!(table)
}
