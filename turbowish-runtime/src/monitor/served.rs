//! The monitor with a thread of its own: it keeps a history and answers consoles.

use turbowish_model::query::{Query, QueryError};
use turbowish_model::snapshot::{Accounting, Process, Snapshot};

use super::Monitor;
use crate::server::Source;
use crate::{clock, proc};

impl Monitor {
    /// Ends a tick of the history. Nothing to do while accounting is off.
    pub(crate) fn tick(&self) {
        let mut state = self.state();
        if state.switched.off_at.is_none() {
            let (totals, _) = state.gather.read(clock::ticks);
            state.history.tick(totals);
            state.gather.next_tick();
        }
    }
}

impl Source for Monitor {
    fn snapshot(&self, query: &Query) -> Result<Snapshot, QueryError> {
        self.snapshot(query)
    }

    fn process(&self) -> Process {
        let switched = self.state().switched;
        self.identity(switched, &proc::all())
    }

    fn set_accounting(&self, accounting: Accounting) {
        match accounting {
            Accounting::Armed => self.arm(),
            Accounting::Disarmed => self.disarm(),
        }
    }
}
