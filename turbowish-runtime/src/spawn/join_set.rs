//! tokio's `JoinSet`, whose tasks know who has spawned them, and where.

use std::ops::{Deref, DerefMut};

use tokio::runtime::Handle;
use tokio::task::{self, AbortHandle, LocalSet};

use crate::hot::origin::{Task, task};

/// [`tokio::task::JoinSet`]; what does not spawn is reached by dereferencing.
#[derive(Debug)]
#[must_use = "a join set aborts its tasks when it is dropped"]
pub struct JoinSet<T>(task::JoinSet<T>);

impl<T> JoinSet<T> {
    /// An empty set.
    pub fn new() -> Self {
        Self(task::JoinSet::new())
    }
}

impl<T: 'static> JoinSet<T> {
    /// As tokio's.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.spawn_root(task(future))
    }

    #[track_caller]
    pub(super) fn spawn_root<F>(&mut self, future: Task<F>) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.0.spawn(future)
    }

    /// As tokio's.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.0.spawn_on(task(future), handle)
    }

    /// As tokio's.
    ///
    /// # Panics
    ///
    /// Outside of a [`LocalSet`].
    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.0.spawn_local(task(future))
    }

    /// As tokio's.
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, future: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.0.spawn_local_on(task(future), local_set)
    }

    /// Waits for all, and panics with the first that has panicked.
    pub async fn join_all(self) -> Vec<T> {
        self.0.join_all().await
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for JoinSet<T> {
    type Target = task::JoinSet<T>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for JoinSet<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = Self::new();
        set.extend(futures);
        set
    }
}

impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
    }
}
