//! Await stack: the calls that ended pending in the current poll, pushed in post-order and read
//! outermost first.

use core::sync::atomic::Ordering::Relaxed;

use crate::account::append_vec::AppendVec;
use crate::account::call::{DIRECT, SITE};
use crate::account::paths::{PathKey, PathKind};
use crate::account::sync::{AtomicU32, AtomicU64, in_place};

/// A pending call in a task's await stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AwaitFrame {
    /// Distance from the task's root; 0 is the root.
    pub level: u32,
    /// Id of the call's proc.
    pub proc: u32,
    /// Await point plus one; 0 if unknown.
    pub site: u16,
    /// The call awaits one instrumented call, with nothing around it.
    pub direct: bool,
    /// When the call reached the await point: the end of that poll, in ticks.
    pub since: u64,
}

/// A frame as two words.
#[derive(Clone, Copy, Debug)]
pub struct AwaitStep {
    /// The frame's key in a chain, with its level in place of the entry above.
    pub(crate) key: PathKey,
    pub(crate) since: u64,
}

impl AwaitStep {
    /// A call of `proc` that reached its `place` at `since`.
    #[inline(always)]
    const fn of(level: u32, proc: u32, place: u32, since: u64) -> Self {
        let key = PathKey::of_frame(proc, place & SITE, place & DIRECT != 0);
        Self {
            key: key.below(level),
            since,
        }
    }

    /// Distance from the task's root.
    #[inline(always)]
    pub(crate) const fn level(self) -> u32 {
        self.key.parent()
    }
}

impl From<AwaitFrame> for AwaitStep {
    #[inline(always)]
    fn from(frame: AwaitFrame) -> Self {
        let key = PathKey::of_frame(frame.proc, frame.site.into(), frame.direct);
        Self {
            key: key.below(frame.level.min(BLANK)),
            since: frame.since,
        }
    }
}

impl From<AwaitStep> for AwaitFrame {
    #[inline(always)]
    fn from(step: AwaitStep) -> Self {
        let AwaitStep { key, since } = step;
        Self {
            level: key.parent(),
            proc: key.proc(),
            site: key.site() as u16,
            direct: key.is(PathKind::DirectFrame),
            since,
        }
    }
}

/// A frame that can be published without a lock.
#[derive(Debug, Default)]
pub(crate) struct AwaitFrameCell {
    key: AtomicU64,
    since: AtomicU64,
}

impl AwaitFrameCell {
    #[inline(always)]
    pub(crate) fn store(&self, step: AwaitStep) {
        self.key.store(step.key.word(), Relaxed);
        self.since.store(step.since, Relaxed);
    }

    #[inline(always)]
    pub(crate) fn step(&self) -> AwaitStep {
        AwaitStep {
            key: PathKey::from_word(self.key.load(Relaxed)),
            since: self.since.load(Relaxed),
        }
    }

    #[inline]
    pub(crate) fn load(&self) -> AwaitFrame {
        self.step().into()
    }
}

/// Frames stored in place; those beyond cost a few more instructions.
const STEPS: usize = in_place(64);

/// Maximum number of frames of one root poll. Of further calls only the last one pushed is kept.
pub(crate) const LIMIT: u32 = {
    let most = AppendVec::<AwaitFrameCell, STEPS>::LIMIT;
    if most < 8192 { most as u32 } else { 8192 }
};
/// Number of frames searched for a call, from the end. The call is among them unless very many
/// branches are polled again and again in one root poll.
const SEARCH: usize = 256;

/// Level of a removed frame.
const BLANK: u32 = 0xffff;

/// Levels from here on cannot be told apart.
pub(crate) const LEVEL_LIMIT: u32 = BLANK;

/// One thread's await stack. Single writer; no other thread reads it.
#[derive(Default)]
#[repr(C)]
pub(crate) struct AwaitStack {
    // In front: the steps take a kilobyte.
    len: AtomicU32,
    steps: AppendVec<AwaitFrameCell, STEPS>,
}

impl AwaitStack {
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len.load(Relaxed)
    }

    /// Pushes a frame. A full stack overwrites its last frame: the outermost call is pushed last
    /// and is never lost.
    #[inline(always)]
    pub(crate) fn push(&self, level: u32, proc: u32, place: u32, since: u64) {
        let len = self.len();
        match self.steps.in_place(len) {
            Some(step) if level < BLANK => self.push_into(step, level, proc, place, since),
            _ => self.push_far(level, proc, place, since),
        }
    }

    /// Room for one more frame in place.
    #[inline(always)]
    pub(crate) fn room(&self) -> Option<&AwaitFrameCell> {
        self.steps.in_place(self.len())
    }

    /// Pushes a frame into that room; its level is below [`LEVEL_LIMIT`].
    #[inline(always)]
    pub(crate) fn push_into(
        &self,
        room: &AwaitFrameCell,
        level: u32,
        proc: u32,
        place: u32,
        since: u64,
    ) {
        room.store(AwaitStep::of(level, proc, place, since));
        self.len.store(self.len() + 1, Relaxed);
    }

    #[inline(never)]
    fn push_far(&self, level: u32, proc: u32, place: u32, since: u64) {
        let len = self.len();
        let index = len.min(LIMIT - 1);
        let step = AwaitStep::of(level.min(BLANK), proc, place, since);
        self.steps.at(index as usize).store(step);
        self.len.store(index + 1, Relaxed);
    }

    /// Removes the frame of a call that is polled again or dropped. `wanted` has the call's present
    /// level. No `stack_mark` is above `floor`.
    #[cold]
    pub(crate) fn blank(&self, wanted: AwaitFrame, floor: u32) {
        let place = |step: AwaitFrame| (step.proc, step.site, step.since);
        let find = |fits: &dyn Fn(AwaitFrame) -> bool| {
            let mut last = (0..self.len()).rev().take(SEARCH);
            last.find(|&index| fits(self.steps.at(index as usize).load()))
        };
        let same = find(&|step| step == wanted);
        // The call may have moved to another level.
        let Some(index) = same.or_else(|| find(&|step| place(step) == place(wanted))) else {
            return;
        };
        let blank = AwaitFrame {
            level: BLANK,
            ..AwaitFrame::default()
        };
        self.steps.at(index as usize).store(blank.into());
        let is_blank = |index: u32| self.steps.at(index as usize).load().level == BLANK;
        let mut len = self.len();
        while len > floor && is_blank(len - 1) {
            len -= 1;
        }
        self.len.store(len, Relaxed);
    }

    #[inline]
    pub(crate) fn truncate(&self, mark: u32) {
        self.len.store(mark.min(self.len()), Relaxed);
    }

    /// The frames from `mark` on, last (outermost) first, without removed ones.
    #[inline]
    pub(crate) fn steps(&self, mark: u32) -> impl Iterator<Item = AwaitStep> + '_ {
        let indexes = (mark..self.len()).rev();
        let steps = indexes.map(|index| self.steps.at(index as usize).step());
        steps.filter(|step| step.level() != BLANK)
    }

    /// Returns the frames from `mark` on, innermost first, removed ones included; `None` if some
    /// are not stored in place.
    #[inline(always)]
    pub(crate) fn frames(&self, mark: u32) -> Option<&[AwaitFrameCell]> {
        self.steps.all_in_place(mark, self.len())
    }
}
