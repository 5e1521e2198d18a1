//! The calls that ended pending in the poll at hand: post-order on the way up, outermost first when read.

use core::sync::atomic::Ordering::Relaxed;

use crate::grow::Grow;
use crate::sync::{AtomicU32, AtomicU64, in_place};

/// One pending call of a task's chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Distance from the task's root.
    pub level: u32,
    /// Proc id.
    pub proc: u32,
    /// Await point plus one; 0 if unknown.
    pub site: u16,
    /// When it came there.
    pub since: u64,
}

/// A step as two words, so that it can be published without a lock.
#[derive(Debug, Default)]
pub(crate) struct StepCell {
    place: AtomicU64,
    since: AtomicU64,
}

impl StepCell {
    #[inline]
    pub(crate) fn store(&self, step: Step) {
        let level = u64::from(step.level.min(BLANK));
        self.place.store(
            u64::from(step.proc) << 32 | level << 16 | u64::from(step.site),
            Relaxed,
        );
        self.since.store(step.since, Relaxed);
    }

    #[inline]
    pub(crate) fn load(&self) -> Step {
        let place = self.place.load(Relaxed);
        Step {
            level: (place >> 16) as u32 & 0xffff,
            proc: (place >> 32) as u32,
            site: place as u16,
            since: self.since.load(Relaxed),
        }
    }
}

/// Steps in place; those beyond take a few instructions more.
const STEPS: usize = in_place(64);

/// No call stands at this level.
const BLANK: u32 = 0xffff;

/// One thread's trail. Single writer, and nobody else reads it.
#[derive(Default)]
pub(crate) struct Trail {
    steps: Grow<StepCell, STEPS>,
    len: AtomicU32,
}

impl Trail {
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len.load(Relaxed)
    }

    /// Adds a step.
    #[inline]
    pub(crate) fn push(&self, level: u32, proc: u32, site: u32, since: u64) {
        let len = self.len();
        if (len as usize) < Grow::<StepCell, STEPS>::LIMIT {
            self.steps.at(len as usize).store(Step {
                level,
                proc,
                site: site as u16,
                since,
            });
            self.len.store(len + 1, Relaxed);
        }
    }

    /// Takes out the step of one call, which is polled again or gone.
    #[cold]
    pub(crate) fn blank(&self, proc: u32, site: u32, since: u64) {
        let step = (0..self.len())
            .rev()
            .map(|index| self.steps.at(index as usize));
        for cell in step {
            let step = cell.load();
            if (step.proc, u32::from(step.site), step.since) == (proc, site, since) {
                return cell.store(Step {
                    level: BLANK,
                    ..Step::default()
                });
            }
        }
    }

    #[inline]
    pub(crate) fn truncate(&self, mark: u32) {
        self.len.store(mark.min(self.len()), Relaxed);
    }

    /// Hands out the steps from `mark` on, last one (the outermost) first, and forgets them.
    #[inline]
    pub(crate) fn take(&self, mark: u32, mut each: impl FnMut(Step)) {
        for index in (mark..self.len()).rev() {
            let step = self.steps.at(index as usize).load();
            if step.level != BLANK {
                each(step);
            }
        }
        self.truncate(mark);
    }
}
