//! The places of a lock: a semaphore of tokio's, which is what tokio's locks are made of, with its order of those who wait.
//!
//! Who has taken places finds the value free: a guard gives its value back first, and then its places.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use tokio::sync::{AcquireError, Semaphore, SemaphorePermit, TryLockError};
use tokio::task::coop::{consume_budget, has_budget_remaining};
use turbowish_unsafe::guarded::Gate;

/// Places of which a writer takes all, and a reader one.
#[derive(Debug)]
pub(super) struct Places {
    all: u32,
    line: Semaphore,
}

/// Places that were waited for; they come back if nobody [forgets](SemaphorePermit::forget) them. Nobody closes the semaphore.
pub(super) type Waited<'a> = Result<SemaphorePermit<'a>, AcquireError>;

impl Places {
    pub(super) const fn new(all: u32) -> Self {
        Self {
            all,
            line: Semaphore::const_new(all as usize),
        }
    }

    /// All places, which a writer takes.
    pub(super) const fn all(&self) -> u32 {
        self.all
    }

    /// Takes so many places, if they are free and nobody waits for them.
    #[inline]
    pub(super) fn try_take(&self, places: u32) -> Option<()> {
        self.line.try_acquire_many(places).ok()?.forget();
        Some(())
    }

    /// The same for a task, as part of its budget.
    #[inline]
    pub(super) fn take_now(&self, places: u32) -> impl Future<Output = Option<()>> {
        within_budget(move || self.try_take(places))
    }

    /// Waits for so many places.
    #[inline]
    pub(super) fn take(&self, places: u32) -> impl Future<Output = Waited<'_>> {
        self.line.acquire_many(places)
    }
}

impl Gate for Places {
    #[inline]
    fn left(&self, alone: bool) {
        let places = if alone { self.all } else { 1 };
        self.line.add_permits(places as usize);
    }

    fn shared(&self) {
        self.line.add_permits((self.all - 1) as usize);
    }
}

/// These places are the guard's now, which gives them back.
#[inline]
pub(super) fn keep(waited: Waited<'_>) {
    if let Ok(permit) = waited {
        permit.forget();
    }
}

/// What who has the places for it has at the first attempt.
#[inline]
pub(super) fn sure<G>(mut attempt: impl FnMut() -> Option<G>) -> G {
    loop {
        if let Some(guard) = attempt() {
            return guard;
        }
        std::hint::spin_loop();
    }
}

/// The same of one that is taken with its owner.
#[inline]
pub(super) fn sure_owned<O, G>(mut owner: O, attempt: impl Fn(O) -> Result<G, O>) -> G {
    loop {
        match attempt(owner) {
            Ok(guard) => return guard,
            Err(back) => owner = back,
        }
        std::hint::spin_loop();
    }
}

/// What `attempt` comes to, as part of the task's budget: nothing if none is left. It is ready at once, and holds nothing while it waits.
#[inline]
pub(super) fn within_budget<T>(attempt: impl Fn() -> Option<T>) -> impl Future<Output = Option<T>> {
    poll_fn(move |cx| {
        if !has_budget_remaining() {
            return Poll::Ready(None);
        }
        let result = attempt();
        if result.is_some() {
            // There is some left, so this is ready.
            let _ready = pin!(consume_budget()).poll(cx);
        }
        Poll::Ready(result)
    })
}

/// Tokio's error, which only its own locks can make.
#[cold]
pub(super) fn would_block() -> TryLockError {
    let lock = tokio::sync::Mutex::const_new(());
    let _held = lock.try_lock();
    loop {
        if let Err(error) = lock.try_lock() {
            return error;
        }
    }
}
