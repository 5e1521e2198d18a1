//! Drop-in wrapper of tokio's watch channel, which keeps the latest value: receivers wait for a
//! change, and take nothing out.

use std::fmt;
use std::panic::Location;

use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{Kind, Role};
use crate::sync::Named;
use crate::sync::channel::{Rx, Tx};

pub use tokio::sync::watch::{Ref, error};

use error::{RecvError, SendError};

/// Same as [`tokio::sync::watch::channel`]; waiters are observed.
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

/// Same as [`tokio::sync::watch::Sender`].
pub struct Sender<T> {
    inner: tokio::sync::watch::Sender<T>,
    tx: Tx,
}

impl<T> Sender<T> {
    /// Same as [`tokio::sync::watch::Sender::new`].
    #[track_caller]
    pub fn new(init: T) -> Self {
        let inner = tokio::sync::watch::Sender::new(init);
        let tx = Tx::new(Kind::Watch, None);
        Self { inner, tx }
    }

    /// Same as [`tokio::sync::watch::Sender::send`].
    ///
    /// # Errors
    /// If there is no receiver; the error returns the value.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.tx.used();
        self.inner.send(value)?;
        self.tx.put(1);
        Ok(())
    }

    /// Same as [`tokio::sync::watch::Sender::send_modify`].
    pub fn send_modify<F>(&self, modify: F)
    where
        F: FnOnce(&mut T),
    {
        self.tx.used();
        self.inner.send_modify(modify);
        self.tx.put(1);
    }

    /// Same as [`tokio::sync::watch::Sender::send_if_modified`].
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

    /// Same as [`tokio::sync::watch::Sender::send_replace`].
    pub fn send_replace(&self, value: T) -> T {
        self.tx.used();
        let before = self.inner.send_replace(value);
        self.tx.put(1);
        before
    }

    /// Same as [`tokio::sync::watch::Sender::borrow`].
    pub fn borrow(&self) -> Ref<'_, T> {
        self.inner.borrow()
    }

    /// Same as [`tokio::sync::watch::Sender::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Same as [`tokio::sync::watch::Sender::closed`].
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move { self.tx.wait(Role::Wait, 1, at, self.inner.closed()).await }
    }

    /// Same as [`tokio::sync::watch::Sender::subscribe`].
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver {
            inner: self.inner.subscribe(),
            rx: self.tx.rx(),
        }
    }

    /// Same as [`tokio::sync::watch::Sender::receiver_count`].
    pub fn receiver_count(&self) -> usize {
        self.inner.receiver_count()
    }

    /// Same as [`tokio::sync::watch::Sender::sender_count`].
    pub fn sender_count(&self) -> usize {
        self.inner.sender_count()
    }

    /// Same as [`tokio::sync::watch::Sender::same_channel`].
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

/// Same as [`tokio::sync::watch::Receiver`]; its waits are observed.
pub struct Receiver<T> {
    inner: tokio::sync::watch::Receiver<T>,
    rx: Rx,
}

impl<T> Receiver<T> {
    /// Same as [`tokio::sync::watch::Receiver::borrow`].
    pub fn borrow(&self) -> Ref<'_, T> {
        self.inner.borrow()
    }

    /// Same as [`tokio::sync::watch::Receiver::borrow_and_update`].
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        self.inner.borrow_and_update()
    }

    /// Same as [`tokio::sync::watch::Receiver::has_changed`].
    ///
    /// # Errors
    /// If all senders are gone.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        self.inner.has_changed()
    }

    /// Same as [`tokio::sync::watch::Receiver::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Same as [`tokio::sync::watch::Receiver::mark_changed`].
    pub fn mark_changed(&mut self) {
        self.inner.mark_changed();
    }

    /// Same as [`tokio::sync::watch::Receiver::mark_unchanged`].
    pub fn mark_unchanged(&mut self) {
        self.inner.mark_unchanged();
    }

    /// Same as [`tokio::sync::watch::Receiver::changed`].
    ///
    /// # Errors
    /// If all senders are gone and this receiver has seen the last value.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        let at = Location::caller();
        async move {
            let Self { inner, rx } = self;
            rx.used();
            rx.wait(Role::Receive, 1, at, inner.changed()).await
        }
    }

    /// Same as [`tokio::sync::watch::Receiver::wait_for`].
    ///
    /// # Errors
    /// If all senders are gone and `f` is false for the last value.
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

    /// Same as [`tokio::sync::watch::Receiver::same_channel`].
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
