//! Navigation history: back and forward as in a browser, at most one hundred places.

use super::record::Record;
use super::state::View;

/// Maximal number of places.
const KEPT: usize = 100;

/// A place: a table, or a record that was opened from that table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) view: View,
    pub(crate) record: Option<Record>,
}

/// The places before the current one, and those after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    back: Vec<Stop>,
    forward: Vec<Stop>,
}

impl History {
    /// The places before the current one, the most recent at the end.
    pub(crate) fn back(&self) -> &[Stop] {
        &self.back
    }

    /// Leaves a place for a new one.
    pub(crate) fn leave(&mut self, here: Stop) {
        self.forward.clear();
        self.back.push(here);
        let beyond = self.back.len().saturating_sub(KEPT);
        self.back.drain(..beyond);
    }

    /// Goes back from a place to the previous one.
    pub(crate) fn return_from(&mut self, here: Stop) -> Option<Stop> {
        let before = self.back.pop()?;
        self.forward.push(here);
        Some(before)
    }

    /// Goes forward again from a place.
    pub(crate) fn advance_from(&mut self, here: Stop) -> Option<Stop> {
        let next = self.forward.pop()?;
        self.back.push(here);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(view: View) -> Stop {
        Stop { view, record: None }
    }

    #[test]
    fn places_are_found_again_and_the_oldest_are_forgotten() {
        let mut history = History::default();
        assert_eq!(history.return_from(stop(View::Tasks)), None);
        history.leave(stop(View::Procs));
        history.leave(stop(View::Tasks));
        let back = history.return_from(stop(View::Awaits));
        assert_eq!(back, Some(stop(View::Tasks)));
        let forward = history.advance_from(stop(View::Tasks));
        assert_eq!(forward, Some(stop(View::Awaits)));
        history.return_from(stop(View::Awaits));
        history.leave(stop(View::Tasks));
        // Another way was taken: there is nothing forward any more.
        assert_eq!(history.advance_from(stop(View::Alerts)), None);
        for _ in 0..2 * KEPT {
            history.leave(stop(View::Alerts));
        }
        assert_eq!(history.back().len(), KEPT);
    }
}
