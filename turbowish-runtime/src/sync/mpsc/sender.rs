//! The sending end of a bounded channel: an item is counted in when it has its place, before anyone can take it out.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use tokio::sync::mpsc::error::{SendError, SendTimeoutError, TrySendError};

use super::permit::{OwnedPermit, Permit, PermitIterator, amount};
use super::weak::WeakSender;
use crate::intent::{IntentTarget, ResourceRef, verb};
use crate::resource::Role;
use crate::sync::Named;
use crate::sync::blocking::block_on;
use crate::sync::channel::{Stamped, Tx};

/// The sending end of a [`channel`](super::channel).
pub struct Sender<T> {
    inner: tokio::sync::mpsc::Sender<Stamped<T>>,
    tx: Tx,
}

impl<T> Sender<T> {
    pub(super) const fn new(inner: tokio::sync::mpsc::Sender<Stamped<T>>, tx: Tx) -> Self {
        Self { inner, tx }
    }

    /// Waits for room, then puts `value` in. Dropped before it is ready, it sent nothing, and has lost its place in the line.
    ///
    /// # Errors
    /// The receiver is closed or gone; the value comes back.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        let at = Location::caller();
        async move {
            self.tx.used();
            match self.tx.wait(Role::Send, 1, at, self.inner.reserve()).await {
                Ok(place) => {
                    place.send(self.tx.stamp(value));
                    Ok(())
                }
                Err(_) => Err(SendError(value)),
            }
        }
    }

    /// Waits until the receiver is closed or gone.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move { self.tx.wait(Role::Wait, 1, at, self.inner.closed()).await }
    }

    /// Puts `message` in if there is room now.
    ///
    /// # Errors
    /// The channel is full, or its receiver closed or gone; the message comes back.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.tx.used();
        match self.inner.try_reserve() {
            Ok(place) => {
                place.send(self.tx.stamp(message));
                Ok(())
            }
            Err(TrySendError::Full(())) => Err(TrySendError::Full(message)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(message)),
        }
    }

    /// [`send`](Self::send), for as long as `timeout`.
    ///
    /// # Errors
    /// The time is over, or the receiver closed or gone; the value comes back.
    ///
    /// # Panics
    /// Outside of a runtime that has its clock enabled, when it is polled.
    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        let at = Location::caller();
        async move {
            self.tx.used();
            let place = self.tx.wait(Role::Send, 1, at, self.inner.reserve());
            match tokio::time::timeout(timeout, place).await {
                Ok(Ok(place)) => {
                    place.send(self.tx.stamp(value));
                    Ok(())
                }
                Ok(Err(_)) => Err(SendTimeoutError::Closed(value)),
                Err(_) => Err(SendTimeoutError::Timeout(value)),
            }
        }
    }

    /// [`send`](Self::send) for threads.
    ///
    /// # Errors
    /// The receiver is closed or gone; the value comes back.
    ///
    /// # Panics
    /// Inside of an asynchronous task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block_on(self.send(value))
    }

    /// Whether the receiver is closed or gone.
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Waits for room for one item, and keeps it until the permit is used or dropped. Dropped before it is ready, it has lost its
    /// place in the line.
    ///
    /// # Errors
    /// The receiver is closed or gone.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        let at = Location::caller();
        async move {
            self.tx.used();
            let place = self.tx.wait(Role::Send, 1, at, self.inner.reserve());
            Ok(Permit::new(place.await?, &self.tx, at))
        }
    }

    /// Waits for room for `n` items at once, and keeps it. Dropped before it is ready, it has lost its place in the line.
    ///
    /// # Errors
    /// The receiver is closed or gone, or `n` is more than [`max_capacity`](Self::max_capacity).
    #[track_caller]
    pub fn reserve_many(
        &self,
        n: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        let at = Location::caller();
        async move {
            self.tx.used();
            let places = self.inner.reserve_many(n);
            let places = self.tx.wait(Role::Send, amount(n), at, places).await?;
            Ok(PermitIterator::new(places, &self.tx, at))
        }
    }

    /// [`reserve`](Self::reserve) with a permit that has this sender inside. Dropped before it is ready, the sender is gone.
    ///
    /// # Errors
    /// The receiver is closed or gone; the sender is dropped.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let at = Location::caller();
        async move {
            let Self { inner, tx } = self;
            tx.used();
            let place = tx.wait(Role::Send, 1, at, inner.reserve_owned()).await?;
            Ok(OwnedPermit::new(place, tx, at))
        }
    }

    /// Room for one item, if there is some now.
    ///
    /// # Errors
    /// The channel is full, or its receiver closed or gone.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.tx.used();
        let place = self.inner.try_reserve()?;
        Ok(Permit::new(place, &self.tx, Location::caller()))
    }

    /// Room for `n` items, if there is some now.
    ///
    /// # Errors
    /// The channel has less room, or its receiver is closed or gone.
    #[track_caller]
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.tx.used();
        let places = self.inner.try_reserve_many(n)?;
        Ok(PermitIterator::new(places, &self.tx, Location::caller()))
    }

    /// Room for one item, if there is some now, with this sender inside.
    ///
    /// # Errors
    /// The channel is full, or its receiver closed or gone; the sender comes back.
    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let at = Location::caller();
        let Self { inner, tx } = self;
        tx.used();
        match inner.try_reserve_owned() {
            Ok(place) => Ok(OwnedPermit::new(place, tx, at)),
            Err(TrySendError::Full(inner)) => Err(TrySendError::Full(Self { inner, tx })),
            Err(TrySendError::Closed(inner)) => Err(TrySendError::Closed(Self { inner, tx })),
        }
    }

    /// Whether both send to the same receiver.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// Items for which there is room, and no permit is out.
    pub fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    /// A sender that keeps nothing open.
    #[must_use = "the sender itself stays as it is"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(self.inner.downgrade(), self.tx.downgrade())
    }

    /// Items that fit into it when it is empty.
    pub fn max_capacity(&self) -> usize {
        self.inner.max_capacity()
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.inner.strong_count()
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.inner.weak_count()
    }

    pub(super) const fn inner(&self) -> &tokio::sync::mpsc::Sender<Stamped<T>> {
        &self.inner
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), self.tx.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> IntentTarget<verb::Send> for Sender<T> {
    fn meant(&self) -> ResourceRef<'_> {
        self.tx.meant()
    }
}

impl<T> Named for Sender<T> {
    fn name(&self, name: &str) {
        self.tx.name(name);
    }
}
