//! The await stack of a task cell. A chain of calls is one number, however long it is: an entry of
//! a table of chains. The frames of a chain have few different times at which they reached their
//! await points, because a call that moves has let go of all calls below it. An await stack that is
//! no such chain is kept frame by frame, in the part of the cell that few tasks have.

use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use super::{Alone, CellOwner, STACK_LIMIT, TaskCell};
use crate::account::await_stack::{AwaitFrame, AwaitStep};
use crate::account::paths::{PATH_BITS, PathId, PathKey, Paths};

/// Different times that a chain may have.
pub(super) const TIMES: usize = 3;

const LEVEL_BITS: u32 = 7;
const _: () = assert!(PATH_BITS + 2 * LEVEL_BITS <= u32::BITS);

/// Stands for no level: there is no frame with that time.
const NEVER: u32 = (1 << LEVEL_BITS) - 1;
/// Both levels of a chain whose frames all have the first time.
const ONE_TIME: u32 = NEVER | NEVER << LEVEL_BITS;

/// In place of a frame's level: that of none.
const NEVER_NEXT: u32 = u32::MAX;

/// An await stack as it is kept, or on its way there. Levels are counted from the first frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stack {
    /// The chain; 0 if the frames are kept one by one, or if there are none.
    chain: PathId,
    /// Number of frames, those that are cut included.
    len: u32,
    /// Levels of the first frames with the second and the third time.
    from: [u32; TIMES - 1],
    times: [u64; TIMES],
    /// The time of the last frame.
    latest: u64,
}

impl Stack {
    pub(super) const EMPTY: Self = Self {
        chain: 0,
        len: 0,
        from: [NEVER; TIMES - 1],
        times: [0; TIMES],
        latest: 0,
    };

    /// A chain from a task's root on, of frames that all have this time.
    #[inline(always)]
    pub(super) const fn of_one_time(chain: PathId, since: u64) -> Self {
        Self {
            chain,
            times: [since, 0, 0],
            ..Self::EMPTY
        }
    }

    /// Which of the times a frame has.
    fn nth(&self, level: u32) -> usize {
        let is_past = |from: u32| from != NEVER && from <= level;
        self.from.iter().filter(|&&from| is_past(from)).count()
    }

    /// The frames of a chain, innermost first, with their distance from the root if that of the
    /// first frame is `base`.
    fn frames<'a>(&'a self, table: &'a Paths, base: u32) -> impl Iterator<Item = AwaitStep> + 'a {
        let mut next = self.chain;
        let levels = (0..self.len.min(STACK_LIMIT)).rev();
        levels.map_while(move |level| {
            let key = (next != 0).then(|| table.key(next))?;
            next = key.parent();
            Some(AwaitStep {
                key: key.below(base + level),
                since: self.times[self.nth(level)],
            })
        })
    }

    /// Adds the next frame to a chain, if the result is one that can be kept.
    #[inline(always)]
    fn extend(&mut self, table: &Paths, step: AwaitStep) -> bool {
        let key = step.key.below(self.chain);
        let Some(chain) = table.known(key).or_else(|| find(table, key)) else {
            return false;
        };
        if self.len == 0 {
            (self.times[0], self.latest) = (step.since, step.since);
        } else if step.since != self.latest && !self.set_time(step.since) {
            return false;
        }
        self.chain = chain;
        self.len += 1;
        true
    }

    /// Sets the time of the next frame, which is not that of the last one; `false` if there are too
    /// many.
    #[inline(never)]
    fn set_time(&mut self, since: u64) -> bool {
        let nth = self.nth(self.len);
        if nth + 1 == TIMES || self.len >= NEVER {
            return false;
        }
        self.from[nth] = self.len;
        self.times[nth + 1] = since;
        self.latest = since;
        true
    }
}

/// Finds or adds a chain that is not the last one of its bucket.
#[inline(never)]
fn find(table: &Paths, key: PathKey) -> Option<PathId> {
    table.intern(key)
}

impl<O: CellOwner> TaskCell<O> {
    /// The chain that was published last; 0 if its frames are kept one by one, or if there are
    /// none. For the thread that polls the task.
    #[inline(always)]
    pub fn chain(&self) -> PathId {
        self.place.load(Relaxed) & ((1 << PATH_BITS) - 1)
    }

    /// The await stack that was published last.
    fn published(&self, table: &Paths) -> Stack {
        let word = self.place.load(Relaxed);
        let (chain, rest) = (word & ((1 << PATH_BITS) - 1), word >> PATH_BITS);
        if chain == 0 {
            return Stack {
                len: rest,
                ..Stack::EMPTY
            };
        }
        let mut stack = Stack {
            chain,
            len: table.level(chain) + 1,
            from: [rest & NEVER, rest >> LEVEL_BITS & NEVER],
            ..Stack::EMPTY
        };
        stack.times[0] = self.time.load(Relaxed);
        if rest != ONE_TIME
            && let Some(extra) = self.owner.extra()
        {
            for (time, own) in stack.times[1..].iter_mut().zip(&extra.times) {
                *time = own.load(Relaxed);
            }
        }
        stack
    }

    /// The published frames of the levels below `level`, which is not 0, as the beginning of a new
    /// await stack.
    #[inline(never)]
    pub(super) fn published_above(&self, table: &Paths, level: u32) -> Stack {
        let mut stack = self.published(table);
        if stack.len < level && stack.chain != 0 {
            self.keep_each(&mut stack, table, 0);
        }
        if stack.chain != 0 {
            for _ in level..stack.len {
                stack.chain = table.key(stack.chain).parent();
            }
        }
        stack.len = level;
        for from in stack.from.iter_mut().filter(|from| **from >= level) {
            *from = NEVER;
        }
        stack.latest = stack.times[stack.nth(level - 1)];
        stack
    }

    /// Keeps the frames of a chain one by one from here on.
    #[cold]
    fn keep_each(&self, stack: &mut Stack, table: &Paths, base: u32) {
        let steps = &self.long().steps;
        for step in stack.frames(table, base) {
            steps.at((step.level() - base) as usize).store(step);
        }
        stack.chain = 0;
    }

    /// Publishes an await stack.
    #[inline]
    pub(super) fn publish(&self, stack: &Stack) {
        if stack.chain == 0 {
            let len = stack.len.min(STACK_LIMIT + 1);
            self.place.store(len << PATH_BITS, Relaxed);
            return;
        }
        let rest = stack.from[0] | stack.from[1] << LEVEL_BITS;
        self.place.store(rest << PATH_BITS | stack.chain, Relaxed);
        self.time.store(stack.times[0], Relaxed);
        if rest != ONE_TIME {
            self.publish_times(stack);
        }
    }

    #[inline(never)]
    fn publish_times(&self, stack: &Stack) {
        let extra = self.owner.make_extra();
        for (own, &time) in extra.times.iter().zip(&stack.times[1..]) {
            own.store(time, Relaxed);
        }
    }

    /// The published frames, outermost first, and whether some are cut. `base` is the distance of
    /// the first one from the root.
    pub(super) fn stack(&self, table: &Paths, base: u32) -> (Vec<AwaitFrame>, bool) {
        let stack = self.published(table);
        if stack.chain != 0 {
            let frames = stack.frames(table, base).map(AwaitFrame::from);
            let mut frames: Vec<_> = frames.collect();
            frames.reverse();
            return (frames, false);
        }
        let steps = self.known_long().map(|long| &long.steps);
        let kept = 0..stack.len.min(STACK_LIMIT) as usize;
        let frames = kept.map_while(|at| Some(steps?.get(at)?.load()));
        (frames.collect(), stack.len > STACK_LIMIT)
    }
}

/// An await stack that is being published. Frames are added outermost first.
#[derive(Debug)]
pub struct Publication<'a, O = Alone> {
    cell: &'a TaskCell<O>,
    table: &'a Paths,
    stack: Stack,
    /// Distance of the first frame from the root.
    base: u32,
    /// Level of a frame that continues the chain; [`NEVER_NEXT`] if the frames are kept one by one.
    next: u32,
    /// Maximum number of frames.
    limit: u32,
}

impl<'a, O: CellOwner> Publication<'a, O> {
    pub(super) const fn new(cell: &'a TaskCell<O>, table: &'a Paths, limit: u32) -> Self {
        Self {
            cell,
            table,
            stack: Stack::EMPTY,
            base: 0,
            next: 0,
            limit,
        }
    }

    /// Adds the next frame.
    #[inline(always)]
    pub fn push(&mut self, step: impl Into<AwaitStep>) {
        let step = step.into();
        let is_next = step.level() == self.next && self.stack.len < self.limit;
        if is_next && self.stack.extend(self.table, step) {
            self.next += 1;
        } else {
            self.push_other(step);
        }
    }

    /// Adds a frame that does not continue a chain, or not one that can be kept.
    #[inline(never)]
    fn push_other(&mut self, step: AwaitStep) {
        match (self.stack.len, step.level()) {
            (0, 1..) => self.push_below(step),
            _ => self.push_apart(step),
        }
    }

    /// Adds the first frame, which is not the root.
    fn push_below(&mut self, step: AwaitStep) {
        if self.limit == STACK_LIMIT {
            // The frames above it are published, one per level.
            self.stack = self.cell.published_above(self.table, step.level());
        } else {
            self.base = step.level();
        }
        let len = self.stack.len;
        let is_chain = (self.stack.chain != 0 || len == 0) && len < self.limit;
        if is_chain && self.stack.extend(self.table, step) {
            self.next = step.level() + 1;
        } else {
            self.push_apart(step);
        }
    }

    #[cold]
    fn push_apart(&mut self, step: AwaitStep) {
        let len = self.stack.len;
        if self.limit < STACK_LIMIT && len >= self.limit {
            return;
        }
        self.cell.keep_each(&mut self.stack, self.table, self.base);
        self.next = NEVER_NEXT;
        if len < STACK_LIMIT {
            self.cell.long().steps.at(len as usize).store(step);
        }
        self.stack.len = len.saturating_add(1);
    }

    /// The chain of all frames so far, if they are one that has one time.
    pub(super) fn chain_of_one_time(&self) -> Option<PathId> {
        let Stack { chain, from, .. } = self.stack;
        (chain != 0 && from == [NEVER; TIMES - 1]).then_some(chain)
    }

    /// Publishes what was added. Returns the distance of the first frame from the root.
    #[inline]
    pub(super) fn end(self) -> u32 {
        self.cell.publish(&self.stack);
        self.base
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec::Vec;

    use crate::account::await_stack::AwaitFrame;
    use crate::account::paths::Paths;
    use crate::account::task::{STACK_LIMIT, TaskCell};

    fn frame(level: u32, proc: u32, since: u64) -> AwaitFrame {
        AwaitFrame {
            level,
            proc,
            site: (proc % 3) as u16,
            direct: proc.is_multiple_of(2),
            since,
        }
    }

    /// Publishes frames by level, proc and time, and reads the result.
    fn publish(cell: &TaskCell, table: &Paths, frames: &[AwaitFrame]) -> Vec<AwaitFrame> {
        cell.begin(1, 0, 0);
        cell.end(1, 1, 1).publish(table, |stack| {
            frames.iter().for_each(|&step| stack.push(step));
        });
        let reading = cell.read(table, &mut || ());
        assert_eq!(reading.truncated, reading.stack.len() < frames.len());
        reading.stack
    }

    fn is_chain(cell: &TaskCell) -> bool {
        cell.known_more().is_none()
    }

    #[test]
    fn a_chain_is_one_number_however_long_it_is() {
        let (cell, table) = (TaskCell::default(), Paths::default());
        for len in [1, 3, 64, STACK_LIMIT] {
            let frames: Vec<_> = (0..len).map(|level| frame(level, level % 7, 5)).collect();
            assert_eq!(publish(&cell, &table, &frames), frames);
        }
        assert!(is_chain(&cell));
        let frames: Vec<_> = (0..=STACK_LIMIT).map(|level| frame(level, 1, 5)).collect();
        assert_eq!(
            publish(&cell, &table, &frames),
            frames[..STACK_LIMIT as usize]
        );
    }

    /// All chains of four levels with times that do not decrease, each followed by a poll in which
    /// the calls from some level on move.
    #[test]
    fn the_time_of_each_frame_is_exact() {
        for mask in 0..1_u64 << 3 {
            for from in 0..4 {
                let (cell, table) = (TaskCell::default(), Paths::default());
                let since = |level: u32| 100 + (mask & ((1 << level) - 1)).count_ones();
                let mut all: Vec<_> = (0..4)
                    .map(|level| frame(level, level, since(level).into()))
                    .collect();
                assert_eq!(publish(&cell, &table, &all), all);
                assert_eq!(is_chain(&cell), mask.count_ones() < 3);
                for step in &mut all[from..] {
                    (step.since, step.site) = (200, 9);
                }
                cell.begin(1, 0, 0);
                cell.end(1, 1, 1).publish(&table, |stack| {
                    all[from..].iter().for_each(|&step| stack.push(step));
                });
                cell.begin(1, 0, 0);
                cell.end(1, 1, 1).unmoved();
                assert_eq!(cell.read(&table, &mut || ()).stack, all, "{mask} {from}");
            }
        }
    }

    #[test]
    fn what_is_no_chain_is_kept_frame_by_frame() {
        let (cell, table) = (TaskCell::default(), Paths::default());
        let chain = [frame(0, 1, 5), frame(1, 2, 6), frame(2, 3, 7)];
        let fork = [chain[0], chain[1], chain[2], frame(1, 4, 8), frame(2, 5, 9)];
        let shown = [fork[0], fork[3], fork[4], fork[1], fork[2]];
        assert_eq!(publish(&cell, &table, &chain), chain);
        assert_eq!(publish(&cell, &table, &fork), shown);
        assert_eq!(publish(&cell, &table, &chain), chain);
        let late: Vec<_> = (0..200)
            .map(|level| frame(level, 1, 5 + u64::from(level >= 150)))
            .collect();
        assert_eq!(publish(&cell, &table, &late), late);
    }

    #[test]
    fn without_room_for_a_chain_its_frames_are_kept() {
        let (cell, table) = (TaskCell::default(), Paths::new(2));
        let frames = [0, 1, 2, 3].map(|level| frame(level, level, 5));
        assert_eq!(publish(&cell, &table, &frames), frames);
        assert!(!is_chain(&cell));
    }
}
