//! Drop-in wrapper of tokio's oneshot channel. Most are done before anyone has waited, so only a
//! wait creates a record.

use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use crate::hot::switch;
use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{End, Kind, Resource, Role, WaitEntry};
use crate::sync::Named;
use crate::sync::blocking::block_on;

pub use tokio::sync::oneshot::error;

use error::{RecvError, TryRecvError};

/// Same as [`tokio::sync::oneshot::channel`]; waits are observed.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let channel = Arc::new(OneshotChannel {
        resource: Resource::new(Kind::Oneshot, Some(1)),
        ends: OnceLock::new(),
    });
    let sender = Sender {
        inner: sender,
        polled: None,
        side: Side(channel.clone()),
    };
    let receiver = Receiver {
        inner: receiver,
        polled: None,
        side: Side(channel),
    };
    (sender, receiver)
}

/// State shared by both halves.
struct OneshotChannel {
    resource: Resource,
    /// The sender's and the receiver's end, from the first wait on.
    ends: OnceLock<Box<(End, End)>>,
}

/// A half's share. The channel closes when either half is dropped.
struct Side(Arc<OneshotChannel>);

impl Side {
    /// Polls, and records a wait of the current task if `poll` is pending.
    fn poll<R>(
        &self,
        polled: &mut Option<WaitEntry>,
        role: Role,
        at: &'static Location<'static>,
        cx: &mut Context<'_>,
        poll: impl FnMut(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        let OneshotChannel { resource, ends } = &*self.0;
        let result = resource.poll_wait(polled, role, at, cx, poll);
        if result.is_pending() && switch::is_armed() {
            let both = || Box::new((resource.end(Role::Send), resource.end(Role::Receive)));
            let (tx, rx) = &**ends.get_or_init(both);
            if role == Role::Receive {
                rx.used();
            } else {
                tx.used();
            }
        }
        if result.is_ready() {
            resource.met(role);
        }
        result
    }

    fn name(&self, name: &str) {
        self.0.resource.name(name);
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        self.0.resource.close();
    }
}

/// Same as [`tokio::sync::oneshot::Sender`].
pub struct Sender<T> {
    inner: tokio::sync::oneshot::Sender<T>,
    polled: Option<WaitEntry>,
    side: Side,
}

impl<T> Sender<T> {
    /// Same as [`tokio::sync::oneshot::Sender::send`].
    ///
    /// # Errors
    /// If the receiver is closed or dropped; the error returns the value.
    pub fn send(self, t: T) -> Result<(), T> {
        let resource = &self.side.0.resource;
        resource.met(Role::Send);
        // Counted before the value can be received.
        let counted = resource.put_known();
        let sent = self.inner.send(t);
        if counted && sent.is_err() {
            resource.put_back();
        }
        sent
    }

    /// Same as [`tokio::sync::oneshot::Sender::closed`].
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            let Self {
                inner,
                polled,
                side,
            } = self;
            // This wait ends with the future.
            let mut wait = None;
            *polled = None;
            poll_fn(|cx| side.poll(&mut wait, Role::Wait, at, cx, |cx| inner.poll_closed(cx)))
                .await;
        }
    }

    /// Same as [`tokio::sync::oneshot::Sender::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Same as [`tokio::sync::oneshot::Sender::poll_closed`].
    #[track_caller]
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let at = Location::caller();
        let Self {
            inner,
            polled,
            side,
        } = self;
        side.poll(polled, Role::Wait, at, cx, |cx| inner.poll_closed(cx))
    }
}

impl<T: fmt::Debug> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Same as [`tokio::sync::oneshot::Receiver`]; its waits are observed.
pub struct Receiver<T> {
    inner: tokio::sync::oneshot::Receiver<T>,
    polled: Option<WaitEntry>,
    side: Side,
}

impl<T> Receiver<T> {
    /// Same as [`tokio::sync::oneshot::Receiver::close`].
    pub fn close(&mut self) {
        self.inner.close();
        self.side.0.resource.close();
    }

    /// Same as [`tokio::sync::oneshot::Receiver::is_terminated`].
    pub fn is_terminated(&self) -> bool {
        self.inner.is_terminated()
    }

    /// Same as [`tokio::sync::oneshot::Receiver::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Same as [`tokio::sync::oneshot::Receiver::try_recv`].
    ///
    /// # Errors
    /// If no value has been sent yet, or the sender was dropped without sending.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let result = self.inner.try_recv();
        if result.is_ok() {
            self.side.0.resource.took_known();
        }
        if self.inner.is_terminated() {
            self.polled = None;
        }
        result
    }

    /// Same as [`tokio::sync::oneshot::Receiver::blocking_recv`].
    ///
    /// # Errors
    /// If the sender was dropped without sending.
    ///
    /// # Panics
    /// If called from an asynchronous task.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        block_on(self)
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let at = Location::caller();
        let Self {
            inner,
            polled,
            side,
        } = self.get_mut();
        let received = side.poll(polled, Role::Receive, at, cx, |cx| {
            Pin::new(&mut *inner).poll(cx)
        });
        if matches!(received, Poll::Ready(Ok(_))) {
            side.0.resource.took_known();
        }
        received
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
        self.side.0.resource.meant_briefly()
    }
}

impl<T> IntentTarget<verb::Recv> for Receiver<T> {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.side.0.resource.meant_briefly()
    }
}

impl<T> Named for Sender<T> {
    fn name(&self, name: &str) {
        self.side.name(name);
    }
}

impl<T> Named for Receiver<T> {
    fn name(&self, name: &str) {
        self.side.name(name);
    }
}

impl<T> Named for (Sender<T>, Receiver<T>) {
    fn name(&self, name: &str) {
        self.0.name(name);
    }
}
