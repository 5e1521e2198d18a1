//! A task is a tree of its own.

use await_tree::{Config, Registry, init_global_registry};
use tokio::task::JoinHandle;

#[path = "../../shared/bare.rs"]
mod bare;
pub use bare::{block_on, root, runtime};

/// Makes the registry.
pub fn start() {
    init_global_registry(Config::default());
}

/// Spawns a task.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let tree = Registry::current().register_anonymous("task");
    tokio::spawn(tree.instrument(future))
}
