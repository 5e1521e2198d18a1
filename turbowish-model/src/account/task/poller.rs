//! Who polls a task, and in which epoch: one word. Numbers that it has no room for are in the part
//! that few tasks have.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::TaskCell;
use super::extra::CellOwner;

/// Flag: the thread polls the task now.
const POLLED: u32 = 1 << 15;
/// Number plus one of the thread that polls the task or polled it last; 0 before the first poll.
const THREAD: u32 = POLLED - 1;
/// The epoch is in the bits from here on.
const EPOCH_AT: u32 = 16;
/// Stands for an epoch that the word has no room for, as [`THREAD`] does for a thread.
const EPOCH: u32 = u32::MAX >> EPOCH_AT;

/// What the word of a cell says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Poller {
    /// Number of the thread; `None` before the first poll.
    pub(super) thread: Option<u32>,
    pub(super) is_polled: bool,
    pub(super) epoch: u32,
}

impl<O: CellOwner> TaskCell<O> {
    /// A poll on a thread begins.
    #[inline(always)]
    pub(super) fn polled_by(&self, epoch: u32, thread: u32) {
        let number = thread.wrapping_add(1);
        let word = match number < THREAD && epoch < EPOCH {
            true => epoch << EPOCH_AT | number,
            false => self.long_poller(epoch, number),
        };
        // `Release`: who sees the word also sees what it stands for.
        self.poller.store(word | POLLED, Release);
    }

    /// A branch's poll on a thread begins, which is not shown.
    #[inline]
    pub(super) fn polled_as_branch(&self, thread: u32) {
        let number = thread.wrapping_add(1);
        let short = match number < THREAD {
            true => number,
            false => self.long_thread(number),
        };
        let word = self.poller.load(Relaxed) & EPOCH << EPOCH_AT | short;
        self.poller.store(word, Release);
    }

    /// The poll is over.
    #[inline]
    pub(super) fn no_longer_polled(&self) {
        self.poller
            .store(self.poller.load(Relaxed) & !POLLED, Relaxed);
    }

    /// Sets the epoch.
    #[inline]
    pub(super) fn set_epoch(&self, epoch: u32) {
        let short = match epoch < EPOCH {
            true => epoch << EPOCH_AT,
            false => self.long_epoch(epoch),
        };
        let word = self.poller.load(Relaxed) & (THREAD | POLLED) | short;
        self.poller.store(word, Release);
    }

    /// Whether the last poll belongs to this epoch.
    #[inline(always)]
    pub(super) fn is_of_epoch(&self, epoch: u32) -> bool {
        match self.poller.load(Relaxed) >> EPOCH_AT {
            EPOCH => self.is_of_long_epoch(epoch),
            kept => kept == epoch,
        }
    }

    #[cold]
    #[inline(never)]
    fn is_of_long_epoch(&self, epoch: u32) -> bool {
        self.poller().epoch == epoch
    }

    /// Whether the last poll of the task or branch that began is that of a thread.
    #[must_use]
    pub fn is_polled_on(&self, thread: u32) -> bool {
        self.poller().thread == Some(thread)
    }

    pub(super) fn poller(&self) -> Poller {
        let word = self.poller.load(Acquire);
        let (mut epoch, mut number) = (word >> EPOCH_AT, word & THREAD);
        if (epoch == EPOCH || number == THREAD)
            && let Some(more) = self.known_more()
        {
            let [long_epoch, long_number] = [&more.epoch, &more.thread];
            if epoch == EPOCH {
                epoch = long_epoch.load(Relaxed);
            }
            if number == THREAD {
                number = long_number.load(Relaxed);
            }
        }
        Poller {
            thread: number.checked_sub(1),
            is_polled: word & POLLED != 0,
            epoch,
        }
    }

    #[cold]
    #[inline(never)]
    fn long_poller(&self, epoch: u32, number: u32) -> u32 {
        self.long_epoch(epoch) | self.long_thread(number)
    }

    #[cold]
    fn long_epoch(&self, epoch: u32) -> u32 {
        self.more().epoch.store(epoch, Relaxed);
        epoch.min(EPOCH) << EPOCH_AT
    }

    #[cold]
    fn long_thread(&self, number: u32) -> u32 {
        self.more().thread.store(number, Relaxed);
        number.min(THREAD)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::account::branch::Parent;
    use crate::account::paths::Paths;
    use crate::account::task::{TaskCell, TaskMeta};

    #[test]
    fn threads_and_epochs_are_as_long_as_it_takes() {
        let table = Paths::default();
        let numbers = [0, 1, 32_765, 32_766, 32_767, 65_535, 65_536, 1 << 30];
        let all = numbers
            .iter()
            .flat_map(|&thread| numbers.map(|epoch| (thread, epoch)));
        let cell = TaskCell::new(TaskMeta::new(1, 1, 0, 0));
        let mut before = None;
        for (nth, (thread, epoch)) in (1..).zip(all.clone().chain(all.rev())) {
            let expected = (before == Some(epoch)).then_some(nth - 1);
            assert_eq!(
                cell.begin(epoch, thread, nth).filter(|_| nth > 1),
                expected,
                "{thread} {epoch}"
            );
            assert!(cell.is_polled_on(thread) && !cell.is_polled_on(thread + 1));
            let seen = cell.read(&table, &mut || ());
            assert_eq!((seen.thread, seen.epoch), (Some(thread), epoch));
            assert!(cell.glance(&mut || ()).is_polled);
            cell.end(nth, 0, 0).unmoved();
            let seen = cell.read(&table, &mut || ());
            let last = seen.last.map(|last| last.thread);
            assert_eq!((seen.thread, last, seen.epoch), (None, Some(thread), epoch));
            before = Some(epoch);
        }
        cell.renew(&TaskMeta::new(1, 2, 0, 0));
        assert!(cell.read(&table, &mut || ()).last.is_none());
    }

    #[test]
    fn those_of_branches_are_so_too() {
        let table = Paths::default();
        let cell = TaskCell::new(TaskMeta::new(1, 1, 0, 0));
        for (thread, epoch) in [
            (3, 5),
            (32_766, 5),
            (70_000, 65_535),
            (70_000, 90_000),
            (1, 7),
        ] {
            cell.begin_branch(thread);
            assert!(cell.is_polled_on(thread));
            assert!(!cell.stay(epoch, 9) || epoch == 5);
            cell.end_branch(epoch, 8, Parent::default(), &table, |_| {});
            assert!(cell.is_polled_on(thread) && cell.stay(epoch, 10) && !cell.stay(epoch + 1, 11));
            let (seen, polled_in) = cell.read_branch(&table, &mut || ());
            assert_eq!((seen.polled, polled_in), (10, epoch));
        }
    }
}
