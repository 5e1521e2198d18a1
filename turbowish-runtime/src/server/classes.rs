//! Which classes of events are recorded: those that were set, and those that connections ask for as
//! long as they last.
//!
//! A connection that records for a while takes nothing from others: what is recorded anyway goes
//! on, and what two connections ask for is recorded until both have ended, however they end.

use std::sync::{Arc, Mutex};

use turbowish_model::event::EventClasses;
use turbowish_model::ordered::Map;

use super::{Source, lock};

/// The classes of events of a process.
pub(super) struct Classes {
    source: Arc<dyn Source>,
    asked: Mutex<AskedClasses>,
}

#[derive(Default)]
struct AskedClasses {
    /// Those that are recorded anyway. `None` while no connection asks for any.
    set: Option<EventClasses>,
    /// Those of each connection, by a number that it has.
    held: Map<u64, EventClasses>,
    /// Number of the next one.
    next: u64,
}

/// What a connection has asked for. That ends when it is dropped.
pub(super) struct HeldClasses {
    all: Arc<Classes>,
    number: u64,
}

impl Classes {
    pub(super) fn new(source: Arc<dyn Source>) -> Arc<Self> {
        Arc::new(Self {
            source,
            asked: Mutex::default(),
        })
    }

    /// Records these from now on, and what connections ask for. Returns those that were set before.
    pub(super) fn set(&self, classes: EventClasses) -> EventClasses {
        let mut asked = lock(&self.asked);
        let before = asked.set.unwrap_or_else(|| self.source.recorded());
        asked.set = Some(classes);
        self.apply(&mut asked);
        before
    }

    /// A place among those who ask for classes; it asks for none yet.
    pub(super) fn join(self: &Arc<Self>) -> HeldClasses {
        let mut asked = lock(&self.asked);
        let number = asked.next;
        asked.next += 1;
        HeldClasses {
            all: Arc::clone(self),
            number,
        }
    }

    /// Lets the source record what is asked for by now.
    fn apply(&self, asked: &mut AskedClasses) {
        let recorded = self.source.recorded();
        let set = *asked.set.get_or_insert(recorded);
        let wanted = asked.all(set);
        if wanted != recorded {
            self.source.record_events(wanted);
        }
        if asked.held.is_empty() {
            asked.set = None;
        }
    }
}

impl AskedClasses {
    /// These, and those of all connections.
    fn all(&self, set: EventClasses) -> EventClasses {
        self.held.values().fold(set, |all, more| all.and(*more))
    }
}

impl HeldClasses {
    /// Asks for these classes instead of those before. Returns what is recorded without them.
    pub(super) fn ask(&self, classes: EventClasses) -> EventClasses {
        let mut asked = lock(&self.all.asked);
        asked.held.remove(&self.number);
        let set = asked.set.unwrap_or_else(|| self.all.source.recorded());
        let others = asked.all(set);
        if classes != EventClasses::NONE {
            asked.held.insert(self.number, classes);
        }
        self.all.apply(&mut asked);
        others
    }
}

impl Drop for HeldClasses {
    fn drop(&mut self) {
        self.ask(EventClasses::NONE);
    }
}
