//! Every public method of `sync::Mutex` and its guards, by its signature.
#![allow(dead_code, reason = "that it compiles is the test")]
#![allow(clippy::type_complexity, reason = "a signature is written out")]

use std::error::Error;
use std::fmt::{Debug, Display};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::sync::{
    MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError,
};

static STATIC: Mutex<u8> = Mutex::const_new(1);

fn sized<T>() {
    let _: fn(T) -> Mutex<T> = Mutex::new;
    let _: fn(T) -> Mutex<T> = Mutex::const_new;
    let _: fn(Mutex<T>) -> T = Mutex::into_inner;
    let _ = <Mutex<T> as From<T>>::from;
}

fn default<T: Default>() {
    let _ = <Mutex<T> as Default>::default;
}

fn mutex<T: ?Sized>() {
    let _: for<'a> fn(&'a Mutex<T>) -> MutexGuard<'a, T> = Mutex::blocking_lock;
    let _: for<'a> fn(&'a Mutex<T>) -> Result<MutexGuard<'a, T>, TryLockError> = Mutex::try_lock;
    let _: fn(&mut Mutex<T>) -> &mut T = Mutex::get_mut;
}

fn mutex_in_arc<T: ?Sized>() {
    let _: fn(Arc<Mutex<T>>) -> OwnedMutexGuard<T> = Mutex::blocking_lock_owned;
    let _: fn(Arc<Mutex<T>>) -> Result<OwnedMutexGuard<T>, TryLockError> = Mutex::try_lock_owned;
}

fn shown<T: ?Sized + Debug>() {
    let _ = <Mutex<T> as Debug>::fmt;
}

async fn waits<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    Mutex::lock(mutex).await
}

async fn waits_owned<T: ?Sized>(mutex: Arc<Mutex<T>>) -> OwnedMutexGuard<T> {
    Mutex::lock_owned(mutex).await
}

fn is_send<T: ?Sized + Send>(mutex: &Mutex<T>) -> impl Send + Sync {
    mutex.lock()
}

fn is_send_and_static<T: ?Sized + Send + 'static>(
    mutex: Arc<Mutex<T>>,
) -> impl Send + Sync + 'static {
    mutex.lock_owned()
}

type Map<T, U> = fn(&mut T) -> &mut U;
type TryMap<T, U> = fn(&mut T) -> Option<&mut U>;

fn guard<'a, T: ?Sized + 'a, U: ?Sized + 'a>() {
    let _: fn(MutexGuard<'a, T>, Map<T, U>) -> MappedMutexGuard<'a, U> = MutexGuard::map::<U, _>;
    let _: fn(
        MutexGuard<'a, T>,
        TryMap<T, U>,
    ) -> Result<MappedMutexGuard<'a, U>, MutexGuard<'a, T>> = MutexGuard::try_map::<U, _>;
    let _: fn(&MutexGuard<'a, T>) -> &'a Mutex<T> = MutexGuard::mutex;
    let _ = <MutexGuard<'a, T> as Deref>::deref;
    let _ = <MutexGuard<'a, T> as DerefMut>::deref_mut;
}

fn guard_shown<'a, T: ?Sized + Debug + Display + 'a>() {
    let _ = <MutexGuard<'a, T> as Debug>::fmt;
    let _ = <MutexGuard<'a, T> as Display>::fmt;
    let _ = <MappedMutexGuard<'a, T> as Debug>::fmt;
    let _ = <MappedMutexGuard<'a, T> as Display>::fmt;
}

fn mapped<'a, T: ?Sized + 'a, U: 'a>() {
    let _: fn(MappedMutexGuard<'a, T>, Map<T, U>) -> MappedMutexGuard<'a, U> =
        MappedMutexGuard::map::<U, _>;
    let _: fn(
        MappedMutexGuard<'a, T>,
        TryMap<T, U>,
    ) -> Result<MappedMutexGuard<'a, U>, MappedMutexGuard<'a, T>> =
        MappedMutexGuard::try_map::<U, _>;
    let _ = <MappedMutexGuard<'a, T> as Deref>::deref;
    let _ = <MappedMutexGuard<'a, T> as DerefMut>::deref_mut;
}

fn owned<T: ?Sized, U: ?Sized>() {
    let _: fn(OwnedMutexGuard<T>, Map<T, U>) -> OwnedMappedMutexGuard<T, U> =
        OwnedMutexGuard::map::<U, _>;
    let _: fn(
        OwnedMutexGuard<T>,
        TryMap<T, U>,
    ) -> Result<OwnedMappedMutexGuard<T, U>, OwnedMutexGuard<T>> = OwnedMutexGuard::try_map::<U, _>;
    let _: fn(&OwnedMutexGuard<T>) -> &Arc<Mutex<T>> = OwnedMutexGuard::mutex;
    let _ = <OwnedMutexGuard<T> as Deref>::deref;
    let _ = <OwnedMutexGuard<T> as DerefMut>::deref_mut;
}

fn owned_shown<T: ?Sized + Debug + Display, U: ?Sized + Debug + Display>() {
    let _ = <OwnedMutexGuard<T> as Debug>::fmt;
    let _ = <OwnedMutexGuard<T> as Display>::fmt;
    let _ = <OwnedMappedMutexGuard<T, U> as Debug>::fmt;
    let _ = <OwnedMappedMutexGuard<T, U> as Display>::fmt;
}

fn owned_mapped<T: ?Sized, U: ?Sized, S>() {
    let _: fn(OwnedMappedMutexGuard<T, U>, Map<U, S>) -> OwnedMappedMutexGuard<T, S> =
        OwnedMappedMutexGuard::map::<S, _>;
    let _: fn(
        OwnedMappedMutexGuard<T, U>,
        TryMap<U, S>,
    ) -> Result<OwnedMappedMutexGuard<T, S>, OwnedMappedMutexGuard<T, U>> =
        OwnedMappedMutexGuard::try_map::<S, _>;
    let _: fn(OwnedMappedMutexGuard<T>) -> OwnedMappedMutexGuard<T, T> = |guard| guard;
    let _ = <OwnedMappedMutexGuard<T, U> as Deref>::deref;
    let _ = <OwnedMappedMutexGuard<T, U> as DerefMut>::deref_mut;
}

fn error() {
    let _ = <TryLockError as Debug>::fmt;
    let _ = <TryLockError as Display>::fmt;
    let _ = <TryLockError as Error>::source;
}

/// A mutex becomes one of a slice or of a trait.
fn unsized_<T: Debug>(three: Arc<Mutex<[T; 3]>>, one: Box<Mutex<T>>) {
    let _: Arc<Mutex<[T]>> = three;
    let _: Box<Mutex<dyn Debug>> = one;
}

/// A guard may be held for less long than it could be.
fn shorter<'short, 'long: 'short, T>(guard: MutexGuard<'long, T>) -> MutexGuard<'short, T> {
    guard
}

macro_rules! table {
    ($name:literal, $P:ty) => {{
        let mutex = Arc::new(Mutex::new(<$P>::default()));
        answers!(
            $name;
            type Mutex<$P>,
            type MutexGuard<'static, $P>,
            type MappedMutexGuard<'static, $P>,
            type OwnedMutexGuard<$P>,
            type OwnedMappedMutexGuard<$P>,
            type OwnedMappedMutexGuard<$P, u8>,
            type OwnedMappedMutexGuard<u8, $P>,
            value lock = mutex.lock(),
            value lock_owned = mutex.clone().lock_owned(),
        )
    }};
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    for_payloads!(table)
}
