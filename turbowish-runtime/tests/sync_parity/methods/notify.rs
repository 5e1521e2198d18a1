//! Every public method of `sync::Notify` and its waits, by its signature.
#![allow(dead_code, reason = "that it compiles is the test")]

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::sync::Notify;
use super::sync::futures::{Notified, OwnedNotified};

static STATIC: Notify = Notify::const_new();

fn notify() {
    let _: fn() -> Notify = Notify::new;
    let _: fn() -> Notify = Notify::const_new;
    let _: for<'a> fn(&'a Notify) -> Notified<'a> = Notify::notified;
    let _: fn(Arc<Notify>) -> OwnedNotified = Notify::notified_owned;
    let _: fn(&Notify) = Notify::notify_one;
    let _: fn(&Notify) = Notify::notify_last;
    let _: fn(&Notify) = Notify::notify_waiters;
    let _ = <Notify as Debug>::fmt;
    let _ = <Notify as Default>::default;
}

fn notified() {
    let _: fn(Pin<&mut Notified<'static>>) -> bool = Notified::enable;
    let _ = <Notified<'static> as Future>::poll;
    let _ = <Notified<'static> as Debug>::fmt;
}

fn owned_notified() {
    let _: fn(Pin<&mut OwnedNotified>) -> bool = OwnedNotified::enable;
    let _ = <OwnedNotified as Future>::poll;
    let _ = <OwnedNotified as Debug>::fmt;
}

/// A wait may be had for less long than it could be.
fn shorter<'short, 'long: 'short>(notified: Notified<'long>) -> Notified<'short> {
    notified
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    answers!(
        "all";
        type Notify,
        type Notified<'static>,
        type OwnedNotified,
    )
}
