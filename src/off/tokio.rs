//! Compiled out: tokio's own items under the facade's names.

use ::tokio::runtime::{Handle, Runtime};
pub use ::tokio::spawn;
use ::tokio::task::{AbortHandle, LocalSet};
pub use ::tokio::task::{JoinHandle, JoinSet, spawn_local};
pub use ::tokio::time;

use super::TaskBuilder;

/// Compiled out: tokio's own primitives.
pub mod sync {
    pub use ::tokio::sync::*;

    /// Compiled out: returns `thing` unchanged.
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
    /// Same as tokio's method of this name.
    #[inline]
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn(future)
    }

    /// Same as tokio's method of this name.
    #[inline]
    #[track_caller]
    pub fn spawn_in<F, T>(self, future: F, set: &mut JoinSet<T>) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        set.spawn(future)
    }

    /// Same as tokio's method of this name.
    #[inline]
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        handle.spawn(future)
    }

    /// Same as tokio's method of this name.
    #[inline]
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        spawn_local(future)
    }

    /// Same as tokio's method of this name.
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
