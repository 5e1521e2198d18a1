//! Drop-in wrapper of tokio's `JoinHandle`: records its drop, because nothing notices a panic of
//! the task after that.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::{self, AbortHandle, Id, JoinError};

use crate::hot::origin::HandleGuard;

/// Same as [`tokio::task::JoinHandle`], for tasks spawned by [`spawn`](crate::spawn).
#[derive(Debug)]
pub struct JoinHandle<T> {
    inner: task::JoinHandle<T>,
    _handled: Option<HandleGuard>,
}

impl<T> JoinHandle<T> {
    pub(super) const fn new(inner: task::JoinHandle<T>, handled: Option<HandleGuard>) -> Self {
        Self {
            inner,
            _handled: handled,
        }
    }

    /// Same as [`tokio::task::JoinHandle::abort`].
    pub fn abort(&self) {
        self.inner.abort();
    }

    /// Same as [`tokio::task::JoinHandle::is_finished`].
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }

    /// Same as [`tokio::task::JoinHandle::abort_handle`].
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        self.inner.abort_handle()
    }

    /// Same as [`tokio::task::JoinHandle::id`].
    #[must_use]
    pub fn id(&self) -> Id {
        self.inner.id()
    }

    /// Returns tokio's own handle. From then on it is unknown whether the result can still be
    /// awaited.
    #[must_use]
    pub fn into_inner(self) -> task::JoinHandle<T> {
        self.inner
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.inner).poll(cx)
    }
}
