//! Drop-in wrapper of tokio's broadcast channel, whose every receiver sees every item. An item is
//! counted once when sent and once for each receiver that takes it. Receivers are at different
//! positions, so the channel has no single length, and an item no single time inside.

use std::fmt;
use std::panic::Location;

use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{Kind, Role};
use crate::sync::Named;
use crate::sync::blocking::block_on;
use crate::sync::channel::{Rx, Tx, WeakTx};

pub use tokio::sync::broadcast::error;

use error::{RecvError, SendError, TryRecvError};

/// Same as [`tokio::sync::broadcast::channel`].
///
/// # Panics
/// If `capacity` is zero or more than half of `usize::MAX`.
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = tokio::sync::broadcast::channel(capacity);
    let sender = Sender::of(sender, capacity);
    let rx = sender.tx.rx();
    let inner = receiver;
    (sender, Receiver { inner, rx })
}

/// Same as [`tokio::sync::broadcast::Sender`]; sent items are counted.
pub struct Sender<T> {
    inner: tokio::sync::broadcast::Sender<T>,
    tx: Tx,
}

impl<T> Sender<T> {
    /// Same as [`tokio::sync::broadcast::Sender::new`].
    ///
    /// # Panics
    /// If `capacity` is zero or more than half of `usize::MAX`.
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Self::of(tokio::sync::broadcast::Sender::new(capacity), capacity)
    }

    #[track_caller]
    fn of(inner: tokio::sync::broadcast::Sender<T>, capacity: usize) -> Self {
        let tx = Tx::new(Kind::Broadcast, capacity.checked_next_power_of_two());
        Self { inner, tx }
    }

    /// Same as [`tokio::sync::broadcast::Sender::send`].
    ///
    /// # Errors
    /// If there is no receiver; the error returns the value.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.tx.used();
        let receivers = self.inner.send(value)?;
        self.tx.put(1);
        Ok(receivers)
    }

    /// Same as [`tokio::sync::broadcast::Sender::subscribe`].
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver {
            inner: self.inner.subscribe(),
            rx: self.tx.rx(),
        }
    }

    /// Same as [`tokio::sync::broadcast::Sender::downgrade`].
    #[must_use = "the sender itself stays as it is"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender {
            inner: self.inner.downgrade(),
            tx: self.tx.downgrade(),
        }
    }

    /// Same as [`tokio::sync::broadcast::Sender::len`].
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Same as [`tokio::sync::broadcast::Sender::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Same as [`tokio::sync::broadcast::Sender::receiver_count`].
    pub fn receiver_count(&self) -> usize {
        self.inner.receiver_count()
    }

    /// Same as [`tokio::sync::broadcast::Sender::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// Same as [`tokio::sync::broadcast::Sender::closed`].
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move { self.tx.wait(Role::Wait, 1, at, self.inner.closed()).await }
    }

    /// Same as [`tokio::sync::broadcast::Sender::strong_count`].
    pub fn strong_count(&self) -> usize {
        self.inner.strong_count()
    }

    /// Same as [`tokio::sync::broadcast::Sender::weak_count`].
    pub fn weak_count(&self) -> usize {
        self.inner.weak_count()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            tx: self.tx.clone(),
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Same as [`tokio::sync::broadcast::WeakSender`].
pub struct WeakSender<T> {
    inner: tokio::sync::broadcast::WeakSender<T>,
    tx: WeakTx,
}

impl<T> WeakSender<T> {
    /// Same as [`tokio::sync::broadcast::WeakSender::upgrade`].
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let (inner, tx) = self.tx.upgrade(|| self.inner.upgrade())?;
        Some(Sender { inner, tx })
    }

    /// Same as [`tokio::sync::broadcast::WeakSender::strong_count`].
    pub fn strong_count(&self) -> usize {
        self.inner.strong_count()
    }

    /// Same as [`tokio::sync::broadcast::WeakSender::weak_count`].
    pub fn weak_count(&self) -> usize {
        self.inner.weak_count()
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            tx: self.tx.clone(),
        }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Same as [`tokio::sync::broadcast::Receiver`]; waits and received items are observed.
pub struct Receiver<T> {
    inner: tokio::sync::broadcast::Receiver<T>,
    rx: Rx,
}

impl<T> Receiver<T> {
    /// Same as [`tokio::sync::broadcast::Receiver::len`].
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Same as [`tokio::sync::broadcast::Receiver::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Same as [`tokio::sync::broadcast::Receiver::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// Same as [`tokio::sync::broadcast::Receiver::sender_strong_count`].
    pub fn sender_strong_count(&self) -> usize {
        self.inner.sender_strong_count()
    }

    /// Same as [`tokio::sync::broadcast::Receiver::sender_weak_count`].
    pub fn sender_weak_count(&self) -> usize {
        self.inner.sender_weak_count()
    }

    /// Same as [`tokio::sync::broadcast::Receiver::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }
}

impl<T: Clone> Receiver<T> {
    /// Same as [`tokio::sync::broadcast::Receiver::resubscribe`].
    pub fn resubscribe(&self) -> Self {
        Self {
            inner: self.inner.resubscribe(),
            rx: self.rx.clone(),
        }
    }

    /// Same as [`tokio::sync::broadcast::Receiver::recv`].
    ///
    /// # Errors
    /// If all senders are gone, or if this receiver lagged: the error says how many items it
    /// missed.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> {
        let at = Location::caller();
        async move {
            let Self { inner, rx } = self;
            rx.used();
            let received = rx.wait(Role::Receive, 1, at, inner.recv()).await;
            if received.is_ok() {
                rx.gave(1);
            }
            received
        }
    }

    /// Same as [`tokio::sync::broadcast::Receiver::try_recv`].
    ///
    /// # Errors
    /// If no item is there; otherwise as [`recv`](Self::recv).
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.rx.used();
        let received = self.inner.try_recv();
        if received.is_ok() {
            self.rx.gave(1);
        }
        received
    }

    /// Same as [`tokio::sync::broadcast::Receiver::blocking_recv`].
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    ///
    /// # Panics
    /// If called from an asynchronous task.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        block_on(self.recv())
    }
}

impl<T> fmt::Debug for Receiver<T> {
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

impl<T> IntentTarget<verb::Recv> for Receiver<T> {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.rx.resource_ref()
    }
}

impl<T> Named for Sender<T> {
    fn name(&self, name: &str) {
        self.tx.name(name);
    }
}

impl<T> Named for WeakSender<T> {
    fn name(&self, name: &str) {
        self.tx.name(name);
    }
}

impl<T> Named for Receiver<T> {
    fn name(&self, name: &str) {
        self.rx.name(name);
    }
}

impl<T> Named for (Sender<T>, Receiver<T>) {
    fn name(&self, name: &str) {
        self.0.name(name);
    }
}
