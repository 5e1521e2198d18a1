//! Cache of chains that a thread has published: most tasks come to wait where others did. A cached
//! chain is found by one comparison for each of its frames. In the table of chains, each frame is
//! a search that begins with the result of the one before.

// The thread alone looks at it.
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::account::await_stack::{AwaitFrameCell, AwaitStep};
use crate::account::paths::{PathId, PathKey};

/// Cached chains.
const CHAINS: usize = 16;
/// Frames of a cached chain, at most.
const FRAMES: usize = 7;

/// Direct-mapped cache of chains whose frames reached their await points at one time.
///
/// Only one thread uses it, and with one table of chains only.
#[derive(Debug, Default)]
pub struct ChainCache([CachedChain; CHAINS]);

/// A chain from a task's root on. One cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct CachedChain {
    /// Keys of its frames with their levels, innermost first.
    keys: [AtomicU64; FRAMES],
    chain: AtomicU32,
    /// Number of its frames; 0 if there is no chain.
    len: AtomicU32,
}

const _: () = assert!(size_of::<CachedChain>() == 64);

impl ChainCache {
    /// Returns the chain of these frames, innermost first, and their common time; `None` if they
    /// have several times, or are not cached.
    #[inline(always)]
    pub(super) fn get(&self, frames: &[AwaitFrameCell]) -> Option<(PathId, u64)> {
        let AwaitStep { since, .. } = frames.first()?.step();
        let entry = self.entry(frames);
        if entry.len.load(Relaxed) as usize != frames.len() {
            return None;
        }
        let mut both = frames.iter().zip(&entry.keys);
        let is_same = both.all(|(frame, key)| {
            let step = frame.step();
            step.key.word() == key.load(Relaxed) && step.since == since
        });
        is_same.then(|| (entry.chain.load(Relaxed), since))
    }

    /// Caches the chain of these frames, in place of another one, if they are few and go down from
    /// a task's root without a gap.
    pub(super) fn insert(&self, frames: &[AwaitFrameCell], chain: PathId) {
        let levels = frames.iter().rev().map(|frame| frame.step().level());
        if frames.len() > FRAMES || !levels.eq(0..frames.len() as u32) {
            return;
        }
        let entry = self.entry(frames);
        for (key, frame) in entry.keys.iter().zip(frames) {
            key.store(frame.step().key.word(), Relaxed);
        }
        entry.chain.store(chain, Relaxed);
        entry.len.store(frames.len() as u32, Relaxed);
    }

    /// The entry for these frames, by the two innermost ones: many callers wait in the same call.
    #[inline(always)]
    fn entry(&self, frames: &[AwaitFrameCell]) -> &CachedChain {
        let key = |frame: Option<&AwaitFrameCell>| frame.map_or(0, |frame| frame.step().key.word());
        let [innermost, caller] = [frames.first(), frames.get(1)].map(key);
        let mixed = PathKey::from_word(innermost ^ caller.rotate_left(u32::BITS));
        &self.0[mixed.hash() % CHAINS]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::{ChainCache, FRAMES};
    use crate::account::await_stack::{AwaitFrame, AwaitStack};
    use crate::account::ledger::TakenStack;
    use crate::account::paths::Paths;
    use crate::account::task::TaskCell;

    /// Frames of a poll, by level from that of the outermost one on: proc, await point, time.
    type Frames = (u32, Vec<(u32, u32, u64)>);

    /// Few different ones, of chains that are cached and of longer ones, and of polls in which only
    /// the inner calls moved.
    fn frames() -> impl Strategy<Value = Frames> {
        let since = prop_oneof![5 => Just(7_u64), 1 => 7..9_u64, 1 => Just(0)];
        let outermost = prop_oneof![4 => Just(0), 1 => 0..3_u32];
        let frame = (0..2_u32, 0..2_u32, since);
        (outermost, proptest::collection::vec(frame, 1..FRAMES + 3))
    }

    /// The await stack of frames by level and time, outermost first.
    fn stack(frames: &[(u32, u64)]) -> AwaitStack {
        let stack = AwaitStack::default();
        for &(level, since) in frames.iter().rev() {
            stack.push(level, 3, 1, since);
        }
        stack
    }

    /// As many levels from the root on, all of them since the same time.
    fn from_root(len: usize, since: u64) -> Vec<(u32, u64)> {
        (0..).zip(vec![since; len]).collect()
    }

    /// What is cached for these frames.
    fn get(cache: &ChainCache, frames: &[(u32, u64)]) -> Option<(u32, u64)> {
        cache.get(stack(frames).frames(0).expect("few frames"))
    }

    /// Publishes these frames, and returns the chain.
    fn publish(cache: &ChainCache, table: &Paths, frames: &[(u32, u64)]) -> u32 {
        let (stack, cell) = (stack(frames), TaskCell::default());
        cell.begin(1, 0, 0);
        let taken = TakenStack::of(&stack, 0);
        cell.end(1, 1, 1).publish_taken(table, cache, &taken);
        cell.chain()
    }

    #[test]
    fn a_published_chain_is_found_if_its_frames_have_one_time() {
        let (cache, table) = (ChainCache::default(), Paths::default());
        for len in 1..=FRAMES + 1 {
            let mut frames = from_root(len, 9);
            assert_eq!(get(&cache, &frames), None);
            let chain = publish(&cache, &table, &from_root(len, 5));
            assert_eq!(get(&cache, &frames), (len <= FRAMES).then_some((chain, 9)));
            if let [.., outer, _] = &mut frames[..] {
                outer.1 = 8;
                assert_eq!(get(&cache, &frames), None);
            }
        }
    }

    #[test]
    fn what_has_several_times_or_no_root_or_a_gap_is_not_cached() {
        let (cache, table) = (ChainCache::default(), Paths::default());
        for frames in [
            &[(0, 5), (1, 6)][..],
            &[(1, 5), (2, 5)],
            &[(0, 5), (2, 5)],
            &[(0, 5), (0xffff, 5), (1, 5)],
        ] {
            publish(&cache, &table, frames);
            cache.insert(stack(&frames[1..]).frames(0).expect("few frames"), 1);
            let of_one_time: Vec<_> = frames.iter().map(|&(level, _)| (level, 5)).collect();
            assert_eq!(get(&cache, &of_one_time), None);
        }
    }

    proptest! {
        /// Two cells, one of a thread without a cache.
        #[test]
        fn the_cache_does_not_change_what_is_published(
            polls in proptest::collection::vec((frames(), 0..9_usize), 1..40),
        ) {
            let (cache, table) = (ChainCache::default(), Paths::default());
            let [plain, cached] = [(); 2].map(|()| TaskCell::default());
            for ((outermost, frames), gone) in polls {
                let stack = AwaitStack::default();
                let all: Vec<_> = (outermost..).zip(&frames).collect();
                for &(level, &(proc, place, since)) in all.iter().rev() {
                    stack.push(level, proc, place, since);
                }
                if let Some(&(level, &(proc, place, since))) = all.get(gone) {
                    // It was polled again, or dropped, in the same poll.
                    let (site, direct) = (place as u16, false);
                    stack.blank(AwaitFrame { level, proc, site, direct, since }, 0);
                }
                let taken = TakenStack::of(&stack, 0);
                plain.begin(1, 0, 0);
                plain.end(1, 1, 1).publish(&table, |publication| {
                    taken.each(|step| publication.push(step));
                });
                cached.begin(1, 0, 0);
                cached.end(1, 1, 1).publish_taken(&table, &cache, &taken);
                let [plain, cached] = [&plain, &cached].map(|cell| cell.read(&table, &mut || ()));
                prop_assert_eq!(&plain.stack, &cached.stack);
                prop_assert_eq!(plain.truncated, cached.truncated);
            }
        }
    }
}
