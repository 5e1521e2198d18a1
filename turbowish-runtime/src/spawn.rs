//! Drop-in wrappers of tokio's ways to spawn: they record which task spawned, where, and when.

mod join_handle;
mod join_set;

use tokio::runtime::{Handle, Runtime};
use tokio::task::{AbortHandle, LocalSet};

pub use self::join_handle::JoinHandle;
pub use self::join_set::JoinSet;
use crate::hot::origin::{Task, TaskBuilder, task};

/// Same as [`tokio::spawn`]; the spawning task and the spawn site are recorded.
///
/// # Panics
///
/// If called outside of a tokio runtime.
///
/// ```
/// #[tokio::main]
/// async fn main() -> Result<(), tokio::task::JoinError> {
///     let _turbowish = turbowish::init();
///     let sum = turbowish::spawn(async { 1 + 2 });
///     assert_eq!(sum.await?, 3);
///     Ok(())
/// }
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let root = task(future);
    joined(root, tokio::spawn)
}

/// Same as [`tokio::task::spawn_local`]; the spawning task and the spawn site are recorded.
///
/// # Panics
///
/// If called outside of a [`LocalSet`].
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let root = task(future);
    joined(root, tokio::task::spawn_local)
}

/// Same as [`Runtime::block_on`]; the future is shown as a task, with the place of this call.
///
/// ```
/// let _turbowish = turbowish::init();
/// let runtime = tokio::runtime::Runtime::new()?;
/// let sum = turbowish::block_on(&runtime, async { 1 + 2 });
/// assert_eq!(sum, 3);
/// # Ok::<(), std::io::Error>(())
/// ```
#[track_caller]
pub fn block_on<F: Future>(runtime: &Runtime, future: F) -> F::Output {
    runtime.block_on(TaskBuilder::new().blocking().task(future))
}

/// Spawns, and tracks whether the handle is dropped.
#[track_caller]
fn joined<F: Future>(
    root: Task<F>,
    spawn: impl FnOnce(Task<F>) -> tokio::task::JoinHandle<F::Output>,
) -> JoinHandle<F::Output> {
    let handled = root.handled();
    JoinHandle::new(spawn(root), handled)
}

/// Ways to spawn, with the feature `tokio`.
impl TaskBuilder {
    /// Same as [`tokio::spawn`].
    ///
    /// # Panics
    ///
    /// If called outside of a tokio runtime.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        joined(self.task(future), tokio::spawn)
    }

    /// Same as [`JoinSet::spawn`].
    ///
    /// # Panics
    ///
    /// If called outside of a tokio runtime.
    #[track_caller]
    pub fn spawn_in<F, T>(self, future: F, set: &mut JoinSet<T>) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        set.spawn_root(self.task(future))
    }

    /// Same as [`Handle::spawn`].
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        joined(self.task(future), |root| handle.spawn(root))
    }

    /// Same as [`tokio::task::spawn_local`].
    ///
    /// # Panics
    ///
    /// If called outside of a [`LocalSet`].
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        joined(self.task(future), tokio::task::spawn_local)
    }

    /// Same as [`LocalSet::spawn_local`].
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &LocalSet) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        joined(self.task(future), |root| local_set.spawn_local(root))
    }
}
