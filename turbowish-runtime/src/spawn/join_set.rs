//! Drop-in wrapper of tokio's `JoinSet`: records which task spawned, and where.

use std::ops::{Deref, DerefMut};

use tokio::runtime::Handle;
use tokio::task::{self, AbortHandle, LocalSet};

use crate::hot::origin::{Task, task};

/// Same as [`tokio::task::JoinSet`]; methods that do not spawn are available through `Deref`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut squares = turbowish::JoinSet::new();
/// for n in 1..=3 {
///     squares.spawn(async move { n * n });
/// }
/// assert_eq!(squares.join_all().await.iter().sum::<u32>(), 14);
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a join set aborts its tasks when it is dropped"]
pub struct JoinSet<T>(task::JoinSet<T>);

impl<T> JoinSet<T> {
    /// Same as [`tokio::task::JoinSet::new`].
    pub fn new() -> Self {
        Self(task::JoinSet::new())
    }
}

impl<T: 'static> JoinSet<T> {
    /// Same as [`tokio::task::JoinSet::spawn`].
    ///
    /// # Panics
    ///
    /// If called outside of a tokio runtime.
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

    /// Same as [`tokio::task::JoinSet::spawn_on`].
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.0.spawn_on(task(future), handle)
    }

    /// Same as [`tokio::task::JoinSet::spawn_local`].
    ///
    /// # Panics
    ///
    /// If called outside of a [`LocalSet`].
    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.0.spawn_local(task(future))
    }

    /// Same as [`tokio::task::JoinSet::spawn_local_on`].
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, future: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.0.spawn_local_on(task(future), local_set)
    }

    /// Same as [`tokio::task::JoinSet::join_all`].
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
