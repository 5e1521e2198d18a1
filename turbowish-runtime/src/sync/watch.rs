//! tokio's channel that keeps the latest value: receivers wait for a change of it, and take nothing out.

use std::fmt;
use std::panic::Location;

use crate::intent::{IntentTarget, ResourceRef, verb};
use crate::resource::{Kind, Role};
use crate::sync::Named;
use crate::sync::channel::{Rx, Tx};

pub use tokio::sync::watch::{Ref, error};

use error::{RecvError, SendError};

/// A channel that holds `init` at first. Its receiver has seen that.
#[track_caller]
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = tokio::sync::watch::channel(init);
    let tx = Tx::new(Kind::Watch, None);
    let rx = tx.rx();
    let sender = Sender { inner: sender, tx };
    let receiver = Receiver {
        inner: receiver,
        rx,
    };
    (sender, receiver)
}

/// Changes the value.
pub struct Sender<T> {
    inner: tokio::sync::watch::Sender<T>,
    tx: Tx,
}

impl<T> Sender<T> {
    /// A channel without a receiver yet: see [`subscribe`](Self::subscribe).
    #[track_caller]
    pub fn new(init: T) -> Self {
        let inner = tokio::sync::watch::Sender::new(init);
        let tx = Tx::new(Kind::Watch, None);
        Self { inner, tx }
    }

    /// Replaces the value, and tells the receivers.
    ///
    /// # Errors
    /// There is no receiver; the value comes back.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.tx.used();
        self.inner.send(value)?;
        self.tx.put(1);
        Ok(())
    }

    /// Changes the value in place, and tells the receivers.
    pub fn send_modify<F>(&self, modify: F)
    where
        F: FnOnce(&mut T),
    {
        self.tx.used();
        self.inner.send_modify(modify);
        self.tx.put(1);
    }

    /// Changes the value in place, and tells the receivers if `modify` says that it did.
    pub fn send_if_modified<F>(&self, modify: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        self.tx.used();
        let modified = self.inner.send_if_modified(modify);
        if modified {
            self.tx.put(1);
        }
        modified
    }

    /// Replaces the value, and tells the receivers, if there are any: the value that was there before.
    pub fn send_replace(&self, value: T) -> T {
        self.tx.used();
        let before = self.inner.send_replace(value);
        self.tx.put(1);
        before
    }

    /// The value. No one can change it while it is looked at.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.inner.borrow()
    }

    /// Whether there is no receiver.
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Waits until there is no receiver.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move { self.tx.wait(Role::Wait, 1, at, self.inner.closed()).await }
    }

    /// A receiver that has seen the value as it is now.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver {
            inner: self.inner.subscribe(),
            rx: self.tx.rx(),
        }
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.inner.receiver_count()
    }

    /// How many senders there are.
    pub fn sender_count(&self) -> usize {
        self.inner.sender_count()
    }

    /// Whether both change the same value.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
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

impl<T: Default> Default for Sender<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Looks at the value, and waits for a change of it.
pub struct Receiver<T> {
    inner: tokio::sync::watch::Receiver<T>,
    rx: Rx,
}

impl<T> Receiver<T> {
    /// The value. No one can change it while it is looked at. This receiver has not seen it by that.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.inner.borrow()
    }

    /// The value, which this receiver has seen by that. No one can change it while it is looked at.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        self.inner.borrow_and_update()
    }

    /// Whether there is a value that it has not seen.
    ///
    /// # Errors
    /// All senders are gone.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        self.inner.has_changed()
    }

    /// Whether all senders are gone.
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// It has not seen the value as it is now.
    pub fn mark_changed(&mut self) {
        self.inner.mark_changed();
    }

    /// It has seen the value as it is now.
    pub fn mark_unchanged(&mut self) {
        self.inner.mark_unchanged();
    }

    /// Waits for a value that it has not seen, which it has seen by that. Dropped before it is ready, it has seen nothing.
    ///
    /// # Errors
    /// All senders are gone, and it has seen the last value.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        let at = Location::caller();
        async move {
            let Self { inner, rx } = self;
            rx.used();
            rx.wait(Role::Receive, 1, at, inner.changed()).await
        }
    }

    /// Waits for a value of which `f` is true; the one that is there now may be it.
    ///
    /// # Errors
    /// All senders are gone, and `f` is not true of the last value.
    #[track_caller]
    pub fn wait_for(
        &mut self,
        f: impl FnMut(&T) -> bool,
    ) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> {
        let at = Location::caller();
        async move {
            let Self { inner, rx } = self;
            rx.used();
            rx.wait(Role::Receive, 1, at, inner.wait_for(f)).await
        }
    }

    /// Whether both look at the same value.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            rx: self.rx.clone(),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> IntentTarget<verb::Send> for Sender<T> {
    fn meant(&self) -> ResourceRef<'_> {
        self.tx.meant()
    }
}

impl<T> IntentTarget<verb::Recv> for Receiver<T> {
    fn meant(&self) -> ResourceRef<'_> {
        self.rx.meant()
    }
}

impl<T> Named for Sender<T> {
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
