//! Every public method of `sync::OnceCell`, by its signature.
#![allow(dead_code, reason = "that it compiles is the test")]

use std::error::Error;
use std::fmt::{Debug, Display};
use std::future::ready;

use super::sync::{OnceCell, SetError};

static EMPTY: OnceCell<u8> = OnceCell::const_new();
static FULL: OnceCell<u8> = OnceCell::const_new_with(1);

fn once_cell<T>() {
    let _: fn() -> OnceCell<T> = OnceCell::new;
    let _: fn() -> OnceCell<T> = OnceCell::const_new;
    let _: fn(Option<T>) -> OnceCell<T> = OnceCell::new_with;
    let _: fn(T) -> OnceCell<T> = OnceCell::const_new_with;
    let _: fn(&OnceCell<T>) -> bool = OnceCell::initialized;
    let _: fn(&OnceCell<T>) -> Option<&T> = OnceCell::get;
    let _: fn(&mut OnceCell<T>) -> Option<&mut T> = OnceCell::get_mut;
    let _: fn(&OnceCell<T>, T) -> Result<(), SetError<T>> = OnceCell::set;
    let _: fn(OnceCell<T>) -> Option<T> = OnceCell::into_inner;
    let _: fn(&mut OnceCell<T>) -> Option<T> = OnceCell::take;
    let _ = <OnceCell<T> as Default>::default;
    let _ = <OnceCell<T> as From<T>>::from;
}

fn of_some<T: Clone + PartialEq + Eq + Debug>() {
    fn eq<T: Eq>() {}
    let _ = <OnceCell<T> as Clone>::clone;
    let _ = <OnceCell<T> as PartialEq>::eq;
    let _ = eq::<OnceCell<T>>; // <OnceCell as Eq>
    let _ = <OnceCell<T> as Debug>::fmt;
}

async fn waits<T: Clone>(cell: &OnceCell<T>, value: T) -> Result<&T, u8> {
    let _: &T = OnceCell::get_or_init::<_, _>(cell, || ready(value.clone())).await;
    OnceCell::get_or_try_init::<u8, _, _>(cell, || ready(Err(3))).await
}

fn error<T: PartialEq + Eq + Debug>() {
    fn eq<T: Eq>() {}
    let _: fn(&SetError<T>) -> bool = SetError::is_already_init_err;
    let _: fn(&SetError<T>) -> bool = SetError::is_initializing_err;
    let _ = <SetError<T> as Error>::source;
    let _ = <SetError<T> as Display>::fmt;
    let _ = <SetError<T> as Debug>::fmt;
    let _ = <SetError<T> as PartialEq>::eq;
    let _ = eq::<SetError<T>>; // <SetError as Eq>
    let _: [fn(T) -> SetError<T>; 2] = [
        SetError::AlreadyInitializedError,
        SetError::InitializingError,
    ];
}

macro_rules! table {
    ($name:literal, $P:ty) => {{
        let cell = OnceCell::<$P>::new();
        answers!(
            $name;
            type OnceCell<$P>,
            value get_or_init = cell.get_or_init(|| ready(<$P>::default())),
            value get_or_try_init = cell.get_or_try_init(|| ready(Err::<$P, u8>(1))),
        )
    }};
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    for_payloads!(table)
}
