//! Requests of consoles to pause and resume tasks.

use turbowish_model::account::task::Pause;
use turbowish_model::event::ConsoleEvent;
use turbowish_model::ordered::Map;
use turbowish_wire::PauseTask;

use super::Monitor;
use crate::hot::pause::{self, Unrenewed};
use crate::hot::{clock, events, switch, task};
use crate::server::Refused;

/// The monitor beats four times a second. If a beat is later than this, the process was stopped: no
/// more than this is subtracted from a lease.
const STEP_NS: u64 = 1_000_000_000;

impl Monitor {
    /// Maximum time subtracted from a lease between two beats, in ticks of the clock.
    pub(super) fn lease_step(&self) -> u64 {
        self.scale.ticks(STEP_NS)
    }

    /// Counts the leases of pauses down.
    pub(super) fn count_leases(&self) {
        pause::count(self.lease_step());
    }

    /// Paused tasks by ID.
    pub(super) fn pauses(&self) -> Map<u64, Pause> {
        pause::readings(self.lease_step())
    }

    /// Pauses a task.
    ///
    /// # Errors
    /// If accounting is disarmed, if there is no such task or it has no row yet, or if the pause to
    /// be renewed is over.
    pub(super) fn pause(&self, order: &PauseTask) -> Result<(), Refused> {
        let lease = order.lease_ns.map(|ns| self.scale.ticks(ns));
        if order.renew {
            let renewed = pause::renew(order.task, &order.by, lease);
            return renewed.map_err(|fault| match fault {
                Unrenewed::NotPaused => Refused::NotPaused,
                Unrenewed::By(other) => Refused::PausedBy(other),
            });
        }
        let begin = |live| pause::begin(live, &order.by, lease);
        match task::with(order.task, begin).flatten() {
            Some(true) => {
                let task = order.task;
                events::console(|| ConsoleEvent::Pause { task });
                Ok(())
            }
            Some(false) => Err(Refused::Off),
            None => Err(self.why_not(order.task)),
        }
    }

    /// Resumes a task.
    ///
    /// # Errors
    /// If it is not paused.
    pub(super) fn resume(&self, task: u64) -> Result<(), Refused> {
        match pause::resume(task) {
            true => {
                events::console(|| ConsoleEvent::Resume { task });
                Ok(())
            }
            false if task::with(task, |_| ()).is_some() => Err(Refused::NotPaused),
            false => Err(self.why_not(task)),
        }
    }

    /// Why a task without a row cannot be paused.
    fn why_not(&self, task: u64) -> Refused {
        if !switch::is_armed() {
            return Refused::Off;
        }
        let (_, threads) = self.state().gather.read(clock::ticks);
        let mut first_poll = threads.iter().filter_map(|thread| thread.first_poll);
        match first_poll.any(|meta| meta.id == task) {
            true => Refused::FirstPoll,
            false => Refused::NoTask,
        }
    }
}
