//! A task is framed where it is spawned, or each call would be a root and take a lock.

use tokio::task::JoinHandle;

#[path = "../../shared/bare.rs"]
mod bare;
pub use bare::{block_on, root, runtime};

/// Spawns a task.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    tokio::spawn(async_backtrace::location!().frame(future))
}
