//! Budget of a query: an expensive query gets an error, and a query without a waiting client stops.

use core::cell::Cell;
use core::fmt;

use crate::snapshot::units;

/// Maximum number of steps of the filters of one query: a few seconds at most. A step is about a
/// comparison of 16 bytes.
pub const MAX_STEPS: u64 = 1_000_000_000;

/// Steps between two calls of `look`: well below a millisecond.
const LOOK_EVERY: u64 = 1 << 15;

/// The remaining budget of a query. It counts steps and calls `look` from time to time to find out
/// whether it may continue.
pub struct Budget<'a> {
    limit: u64,
    left: Cell<u64>,
    /// `look` is called when this many steps remain.
    look_at: Cell<u64>,
    look: &'a dyn Fn() -> Option<Overrun>,
    overrun: Cell<Option<Overrun>>,
    /// Number of rows built.
    rows: Cell<u64>,
    age_ns: u64,
}

/// Rows between two checks whether the client is still there.
const ROWS: u64 = 4_096;

/// Reason why a query was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// It took more than this many steps.
    Steps(u64),
    /// It took more than this many nanoseconds of processor time.
    Time(u64),
    /// It took more than this many nanoseconds, most of them without a processor.
    Late(u64),
    /// No client waits for it any more.
    Abandoned,
}

impl Budget<'static> {
    /// Creates an unlimited budget, for rows that are already available in a process that does
    /// nothing else.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, &|| None)
    }
}

impl<'a> Budget<'a> {
    /// Creates a budget of `limit` steps, which also ends when `look` returns a reason.
    #[must_use]
    pub fn new(limit: u64, look: &'a dyn Fn() -> Option<Overrun>) -> Self {
        Self {
            limit,
            left: Cell::new(limit),
            look_at: Cell::new(limit.saturating_sub(LOOK_EVERY)),
            look,
            overrun: Cell::new(None),
            rows: Cell::new(0),
            age_ns: 0,
        }
    }

    /// The same, for an answer that saves a reading of all counters if they were read less than so
    /// many nanoseconds ago.
    #[must_use]
    pub const fn with_age(self, age_ns: u64) -> Self {
        Self { age_ns, ..self }
    }

    /// How old the counters may be, in nanoseconds.
    #[must_use]
    pub const fn age_ns(&self) -> u64 {
        self.age_ns
    }

    /// Spends some steps. Returns whether the query may continue.
    pub fn spend(&self, steps: u64) -> bool {
        if self.overrun.get().is_some() {
            return false;
        }
        let Some(left) = self.left.get().checked_sub(steps) else {
            self.overrun.set(Some(Overrun::Steps(self.limit)));
            return false;
        };
        self.left.set(left);
        if left <= self.look_at.get() {
            self.look_at.set(left.saturating_sub(LOOK_EVERY));
            self.overrun.set((self.look)());
        }
        self.overrun.get().is_none()
    }

    /// Records that a row was built. Every query builds rows, so they do not count as steps; they
    /// only stop a query whose client has gone.
    pub fn row(&self) {
        let rows = self.rows.get() + 1;
        self.rows.set(rows);
        if rows.is_multiple_of(ROWS) && (self.look)() == Some(Overrun::Abandoned) {
            self.overrun.set(Some(Overrun::Abandoned));
        }
    }

    /// The reason why the query was stopped, if it was.
    #[must_use]
    pub fn overrun(&self) -> Option<Overrun> {
        self.overrun.get()
    }
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("limit", &self.limit)
            .field("left", &self.left)
            .field("overrun", &self.overrun)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps(limit) => write!(f, "{} steps", units::count(*limit)),
            Self::Time(ns) => {
                let time = units::window(*ns, units::Micro::default());
                write!(f, "{time} of processor time")
            }
            Self::Late(ns) => {
                let time = units::window(*ns, units::Micro::default());
                write!(f, "{time} of a busy machine")
            }
            Self::Abandoned => f.write_str("the client's waiting time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use core::cell::Cell;

    use super::{Budget, LOOK_EVERY, Overrun};

    #[test]
    fn steps_run_out() {
        let budget = Budget::new(10, &|| None);
        for (steps, goes_on) in [(4, true), (6, true), (0, true), (1, false), (0, false)] {
            assert_eq!(budget.spend(steps), goes_on, "{steps}");
        }
        assert_eq!(budget.overrun(), Some(Overrun::Steps(10)));
        assert!(Budget::unlimited().spend(u64::MAX));
    }

    #[test]
    fn it_looks_around_now_and_then() {
        let (looks, stop) = (Cell::new(0), Cell::new(None));
        let look = || {
            looks.set(looks.get() + 1);
            stop.get()
        };
        let budget = Budget::new(u64::MAX, &look);
        let steps = || (0..LOOK_EVERY).all(|_| budget.spend(1));
        assert!(steps() && steps());
        assert_eq!(looks.get(), 2);
        stop.set(Some(Overrun::Abandoned));
        assert!(!steps());
        assert_eq!((looks.get(), budget.overrun()), (3, stop.get()));
    }

    #[test]
    fn it_says_what_ran_out() {
        assert_eq!(Overrun::Steps(1_000_000_000).to_string(), "1.00G steps");
        let time = Overrun::Time(10_000_000_000);
        assert_eq!(time.to_string(), "10 s of processor time");
        let late = Overrun::Late(8_000_000_000);
        assert_eq!(late.to_string(), "8 s of a busy machine");
    }
}
