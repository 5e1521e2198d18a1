//! Sending end of a bounded channel: an item is counted in when it has its place, before any
//! receiver can take it out.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use tokio::sync::mpsc::error::{SendError, SendTimeoutError, TrySendError};

use super::permit::{OwnedPermit, Permit, PermitIterator, amount};
use super::weak::WeakSender;
use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::Role;
use crate::sync::Named;
use crate::sync::blocking::block_on;
use crate::sync::channel::{Stamped, Tx};

/// Same as [`tokio::sync::mpsc::Sender`]; waits and sent items are observed.
pub struct Sender<T> {
    inner: tokio::sync::mpsc::Sender<Stamped<T>>,
    tx: Tx,
}

impl<T> Sender<T> {
    pub(super) const fn new(inner: tokio::sync::mpsc::Sender<Stamped<T>>, tx: Tx) -> Self {
        Self { inner, tx }
    }

    /// Same as [`tokio::sync::mpsc::Sender::send`].
    ///
    /// # Errors
    /// If the receiver is closed or dropped; the error returns the value.
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

    /// Same as [`tokio::sync::mpsc::Sender::closed`].
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move { self.tx.wait(Role::Wait, 1, at, self.inner.closed()).await }
    }

    /// Same as [`tokio::sync::mpsc::Sender::try_send`].
    ///
    /// # Errors
    /// If the channel is full, or the receiver is closed or dropped; the error returns the message.
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

    /// Same as [`tokio::sync::mpsc::Sender::send_timeout`].
    ///
    /// # Errors
    /// If the timeout expires, or the receiver is closed or dropped; the error returns the value.
    ///
    /// # Panics
    /// If polled outside of a tokio runtime with its timer enabled.
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

    /// Same as [`tokio::sync::mpsc::Sender::blocking_send`].
    ///
    /// # Errors
    /// If the receiver is closed or dropped; the error returns the value.
    ///
    /// # Panics
    /// If called from an asynchronous task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block_on(self.send(value))
    }

    /// Same as [`tokio::sync::mpsc::Sender::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Same as [`tokio::sync::mpsc::Sender::reserve`].
    ///
    /// # Errors
    /// If the receiver is closed or dropped.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        let at = Location::caller();
        async move {
            self.tx.used();
            let place = self.tx.wait(Role::Send, 1, at, self.inner.reserve());
            Ok(Permit::new(place.await?, &self.tx, at))
        }
    }

    /// Same as [`tokio::sync::mpsc::Sender::reserve_many`].
    ///
    /// # Errors
    /// If the receiver is closed or dropped, or `n` exceeds [`max_capacity`](Self::max_capacity).
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

    /// Same as [`tokio::sync::mpsc::Sender::reserve_owned`].
    ///
    /// # Errors
    /// If the receiver is closed or dropped; the sender is dropped.
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

    /// Same as [`tokio::sync::mpsc::Sender::try_reserve`].
    ///
    /// # Errors
    /// If the channel is full, or the receiver is closed or dropped.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.tx.used();
        let place = self.inner.try_reserve()?;
        Ok(Permit::new(place, &self.tx, Location::caller()))
    }

    /// Same as [`tokio::sync::mpsc::Sender::try_reserve_many`].
    ///
    /// # Errors
    /// If the channel has room for fewer than `n` items, or the receiver is closed or dropped.
    #[track_caller]
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.tx.used();
        let places = self.inner.try_reserve_many(n)?;
        Ok(PermitIterator::new(places, &self.tx, Location::caller()))
    }

    /// Same as [`tokio::sync::mpsc::Sender::try_reserve_owned`].
    ///
    /// # Errors
    /// If the channel is full, or the receiver is closed or dropped; the error returns the sender.
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

    /// Same as [`tokio::sync::mpsc::Sender::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// Same as [`tokio::sync::mpsc::Sender::capacity`].
    pub fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    /// Same as [`tokio::sync::mpsc::Sender::downgrade`].
    #[must_use = "the sender itself stays as it is"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(self.inner.downgrade(), self.tx.downgrade())
    }

    /// Same as [`tokio::sync::mpsc::Sender::max_capacity`].
    pub fn max_capacity(&self) -> usize {
        self.inner.max_capacity()
    }

    /// Same as [`tokio::sync::mpsc::Sender::strong_count`].
    pub fn strong_count(&self) -> usize {
        self.inner.strong_count()
    }

    /// Same as [`tokio::sync::mpsc::Sender::weak_count`].
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
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.tx.resource_ref()
    }
}

impl<T> Named for Sender<T> {
    fn name(&self, name: &str) {
        self.tx.name(name);
    }
}
