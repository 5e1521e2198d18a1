//! Live tasks of the application's tokio runtimes, instrumented or not: of the runtime in which
//! TurboWish was started, and of those in which a thread has polled a call.

#[cfg(any(feature = "tokio", feature = "server"))]
mod tokio;
#[cfg(not(any(feature = "tokio", feature = "server")))]
#[path = "runtimes/absent.rs"]
mod tokio;

pub(crate) use self::tokio::{
    RunningTask, Seen, blocking_wakers, current, forget, is_forced_to_yield, is_outside, note,
    running_task, tasks,
};
