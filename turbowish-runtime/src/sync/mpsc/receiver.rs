//! The receiving ends: an item is counted out in the poll that returns it, so that a receive dropped before that took nothing.

use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::task::{Context, Poll, ready};

use tokio::sync::mpsc::error::TryRecvError;

use crate::intent::{IntentTarget, ResourceRef, verb};
use crate::resource::{Role, WaitEntry};
use crate::sync::Named;
use crate::sync::blocking::block_on;
use crate::sync::channel::{OnlyRx, Stamped};

/// Both kinds of receiver: what they are, and the methods that tokio gives to either.
macro_rules! receivers {
    ($($(#[$doc:meta])* $Receiver:ident)*) => {$(
        $(#[$doc])*
        pub struct $Receiver<T> {
            inner: tokio::sync::mpsc::$Receiver<Stamped<T>>,
            /// The wait of the last poll that was not asked for by a future.
            polled: Option<WaitEntry>,
            rx: OnlyRx,
        }

        impl<T> $Receiver<T> {
            pub(super) const fn new(inner: tokio::sync::mpsc::$Receiver<Stamped<T>>, rx: OnlyRx) -> Self {
                let polled = None;
                Self { inner, polled, rx }
            }

            /// The next item; `None` once the channel is closed and empty. Dropped before it is ready, it took nothing.
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

            /// Waits for an item and appends it to `buffer`, with those behind it, up to `limit` in all. How many there were: 0
            /// if the channel is closed and empty, or if `limit` is 0. Dropped before it is ready, it took nothing.
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

            /// The next item, if it is there.
            ///
            /// # Errors
            /// The channel is empty, or closed as well.
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.rx.used();
                self.inner.try_recv().map(|stamped| self.rx.open(stamped))
            }

            /// [`recv`](Self::recv) for threads.
            ///
            /// # Panics
            /// Inside of an asynchronous task.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                block_on(self.recv())
            }

            /// [`recv_many`](Self::recv_many) for threads.
            ///
            /// # Panics
            /// Inside of an asynchronous task.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                block_on(self.recv_many(buffer, limit))
            }

            /// Lets nothing more in. What is inside can still be received.
            pub fn close(&mut self) {
                self.inner.close();
                self.rx.close();
            }

            /// Whether it is closed, or all senders are gone.
            pub fn is_closed(&self) -> bool {
                self.inner.is_closed()
            }

            /// Whether nothing is inside.
            pub fn is_empty(&self) -> bool {
                self.inner.is_empty()
            }

            /// Items inside.
            pub fn len(&self) -> usize {
                self.inner.len()
            }

            /// [`recv`](Self::recv) as a poll; wakes the waker of the last one.
            #[track_caller]
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                let call = (Role::Receive, Location::caller());
                let Self { inner, polled, rx } = self;
                rx.used();
                let stamped = ready!(rx.poll_wait(polled, call, cx, |cx| inner.poll_recv(cx)));
                Poll::Ready(stamped.map(|stamped| rx.open(stamped)))
            }

            /// [`recv_many`](Self::recv_many) as a poll; wakes the waker of the last one.
            #[track_caller]
            pub fn poll_recv_many(
                &mut self,
                cx: &mut Context<'_>,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> Poll<usize> {
                let call = (Role::Receive, Location::caller());
                let Self { inner, polled, rx } = self;
                rx.used();
                let poll = |cx: &mut Context<'_>| Self::poll_batch(inner, cx, limit);
                let batch = ready!(rx.poll_wait(polled, call, cx, poll));
                Poll::Ready(rx.unpack(batch, buffer))
            }

            /// How many senders there are.
            pub fn sender_strong_count(&self) -> usize {
                self.inner.sender_strong_count()
            }

            /// How many weak senders there are.
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
                // What is inside goes with it.
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
            fn meant(&self) -> ResourceRef<'_> {
                self.rx.meant()
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
    /// The receiving end of a [`channel`](super::channel).
    Receiver
    /// The receiving end of an [`unbounded_channel`](super::unbounded_channel).
    UnboundedReceiver
}

impl<T> Receiver<T> {
    /// Items for which there is room, and no permit is out.
    pub fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    /// Items that fit into it when it is empty.
    pub fn max_capacity(&self) -> usize {
        self.inner.max_capacity()
    }
}
