//! What woke or spawned a task, in one word.

use crate::account::paths::{PATH_IDS, PathId};

/// What woke or spawned a task: another task, and the call of it that ran then; or a thread that
/// polled no task.
///
/// One word, so that a wake stores it without a lock. A task with an ordinal of more than 31 bits
/// leaves no room for its call, which is then not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeSource(u64);

/// Innermost calls of the task that woke or spawned another one that are told, at most.
pub const WAKER_CALLS: usize = 8;

/// The number of a thread, in place of a task's ID.
const THREAD: u64 = 1 << 63;
/// A path stands above the task's ID.
const PATH: u64 = 1 << 62;
const PATH_AT: u32 = 45;

const _: () = assert!(PATH_IDS <= 1 << (62 - PATH_AT));

impl WakeSource {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self(0);

    /// A thread that polled no task.
    #[inline]
    #[must_use]
    pub const fn of_thread(thread: u32) -> Self {
        Self(THREAD | thread as u64)
    }

    /// A task, and the path of its call that ran; 0 if that is not known.
    #[inline]
    #[must_use]
    pub const fn of_task(task: u64, path: PathId) -> Self {
        if path == 0 || task == 0 || task >> PATH_AT != 0 {
            return Self(task);
        }
        Self(PATH | (path as u64) << PATH_AT | task)
    }

    /// The word.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The source for a word of [`WakeSource::bits`].
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The task's ID, as in [`TaskMeta::id`](super::TaskMeta::id); 0 if it is none, or not known.
    #[inline]
    #[must_use]
    pub const fn task(self) -> u64 {
        match self.0 {
            bits if bits & THREAD != 0 => 0,
            bits if bits & PATH != 0 => bits & ((1 << PATH_AT) - 1),
            task => task,
        }
    }

    /// The path of the task's call that ran; 0 if it is not known.
    #[must_use]
    pub const fn path(self) -> PathId {
        match self.0 & (THREAD | PATH) {
            PATH => (self.0 >> PATH_AT) as PathId & ((1 << (62 - PATH_AT)) - 1),
            _ => 0,
        }
    }

    /// Number of the thread, if it is one that polled no task.
    #[must_use]
    pub const fn thread(self) -> Option<u32> {
        match self.0 & THREAD {
            0 => None,
            _ => Some(self.0 as u32),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::{PATH_AT, WakeSource};
    use crate::account::paths::PATH_IDS;
    use crate::account::task::TaskMeta;

    #[test]
    fn nothing_is_known_of_zero() {
        let unknown = WakeSource::UNKNOWN;
        assert_eq!((unknown.task(), unknown.path()), (0, 0));
        assert_eq!(unknown.thread(), None);
        assert_eq!(WakeSource::of_task(0, 7), unknown);
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            root in 0_u32..1 << 14,
            ordinal in prop_oneof![1_u64..9, 1_u64 << 31..1 << 48, Just((1_u64 << 31) - 1)],
            path in 0..PATH_IDS,
            thread in any::<u32>(),
        ) {
            let meta = TaskMeta::new(root, ordinal, 0, 0);
            let source = WakeSource::of_task(meta.id, path);
            let known = if meta.id < 1 << PATH_AT { path } else { 0 };
            prop_assert_eq!((source.task(), source.path()), (meta.id, known));
            prop_assert_eq!(source.thread(), None);
            prop_assert_eq!(WakeSource::from_bits(source.bits()), source);
            let source = WakeSource::of_thread(thread);
            prop_assert_eq!((source.task(), source.path()), (0, 0));
            prop_assert_eq!(source.thread(), Some(thread));
        }
    }
}
