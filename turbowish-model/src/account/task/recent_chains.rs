//! Chains that a thread has published lately, by their calls: most tasks come to wait where others
//! did. A chain that is remembered is found by one comparison for each of its calls. In the table
//! of chains, each call is a search that begins with the result of the one before.

// Only the thread itself looks at these.
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::account::await_stack::{AwaitFrameCell, AwaitStep};
use crate::account::paths::{PathId, PathKey};

/// Chains that are remembered.
const CHAINS: usize = 16;
/// Calls of such a chain, at most.
const CALLS: usize = 7;

/// The chains that one thread remembers, all of the same table.
#[derive(Debug, Default)]
pub struct RecentChains([RecentChain; CHAINS]);

/// A chain from a task's root on. One cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct RecentChain {
    /// Keys of its frames with their levels, innermost first.
    keys: [AtomicU64; CALLS],
    chain: AtomicU32,
    /// Number of its frames; 0 if there is no chain.
    len: AtomicU32,
}

impl RecentChains {
    /// The chain of these frames, innermost first, if it is remembered, and the time at which all
    /// of them reached their await points, if that is one.
    #[inline(always)]
    pub(super) fn find(&self, frames: &[AwaitFrameCell]) -> Option<(PathId, u64)> {
        let AwaitStep { key, since } = frames.first()?.step();
        let known = self.place(key);
        if known.len.load(Relaxed) as usize != frames.len() {
            return None;
        }
        let mut both = frames.iter().zip(&known.keys);
        let is_same = both.all(|(frame, key)| {
            let step = frame.step();
            step.key.word() == key.load(Relaxed) && step.since == since
        });
        is_same.then(|| (known.chain.load(Relaxed), since))
    }

    /// Remembers the chain of these frames, of which the last one is the root's, in place of
    /// another one. Long chains are not remembered.
    pub(super) fn learn(&self, frames: &[AwaitFrameCell], chain: PathId) {
        let Some(innermost) = frames.first().filter(|_| frames.len() <= CALLS) else {
            return;
        };
        let known = self.place(innermost.step().key);
        for (key, frame) in known.keys.iter().zip(frames) {
            key.store(frame.step().key.word(), Relaxed);
        }
        known.chain.store(chain, Relaxed);
        known.len.store(frames.len() as u32, Relaxed);
    }

    /// Where a chain is remembered, by its innermost frame.
    #[inline(always)]
    const fn place(&self, innermost: PathKey) -> &RecentChain {
        let level = innermost.parent();
        let mixed = innermost.proc() ^ innermost.site() ^ level;
        &self.0[mixed as usize % CHAINS]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::{CALLS, RecentChains};
    use crate::account::await_stack::AwaitStack;
    use crate::account::ledger::TakenStack;
    use crate::account::paths::Paths;
    use crate::account::task::TaskCell;

    /// Frames of a poll, by level from that of the outermost one on: proc, await point, time.
    type Frames = (u32, Vec<(u32, u32, u64)>);

    /// Few different ones, of chains that are remembered and of longer ones, and of polls in which
    /// only the inner calls moved.
    fn frames() -> impl Strategy<Value = Frames> {
        let frame = (
            0..2_u32,
            0..2_u32,
            prop_oneof![5 => Just(7_u64), 1 => 7..9_u64],
        );
        let outermost = prop_oneof![4 => Just(0), 1 => 0..3_u32];
        (outermost, proptest::collection::vec(frame, 1..CALLS + 3))
    }

    /// The frames of a chain that reached their await points at these times, innermost first.
    fn stack(since: &[u64]) -> AwaitStack {
        let stack = AwaitStack::default();
        for (level, &since) in since.iter().enumerate().rev() {
            stack.push(level as u32, 3, 1, since);
        }
        stack
    }

    #[test]
    fn a_chain_that_was_published_before_is_found_if_it_has_one_time() {
        let (recent, table, cell) = (
            RecentChains::default(),
            Paths::default(),
            TaskCell::default(),
        );
        let found = |since: &[u64]| recent.find(stack(since).frames(0).expect("few frames"));
        for len in 1..=CALLS + 1 {
            let times = vec![5; len];
            assert_eq!(found(&times), None);
            let stack = stack(&times);
            cell.begin(1, 0, 0);
            let taken = TakenStack::of(&stack, 0);
            cell.end(1, 1, 1).publish_taken(&table, &recent, &taken);
            let expected = (len <= CALLS).then(|| (cell.chain(), 9));
            assert_eq!(found(&vec![9; len]), expected);
            if len > 1 {
                let mut times = vec![9; len];
                times[0] = 8;
                assert_eq!(found(&times), None);
            }
        }
    }

    proptest! {
        /// Two cells, one of a thread that remembers chains.
        #[test]
        fn what_is_published_is_the_same_as_without(
            polls in proptest::collection::vec((frames(), 0..9_usize), 1..40),
        ) {
            let (recent, table) = (RecentChains::default(), Paths::default());
            let [plain, cell] = [(); 2].map(|()| TaskCell::default());
            for ((outermost, frames), blank) in polls {
                let stack = AwaitStack::default();
                let all = (outermost..).zip(&frames);
                for (level, &(proc, place, since)) in all.collect::<Vec<_>>().into_iter().rev() {
                    stack.push(level, proc, place, since);
                }
                if let Some(&(proc, place, since)) = frames.get(blank) {
                    // It was polled again, or dropped, in the same poll.
                    let level = outermost + blank as u32;
                    stack.remove(level, proc, place, since);
                }
                let taken = TakenStack::of(&stack, 0);
                plain.begin(1, 0, 0);
                plain.end(1, 1, 1).publish(&table, |publication| {
                    taken.each(|step| publication.push(step));
                });
                cell.begin(1, 0, 0);
                cell.end(1, 1, 1).publish_taken(&table, &recent, &taken);
                let [plain, told] = [&plain, &cell].map(|cell| cell.read(&table, &mut || ()));
                prop_assert_eq!(&plain.stack, &told.stack);
                prop_assert_eq!(plain.truncated, told.truncated);
            }
        }
    }
}
