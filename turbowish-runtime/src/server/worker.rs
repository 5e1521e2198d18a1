//! Worker thread that runs one job at a time. It exists while there are jobs, and a while longer.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::lock;

/// Time that the thread stays without jobs: a console asks again within a second or so, and at most
/// within ten.
const LINGERS: Duration = Duration::from_secs(15);

pub(super) type Job = Box<dyn FnOnce() + Send>;

/// Job queue of the thread; clones share it.
#[derive(Clone, Default)]
pub(super) struct Worker(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<Jobs>,
    changed: Condvar,
}

#[derive(Default)]
struct Jobs {
    jobs: VecDeque<Job>,
    is_running: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, Jobs> {
        lock(&self.state)
    }
}

impl Worker {
    /// Runs a job after those before it.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub(super) fn push(&self, job: Job) -> io::Result<()> {
        let mut state = self.0.state();
        if !state.is_running {
            let shared = self.0.clone();
            let thread = std::thread::Builder::new().name("turbowish-query".to_owned());
            // Boxed as for other threads: the code that starts one is then compiled once.
            let work: Box<dyn FnOnce() + Send> = Box::new(move || run(&shared));
            // Blocks signals in the thread: they go to threads of the application.
            turbowish_unsafe::signal::apart(|| thread.spawn(work))?;
            state.is_running = true;
        }
        state.jobs.push_back(job);
        drop(state);
        self.0.changed.notify_one();
        Ok(())
    }
}

fn run(shared: &Shared) {
    loop {
        let has_none = |state: &mut Jobs| state.jobs.is_empty();
        let waited = shared
            .changed
            .wait_timeout_while(shared.state(), LINGERS, has_none);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let Some(job) = state.jobs.pop_front() else {
            state.is_running = false;
            return;
        };
        drop(state);
        // A panic must not affect other jobs; the waiting side sees that no answer comes.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(job)) {
            std::mem::forget(payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::Worker;

    #[test]
    fn jobs_are_done_in_order_on_one_thread_whatever_becomes_of_one() {
        let worker = Worker::default();
        let (done, all) = mpsc::channel();
        for nth in 0..4 {
            let done = done.clone();
            let job = move || {
                let thread = std::thread::current();
                done.send((nth, thread.id())).expect("somebody listens");
                assert_ne!(nth, 1, "a job that panics");
            };
            worker.push(Box::new(job)).expect("a thread");
        }
        let done: Vec<_> = all.iter().take(4).collect();
        assert!(done.iter().map(|(nth, _)| *nth).eq(0..4));
        assert!(done.iter().all(|(_, thread)| *thread == done[0].1));
    }
}
