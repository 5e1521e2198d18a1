//! Processor time of the monitor's thread and of queries.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Processor time used, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct CpuTime {
    /// Of the monitor's thread and of queries; 0 before its first tick.
    all: AtomicU64,
    /// Of the thread that answers queries.
    queries: AtomicU64,
}

impl CpuTime {
    /// Adds the processor time of the answer to a query.
    pub(super) fn answered(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.queries.fetch_add(ns, Ordering::Relaxed);
    }

    /// Updates the monitor's own processor time. Returns all, in nanoseconds.
    pub(super) fn look(&self) -> u64 {
        let own = u64::try_from(used().as_nanos()).unwrap_or(u64::MAX);
        let ns = own.saturating_add(self.queries.load(Ordering::Relaxed));
        self.all.store(ns, Ordering::Relaxed);
        ns
    }

    /// Processor time at the last update, in nanoseconds.
    pub(super) fn all(&self) -> Option<u64> {
        let used = self.all.load(Ordering::Relaxed);
        (used > 0).then_some(used)
    }
}

/// Processor time of this thread. Budgets are checked against this, because elapsed time also
/// depends on the machine's load.
pub(super) fn used() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    /// A waiting thread uses none, however long another one works.
    #[test]
    fn processor_time_is_of_the_thread_that_takes_it() {
        let work = std::time::Duration::from_millis(20);
        let begun = super::used();
        let busy = std::thread::spawn(move || {
            while super::used() < work {
                std::hint::spin_loop();
            }
        });
        busy.join().unwrap();
        assert!(super::used() - begun < work);
    }
}
