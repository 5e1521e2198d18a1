//! Blocking waits for a future on a thread that runs no tasks.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks the thread until `future` is ready.
///
/// # Panics
/// If called on a thread that runs tasks of a tokio runtime, as tokio's own `blocking_` methods do,
/// and with their message.
#[track_caller]
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    // The mutex is free: the call only makes tokio check the calling thread.
    drop(tokio::sync::Mutex::const_new(()).blocking_lock());
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        std::thread::park();
    }
}
