//! Compiled out: tokio's own.

use ::tokio::runtime::{Handle, Runtime};
pub use ::tokio::spawn;
use ::tokio::task::{AbortHandle, LocalSet};
pub use ::tokio::task::{JoinHandle, JoinSet, spawn_local};
pub use ::tokio::time;

use super::TaskBuilder;

/// Compiled out: tokio's own primitives.
pub mod sync {
    pub use ::tokio::sync::*;

    /// Compiled out: gives `thing` back.
    #[inline]
    pub fn named<T>(_name: &str, thing: T) -> T {
        thing
    }
}

/// Compiled out: [`Runtime::block_on`].
#[inline]
#[track_caller]
pub fn block_on<F: Future>(runtime: &Runtime, future: F) -> F::Output {
    runtime.block_on(future)
}

impl TaskBuilder {
    /// As tokio's.
    #[inline]
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn(future)
    }

    /// As tokio's.
    #[inline]
    #[track_caller]
    pub fn spawn_in<F, T>(self, future: F, set: &mut JoinSet<T>) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        set.spawn(future)
    }

    /// As tokio's.
    #[inline]
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        handle.spawn(future)
    }

    /// As tokio's.
    #[inline]
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        spawn_local(future)
    }

    /// As tokio's.
    #[inline]
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &LocalSet) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        local_set.spawn_local(future)
    }
}
