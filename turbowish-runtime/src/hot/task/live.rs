//! Numbers of live tasks: sharded counters. Each thread counts in words of its own, without a
//! locked instruction, and waits for no other thread's cache line. The sum of all threads is the
//! number.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use once_cell::race::OnceRef;

/// What is counted.
#[derive(Clone, Copy)]
pub(super) enum Live {
    Tasks,
    /// Tasks that belong to no tokio runtime.
    Outside,
    Branches,
}

/// The changes by one thread; after its end, by the next one that takes them. A task may end on
/// another thread than where it began, so a part alone may be negative.
#[repr(align(64))]
pub(super) struct ThreadCounts {
    changes: [AtomicU64; 3],
    /// Whether a thread counts here.
    taken: AtomicBool,
    next: OnceRef<'static, Self>,
}

/// Where this thread counts.
pub(super) struct OwnCounts(Cell<Option<&'static ThreadCounts>>);

impl ThreadCounts {
    /// The first one, which leads to all others. Threads whose thread-local storage is gone share
    /// it.
    pub(super) const fn first() -> Self {
        Self {
            changes: [const { AtomicU64::new(0) }; 3],
            taken: AtomicBool::new(true),
            next: OnceRef::new(),
        }
    }

    fn all(&'static self) -> impl Iterator<Item = &'static Self> {
        std::iter::successors(Some(self), |counts| counts.next.get())
    }

    /// One in which no thread counts.
    #[cold]
    fn take(&'static self) -> &'static Self {
        let is_free = |counts: &&Self| !counts.taken.swap(true, Ordering::Acquire);
        self.all().find(is_free).unwrap_or_else(|| {
            let new: &Self = Box::leak(Box::new(Self::first()));
            // Another thread may have added one meanwhile.
            while !self.all().any(|last| last.next.set(new).is_ok()) {}
            new
        })
    }

    /// Adds `change` for a thread whose thread-local storage is gone.
    #[cold]
    pub(super) fn add_stray(&self, what: Live, change: u64) {
        self.changes[what as usize].fetch_add(change, Ordering::Relaxed);
    }

    /// The number of all threads. While it changes, it may be less than it ever was.
    pub(super) fn sum(&'static self, what: Live) -> u64 {
        let changes = self.all().map(|counts| &counts.changes[what as usize]);
        let sum = changes.fold(0, |sum: u64, word| {
            sum.wrapping_add(word.load(Ordering::Relaxed))
        });
        // The end of a task may have been seen, and not its begin.
        u64::try_from(sum.cast_signed()).unwrap_or(0)
    }
}

impl OwnCounts {
    pub(super) const fn new() -> Self {
        Self(Cell::new(None))
    }

    /// Adds `change`, which wraps around, to what `first` leads to.
    #[inline]
    pub(super) fn add(&self, first: &'static ThreadCounts, what: Live, change: u64) {
        let counts = self.0.get().unwrap_or_else(|| {
            let taken = first.take();
            self.0.set(Some(taken));
            taken
        });
        let word = &counts.changes[what as usize];
        let changed = word.load(Ordering::Relaxed).wrapping_add(change);
        word.store(changed, Ordering::Relaxed);
    }
}

impl Drop for OwnCounts {
    /// Lets another thread count there.
    fn drop(&mut self) {
        if let Some(counts) = self.0.take() {
            counts.taken.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{Live, OwnCounts, ThreadCounts};

    const ONE_LESS: u64 = 1_u64.wrapping_neg();

    #[test]
    fn threads_count_apart_and_their_sum_is_the_number() {
        static FIRST: ThreadCounts = ThreadCounts::first();
        let count = |change: u64, times: u32| {
            thread::spawn(move || {
                let own = OwnCounts::new();
                (0..times).for_each(|_| own.add(&FIRST, Live::Tasks, change));
            })
        };
        count(1, 1_000).join().expect("no panic");
        assert_eq!(FIRST.sum(Live::Tasks), 1_000);
        let threads = [(); 4].map(|()| count(ONE_LESS, 200));
        FIRST.add_stray(Live::Tasks, 7);
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!(
            [Live::Tasks, Live::Branches].map(|what| FIRST.sum(what)),
            [207, 0]
        );
        // Those of ended threads are used again.
        assert!((2..=5).contains(&FIRST.all().count()));
        // The ends are seen sooner than the begins.
        FIRST.add_stray(Live::Tasks, 208_u64.wrapping_neg());
        assert_eq!(FIRST.sum(Live::Tasks), 0);
    }
}
