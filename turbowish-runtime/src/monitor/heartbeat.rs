//! Heartbeat: a task on the runtime in which TurboWish was started, whose only work is to be
//! polled. While it is woken and not polled, no worker is free.
//!
//! The monitor wakes it, so that it needs no timer of that runtime and advances no paused clock. A
//! runtime with one thread gets none: whether that is driven is up to the application.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use tokio::runtime::{Handle, RuntimeFlavor};

use crate::lock::lock;

#[derive(Debug, Default)]
struct Heartbeat {
    waker: Mutex<Option<Waker>>,
    /// When it was woken and not polled since, in ticks; 0 if it was polled.
    asked: AtomicU64,
    over: AtomicBool,
}

/// The heartbeat, if it was started, and when it was checked last.
#[derive(Debug, Default)]
pub(super) struct HeartbeatTask(Mutex<Option<(Arc<Heartbeat>, u64)>>);

impl Heartbeat {
    fn wake(&self) {
        let waker = lock(&self.waker).clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl HeartbeatTask {
    /// Starts it on the caller's runtime, if that has workers of its own.
    pub(super) fn start(&self) {
        let handle = Handle::try_current().ok();
        let Some(handle) =
            handle.filter(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
        else {
            return;
        };
        let heartbeat = Arc::new(Heartbeat::default());
        *lock(&self.0) = Some((heartbeat.clone(), 0));
        // Of the same type as the server's tasks: tokio is compiled anew for each type.
        let task: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(poll_fn(move |cx| {
            let before = lock(&heartbeat.waker).replace(cx.waker().clone());
            drop(before);
            heartbeat.asked.store(0, Ordering::Relaxed);
            match heartbeat.over.load(Ordering::Relaxed) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        }));
        handle.spawn(task);
    }

    /// Stops it.
    pub(super) fn stop(&self) {
        let heartbeat = lock(&self.0).take();
        if let Some((heartbeat, _)) = heartbeat {
            heartbeat.over.store(true, Ordering::Relaxed);
            heartbeat.wake();
        }
    }

    /// Since when it waits to be polled, at most until `now`. If it does not wait, it is woken.
    /// `None` if there is none, or its runtime is gone.
    ///
    /// Called repeatedly, at most `pace` ticks apart. After a longer gap, in which the whole
    /// process may have been stopped, its wait starts anew.
    pub(super) fn ask(&self, now: u64, pace: u64) -> Option<u64> {
        let mut slot = lock(&self.0);
        let (heartbeat, looked) = slot.as_mut()?;
        if Arc::strong_count(heartbeat) == 1 {
            *slot = None;
            return None;
        }
        let paused = now.saturating_sub(std::mem::replace(looked, now)) > pace;
        let heartbeat = heartbeat.clone();
        drop(slot);
        let asked = heartbeat.asked.load(Ordering::Relaxed);
        if asked != 0 && !paused {
            return Some(asked);
        }
        heartbeat.asked.store(now.max(1), Ordering::Relaxed);
        heartbeat.wake();
        Some(now)
    }

    /// Number of live tasks of the application's runtimes that are the heartbeat: 0 or 1.
    pub(super) fn tasks(&self) -> u64 {
        let slot = lock(&self.0);
        let lives = slot
            .as_ref()
            .is_some_and(|(heartbeat, _)| Arc::strong_count(heartbeat) > 1);
        u64::from(lives)
    }
}

#[cfg(test)]
mod tests {
    use super::HeartbeatTask;

    #[test]
    fn a_pulse_is_felt_while_a_worker_is_free() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .build();
        let runtime = runtime.expect("it starts");
        let heartbeat = HeartbeatTask::default();
        assert_eq!((heartbeat.ask(1, 100), heartbeat.tasks()), (None, 0));
        runtime.block_on(async { heartbeat.start() });
        let polled = || runtime.block_on(async { tokio::spawn(async {}).await.expect("it ends") });
        polled();
        assert_eq!((heartbeat.ask(10, 100), heartbeat.tasks()), (Some(10), 1));
        while heartbeat.ask(20, 100) != Some(20) {
            polled();
        }
        polled();
        let (entered, is_in) = std::sync::mpsc::channel();
        let (leave, left) = std::sync::mpsc::channel::<()>();
        runtime.spawn(async move {
            let _ = entered.send(());
            let _ = left.recv();
        });
        is_in.recv().expect("the worker is held");
        assert_eq!(heartbeat.ask(500, 100), Some(500), "after a pause");
        assert_eq!(heartbeat.ask(550, 100), Some(500), "nobody polls it");
        drop(leave);
        while heartbeat.ask(600, 100) != Some(600) {
            polled();
        }
        heartbeat.stop();
        while runtime.metrics().num_alive_tasks() > 0 {
            polled();
        }
        assert_eq!((heartbeat.ask(700, 100), heartbeat.tasks()), (None, 0));
    }
}
