//! Sending end of an unbounded channel: it never waits, so only sent items are observed.

use std::fmt;
use std::panic::Location;

use tokio::sync::mpsc::error::SendError;

use super::weak::WeakUnboundedSender;
use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::Role;
use crate::sync::Named;
use crate::sync::channel::{Stamped, Tx};

/// Same as [`tokio::sync::mpsc::UnboundedSender`]; sent items are observed.
pub struct UnboundedSender<T> {
    inner: tokio::sync::mpsc::UnboundedSender<Stamped<T>>,
    tx: Tx,
}

impl<T> UnboundedSender<T> {
    pub(super) const fn new(inner: tokio::sync::mpsc::UnboundedSender<Stamped<T>>, tx: Tx) -> Self {
        Self { inner, tx }
    }

    /// Same as [`tokio::sync::mpsc::UnboundedSender::send`].
    ///
    /// # Errors
    /// If the receiver is closed or dropped; the error returns the message.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.tx.used();
        let stamped = Stamped::now(message);
        let stamp = stamped.stamp;
        match self.inner.send(stamped) {
            Ok(()) => {
                self.tx.put_stamped(stamp);
                Ok(())
            }
            Err(SendError(stamped)) => Err(SendError(stamped.item)),
        }
    }

    /// Same as [`tokio::sync::mpsc::UnboundedSender::closed`].
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move { self.tx.wait(Role::Wait, 1, at, self.inner.closed()).await }
    }

    /// Same as [`tokio::sync::mpsc::UnboundedSender::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Same as [`tokio::sync::mpsc::UnboundedSender::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// Same as [`tokio::sync::mpsc::UnboundedSender::downgrade`].
    #[must_use = "the sender itself stays as it is"]
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender::new(self.inner.downgrade(), self.tx.downgrade())
    }

    /// Same as [`tokio::sync::mpsc::UnboundedSender::strong_count`].
    pub fn strong_count(&self) -> usize {
        self.inner.strong_count()
    }

    /// Same as [`tokio::sync::mpsc::UnboundedSender::weak_count`].
    pub fn weak_count(&self) -> usize {
        self.inner.weak_count()
    }
}

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), self.tx.clone())
    }
}

impl<T> fmt::Debug for UnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> IntentTarget<verb::Send> for UnboundedSender<T> {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.tx.resource_ref()
    }
}

impl<T> Named for UnboundedSender<T> {
    fn name(&self, name: &str) {
        self.tx.name(name);
    }
}
