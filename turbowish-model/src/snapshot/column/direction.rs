//! Direction of columns: more time and memory for the same work is worse, more traffic is not.

use super::{Column, Unit};

/// Times that grow with age, load or window.
const NEUTRAL: [&str; 9] = [
    "age", "from", "hold_max", "ready", "running", "since", "time", "total", "wait_max",
];

/// Populations whose values include waits for others. Their percentiles tell that requests take
/// longer; the longest alone can be one client that takes its time.
const WITH_WAITS: [&str; 2] = ["await_wait", "call_wall"];

/// Numbers of failures, or of tasks that wait because of something.
const WORSE: [&str; 6] = ["behind", "cancelled", "err", "never", "panicked", "waiters"];

impl<R> Column<R> {
    /// Whether a larger number is worse, whatever the load: higher cost, or more failures.
    ///
    /// By default durations and sizes are; shares, rates and counts are not. The tables above have
    /// the exceptions.
    #[must_use]
    pub fn larger_is_worse(&self) -> bool {
        let key = &*self.key;
        if self.includes_waits() {
            return self.is_percentile();
        }
        match self.unit {
            Unit::Duration | Unit::Bytes => !NEUTRAL.contains(&key),
            Unit::Share | Unit::Rate | Unit::Average | Unit::Count | Unit::Trend => {
                WORSE.contains(&key)
            }
            Unit::Text | Unit::Place => false,
        }
    }

    /// Whether the values are of a population that includes waits for others.
    #[must_use]
    pub fn includes_waits(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| WITH_WAITS.contains(field))
    }
}

#[cfg(test)]
mod tests {
    use super::{NEUTRAL, WORSE};
    use crate::snapshot::alert::Alert;
    use crate::snapshot::column::{self, Row};
    use crate::snapshot::{
        AwaitRow, CounterRow, DelayRow, ProcRow, ResourceRow, SlowestRow, TaskRow,
    };
    use alloc::vec::Vec;

    fn check<R: Row>(worse: &[&str], neutral: &[&str]) {
        for (keys, expected) in [(worse, true), (neutral, false)] {
            for key in keys {
                let column = column::find::<R>(key).expect(key);
                assert_eq!(column.larger_is_worse(), expected, "{}.{key}", R::TABLE);
            }
        }
    }

    #[test]
    fn what_costs_more_is_worse_and_what_is_more_is_not() {
        check::<ProcRow>(
            &[
                "run_p50",
                "hold_p99.9",
                "longest",
                "wall",
                "wall_p50",
                "wall_p99",
                "size",
                "err",
            ],
            &[
                "run", "incl", "calls", "polls", "live", "proc", "where", "wall_max",
            ],
        );
        check::<TaskRow>(&["longest", "size"], &["age", "since", "running", "polls"]);
        check::<AwaitRow>(
            &["mean", "longest", "cancelled", "wait_p50", "wait_p99"],
            &["total", "waits", "now", "share", "wait_max"],
        );
        check::<ResourceRow>(
            &["wait_p99", "oldest", "waiters"],
            &["ops", "fill", "age", "wait_max", "hold_max"],
        );
        check::<Alert>(&["for", "behind"], &["title"]);
        check::<CounterRow>(&[], &["rate", "value", "max", "updates"]);
        check::<DelayRow>(&[], &["time", "ready", "share", "polls"]);
        check::<SlowestRow>(&[], &["time", "from", "share", "calls"]);
    }

    #[test]
    fn every_exception_is_a_column() {
        fn keys<R: Row>(all: &mut Vec<&str>) {
            all.extend(R::columns().iter().map(|column| &*column.key));
        }
        let mut all = Vec::new();
        keys::<ProcRow>(&mut all);
        keys::<TaskRow>(&mut all);
        keys::<AwaitRow>(&mut all);
        keys::<ResourceRow>(&mut all);
        keys::<Alert>(&mut all);
        keys::<DelayRow>(&mut all);
        keys::<SlowestRow>(&mut all);
        for key in NEUTRAL.iter().chain(&WORSE) {
            assert!(all.contains(key), "{key}");
        }
    }
}
