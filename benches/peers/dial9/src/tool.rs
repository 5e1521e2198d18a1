//! A recorder that keeps at most 64 MiB in a folder of its own, which goes when the process has
//! begun.

use std::sync::OnceLock;

use dial9::{Dial9HandleTokioExt, Dial9TokioHandle, DiskBuffer, Recorder, TokioAttachOptions};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

#[path = "../../shared/bare.rs"]
mod bare;
pub use bare::root;

static RECORDER: OnceLock<Recorder> = OnceLock::new();

fn recorder() -> Recorder {
    let folder = std::env::var_os("PEER_DIR").unwrap_or_else(|| std::env::temp_dir().into());
    let writer = DiskBuffer::builder()
        .base_path(std::path::Path::new(&folder).join(format!("dial9-{}", std::process::id())))
        .max_total_size(64 << 20)
        .build();
    dial9::recorder(writer.expect("a writer")).build()
}

/// Builds a runtime that is recorded.
pub fn runtime(builder: Builder) -> Runtime {
    let options = TokioAttachOptions::builder()
        .task_tracking_enabled(true)
        .build();
    let recorder = RECORDER.get_or_init(recorder);
    recorder
        .handle()
        .attach_tokio_runtime(builder, options)
        .expect("a runtime")
}

/// Runs a future on the calling thread.
pub fn block_on<F>(runtime: &Runtime, future: F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    dial9::block_on(runtime, future)
}

/// Spawns a task.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    Dial9TokioHandle::current().spawn(future)
}
