//! Every public method of `sync::Semaphore` and its permits, by its signature.
#![allow(dead_code, reason = "that it compiles is the test")]

use std::error::Error;
use std::fmt::{Debug, Display};
use std::sync::Arc;

use super::sync::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};

static STATIC: Semaphore = Semaphore::const_new(1);
const MOST: usize = Semaphore::MAX_PERMITS;

type Acquired<'a> = Result<SemaphorePermit<'a>, AcquireError>;
type Tried<'a> = Result<SemaphorePermit<'a>, TryAcquireError>;
type AcquiredOwned = Result<OwnedSemaphorePermit, AcquireError>;
type TriedOwned = Result<OwnedSemaphorePermit, TryAcquireError>;

fn semaphore() {
    let _: fn(usize) -> Semaphore = Semaphore::new;
    let _: fn(usize) -> Semaphore = Semaphore::const_new;
    let _: fn(&Semaphore) -> usize = Semaphore::available_permits;
    let _: fn(&Semaphore, usize) = Semaphore::add_permits;
    let _: fn(&Semaphore, usize) -> usize = Semaphore::forget_permits;
    let _: for<'a> fn(&'a Semaphore) -> Tried<'a> = Semaphore::try_acquire;
    let _: for<'a> fn(&'a Semaphore, u32) -> Tried<'a> = Semaphore::try_acquire_many;
    let _: for<'a> fn(&'a Semaphore) -> Acquired<'a> = Semaphore::blocking_acquire;
    let _: for<'a> fn(&'a Semaphore, u32) -> Acquired<'a> = Semaphore::blocking_acquire_many;
    let _: fn(Arc<Semaphore>) -> TriedOwned = Semaphore::try_acquire_owned;
    let _: fn(Arc<Semaphore>, u32) -> TriedOwned = Semaphore::try_acquire_many_owned;
    let _: fn(Arc<Semaphore>) -> AcquiredOwned = Semaphore::blocking_acquire_owned;
    let _: fn(Arc<Semaphore>, u32) -> AcquiredOwned = Semaphore::blocking_acquire_many_owned;
    let _: fn(&Semaphore) = Semaphore::close;
    let _: fn(&Semaphore) -> bool = Semaphore::is_closed;
    let _ = <Semaphore as Debug>::fmt;
}

async fn waits(semaphore: &Semaphore) -> [Acquired<'_>; 2] {
    [
        Semaphore::acquire(semaphore).await,
        Semaphore::acquire_many(semaphore, 2).await,
    ]
}

async fn waits_owned(semaphore: &Arc<Semaphore>) -> [AcquiredOwned; 2] {
    [
        Semaphore::acquire_owned(semaphore.clone()).await,
        Semaphore::acquire_many_owned(semaphore.clone(), 2).await,
    ]
}

fn permit() {
    type Permit = SemaphorePermit<'static>;
    let _: fn(Permit) = SemaphorePermit::forget;
    let _: fn(&mut Permit, Permit) = SemaphorePermit::merge;
    let _: fn(&mut Permit, usize) -> Option<Permit> = SemaphorePermit::split;
    let _: fn(&Permit) -> &Semaphore = SemaphorePermit::semaphore;
    let _: fn(&Permit) -> usize = SemaphorePermit::num_permits;
    let _ = <SemaphorePermit<'static> as Debug>::fmt;
}

fn owned_permit() {
    type Permit = OwnedSemaphorePermit;
    let _: fn(Permit) = OwnedSemaphorePermit::forget;
    let _: fn(&mut Permit, Permit) = OwnedSemaphorePermit::merge;
    let _: fn(&mut Permit, usize) -> Option<Permit> = OwnedSemaphorePermit::split;
    let _: fn(&Permit) -> &Arc<Semaphore> = OwnedSemaphorePermit::semaphore;
    let _: fn(&Permit) -> usize = OwnedSemaphorePermit::num_permits;
    let _ = <OwnedSemaphorePermit as Debug>::fmt;
}

fn errors() {
    let _ = <AcquireError as Error>::source;
    let _ = <AcquireError as Display>::fmt;
    let _ = <TryAcquireError as Error>::source;
    let _ = [TryAcquireError::Closed, TryAcquireError::NoPermits];
}

/// A permit may be had for less long than it could be.
fn shorter<'short, 'long: 'short>(permit: SemaphorePermit<'long>) -> SemaphorePermit<'short> {
    permit
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    let semaphore = Arc::new(Semaphore::new(1));
    answers!(
        "all";
        type Semaphore,
        type SemaphorePermit<'static>,
        type OwnedSemaphorePermit,
        value acquire = semaphore.acquire(),
        value acquire_many = semaphore.acquire_many(1),
        value acquire_owned = semaphore.clone().acquire_owned(),
        value acquire_many_owned = semaphore.clone().acquire_many_owned(1),
    )
}
