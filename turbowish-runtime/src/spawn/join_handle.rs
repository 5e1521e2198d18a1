//! tokio's `JoinHandle`, which tells when it is dropped: a task that panics after that fails unheard.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::{self, AbortHandle, Id, JoinError};

use crate::hot::origin::HandleGuard;

/// [`tokio::task::JoinHandle`] of a task that [`spawn`](crate::spawn) has spawned.
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

    /// Aborts the task.
    pub fn abort(&self) {
        self.inner.abort();
    }

    /// Whether the task has finished.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }

    /// Another handle, which can only abort.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        self.inner.abort_handle()
    }

    /// tokio's id of the task.
    #[must_use]
    pub fn id(&self) -> Id {
        self.inner.id()
    }

    /// tokio's own handle. It is not known any more whether anybody asks for the result.
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
