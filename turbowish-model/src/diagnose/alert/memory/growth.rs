//! Number of tasks by the proc of their root: in how many windows in a row it has grown.

use alloc::string::String;

use crate::diagnose::alert::limits::{Limit, Limits};
use crate::diagnose::alert::quantity::is_part;
use crate::diagnose::situation::{RootTasks, Situation};
use crate::ordered::Map;

/// A window of a growth that goes on is not longer than so many earlier ones.
const PATIENCE: u64 = 4;

/// The growth of the tasks of one root, window by window. A window lasts until enough tasks were
/// spawned in it, so that a slow leak is seen, too.
#[derive(Clone, Copy, Debug)]
pub(in crate::diagnose::alert) struct TaskGrowth {
    /// Start of the window in progress.
    window: RootState,
    /// Start of the first of `windows`.
    first: RootState,
    windows: u64,
}

/// The tasks of a root at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RootState {
    at: u64,
    live: u64,
    idle: u64,
    ended: u64,
}

/// What happened since the first of the windows.
#[derive(Clone, Copy, Debug)]
pub(in crate::diagnose::alert) struct Grown {
    /// Start of the first window.
    pub(in crate::diagnose::alert) since: u64,
    /// How many more tasks live.
    pub(in crate::diagnose::alert) live: u64,
    /// How many more tasks are idle.
    pub(in crate::diagnose::alert) idle: u64,
    /// How many tasks ended.
    pub(in crate::diagnose::alert) ended: u64,
}

impl RootState {
    const fn of(root: &RootTasks, at: u64) -> Self {
        Self {
            at,
            live: root.live,
            idle: root.idle,
            ended: root.ended,
        }
    }

    const fn since(&self, before: &Self) -> Grown {
        Grown {
            since: before.at,
            live: self.live.saturating_sub(before.live),
            idle: self.idle.saturating_sub(before.idle),
            ended: self.ended.saturating_sub(before.ended),
        }
    }
}

impl TaskGrowth {
    const fn new(state: RootState) -> Self {
        Self {
            window: state,
            first: state,
            windows: 0,
        }
    }

    /// Number of windows in a row in which the number of tasks grew.
    pub(in crate::diagnose::alert) const fn windows(&self) -> u64 {
        self.windows
    }

    /// What happened in these windows, and in the one in progress.
    pub(in crate::diagnose::alert) const fn grown(&self, root: &RootTasks, now: u64) -> Grown {
        RootState::of(root, now).since(&self.first)
    }

    fn record(&mut self, state: RootState, limits: &Limits) {
        let length = state.at.saturating_sub(self.window.at);
        let grown = state.since(&self.window);
        let spawned = grown.live.saturating_add(grown.ended);
        let is_whole =
            super::is_whole(length, limits) && spawned >= limits.get(Limit::TaskLeakSpawned);
        let few_end = !is_part(grown.ended, spawned, limits.get(Limit::TaskLeakEnded));
        if is_whole && grown.live > 0 && few_end {
            if self.windows == 0 {
                self.first = self.window;
            }
            self.windows += 1;
            self.window = state;
        } else if is_whole || state.live < self.window.live || self.pauses(length) {
            *self = Self::new(state);
        }
    }

    /// Whether tasks used to be spawned faster.
    const fn pauses(&self, length: u64) -> bool {
        let whole = self.window.at.saturating_sub(self.first.at);
        self.windows > 0 && length > whole.saturating_mul(PATIENCE) / self.windows
    }
}

/// Records the number of tasks of each root. A root that is missing has no tasks.
pub(super) fn record(known: &mut Map<String, TaskGrowth>, situation: &Situation, limits: &Limits) {
    let mut before = core::mem::take(known);
    for root in &situation.roots {
        let state = RootState::of(root, situation.now);
        let growth = match before.remove(&root.path) {
            Some(mut growth) => {
                growth.record(state, limits);
                growth
            }
            None => TaskGrowth::new(state),
        };
        known.insert(root.path.clone(), growth);
    }
}
