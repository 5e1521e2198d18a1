//! How a tool that asks for nothing more than its attribute is started: not at all.

#![allow(dead_code, reason = "a tool takes what it has none of its own for")]

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Builds a runtime.
pub fn runtime(mut builder: Builder) -> Runtime {
    builder.build().expect("a runtime")
}

/// Runs a future on the calling thread.
pub fn block_on<F: Future>(runtime: &Runtime, future: F) -> F::Output {
    runtime.block_on(future)
}

/// Spawns a task.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    tokio::spawn(future)
}

/// A unit of work, such as a request.
pub fn root<F: Future>(future: F) -> impl Future<Output = F::Output> {
    future
}
