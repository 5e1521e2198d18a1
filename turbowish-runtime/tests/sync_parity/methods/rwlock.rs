//! Every public method of `sync::RwLock` and its guards, by its signature.
#![allow(dead_code, reason = "that it compiles is the test")]
#![allow(clippy::type_complexity, reason = "a signature is written out")]

use std::fmt::{Debug, Display};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::sync::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

static STATIC: RwLock<u8> = RwLock::const_new(1);
static NARROW: RwLock<u8> = RwLock::const_with_max_readers(1, 3);

fn sized<T>() {
    let _: fn(T) -> RwLock<T> = RwLock::new;
    let _: fn(T) -> RwLock<T> = RwLock::const_new;
    let _: fn(T, u32) -> RwLock<T> = RwLock::with_max_readers;
    let _: fn(T, u32) -> RwLock<T> = RwLock::const_with_max_readers;
    let _: fn(RwLock<T>) -> T = RwLock::into_inner;
    let _ = <RwLock<T> as From<T>>::from;
}

fn default<T: Default>() {
    let _ = <RwLock<T> as Default>::default;
}

fn rwlock<T: ?Sized>() {
    let _: for<'a> fn(&'a RwLock<T>) -> RwLockReadGuard<'a, T> = RwLock::blocking_read;
    let _: for<'a> fn(&'a RwLock<T>) -> RwLockWriteGuard<'a, T> = RwLock::blocking_write;
    let _: for<'a> fn(&'a RwLock<T>) -> Result<RwLockReadGuard<'a, T>, TryLockError> =
        RwLock::try_read;
    let _: for<'a> fn(&'a RwLock<T>) -> Result<RwLockWriteGuard<'a, T>, TryLockError> =
        RwLock::try_write;
    let _: fn(&mut RwLock<T>) -> &mut T = RwLock::get_mut;
}

fn rwlock_in_arc<T: ?Sized>() {
    let _: fn(Arc<RwLock<T>>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> =
        RwLock::try_read_owned;
    let _: fn(Arc<RwLock<T>>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> =
        RwLock::try_write_owned;
}

fn shown<T: ?Sized + Debug>() {
    let _ = <RwLock<T> as Debug>::fmt;
}

async fn waits<'a, T: ?Sized>(
    lock: &'a RwLock<T>,
    other: &'a RwLock<T>,
) -> (RwLockReadGuard<'a, T>, RwLockWriteGuard<'a, T>) {
    (RwLock::read(lock).await, RwLock::write(other).await)
}

async fn waits_owned<T: ?Sized>(lock: Arc<RwLock<T>>, other: Arc<RwLock<T>>) {
    let _: OwnedRwLockReadGuard<T> = RwLock::read_owned(lock).await;
    let _: OwnedRwLockWriteGuard<T> = RwLock::write_owned(other).await;
}

fn is_send<T: ?Sized + Send + Sync>(lock: &RwLock<T>) -> [Box<dyn Pending + '_>; 2] {
    [Box::new(lock.read()), Box::new(lock.write())]
}

fn is_send_and_static<T: ?Sized + Send + Sync + 'static>(
    lock: &Arc<RwLock<T>>,
) -> [Box<dyn Pending>; 2] {
    [
        Box::new(lock.clone().read_owned()),
        Box::new(lock.clone().write_owned()),
    ]
}

/// What every wait can be.
trait Pending: Send + Sync {}
impl<T: Send + Sync> Pending for T {}

type See<T, U> = fn(&T) -> &U;
type TrySee<T, U> = fn(&T) -> Option<&U>;
type Map<T, U> = fn(&mut T) -> &mut U;
type TryMap<T, U> = fn(&mut T) -> Option<&mut U>;

fn read<'a, T: ?Sized + 'a, U: ?Sized + 'a>() {
    type Guard<'a, T> = RwLockReadGuard<'a, T>;
    let _: fn(Guard<'a, T>, See<T, U>) -> Guard<'a, U> = RwLockReadGuard::map::<_, U>;
    let _: fn(Guard<'a, T>, TrySee<T, U>) -> Result<Guard<'a, U>, Guard<'a, T>> =
        RwLockReadGuard::try_map::<_, U>;
    let _ = <RwLockReadGuard<'a, T> as Deref>::deref;
}

fn write<'a, T: ?Sized + 'a, U: ?Sized + 'a>() {
    type Guard<'a, T> = RwLockWriteGuard<'a, T>;
    type Read<'a, T> = RwLockReadGuard<'a, T>;
    type Mapped<'a, T> = RwLockMappedWriteGuard<'a, T>;
    let _: fn(Guard<'a, T>, Map<T, U>) -> Mapped<'a, U> = RwLockWriteGuard::map::<_, U>;
    let _: fn(Guard<'a, T>, See<T, U>) -> Read<'a, U> = RwLockWriteGuard::downgrade_map::<_, U>;
    let _: fn(Guard<'a, T>, TryMap<T, U>) -> Result<Mapped<'a, U>, Guard<'a, T>> =
        RwLockWriteGuard::try_map::<_, U>;
    let _: fn(Guard<'a, T>, TrySee<T, U>) -> Result<Read<'a, U>, Guard<'a, T>> =
        RwLockWriteGuard::try_downgrade_map::<_, U>;
    let _: fn(Guard<'a, T>) -> Mapped<'a, T> = RwLockWriteGuard::into_mapped;
    let _: fn(Guard<'a, T>) -> Read<'a, T> = RwLockWriteGuard::downgrade;
    let _ = <RwLockWriteGuard<'a, T> as Deref>::deref;
    let _ = <RwLockWriteGuard<'a, T> as DerefMut>::deref_mut;
}

fn mapped<'a, T: ?Sized + 'a, U: ?Sized + 'a>() {
    type Mapped<'a, T> = RwLockMappedWriteGuard<'a, T>;
    let _: fn(Mapped<'a, T>, Map<T, U>) -> Mapped<'a, U> = RwLockMappedWriteGuard::map::<_, U>;
    let _: fn(Mapped<'a, T>, TryMap<T, U>) -> Result<Mapped<'a, U>, Mapped<'a, T>> =
        RwLockMappedWriteGuard::try_map::<_, U>;
    let _ = <RwLockMappedWriteGuard<'a, T> as Deref>::deref;
    let _ = <RwLockMappedWriteGuard<'a, T> as DerefMut>::deref_mut;
}

fn guards_shown<'a, T: ?Sized + Debug + Display + 'a>() {
    let _ = <RwLockReadGuard<'a, T> as Debug>::fmt;
    let _ = <RwLockReadGuard<'a, T> as Display>::fmt;
    let _ = <RwLockWriteGuard<'a, T> as Debug>::fmt;
    let _ = <RwLockWriteGuard<'a, T> as Display>::fmt;
    let _ = <RwLockMappedWriteGuard<'a, T> as Debug>::fmt;
    let _ = <RwLockMappedWriteGuard<'a, T> as Display>::fmt;
}

fn owned_read<T: ?Sized, U: ?Sized, V: ?Sized>() {
    type Guard<T, U> = OwnedRwLockReadGuard<T, U>;
    let _: fn(Guard<T, U>, See<U, V>) -> Guard<T, V> = OwnedRwLockReadGuard::map::<_, V>;
    let _: fn(Guard<T, U>, TrySee<U, V>) -> Result<Guard<T, V>, Guard<T, U>> =
        OwnedRwLockReadGuard::try_map::<_, V>;
    let _: fn(&Guard<T, U>) -> &Arc<RwLock<T>> = OwnedRwLockReadGuard::rwlock;
    let _: fn(OwnedRwLockReadGuard<T>) -> Guard<T, T> = |guard| guard;
    let _ = <OwnedRwLockReadGuard<T, U> as Deref>::deref;
}

fn owned_write<T: ?Sized, U: ?Sized>() {
    type Guard<T> = OwnedRwLockWriteGuard<T>;
    type Read<T, U> = OwnedRwLockReadGuard<T, U>;
    type Mapped<T, U> = OwnedRwLockMappedWriteGuard<T, U>;
    let _: fn(Guard<T>, Map<T, U>) -> Mapped<T, U> = OwnedRwLockWriteGuard::map::<_, U>;
    let _: fn(Guard<T>, See<T, U>) -> Read<T, U> = OwnedRwLockWriteGuard::downgrade_map::<_, U>;
    let _: fn(Guard<T>, TryMap<T, U>) -> Result<Mapped<T, U>, Guard<T>> =
        OwnedRwLockWriteGuard::try_map::<_, U>;
    let _: fn(Guard<T>, TrySee<T, U>) -> Result<Read<T, U>, Guard<T>> =
        OwnedRwLockWriteGuard::try_downgrade_map::<_, U>;
    let _: fn(Guard<T>) -> OwnedRwLockMappedWriteGuard<T> = OwnedRwLockWriteGuard::into_mapped;
    let _: fn(Guard<T>) -> OwnedRwLockReadGuard<T> = OwnedRwLockWriteGuard::downgrade;
    let _: fn(&Guard<T>) -> &Arc<RwLock<T>> = OwnedRwLockWriteGuard::rwlock;
    let _ = <OwnedRwLockWriteGuard<T> as Deref>::deref;
    let _ = <OwnedRwLockWriteGuard<T> as DerefMut>::deref_mut;
}

fn owned_mapped<T: ?Sized, U: ?Sized, V: ?Sized>() {
    type Mapped<T, U> = OwnedRwLockMappedWriteGuard<T, U>;
    let _: fn(Mapped<T, U>, Map<U, V>) -> Mapped<T, V> = OwnedRwLockMappedWriteGuard::map::<_, V>;
    let _: fn(Mapped<T, U>, TryMap<U, V>) -> Result<Mapped<T, V>, Mapped<T, U>> =
        OwnedRwLockMappedWriteGuard::try_map::<_, V>;
    let _: fn(&Mapped<T, U>) -> &Arc<RwLock<T>> = OwnedRwLockMappedWriteGuard::rwlock;
    let _ = <OwnedRwLockMappedWriteGuard<T, U> as Deref>::deref;
    let _ = <OwnedRwLockMappedWriteGuard<T, U> as DerefMut>::deref_mut;
}

fn owned_shown<T: ?Sized + Debug + Display, U: ?Sized + Debug + Display>() {
    let _ = <OwnedRwLockReadGuard<T, U> as Debug>::fmt;
    let _ = <OwnedRwLockReadGuard<T, U> as Display>::fmt;
    let _ = <OwnedRwLockWriteGuard<T> as Debug>::fmt;
    let _ = <OwnedRwLockWriteGuard<T> as Display>::fmt;
    let _ = <OwnedRwLockMappedWriteGuard<T, U> as Debug>::fmt;
    let _ = <OwnedRwLockMappedWriteGuard<T, U> as Display>::fmt;
}

/// A lock becomes one of a slice or of a trait.
fn unsized_<T: Debug>(three: Arc<RwLock<[T; 3]>>, one: Box<RwLock<T>>) {
    let _: Arc<RwLock<[T]>> = three;
    let _: Box<RwLock<dyn Debug>> = one;
}

/// A guard may be held for less long than it could be, and a reader's content live shorter.
fn shorter<'short, 'long: 'short, 'any: 'short>(
    read: RwLockReadGuard<'long, &'any str>,
    write: RwLockWriteGuard<'long, &'any str>,
) -> (
    RwLockReadGuard<'short, &'short str>,
    RwLockWriteGuard<'short, &'any str>,
) {
    (read, write)
}

macro_rules! table {
    ($name:literal, $P:ty) => {{
        let lock = Arc::new(RwLock::new(<$P>::default()));
        answers!(
            $name;
            type RwLock<$P>,
            type RwLockReadGuard<'static, $P>,
            type RwLockWriteGuard<'static, $P>,
            type RwLockMappedWriteGuard<'static, $P>,
            type OwnedRwLockReadGuard<$P>,
            type OwnedRwLockReadGuard<$P, u8>,
            type OwnedRwLockReadGuard<u8, $P>,
            type OwnedRwLockWriteGuard<$P>,
            type OwnedRwLockMappedWriteGuard<$P>,
            type OwnedRwLockMappedWriteGuard<$P, u8>,
            type OwnedRwLockMappedWriteGuard<u8, $P>,
            value read = lock.read(),
            value write = lock.write(),
            value read_owned = lock.clone().read_owned(),
            value write_owned = lock.clone().write_owned(),
        )
    }};
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    for_payloads!(table)
}
