//! Every public method of `sync::SetOnce`, by its signature.
#![allow(dead_code, reason = "that it compiles is the test")]

use std::error::Error;
use std::fmt::{Debug, Display};

use super::sync::{SetOnce, SetOnceError};

static EMPTY: SetOnce<u8> = SetOnce::const_new();
static FULL: SetOnce<u8> = SetOnce::const_new_with(1);

fn set_once<T>() {
    let _: fn() -> SetOnce<T> = SetOnce::new;
    let _: fn() -> SetOnce<T> = SetOnce::const_new;
    let _: fn(Option<T>) -> SetOnce<T> = SetOnce::new_with;
    let _: fn(T) -> SetOnce<T> = SetOnce::const_new_with;
    let _: fn(&SetOnce<T>) -> bool = SetOnce::initialized;
    let _: fn(&SetOnce<T>) -> Option<&T> = SetOnce::get;
    let _: fn(&SetOnce<T>, T) -> Result<(), SetOnceError<T>> = SetOnce::set;
    let _: fn(SetOnce<T>) -> Option<T> = SetOnce::into_inner;
    let _ = <SetOnce<T> as Default>::default;
    let _ = <SetOnce<T> as From<T>>::from;
}

fn of_some<T: Clone + PartialEq + Eq + Debug>() {
    fn eq<T: Eq>() {}
    let _ = <SetOnce<T> as Clone>::clone;
    let _ = <SetOnce<T> as PartialEq>::eq;
    let _ = eq::<SetOnce<T>>; // <SetOnce as Eq>
    let _ = <SetOnce<T> as Debug>::fmt;
}

async fn waits<T>(cell: &SetOnce<T>) -> &T {
    SetOnce::wait(cell).await
}

fn error<T: PartialEq + Eq + Debug>() {
    fn eq<T: Eq>() {}
    let _: fn(T) -> SetOnceError<T> = SetOnceError;
    let _ = <SetOnceError<T> as Error>::source;
    let _ = <SetOnceError<T> as Display>::fmt;
    let _ = <SetOnceError<T> as Debug>::fmt;
    let _ = <SetOnceError<T> as PartialEq>::eq;
    let _ = eq::<SetOnceError<T>>; // <SetOnceError as Eq>
}

macro_rules! table {
    ($name:literal, $P:ty) => {{
        let cell = SetOnce::<$P>::new();
        answers!(
            $name;
            type SetOnce<$P>,
            value wait = cell.wait(),
        )
    }};
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    for_payloads!(table)
}
