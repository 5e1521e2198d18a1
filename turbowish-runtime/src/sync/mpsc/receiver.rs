//! Receiving ends: an item is counted out in the poll that returns it, so a receive dropped before
//! that took nothing.

use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::task::{Context, Poll, ready};

use tokio::sync::mpsc::error::TryRecvError;

use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{Role, WaitEntry};
use crate::sync::Named;
use crate::sync::blocking::block_on;
use crate::sync::channel::{OnlyRx, Stamped};

/// Defines both receivers with the methods that tokio gives to either.
macro_rules! receivers {
    ($($(#[$doc:meta])* $Receiver:ident)*) => {$(
        $(#[$doc])*
        pub struct $Receiver<T> {
            inner: tokio::sync::mpsc::$Receiver<Stamped<T>>,
            /// The wait of the last `poll_…` call, which belongs to no future.
            polled: Option<WaitEntry>,
            rx: OnlyRx,
        }

        impl<T> $Receiver<T> {
            pub(super) const fn new(inner: tokio::sync::mpsc::$Receiver<Stamped<T>>, rx: OnlyRx) -> Self {
                let polled = None;
                Self { inner, polled, rx }
            }

            /// Same as [`tokio::sync::mpsc::Receiver::recv`].
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
                let at = Location::caller();
                async move {
                    let Self { inner, polled, rx } = self;
                    *polled = None;
                    rx.used();
                    let stamped = rx.wait(Role::Receive, 1, at, inner.recv()).await;
                    stamped.map(|stamped| rx.open(stamped))
                }
            }

            /// Same as [`tokio::sync::mpsc::Receiver::recv_many`].
            #[track_caller]
            pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
                let at = Location::caller();
                async move {
                    let Self { inner, polled, rx } = self;
                    *polled = None;
                    rx.used();
                    let batch = poll_fn(|cx| Self::poll_batch(inner, cx, limit));
                    let batch = rx.wait(Role::Receive, 1, at, batch).await;
                    rx.unpack(batch, buffer)
                }
            }

            /// Same as [`tokio::sync::mpsc::Receiver::try_recv`].
            ///
            /// # Errors
            /// If the channel is empty, or empty and closed.
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.rx.used();
                self.inner.try_recv().map(|stamped| self.rx.open(stamped))
            }

            /// Same as [`tokio::sync::mpsc::Receiver::blocking_recv`].
            ///
            /// # Panics
            /// If called from an asynchronous task.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                block_on(self.recv())
            }

            /// Same as [`tokio::sync::mpsc::Receiver::blocking_recv_many`].
            ///
            /// # Panics
            /// If called from an asynchronous task.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                block_on(self.recv_many(buffer, limit))
            }

            /// Same as [`tokio::sync::mpsc::Receiver::close`].
            pub fn close(&mut self) {
                self.inner.close();
                self.rx.close();
            }

            /// Same as [`tokio::sync::mpsc::Receiver::is_closed`].
            pub fn is_closed(&self) -> bool {
                self.inner.is_closed()
            }

            /// Same as [`tokio::sync::mpsc::Receiver::is_empty`].
            pub fn is_empty(&self) -> bool {
                self.inner.is_empty()
            }

            /// Same as [`tokio::sync::mpsc::Receiver::len`].
            pub fn len(&self) -> usize {
                self.inner.len()
            }

            /// Same as [`tokio::sync::mpsc::Receiver::poll_recv`].
            #[track_caller]
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                let at = Location::caller();
                let Self { inner, polled, rx } = self;
                rx.used();
                let stamped = ready!(rx.poll_wait(polled, Role::Receive, at, cx, |cx| inner.poll_recv(cx)));
                Poll::Ready(stamped.map(|stamped| rx.open(stamped)))
            }

            /// Same as [`tokio::sync::mpsc::Receiver::poll_recv_many`].
            #[track_caller]
            pub fn poll_recv_many(
                &mut self,
                cx: &mut Context<'_>,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> Poll<usize> {
                let at = Location::caller();
                let Self { inner, polled, rx } = self;
                rx.used();
                let poll = |cx: &mut Context<'_>| Self::poll_batch(inner, cx, limit);
                let batch = ready!(rx.poll_wait(polled, Role::Receive, at, cx, poll));
                Poll::Ready(rx.unpack(batch, buffer))
            }

            /// Same as [`tokio::sync::mpsc::Receiver::sender_strong_count`].
            pub fn sender_strong_count(&self) -> usize {
                self.inner.sender_strong_count()
            }

            /// Same as [`tokio::sync::mpsc::Receiver::sender_weak_count`].
            pub fn sender_weak_count(&self) -> usize {
                self.inner.sender_weak_count()
            }

            fn poll_batch(
                inner: &mut tokio::sync::mpsc::$Receiver<Stamped<T>>,
                cx: &mut Context<'_>,
                limit: usize,
            ) -> Poll<Vec<Stamped<T>>> {
                let mut batch = Vec::with_capacity(limit.min(inner.len()));
                ready!(inner.poll_recv_many(cx, &mut batch, limit));
                Poll::Ready(batch)
            }
        }

        impl<T> Drop for $Receiver<T> {
            fn drop(&mut self) {
                // Items still inside are dropped with the receiver.
                self.inner.close();
                self.rx.emptied();
            }
        }

        impl<T> fmt::Debug for $Receiver<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl<T> IntentTarget<verb::Recv> for $Receiver<T> {
            type Observation = Observed;

            fn resource_ref(&self) -> ResourceRef<'_> {
                self.rx.resource_ref()
            }
        }

        impl<T> Named for $Receiver<T> {
            fn name(&self, name: &str) {
                self.rx.name(name);
            }
        }
    )*};
}

receivers! {
    /// Same as [`tokio::sync::mpsc::Receiver`]; waits and received items are observed.
    Receiver
    /// Same as [`tokio::sync::mpsc::UnboundedReceiver`]; waits and received items are observed.
    UnboundedReceiver
}

impl<T> Receiver<T> {
    /// Same as [`tokio::sync::mpsc::Receiver::capacity`].
    pub fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    /// Same as [`tokio::sync::mpsc::Receiver::max_capacity`].
    pub fn max_capacity(&self) -> usize {
        self.inner.max_capacity()
    }
}
